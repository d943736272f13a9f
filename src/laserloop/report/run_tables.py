"""Tables of closed-loop runs: what is scored, and how it is shown on a terminal."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from rich.box import SIMPLE_HEAD
from rich.table import Table
from rich.text import Text

from laserloop.report.run_record import (
    Record,
    completes,
    find_interval,
    find_troubles,
    name_model,
    name_runs,
    read_other,
    read_window,
    tell_counting,
    tell_reading,
)
from laserloop.report.run_story import show_kelvin, show_ms, show_percent

NOTHING = "–"


@dataclass(frozen=True, slots=True)
class Score:
    """A column of the table: its name, a narrow heading for the terminal, and how it reads in a record."""

    name: str
    heading: str
    show: Callable[[Record], str]


def _show(key: str, layout: str) -> Callable[[Record], str]:
    """How a number of a record is shown; None is a dash."""
    return lambda record: NOTHING if record[key] is None else format(record[key], layout)


SCORES = (
    Score("model", "model", lambda record: name_model(record) or NOTHING),
    Score("highest T_max, K", "T_max\nK", _show("t_max_k", ".1f")),
    Score("overshoot, K", "over\nK", lambda r: _show_excess(r["overshoot_k"])),
    Score("ticks over", "over\nticks", _show("n_over", "d")),
    Score("time over, ms", "over\nms", _show("over_ms", ".4g")),
    Score("below", "below", lambda record: show_percent(record["below_fraction"])),
    Score("mean power, W", "power\nW", _show("power_mean_w", ".2f")),
    Score("mean |ΔP|, W", "|ΔP|\nW", _show("power_step_mean_w", ".2f")),
    Score("median tick", "tick", lambda record: show_ms(record["tick_ms"]["median"])),
)


def tabulate_runs(records: Sequence[Record]) -> Table:
    """Several runs, a line each; below them every tick that was not simply solved."""
    table = Table(box=SIMPLE_HEAD, padding=(0, 1, 0, 0), show_edge=False, caption_justify="left")
    table.add_column("controller")
    for score in SCORES:
        is_model = score.name == "model"
        table.add_column(score.heading, justify="left" if is_model else "right", no_wrap=not is_model)
    names = name_runs(records)
    for name, record in zip(names, records, strict=True):
        table.add_row(Text(name), *(Text(score.show(record)) for score in SCORES))
    notes = [f"{name}: {note}" for name, r in zip(names, records, strict=True) for note in list_troubles(r)]
    table.caption = Text("\n".join(notes)) if notes else None
    return table


def tabulate_run(record: Record) -> Table:
    """One run, a line for each fact."""
    low, high = read_window(record)
    ticks = f"{record['ticks']} ticks of {show_ms(1e3 * find_interval(record))}"
    facts = {
        "path": f"{Path(record['path']).name}, {ticks}",
        "plant": record["plant"],
        "controller": record["controller"],
        **{score.name: score.show(record) for score in SCORES},
        "starts": _describe_starts(record),
        tell_reading(record, other=True): _describe_other(record),
        "residual": _describe_residual(record),
        "tick": _describe_times(record, "tick_ms"),
        "solver": _describe_times(record, "solve_ms") if record["solve_ms"]["max"] else NOTHING,
        "statuses": "; ".join(f"{count} × {status}" for status, count in record["statuses"].items()),
    }
    facts["below"] += f", by up to {_show_excess(record['deepest_below_k'])} K"
    if not completes(record):
        facts["ending"] = record["ending"]
    table = Table(box=None, show_header=False, padding=(0, 2, 0, 0), caption_justify="left")
    for name, fact in facts.items():
        table.add_row(Text(name, style="dim"), Text(fact))
    own = f"T_max is that of the {tell_reading(record)}."
    table.caption = Text(f"Window {low:g} to {high:g} K. {tell_counting([record])} {own}")
    return table


def list_troubles(record: Record) -> list[str]:
    """Statuses that were not simply solved, with their counts, and an ending before the end of the path."""
    troubles = [f"{count} × {status}" for status, count in find_troubles(record).items()]
    return troubles if completes(record) else [*troubles, record["ending"]]


def _describe_starts(record: Record) -> str:
    """The first ticks after the laser comes on; older runs do not tell."""
    if "starts" not in record:
        return NOTHING
    starts = record["starts"]
    ticks = starts["ticks_to_floor"]
    floor = "the window is not reached" if ticks is None else f"the window is reached by tick {ticks}"
    return f"{_show_excess(starts['over_k'])} K over; {floor}"


def _describe_other(record: Record) -> str:
    other = read_other(record)
    if other["t_max_k"] is None:
        return NOTHING
    below = show_percent(other["below_fraction"])
    return f"highest {other['t_max_k']:.1f} K, {other['n_over']} ticks over, {below} below"


def _describe_residual(record: Record) -> str:
    worst = record.get("worst_residual")
    if record["residual_rms_k"] is None or worst is None:
        return NOTHING
    rms, mean = record["residual_rms_k"], record["residual_mean_k"]
    where = f"({worst['x_mm']:.2f}, {worst['y_mm']:.2f}) mm, {worst['t_ms']:.2f} ms"
    return f"RMS {rms:.1f} K, mean {mean:+.1f} K, worst {worst['residual_k']:+.1f} K at {where}"


def _describe_times(record: Record, name: str) -> str:
    times = record[name]
    return ", ".join(f"{label} {show_ms(times[label])}" for label in ("median", "p95", "p99", "max"))


def _show_excess(kelvin: float | None) -> str:
    return NOTHING if kelvin is None else show_kelvin(kelvin)
