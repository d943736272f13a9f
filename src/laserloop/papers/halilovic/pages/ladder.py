"""The ladder to real time: every solver on the same problems."""

from laserloop.papers.halilovic.pages.closed_loop import tell_statuses
from laserloop.papers.halilovic.pages.results import Record
from laserloop.papers.halilovic.report.blocks import Block, Picture, Prose, Table
from laserloop.papers.halilovic.report.figures import Rung, draw_ladder
from laserloop.papers.halilovic.study.published import TIMING
from laserloop.papers.halilovic.words import say

SOURCE = "results/clock/timing.json"
INTERVAL_US = 125.0
LADDER = {  # of a bench, or of a stored one: rung → words
    "reference": "IPOPT, the paper's graph",
    "folded": "IPOPT, folded graph",
    "sqp": "SQP (CasADi), folded graph",
    "numba": "compiled by numba, called from Python",
    "numpy": "SQP (NumPy and DAQP), folded network",
    "realtime": "exported C, called from Python",
    "exported_c": "exported C, in turn with all others",
    "exported_c_alone": "exported C, one problem after another",
    "exported_c_warm": "exported C, ticks of closed loops in their order",
}
HEADS = ("solver", "median, µs", "p99, µs", "p99.9, µs", "p99 of quiet ticks, µs", "ratio of medians")


def write_ladder(bench: Record) -> list[Block]:
    """Each solver on the same problems, in turn."""
    rungs = list_rungs(bench)
    rows = [
        (
            rung.name,
            *(show_us(us) for us in rung[1:]),
            show_us(bench[name]["p99_quiet_us"]),
            _show_ratio(rungs[0].median / rung.median),
        )
        for name, rung in zip((name for name in LADDER if name in bench), rungs, strict=True)
    ]
    figure = draw_ladder(rungs, INTERVAL_US, 1e3 * TIMING["solve_mean_ms"])
    over, quiet = (100 * bench[f"over_tick_fraction{end}"] for end in ("", "_quiet"))
    ended = [
        (LADDER.get(name, name), tell_statuses(found)) for name, found in bench.get("statuses", {}).items()
    ]
    folded = "how the answers ended"
    return [
        Picture("ladder", say("ladder.caption"), figure),
        Prose(say("ladder.problems", **bench)),
        Table(HEADS, rows, source=SOURCE),
        Prose(say("ladder.quiet", interval=INTERVAL_US, over=over, quiet=quiet)),
        Prose(_tell_agreement(bench)),
        Prose(say("ladder.heat_up", cold=bench["heat_up"])),
        Table(("solver", "how its answers ended"), ended, wordy=True, folded=folded, source=SOURCE),
    ]


def _tell_agreement(bench: Record) -> str:
    """How far the compiled solver's first moves are from those of a tight IPOPT."""
    others = bench["other_first_moves"]
    apart = "none."
    if others["problems"]:
        apart = say("ladder.others", **others, extra=100 * others["largest_extra_cost"])
    return say(
        "ladder.agreement",
        first=bench["first_move_difference_w"],
        free=bench["first_move_difference_slack_free_w"],
        unique=bench["first_move_difference_unique_w"],
        others=others,
        apart=apart,
        over=bench["over_ceiling_k"],
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
