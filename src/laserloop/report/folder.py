"""A report's folder: the page, its figures and the data it shows."""

from collections.abc import Sequence
from pathlib import Path

from laserloop.report.run_figures import draw_comparison, draw_residual_map, draw_run, draw_tick_times
from laserloop.report.run_page import render_comparison
from laserloop.report.run_record import Record, find_interval, predicts
from laserloop.report.save import dump, save, save_figure


def save_comparison(
    folder: Path, records: Sequence[Record], *, command: str, also: Sequence[str] = ()
) -> Path:
    """Write a report about closed-loop runs and return its page; other files stay.

    `also`: further sentences for the page.
    """
    page = render_comparison(records, command=command, also=also)
    for i, record in enumerate(records, start=1):
        save(folder / f"run-{i}.json", dump(record))
        save_figure(folder / f"run-{i}.png", draw_run(record))
        if predicts(record):
            save_figure(folder / f"residual-{i}.png", draw_residual_map(record))
    save_figure(folder / "comparison.png", draw_comparison(records))
    if any(map(find_interval, records)):
        save_figure(folder / "tick-times.png", draw_tick_times(records))
    save(folder / "index.html", page)
    return folder / "index.html"
