"""Scores of a run: one row of plain numbers, all from its record, over the lit ticks that count.

Above the window every lit tick does, below it what full power could have reached; how far T_max was from the
window's middle is of those that count below, and of any that lay above.

What a clock said is a row of its own, so that the rest is the same on every machine.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from laserloop.control import Status
from laserloop.loop import COMPLETED
from laserloop.paths import mark_settled
from laserloop.report import mark_counted
from laserloop.studies.arena.tasks import Task, find_task

FloatArray = NDArray[np.float64]
Row = dict[str, Any]

ABOVE = 99.9  # percentile of decision times
REFUSED = (Status.NOT_FINITE, Status.NO_ACTION, Status.RAISED, Status.GONE)  # answers that were none


def score_record(record: Mapping[str, Any]) -> Row:
    """How far T_max was from the window's middle, with the time of decisions charged and without."""
    free = measure_record(record)
    charged = record.get("charged", free)  # what is not late is the same run
    return free | {
        "charged_rms_k": charged["rms_k"],
        "charged_outside_fraction": charged["outside_fraction"],
        "charged_settled_rms_k": charged["settled_rms_k"],
    }


def measure_record(record: Mapping[str, Any]) -> Row:
    """How far T_max was from the window's middle and beyond its bounds, and what that took."""
    task = find_task(record["task"])
    low, high = record["window_k"]
    (T, above, below), series = read_counted(record, task), record["series"]
    over, short = above & (high < T), below & (low > T)
    off, outside = (T - 0.5 * (low + high))[below | over], over | short
    settled = mark_settled(
        np.append(np.array(series["lit"], dtype=bool), np.ones(len(T) - len(series["lit"]), bool))
    )
    tick = record["process"]["tick_us"] * 1e-6
    statuses = record["statuses"]
    return name_row(record, task) | {
        "ticks": len(off),
        "outside": int(outside.sum()),
        "outside_fraction": float(outside.sum() / len(off)),
        "below_fraction": float(short.sum() / np.sum(below)),
        "above_k": float((T - high)[above].max(initial=0.0)),
        "below_k": float((low - T)[below].max(initial=0.0)),
        "start_over_k": record.get("starts", {}).get("over_k"),
        "excursion_k": float(np.abs(off).max()),
        "rms_k": float(np.sqrt(np.mean(off**2))),
        "settled_rms_k": float(np.sqrt(np.mean((T - 0.5 * (low + high))[settled] ** 2)))
        if settled.any()
        else None,
        "residual_rms_k": record["residual_rms_k"],
        "step_mean_w": record["power_step_mean_w"],
        "energy_mj": float(1e3 * tick * np.sum(series["power_w"])),
        "clipped": record["clipped"],
        "refused": sum(statuses.get(str(status), 0) for status in REFUSED),
        "completed": record["ending"] == COMPLETED,
    }


def clock_record(record: Mapping[str, Any]) -> Row:
    """How long decisions took, and how many took longer than a tick."""
    series, tick_ms = record["series"], record["process"]["tick_us"] * 1e-3
    times = np.array(series["tick_ms"])[np.array(series["lit"], dtype=bool)]
    p50, p999 = np.percentile(times, (50.0, ABOVE)) if len(times) else (np.nan, np.nan)
    return name_row(record, find_task(record["task"])) | {
        "decision_p50_us": float(1e3 * p50),
        "decision_p999_us": float(1e3 * p999),
        "missed_fraction": float(np.mean(times > tick_ms)) if len(times) else 1.0,
        "cpu_s": record.get("cpu_s"),
        "charged_us": record.get("decision_us"),
    }


def name_row(record: Mapping[str, Any], task: Task) -> Row:
    """Who, where."""
    return {
        "entrant": record["entrant"],
        "task": task.name,
        "family": task.family,
        "process": task.process,
        "level": task.level,
        "seed": task.seed,
        "split": task.split,
    }


def read_counted(
    record: Mapping[str, Any], task: Task
) -> tuple[FloatArray, NDArray[np.bool_], NDArray[np.bool_]]:
    """T_max of each tick, K, and which count above and below; ticks that were not done are cold."""
    T = np.array(record["series"]["t_true_k"], dtype=float)
    above, below = mark_counted(record)
    if record["ending"] == COMPLETED:
        return T, above, below
    rest = task.make_case().find_path().lit[len(T) :]
    cold = np.full(len(rest), task.find_process().ambient)
    return np.append(T, cold), np.append(above, rest), np.append(below, rest)
