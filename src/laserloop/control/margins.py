"""Margins: how far T_max may lie above or below its prediction, promised for whole closed-loop runs.

A run's score is the farthest that the truth of any settled tick lay beyond its prediction. Runs drawn in the
same way are exchangeable, so the ⌈(n + 1)·level⌉-th smallest of n scores covers the next run with at least
that probability, whatever the distribution (split-conformal prediction, Vovk et al. 2005). Plans that keep
their predictions this far inside the window keep the truth in it.
"""

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from importlib.resources import files
from math import ceil, inf, isfinite
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from laserloop.bad_input import BadInput
from laserloop.process import Process

LEVEL = 0.95
SHELF = "margins"
ROUNDING = 1e-9  # so that 20 · 0.95 is 19, not a little more


@dataclass(frozen=True, slots=True, kw_only=True)
class Margins:
    """What a calibration promises: each of the two holds in a whole new run with probability `level`."""

    above: float  # K, by which no tick's T_max exceeds its prediction
    below: float  # K, by which none falls short of it
    level: float = LEVEL
    runs: int = 0  # that they were calibrated on

    def __post_init__(self) -> None:
        for name in ("above", "below"):
            value = getattr(self, name)
            if not (isfinite(value) and value >= 0):
                raise BadInput(
                    f"a margin must be a finite number of kelvin from 0 on, got {value!r} {name}: correct it"
                )

    def to_json(self) -> dict[str, Any]:
        """Plain numbers with their units."""
        numbers = asdict(self)
        return {f"{name}_k": numbers.pop(name) for name in ("above", "below")} | numbers

    @classmethod
    def from_json(cls, given: dict[str, Any]) -> "Margins":
        """The margins that `to_json` wrote."""
        try:
            above, below, level, runs = (given[name] for name in ("above_k", "below_k", "level", "runs"))
            return cls(above=float(above), below=float(below), level=float(level), runs=int(runs))
        except (KeyError, TypeError, ValueError):
            raise BadInput("margins must have above_k, below_k, level and runs: calibrate anew") from None


def find_quantile(scores: ArrayLike, level: float) -> float:
    """The least value that covers a new score with probability `level`; ∞ if too few are known."""
    return pick_quantile(np.sort(np.asarray(scores, dtype=float)), level)


def pick_quantile(rising: Sequence[float] | NDArray[np.float64], level: float) -> float:
    """The same of scores that rise already: the ⌈(n + 1)·level⌉-th of n, −∞ below the first."""
    rank = ceil((len(rising) + 1) * level - ROUNDING)
    if rank < 1:
        return -inf
    return float(rising[rank - 1]) if rank <= len(rising) else inf


def count_needed(level: float) -> int:
    """The fewest runs that can promise `level`."""
    return ceil(level / (1.0 - level) - ROUNDING)


def read_margins(file: Path, process: Process) -> Margins:
    """The margins in a file that calibrate wrote for this very process."""
    try:
        page = json.loads(file.read_text(encoding="utf-8"))
        theirs = Process.from_json(page["process"])
        found = Margins.from_json(page["margins"])
    except (OSError, ValueError, KeyError, TypeError) as error:
        what = f"cannot be read ({error.strerror})" if isinstance(error, OSError) else "is none"
        raise BadInput(
            f"margins must be a file that laserloop calibrate --process wrote, but {file} {what}: name "
            "another"
        ) from None
    if others := find_differences(process, theirs):
        raise BadInput(
            f"margins hold for the process they were calibrated on, but {file} is of one with another "
            f"{', '.join(others)}: run laserloop calibrate --process for this one"
        )
    return found


def find_margins(plant: str, process: Process) -> Margins | None:
    """The shipped margins that were calibrated on this plant for this process, or None."""
    for file in sorted((files("laserloop.control") / SHELF).iterdir(), key=lambda file: file.name):
        page = json.loads(file.read_text(encoding="utf-8")) if file.name.endswith(".json") else {}
        if page.get("plant") == plant and not find_differences(process, Process.from_json(page["process"])):
            return Margins.from_json(page["margins"])
    return None


def find_differences(process: Process, other: Process) -> list[str]:
    """What makes margins of the one worthless for the other: anything but names and the camera's dice."""
    return sorted(set(process.differences(other)) - {"name", "camera.seed"})
