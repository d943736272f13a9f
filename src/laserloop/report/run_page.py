"""The page about closed-loop runs: who kept the window, who did not, and how one can tell."""

from collections.abc import Sequence
from dataclasses import dataclass

from laserloop.bad_input import BadInput
from laserloop.report.run_figures import draw_comparison, draw_residual_map, draw_run, draw_tick_times
from laserloop.report.run_record import (
    Record,
    describe_process,
    find_interval,
    name_runs,
    predicts,
    read_other,
    tell_counting,
    tell_reading,
)
from laserloop.report.run_story import capitalise, conclude, introduce, tell, tell_lateness, write_headline
from laserloop.report.run_tables import SCORES, list_troubles
from laserloop.report.sheet import Plate, make_plate, render


@dataclass(frozen=True, slots=True)
class Chapter:
    """All the page says about one run."""

    name: str
    record: Record
    scores: dict[str, str]
    troubles: list[str]
    notes: Sequence[str]
    process: str
    history: Plate
    residual: Plate | None  # for those that predict


def render_comparison(records: Sequence[Record], *, command: str, also: Sequence[str] = ()) -> str:
    """The HTML text of a page about one or more runs.

    `command` is how to make them again; `also` are further sentences that belong on the page.
    """
    if not records:
        raise BadInput("a page needs at least one run, but got none; control one first.")
    names = name_runs(records)
    times = None
    if any(map(find_interval, records)):
        times = make_plate(draw_tick_times(records), "ticks", "How long each decision took")
    return render(
        "report/run_page.html",
        headline=write_headline(records),
        story=[introduce(records), *map(tell, records, names)],
        lesson=conclude(records),
        also=also,
        picture=make_plate(draw_comparison(records), "all", f"T_max and power of {', '.join(names)}"),
        chapters=[_write_chapter(i, *pair) for i, pair in enumerate(zip(names, records, strict=True))],
        times=times,
        lateness=tell_lateness(records),
        counting=tell_counting(records),
        readings=_tell_readings(names, records),
        command=command,
    )


def _write_chapter(i: int, name: str, record: Record) -> Chapter:
    residual = None
    if predicts(record):
        residual = make_plate(draw_residual_map(record), f"r{i}", f"Residual along the path, {name}")
    return Chapter(
        name=capitalise(name),
        record=record,
        scores={score.name: score.show(record) for score in SCORES},
        troubles=list_troubles(record),
        notes=record.get("notes", ()),
        process=describe_process(record),
        history=make_plate(draw_run(record), f"h{i}", f"T_max and power over time, {name}"),
        residual=residual,
    )


def _tell_readings(names: Sequence[str], records: Sequence[Record]) -> str:
    """What T_max is here, and how high the other reading of the same surfaces goes."""
    own = " or ".join(dict.fromkeys(f"the {tell_reading(record)}" for record in records))
    others = [
        f"the {tell_reading(record, other=True)} reaches {read_other(record)['t_max_k']:.1f} K ({name})"
        for name, record in zip(names, records, strict=True)
        if read_other(record)["t_max_k"] is not None
    ]
    return f"T_max is {own}" + (f"; {', '.join(others)}." if others else ".")
