"""Closed-loop runs as a report reads and tells them: every number in a sentence is read from the records.

A record is the object that `laserloop control --json` writes.
"""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from laserloop.bad_input import plain
from laserloop.loop.controllers import CONTROLLERS

if TYPE_CHECKING:
    from laserloop.data.episode import Episode

Record = Mapping[str, Any]
FloatArray = NDArray[np.float64]
BoolArray = NDArray[np.bool_]

COMPLETED = "path completed"  # the ending of a run that nothing stopped
SOLVED = "solved"  # the status of a tick without trouble
DARK = "the path has the laser off here"  # and of one in which nothing was to be decided
READINGS = ("hottest node", "peak between the nodes")
AFTERMATH = 2e-3  # s after a sharp turn, by when the extra heat has spread
NUMERALS = ("No", "One", "Two", "Three", "Four", "Five", "Six")
LONGEST_NAME = 36  # characters; a legend has no room for more


def read(record: Record, name: str) -> FloatArray:
    """One column of the series; NaN where it holds None."""
    return np.array(record["series"][name], dtype=np.float64)


def read_window(record: Record) -> tuple[float, float]:
    """Where T_max was wanted, K."""
    low, high = record["window_k"]
    return float(low), float(high)


def read_margin(record: Record) -> float:
    """δ: how far below the top of the window the plans stayed, K; 0 if nothing was planned."""
    return float(record.get("delta_k") or 0.0)


def find_interval(record: Record) -> float:
    """The control interval, s: the usual distance of two ticks."""
    t = read(record, "t_s")
    return float(np.median(np.diff(t))) if len(t) > 1 else float(t.sum())


def find_residual(record: Record) -> FloatArray:
    """Prediction minus truth, K; NaN in ticks that do not count and where nothing was predicted."""
    residual = read(record, "t_predicted_k") - read(record, "t_true_k")
    return np.where(mark_counted(record)[0], residual, np.nan)


def find_sharp_turns(record: Record) -> NDArray[np.intp]:
    """The ticks of the sharp turns; one in the very first tick cannot be told from its end."""
    from laserloop.data.episode import find_turns

    return find_turns(np.column_stack((read(record, "x_mm"), read(record, "y_mm")))) + 1


def mark_counted(record: Record) -> tuple[BoolArray, BoolArray]:
    """Which ticks count above and below the window.

    In older runs both were the same: a column `settled`, or all ticks from `settled_from` on.
    """
    series = record["series"]
    if "counts_above" in series:
        above, below = (np.array(series[f"counts_{side}"], dtype=np.bool_) for side in ("above", "below"))
        return above, below
    if "settled" in series:
        settled = np.array(series["settled"], dtype=np.bool_)
    else:
        settled = np.arange(len(series["t_s"])) >= record["settled_from"]
    return settled, settled


def mark_judged(record: Record) -> BoolArray:
    """Which ticks lie where the window says something about them: those below, and what is above it."""
    return mark_counted(record)[1] | mark_over(record)


def describe_counting(records: Sequence[Record]) -> str:
    """Which ticks of some runs count; a sentence for each rule."""
    runs_of: dict[str, list[str]] = {}
    for name, record in zip(name_runs(records), records, strict=True):
        runs_of.setdefault(_describe_rule(record), []).append(name)
    if len(runs_of) == 1:
        return next(iter(runs_of))
    return " ".join(f"{', '.join(names)}: {rule}" for rule, names in runs_of.items())


def _describe_rule(record: Record) -> str:
    """Which ticks of a run count."""
    if first := record["settled_from"]:
        anew = "" if all(record["series"].get("lit", ())) else " and anew after each dark move"
        return f"Counted from lit tick {first + 1} on{anew}."
    above, below = mark_counted(record)
    if (above == below).all():
        return "All lit ticks count."
    return "Above the window all lit ticks count, below it those in which full power could have reached it."


def describe_reading(record: Record, *, other: bool = False) -> str:
    """What T_max is on the plant of a run, or the `other` reading of the same surface."""
    return READINGS[_reads_peak(record) != other]


def read_other(record: Record) -> Mapping[str, Any]:
    """The scores on the reading that is not the plant's own."""
    scores: Mapping[str, Any] = record["node" if _reads_peak(record) else "peak"]
    return scores


def mark_over(record: Record) -> BoolArray:
    """Which ticks that count lie above the window."""
    return mark_counted(record)[0] & (read(record, "t_true_k") > read_window(record)[1])


def _mark_late(record: Record) -> BoolArray:
    """Which decisions took longer than the control interval."""
    return read(record, "tick_ms") > 1e3 * find_interval(record)


def predicts(record: Record) -> bool:
    """Did this controller, in ticks that count, say in advance what would happen?"""
    return bool(np.isfinite(find_residual(record)).any())


def completes(record: Record) -> bool:
    """Was the path followed to its end?"""
    return bool(record.get("ending", COMPLETED) == COMPLETED)


def keeps(record: Record) -> bool:
    """Did T_max stay at or below the top of the window until the end of the path?"""
    return record["n_over"] == 0 and record["t_max_k"] is not None and completes(record)


def find_troubles(record: Record) -> dict[str, int]:
    """How many ticks ended with which status, of those that were neither dark nor simply solved."""
    return {status: count for status, count in record["statuses"].items() if status not in (SOLVED, DARK)}


def describe_process(record: Record) -> str:
    """Name, alloy, beam, laser, window and tick of the process in a line; nothing if the run does not say."""
    process = record.get("process")
    if process is None:
        return ""
    beam, (low, high), (least, most) = process["beam"], process["window_k"], process["laser"]["power_w"]
    return (
        f"{process['name']}: alloy {process['material']['name']}, beam σ {beam['sigma_um']:g} µm, "
        f"absorptivity {beam['absorptivity']:g}, laser {least:g} to {most:g} W, "
        f"window {low:g} to {high:g} K, tick {process['tick_us']:g} µs"
    )


def name_model(record: Record) -> str:
    """The model and its margin in a few words, or nothing."""
    model, margin = record.get("model"), read_margin(record)
    words = [_tidy(Path(model).name or model)] if model else []
    return ", ".join([*words, f"δ {margin:.3g} K"] if margin else words)


def name_runs(records: Sequence[Record]) -> list[str]:
    """A name for each run, no two the same: its label, else its controller, with the model where needed."""
    short = [_tidy(record.get("label") or _speak(record)) for record in records]
    names = [
        f"{name} ({name_model(record)})" if short.count(name) > 1 and name_model(record) else name
        for name, record in zip(short, records, strict=True)
    ]
    twins, seen = Counter(names), Counter[str]()
    for i, name in enumerate(names):
        if twins[name] > 1:
            seen[name] += 1
            names[i] = f"{name} #{seen[name]}"
    return names


def _reads_peak(record: Record) -> bool:
    """Whether T_max is the peak between the nodes; a run that does not say took the hottest node."""
    return bool(record.get("reading", "node") == "peak")


def _speak(record: Record) -> str:
    controller: str = record["controller"]
    return CONTROLLERS[controller].label if controller in CONTROLLERS else controller


def _tidy(name: str) -> str:
    name = " ".join(name.split())
    return name if len(name) <= LONGEST_NAME else f"{name[: LONGEST_NAME - 1]}…"


def write_headline(records: Sequence[Record]) -> str:
    """Who kept the upper bound, in one line."""
    names = {True: list[str](), False: list[str]()}
    for name, record in zip(name_runs(records), records, strict=True):
        names[keeps(record)].append(name)
    keeping, others = names[True], names[False]
    if len(records) > 1 and not keeping:
        return "No controller keeps the upper bound"
    clauses = [f"{_join(keeping)} keep{'s' * (len(keeping) == 1)} the upper bound"] if keeping else []
    if others:
        clause = f"{_join(others)} do{'es' * (len(others) == 1)} not"
        clauses.append(clause if keeping else f"{clause} keep the upper bound")
    return capitalise("; ".join(clauses))


def introduce(records: Sequence[Record]) -> str:
    """What was asked of the controllers."""
    n = len(records)
    paths = dict.fromkeys(Path(record["path"]).name for record in records)
    plants = dict.fromkeys(str(record["plant"]) for record in records)
    who = f"{NUMERALS[n] if n < len(NUMERALS) else n} controller{'s' * (n != 1)}"
    interval = find_interval(records[0])
    every = f" every {show_ms(1e3 * interval)}" if interval else ""
    return (
        f"{who} {'set' if n != 1 else 'sets'} the power of a laser{every} on the path {' or '.join(paths)} "
        f"of the {' or '.join(plants)} plant. T_max, the hottest point of the surface, must not exceed "
        f"{_top(records)} and should not fall below {_foot(records)}."
    )


def describe_run(record: Record, name: str | None = None) -> str:
    """What one controller achieved; `name`: what this run is called among others."""
    subject = capitalise((name or name_runs([record])[0]) + _describe_planning(record))
    if record["t_max_k"] is None:
        return f"{subject} finished no tick: {record.get('ending', 'the run is empty')}."
    text = (
        f"{subject} reaches {record['t_max_k']:.1f} K at most: {_count_hot(record)}, {_count_cold(record)}."
    )
    if not completes(record):
        text += f" It ended early: {record['ending'].rstrip('.')}."
    for status, count in find_troubles(record).items():
        text += f" {_ticks(count)}: {status}."
    return text


def describe_lateness(records: Sequence[Record]) -> str:
    """How many decisions a real machine could not have waited for."""
    late = [
        f"{int(_mark_late(r).sum())} of {len(_mark_late(r))} by {name}"
        for name, r in zip(name_runs(records), records, strict=True)
        if _mark_late(r).any()
    ]
    if not late:
        return "Every decision was ready before its tick was over."
    return (
        f"Decisions that took longer than a tick: {_join(late)}. A real machine cannot wait; this plant did."
    )


def _count_hot_after_turns(record: Record) -> int:
    """How many of the ticks above the window lie within 2 ms after a sharp turn."""
    t = read(record, "t_s")
    since = t[:, None] - t[None, find_sharp_turns(record)]
    return int(np.count_nonzero(mark_over(record) & np.any((since >= 0) & (since <= AFTERMATH), axis=1)))


def show_ms(ms: float) -> str:
    """A time in the unit that suits it."""
    if ms < 1:
        return f"{ms * 1e3:.3g} µs"
    return f"{ms:.3g} ms" if ms < 1e3 else f"{plain(ms / 1e3)} s"


def show_percent(fraction: float) -> str:
    """A share that says none and all only when it is none and all."""
    if 0 < fraction < 0.01:
        return "<1 %"
    return ">99 %" if 0.99 < fraction < 1 else f"{100 * fraction:.0f} %"


def show_kelvin(kelvin: float) -> str:
    """A difference that says zero only when it is zero."""
    return "<0.1" if 0 < kelvin < 0.05 else f"{kelvin:.1f}"


def capitalise(text: str) -> str:
    """The first letter large, the others as they are."""
    return text[:1].upper() + text[1:]


def _describe_planning(record: Record) -> str:
    margin = f" and {read_margin(record):.3g} K of margin" if read_margin(record) else ""
    if record.get("model"):
        return f", planning with {Path(record['model']).name}{margin},"
    if record["controller"] == "oracle":
        return f", planning on the plant itself{margin.replace(' and', ' with')},"
    return ""


def _count_hot(record: Record) -> str:
    over = record["n_over"]
    if not over:
        return "no tick is too hot"
    text = f"{_ticks(over)} ({record['over_ms']:.4g} ms) {'is' if over == 1 else 'are'} too hot"
    if (start := record.get("starts", {}).get("over_k")) and not record["settled_from"]:
        text += f", by up to {show_kelvin(start)} K just after the laser came on"
    after = _count_hot_after_turns(record)
    if not after:
        return text
    which = "within" if after == over == 1 else "all within" if after == over else f"{after} of them within"
    return f"{text}, {which} 2 ms after a sharp turn"


def _count_cold(record: Record) -> str:
    share, deepest = record["below_fraction"], record["deepest_below_k"]
    if not share:
        return "and none is too cold"
    return f"and {show_percent(share)} are too cold, by up to {show_kelvin(deepest)} K"


def _top(records: Sequence[Record]) -> str:
    return _shared(records, lambda r: f"{read_window(r)[1]:g} K", "the top of its window")


def _foot(records: Sequence[Record]) -> str:
    return _shared(records, lambda r: f"{read_window(r)[0]:g} K", "the foot of its window")


def _shared(records: Sequence[Record], show: Callable[[Record], str], otherwise: str) -> str:
    shown = {show(record) for record in records}
    return shown.pop() if len(shown) == 1 else otherwise


def _ticks(count: int) -> str:
    return f"{count} tick{'s' * (count != 1)}"


def _join(words: Sequence[str]) -> str:
    return " and ".join([", ".join(words[:-1]), words[-1]] if len(words) > 1 else words)


def describe_power(episode: "Episode") -> str:
    """The power of an episode in a few words."""
    low, high = float(episode.power.min()), float(episode.power.max())
    return f"constant {low:g} W" if low == high else f"{low:.3g}–{high:.3g} W"
