"""Tables for the terminal: closed loops, episodes, plans, fits and replays."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.box import SIMPLE_HEAD
from rich.table import Table
from rich.text import Text

from laserloop.bad_input import plain
from laserloop.report.record import (
    Record,
    completes,
    describe_counting,
    describe_power,
    describe_reading,
    find_interval,
    find_troubles,
    name_model,
    name_runs,
    read_other,
    read_window,
    show_kelvin,
    show_ms,
    show_percent,
)

if TYPE_CHECKING:
    from laserloop.data.episode import Episode

MANY = 12  # layers; of more the table shows the ends

VERDICTS = {True: "yes", False: "NO", None: "not simulated"}
HEADINGS = {"point": "by point", "segment": "by segment", "vector": "by vector"}
FITTED = {
    "absorptivity": ("absorptivity", ".4f"),
    "diffusivity_factor": ("diffusivity, × the alloy's", ".4f"),
    "sigma_um": ("beam σ, µm", ".2f"),
    "gain": ("gain of the readings", ".4f"),
    "delay_ticks": ("camera's delay, ticks", ".2f"),
    "laser_lag_us": ("laser's lag, µs", ".1f"),
    "scanner_late_ticks": ("scanner late by, ticks", ".2f"),
    "offset_x_um": ("images' offset in x, µm", ".1f"),
    "offset_y_um": ("images' offset in y, µm", ".1f"),
}
NOTHING = "–"


@dataclass(frozen=True, slots=True)
class _Score:
    """A column of the table: its name, a narrow heading for the terminal, and how it reads in a record."""

    name: str
    heading: str
    show: Callable[[Record], str]


def _show(key: str, layout: str) -> Callable[[Record], str]:
    """How a number of a record is shown; None is a dash."""
    return lambda record: NOTHING if record[key] is None else format(record[key], layout)


SCORES = (
    _Score("model", "model", lambda record: name_model(record) or NOTHING),
    _Score("highest T_max, K", "T_max\nK", _show("t_max_k", ".1f")),
    _Score("overshoot, K", "over\nK", lambda r: _show_excess(r["overshoot_k"])),
    _Score("ticks over", "over\nticks", _show("n_over", "d")),
    _Score("time over, ms", "over\nms", _show("over_ms", ".4g")),
    _Score("below", "below", lambda record: show_percent(record["below_fraction"])),
    _Score("mean power, W", "power\nW", _show("power_mean_w", ".2f")),
    _Score("mean |ΔP|, W", "|ΔP|\nW", _show("power_step_mean_w", ".2f")),
    _Score("median tick", "tick", lambda record: show_ms(record["tick_ms"]["median"])),
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
        describe_reading(record, other=True): _describe_other(record),
        "residual": _describe_residual(record),
        "tick": _describe_times(record, "tick_ms"),
        "solver": _describe_times(record, "solve_ms") if record["solve_ms"]["max"] else NOTHING,
        "statuses": "; ".join(f"{count} × {status}" for status, count in record["statuses"].items()),
    }
    facts["below"] += f", by up to {_show_excess(record['deepest_below_k'])} K"
    if not completes(record):
        facts["ending"] = record["ending"]
    own = f"T_max is that of the {describe_reading(record)}."
    return _tabulate_facts(facts, f"Window {low:g} to {high:g} K. {describe_counting([record])} {own}")


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


def tabulate_episode(episode: "Episode") -> Table:
    """What one episode did, a line for each fact."""
    s, (low, high) = episode.summarise(), episode.settings.process.window
    k, tick = episode.hottest_tick, episode.settings.process.tick
    place = "({:.2f}, {:.2f}) mm".format(*episode.peak_positions[k] * 1e3)
    own = "peak between nodes" if episode.settings.subgrid else "hottest node"
    facts = {
        "path": f"{episode.path}, {len(episode)} ticks of {tick * 1e6:g} µs",
        "plant": f"{episode.plant}: {episode.grid}",
        "power": describe_power(episode),
        "T_max at nodes": _show_range(episode, episode.t_max),
        "T_max between nodes": _show_range(episode, episode.t_peak),
        "hottest": f"{episode.temperature[k]:.1f} K at {episode.t[k] * 1e3:.2f} ms near {place}",
        f"above {high:g} K": _show_ticks(s.above, s.ticks_above, tick),
        f"below {low:g} K": _show_ticks(s.below, s.ticks_below, tick),
        "absorbed": f"{episode.books['absorbed'] * 1e3:.2f} mJ",
        "plant step": f"{episode.ms_per_step:.2f} ms",
    }
    rule = (
        f"{s.ticks_above} settled ticks with the laser on count"
        if episode.plant == "paper"
        else "Above the window all lit ticks count, below it those in which full power could have reached it"
    )
    return _tabulate_facts(facts, f"{rule}; this plant's T_max is the {own}.")


def tabulate_verdicts(claims: Sequence[Mapping[str, Any]], note: str) -> Table:
    """The paper's claims, and what became of each."""
    headings = ("claim", "verdict", "ours (the paper's)")
    rows = [[claim[name] for name in ("key", "verdict", "figures")] for claim in claims]
    return _tabulate_rows(headings, rows, left=headings, caption=note)


def _tabulate_rows(
    headings: Sequence[str],
    rows: Sequence[Sequence[str]],
    *,
    left: Sequence[str] = (),
    caption: str = "",
) -> Table:
    """Columns under a rule; those of words stand at the left."""
    table = Table(box=SIMPLE_HEAD, caption=Text(caption) if caption else None, caption_justify="left")
    for heading in headings:
        table.add_column(heading, justify="left" if heading in left else "right")
    for row in rows:
        table.add_row(*map(Text, row))
    return table


def tabulate_numbers(numbers: Mapping[str, Any]) -> Table:
    """The plain numbers and words of a result."""
    return _tabulate_facts(
        {
            name: f"{value:.4g}" if isinstance(value, float) else str(value)
            for name, value in numbers.items()
            if isinstance(value, int | float | str)
        }
    )


def _tabulate_facts(facts: Mapping[str, str], caption: str | None = None) -> Table:
    """A line for each, without rules."""
    table = Table(box=None, show_header=False, padding=(0, 2, 0, 0), caption_justify="left")
    for name, fact in facts.items():
        table.add_row(Text(name, style="dim"), Text(fact))
    table.caption = None if caption is None else Text(caption)
    return table


def tabulate_replay(record: Mapping[str, Any]) -> Table:
    """What a replay met, and what would have been commanded."""
    frames, (low, high) = record["frames"], record["power_limits_w"]
    faults = ", ".join(f"{frames[name]} {name}" for name in frames if name != "readings")
    facts = {
        "log": f"{record['log']}, {record['ticks']} ticks",
        "controller": record["controller"],
        "readings": f"{frames['readings']}: {faults}",
        "would command": f"{record['commanded_min_w']:.2f} – {record['commanded_max_w']:.2f} W "
        f"(limits {low:g} – {high:g} W)",
        "beyond the limits": f"asked for in {record['asked_outside_limits']} ticks, given in none",
        "statuses": "; ".join(f"{n} × {status}" for status, n in record["statuses"].items()),
    }
    return _tabulate_facts(facts)


def _show_range(episode: "Episode", T: Any) -> str:
    return f"{T[episode.counts_below].min():.1f} – {T[episode.counts_above].max():.1f} K"


def _show_ticks(count: int, of: int, tick: float) -> str:
    return f"{count} of {of} ticks ({count * tick * 1e3:.2f} ms)"


def tabulate_fit(record: Mapping[str, Any]) -> Table:
    """Values and intervals."""
    caption = (
        f"{record['readings']} readings of {record['log']}; residual {record['residual_rms_k']:.1f} K RMS, "
        f"noise of a pixel {record['noise_k']:.1f} K; {record['plant_runs']} simulations on the graded plant."
    )
    rows = [
        (label, f"{fit['value']:{digits}}", f"{fit['low']:{digits}} – {fit['high']:{digits}}")
        if (fit := record[key]).get("told", True)
        else (label, "not told", "")
        for key, (label, digits) in FITTED.items()
        if key in record
    ]
    return _tabulate_rows(("", "value", "95 % interval"), rows, left=[""], caption=caption)


def tabulate_plan(record: Mapping[str, Any]) -> Table:
    """What one plan promises, and what came of it, a line for each fact."""
    facts = {
        "planned": f"{record['path']}, {HEADINGS[record['by']]}: {record['commands']} powers for "
        f"{record['vectors']} vectors, {record['ticks']} ticks{_describe_refined(record.get('refined', 0))}",
        "window": "{:g} – {:g} K".format(*record["window_k"]) + _note_reached(record),
        "planned T_max": _show_plan(record),
    }
    if "verified" in record:
        facts["simulated T_max"] = _show_plan(record["verified"]) + ", on graded"
    facts["holds"] = VERDICTS[record["holds"]]
    watts = record["power_w"]
    facts["power"] = f"{min(watts):.4g} – {max(watts):.4g} W, {record['power_means']}"
    saved = record["time_saved_s"]
    facts["time"] = show_ms(1e3 * record["time_s"]) + (
        f", {show_ms(1e3 * saved)} less" if saved > 1e-9 else ""
    )
    if len(record["layers"]) > 1:
        facts["layers"] = str(len(record["layers"]))
    facts["written"] = record["out"] + (f"; picture: {record['plot']}" if "plot" in record else "")
    return _tabulate_facts(facts)


def tabulate_layers(record: Mapping[str, Any]) -> Table:
    """A line for each layer; of many the first and the last."""
    simulated = ("simulated, K",) if "verified" in record else ()
    headings = ("layer", "vectors", "powers", "planned T_max, K", *simulated, "mean W", "ms")
    rows = [
        (
            *(str(count) for count in (k, layer["vectors"], layer["commands"])),
            _range(layer),
            *((_range_of_plant(layer),) if simulated else ()),
            f"{layer['power_mean_w']:.2f}",
            plain(1e3 * layer["time_s"], 4),
        )
        for k, layer in enumerate(record["layers"], start=1)
    ]
    if len(rows) > MANY:
        rows[MANY // 2 : -MANY // 2] = [("…",) * len(headings)]
    return _tabulate_rows(headings, rows)


def tabulate_parts(records: Sequence[Mapping[str, Any]]) -> Table:
    """A line for each file."""
    simulated = ("simulated, K",) if any("verified" in record for record in records) else ()
    planned = ("file", "layers", "vectors", "powers", "planned T_max, K")
    rows = [
        (
            record["path"],
            *(str(count) for count in (len(record["layers"]), record["vectors"], record["commands"])),
            _range(record),
            *((_range_of_plant(record),) if simulated else ()),
            VERDICTS[record["holds"]],
            plain(1e3 * record["time_s"], 4),
            record["out"],
        )
        for record in records
    ]
    return _tabulate_rows((*planned, *simulated, "holds", "ms", "written"), rows, left=("file", "written"))


def _note_reached(record: Mapping[str, Any]) -> str:
    """That a window is not reached at all, as simulated, else as planned."""
    scores, (low, high) = record.get("verified", record), record["window_k"]
    return ", NOT REACHED in any tick" if scores["t_max_k"] < low or scores["t_min_k"] > high else ""


def _describe_refined(rounds: int) -> str:
    return f", refined {'once' if rounds == 1 else f'{rounds} times'} on graded" if rounds else ""


def _show_plan(scores: Mapping[str, Any]) -> str:
    over, below = scores["n_over"], scores["below_fraction"]
    ticks = "1 tick" if over == 1 else f"{over} ticks"
    trouble = f"; {ticks} over, {show_percent(below)} below" if over or below else ""
    return f"{_range(scores)} K{trouble}"


def _range_of_plant(scores: Mapping[str, Any]) -> str:
    return _range(scores["verified"]) if "verified" in scores else "not simulated"


def _range(scores: Mapping[str, Any]) -> str:
    return f"{scores['t_min_k']:.1f} – {scores['t_max_k']:.1f}"
