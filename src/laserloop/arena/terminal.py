"""The standings on a terminal."""

from rich.box import SIMPLE_HEAD
from rich.table import Table
from rich.text import Text

from laserloop.arena.leaderboard import CLOCKS, NOTHING
from laserloop.arena.tables import Tables

HEADINGS = ("gap\nK", "95 %\nK", "worst\nK", "RMS\nK", "outside", "p50\nµs", "missed", "runs")


def tabulate_standings(tables: Tables) -> Table:
    """A line for each entrant, the nearest to the oracle first."""
    table = Table(box=SIMPLE_HEAD, padding=(0, 1, 0, 0), show_edge=False, caption_justify="left")
    table.add_column("entrant")
    for heading in HEADINGS:
        table.add_column(heading, justify="right")
    for name, levels in tables.standings.items():
        every, clock = levels["all"], tables.clocks[name]
        known, drawn = every["gap_mean_k"] is not None, every["gap_low_k"] is not None
        gap = (
            f"{every['gap_mean_k']:.2f}" if known else NOTHING,
            f"{every['gap_low_k']:.2f}–{every['gap_high_k']:.2f}" if drawn else NOTHING,
            f"{every['gap_worst_k']:.1f}" if known else NOTHING,
        )
        times = [show(clock[key]) for key, show in (CLOCKS["decision p50, µs"], CLOCKS["missed deadlines"])]
        rest = (f"{every['rms_k']:.2f}", f"{every['outside_fraction']:.2%}", *times, str(every["runs"]))
        table.add_row(name, *gap, *rest)
    table.caption = Text("Gap: RMS from the window's middle minus that of the oracle on the same tasks.")
    return table
