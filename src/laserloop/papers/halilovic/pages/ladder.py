"""The ladder to real time: every solver on the same problems."""

from laserloop.papers.halilovic.pages.loop_parts import tell_statuses
from laserloop.papers.halilovic.pages.results import Record
from laserloop.papers.halilovic.report.blocks import Block, Picture, Prose, Table
from laserloop.papers.halilovic.report.figures import Rung, draw_ladder
from laserloop.papers.halilovic.study.published_loops import TIMING

SOURCE = "results/clock/timing.json"
INTERVAL_US = 125.0
LADDER = {  # of the bench: rung → words
    "reference": "IPOPT, the paper's graph",
    "folded": "IPOPT, folded graph",
    "sqp": "SQP (CasADi), folded graph",
    "numpy": "SQP (NumPy and DAQP), folded network",
    "realtime": "exported C, called from Python",
    "exported_c": "exported C, in turn with all others",
    "exported_c_alone": "exported C, one problem after another",
    "exported_c_warm": "exported C, ticks of closed loops in their order",
}


def write_ladder(bench: Record) -> list[Block]:
    """Each solver on the same problems, in turn."""
    rungs = list_rungs(bench)
    caption = (
        "Time of one answer, the same problems put to every solver in turn, one process, one core; log scale."
    )
    rows = [
        (
            rung.name,
            *(show_us(us) for us in rung[1:]),
            show_us(bench[name]["p99_quiet_us"]),
            _show_ratio(rungs[0].median / rung.median),
        )
        for name, rung in zip((name for name in LADDER if name in bench), rungs, strict=True)
    ]
    return [
        Picture("ladder", caption, draw_ladder(rungs, INTERVAL_US, 1e3 * TIMING["solve_mean_ms"])),
        Prose(
            f"{bench['problems']} problems, half of them from closed loops along three paths (heating up "
            f"and corners "
            f"included), half random states around them; {bench['feasible']} have a plan below the ceiling, "
            f"{bench['slack_free']} also one above the floor."
        ),
        Table(
            ("solver", "median, µs", "p99, µs", "p99.9, µs", "p99 of quiet ticks, µs", "ratio of medians"),
            rows,
            source=SOURCE,
        ),
        Prose(
            "Every question is asked from a cold working set, but for the last row. Right after another "
            "solver's turn the first call is slower than those that follow. Quiet: without the ticks during "
            "which the operating system took the core away. Answers of the exported C in turn with all "
            f"others that took longer than {INTERVAL_US:g} µs: {100 * bench['over_tick_fraction']:.2f} %, of "
            f"the quiet ones {100 * bench['over_tick_fraction_quiet']:.2f} %."
        ),
        Prose(_tell_agreement(bench)),
        Prose(_tell_heat_up(bench["heat_up"])),
        Table(
            ("solver", "how its answers ended"),
            [
                (LADDER.get(name, name), tell_statuses(found))
                for name, found in bench.get("statuses", {}).items()
            ],
            wordy=True,
            folded="how the answers ended",
            source=SOURCE,
        ),
    ]


def _tell_agreement(bench: Record) -> str:
    """How far the compiled solver's first moves are from those of a tight IPOPT."""
    first, free, unique, others = (
        bench[name]
        for name in (
            "first_move_difference_w",
            "first_move_difference_slack_free_w",
            "first_move_difference_unique_w",
            "other_first_moves",
        )
    )
    apart = (
        f"{others['problems']}, of which {others['not_dearer_than_ipopt']} plans cost no more than IPOPT's; "
        f"the others cost at most {100 * others['largest_extra_cost']:.2g} % more. Of all "
        f"{others['problems']}, {others['local_minima']} are minima too: kept within "
        f"{others['beyond_w']:g} W of such a plan, IPOPT finds nothing cheaper by more than 0.01 %."
        if others["problems"]
        else "none."
    )
    return (
        f"First move against IPOPT at a tolerance of 1e-10: p99 {first['p99']:.3f} W, largest "
        f"{first['max']:.2f} W over all feasible problems; p99 {free['p99']:.3f} W where the window can be "
        f"kept; p99 {unique['p99']:.3f} W on the {unique['problems']} problems on which IPOPT itself, begun "
        f"with four plans, always gives the same. More than {others['beyond_w']:g} W apart: {apart} Largest "
        f"excess over the ceiling: {bench['over_ceiling_k']:.4f} K."
    )


def _tell_heat_up(cold: Record) -> str:
    return (
        f"On {cold['problems']} problems the plate is too cold for any plan to keep the floor. First moves: "
        f"p99 {cold['first_move_difference_w']['p99']:.3f} W apart. The cost is worse than the worst of "
        f"IPOPT's four by more than 1e-6 on {cold['worse_than_ipopt_starts']}, by more than 0.02 K of slack "
        f"on {cold['worse_by_0.02_k']}, by more than 1 K on {cold['worse_by_1_k']}; it is better than "
        f"IPOPT's from the same start on {cold['cheaper_than_ipopt']}. Of the {cold['worse_by_0.02_k']}, "
        f"{cold['worse_by_0.02_k_local_minima']} are minima too: nothing within 0.1 W of them saves 0.02 K. "
        "An interior-point method comes from inside and ends in other valleys of a network that has many."
    )


def list_rungs(bench: Record) -> list[Rung]:
    """The solvers of a bench from the slowest kind to the fastest; those not measured are left out."""
    return [
        Rung(words, bench[name]["median_us"], bench[name]["p99_us"], bench[name]["p999_us"])
        for name, words in LADDER.items()
        if name in bench
    ]


def _show_ratio(ratio: float) -> str:
    return f"{ratio:.0f}" if ratio >= 100 else f"{ratio:.3g}"


def show_us(us: float) -> str:
    """Enough digits, not more."""
    return f"{us:.0f}" if us >= 100 else f"{us:.1f}"
