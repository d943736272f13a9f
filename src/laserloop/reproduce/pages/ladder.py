"""The ladder to real time: every solver on the same problems."""

from laserloop.report.paper_blocks import Block, Picture, Prose, Table
from laserloop.report.paper_figures import Rung, draw_ladder
from laserloop.reproduce.pages.loop_parts import tell_statuses
from laserloop.reproduce.pages.results import Record
from laserloop.study.published_loops import TIMING

SOURCE = "results/clock/timing.json"
INTERVAL_US = 125.0
LADDER = {  # of the bench: rung → words
    "reference": "IPOPT, the paper's graph",
    "folded": "IPOPT, folded graph",
    "sqp": "SQP (CasADi), folded graph",
    "numba": "compiled by numba, called from Python",
    "realtime": "exported C, called from Python",
    "exported_c": "exported C, the call alone",
    "exported_c_warm": "exported C, warm start",
}


def write_ladder(bench: Record) -> list[Block]:
    """Each solver on the same problems, in turn."""
    rungs = list_rungs(bench)
    first, free = bench["first_move_difference_w"], bench["first_move_difference_slack_free_w"]
    caption = (
        "Time of one answer, the same problems put to every solver in turn, one process, one core; log scale."
    )
    rows = [
        (rung.name, *(show_us(us) for us in rung[1:]), _show_ratio(rungs[0].median / rung.median))
        for rung in rungs
    ]
    return [
        Picture("ladder", caption, draw_ladder(rungs, INTERVAL_US, 1e3 * TIMING["solve_mean_ms"])),
        Prose(
            f"{bench['problems']} problems, half of them from closed loops along three paths (heating up "
            f"and corners "
            f"included), half random states around them; {bench['feasible']} have a plan below the ceiling, "
            f"{bench['slack_free']} also one above the floor."
        ),
        Table(("solver", "median, µs", "p99, µs", "p99.9, µs", "ratio of medians"), rows, source=SOURCE),
        Prose(
            f"Answers of the fastest that took longer than {INTERVAL_US:g} µs: "
            f"{100 * bench['over_tick_fraction']:.2f} %, "
            "ticks hit by other processes included. First move against IPOPT at a tolerance of 1e-10: p99 "
            f"{first['p99']:.3f} W, largest {first['max']:.2f} W over all feasible problems; p99 "
            f"{free['p99']:.3f} W, largest "
            f"{free['max']:.2f} W where the window can be kept. The problem is not convex: from a cold "
            f"plate two solvers may "
            f"stop at different plans. Largest excess over the ceiling: {bench['over_ceiling_k']:.4f} K."
        ),
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
