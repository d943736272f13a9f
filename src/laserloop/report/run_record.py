"""A closed-loop run as a report reads it: the object that `laserloop control --json` writes."""

from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from laserloop.loop.controllers import CONTROLLERS

Record = Mapping[str, Any]
FloatArray = NDArray[np.float64]
BoolArray = NDArray[np.bool_]

COMPLETED = "path completed"  # the ending of a run that nothing stopped
SOLVED = "solved"  # the status of a tick without trouble
DARK = "the path has the laser off here"  # and of one in which nothing was to be decided
READINGS = ("hottest node", "peak between the nodes")
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


def tell_counting(records: Sequence[Record]) -> str:
    """Which ticks of some runs count; a sentence for each rule."""
    runs_of: dict[str, list[str]] = {}
    for name, record in zip(name_runs(records), records, strict=True):
        runs_of.setdefault(_tell_rule(record), []).append(name)
    if len(runs_of) == 1:
        return next(iter(runs_of))
    return " ".join(f"{', '.join(names)}: {rule}" for rule, names in runs_of.items())


def _tell_rule(record: Record) -> str:
    """Which ticks of a run count."""
    if first := record["settled_from"]:
        anew = "" if all(record["series"].get("lit", ())) else " and anew after each dark move"
        return f"Counted from lit tick {first + 1} on{anew}."
    above, below = mark_counted(record)
    if (above == below).all():
        return "All lit ticks count."
    return "Above the window all lit ticks count, below it those in which full power could have reached it."


def tell_reading(record: Record, *, other: bool = False) -> str:
    """What T_max is on the plant of a run, or the `other` reading of the same surface."""
    return READINGS[_reads_peak(record) != other]


def read_other(record: Record) -> Mapping[str, Any]:
    """The scores on the reading that is not the plant's own."""
    scores: Mapping[str, Any] = record["node" if _reads_peak(record) else "peak"]
    return scores


def mark_over(record: Record) -> BoolArray:
    """Which ticks that count lie above the window."""
    return mark_counted(record)[0] & (read(record, "t_true_k") > read_window(record)[1])


def mark_late(record: Record) -> BoolArray:
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
