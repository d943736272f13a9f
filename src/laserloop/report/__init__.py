"""THE ANSWER: figures, tables and one page about what was simulated. Nothing in this room simulates.

May import `loop` and `data`, whose runs and episodes it shows, and nothing above them.
"""

from typing import TYPE_CHECKING

from laserloop.lazy import fetch_from

if TYPE_CHECKING:
    from laserloop.report.figures import COLD, FAINT, HOT, INK, STYLE, WIDTH, save_figure
    from laserloop.report.page import make_plate, render, render_comparison
    from laserloop.report.record import mark_counted

__all__ = [
    "COLD",
    "FAINT",
    "HOT",
    "INK",
    "STYLE",
    "WIDTH",
    "make_plate",
    "mark_counted",
    "render",
    "render_comparison",
    "save_figure",
]

__getattr__ = fetch_from(__name__)
