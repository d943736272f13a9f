"""Pages: a template with figures set into it, one about closed-loop runs, and its folder."""

import io
import platform
import re
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path

import matplotlib as mpl
from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup, escape
from matplotlib.figure import Figure

from laserloop.bad_input import BadInput
from laserloop.report.figures import INK, save_figure
from laserloop.report.record import (
    Record,
    capitalise,
    describe_counting,
    describe_lateness,
    describe_process,
    describe_reading,
    describe_run,
    find_interval,
    introduce,
    name_runs,
    predicts,
    read_other,
    write_headline,
)
from laserloop.report.run_figures import draw_comparison, draw_residual_map, draw_run, draw_tick_times
from laserloop.report.tables import SCORES, list_troubles
from laserloop.store import dump, save


@dataclass(frozen=True, slots=True)
class Plate:
    """A figure on the page, in the printers' sense of the word."""

    svg: Markup
    caption: str


def render(template: str, **facts: object) -> str:
    """The HTML text of a template, named by its place in the package; whatever is no Markup is escaped."""
    environment = Environment(
        loader=PackageLoader("laserloop", ""),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["symbols"] = _set_symbols
    return environment.get_template(template).render(
        version=version("laserloop"), python=platform.python_version(), **facts
    )


def make_plate(figure: Figure, prefix: str, caption: str) -> Plate:
    """The figure as inline SVG: its ink follows the page's colour, its names do not clash with another's."""
    stream = io.StringIO()
    with mpl.rc_context({"svg.fonttype": "none", "svg.hashsalt": prefix}):
        nothing = dict.fromkeys(("Date", "Creator", "Format", "Type"))
        figure.savefig(stream, format="svg", transparent=True, metadata=nothing, dpi=200)
    svg = stream.getvalue()
    head, body = svg[svg.index("<svg") :].split(">", 1)
    box = re.search(r'viewBox="[^"]*"', head)
    assert box is not None
    body = re.sub(r'(\bid="|url\(#|href="#)', rf"\g<1>{prefix}-", body).replace(INK, "currentColor")
    return Plate(Markup(f'<svg role="img" aria-label="{escape(caption)}" {box[0]}>{body}'), caption)


def _set_symbols(text: str) -> Markup:
    """T_max as it is written by hand, and no line break between a number and its unit."""
    joined = re.sub(r"(?<=\d) (?=(?:K|W|[mµ][ms])\b|%)", "\N{NO-BREAK SPACE}", str(escape(text)))
    return Markup(joined.replace("T_max", "T<sub>max</sub>"))


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


@dataclass(frozen=True, slots=True)
class _Chapter:
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
        story=[introduce(records), *map(describe_run, records, names)],
        also=also,
        picture=make_plate(draw_comparison(records), "all", f"T_max and power of {', '.join(names)}"),
        chapters=[_write_chapter(i, *pair) for i, pair in enumerate(zip(names, records, strict=True))],
        times=times,
        lateness=describe_lateness(records),
        counting=describe_counting(records),
        readings=_describe_readings(names, records),
        command=command,
    )


def _write_chapter(i: int, name: str, record: Record) -> _Chapter:
    residual = None
    if predicts(record):
        residual = make_plate(draw_residual_map(record), f"r{i}", f"Residual along the path, {name}")
    return _Chapter(
        name=capitalise(name),
        record=record,
        scores={score.name: score.show(record) for score in SCORES},
        troubles=list_troubles(record),
        notes=record.get("notes", ()),
        process=describe_process(record),
        history=make_plate(draw_run(record), f"h{i}", f"T_max and power over time, {name}"),
        residual=residual,
    )


def _describe_readings(names: Sequence[str], records: Sequence[Record]) -> str:
    """What T_max is here, and how high the other reading of the same surfaces goes."""
    own = " or ".join(dict.fromkeys(f"the {describe_reading(record)}" for record in records))
    others = [
        f"the {describe_reading(record, other=True)} reaches {read_other(record)['t_max_k']:.1f} K ({name})"
        for name, record in zip(names, records, strict=True)
        if read_other(record)["t_max_k"] is not None
    ]
    return f"T_max is {own}" + (f"; {', '.join(others)}." if others else ".")
