"""Margins: how far T_max may lie above or below its prediction, promised for whole closed-loop runs.

A run's score is the farthest that the truth of any settled tick lay beyond its prediction. Runs drawn in the
same way are exchangeable, so the ⌈(n + 1)·level⌉-th smallest of n scores covers the next run with at least
that probability, whatever the distribution (split-conformal prediction, Vovk et al. 2005). Plans that keep
their predictions this far inside the window keep the truth in it.

Margins that follow what is seen, by adaptive conformal inference (Gibbs and Candès 2021).

α  the share of scores that may lie beyond the margin next; it falls after each that did and rises after each
that did not, so that in the long run the share is 1 − level whatever the plant does: drift, noise, wear.
"""

import json
from bisect import bisect_left, insort
from collections import deque
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from importlib.resources import files
from math import ceil, inf, isfinite
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import ArrayLike, NDArray

from laserloop.bad_input import BadInput
from laserloop.control.controller import Action, Controller
from laserloop.control.problem import ROOM, MpcProblem
from laserloop.paths.path import Preview
from laserloop.plant.camera import Image
from laserloop.process import Process

LEVEL = 0.95
FOLDER = "margins"
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
    def from_json(cls, content: dict[str, Any]) -> "Margins":
        """The margins that `to_json` wrote."""
        try:
            above, below, level, runs = (content[name] for name in ("above_k", "below_k", "level", "runs"))
            return cls(above=float(above), below=float(below), level=float(level), runs=int(runs))
        except (KeyError, TypeError, ValueError):
            raise BadInput("margins must have above_k, below_k, level and runs: calibrate anew") from None


def find_quantile(scores: ArrayLike, level: float) -> float:
    """The least value that covers a new score with probability `level`; ∞ if too few are known."""
    return _pick_quantile(np.sort(np.asarray(scores, dtype=float)), level)


def _pick_quantile(rising: Sequence[float] | NDArray[np.float64], level: float) -> float:
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
        margins = Margins.from_json(page["margins"])
    except (OSError, ValueError, KeyError, TypeError) as error:
        what = f"cannot be read ({error.strerror})" if isinstance(error, OSError) else "is none"
        raise BadInput(
            f"margins must be a file that laserloop calibrate --process wrote, but {file} {what}: name "
            "another"
        ) from None
    if others := _find_differences(process, theirs):
        raise BadInput(
            f"margins hold for the process they were calibrated on, but {file} is of one with another "
            f"{', '.join(others)}: run laserloop calibrate --process for this one"
        )
    return margins


def find_margins(plant: str, process: Process) -> Margins | None:
    """The shipped margins that were calibrated on this plant for this process, or None."""
    for file in sorted((files("laserloop.control") / FOLDER).iterdir(), key=lambda file: file.name):
        page = json.loads(file.read_text(encoding="utf-8")) if file.name.endswith(".json") else {}
        if page.get("plant") == plant and not _find_differences(process, Process.from_json(page["process"])):
            return Margins.from_json(page["margins"])
    return None


def _find_differences(process: Process, other: Process) -> list[str]:
    """What makes margins of the one worthless for the other: anything but names and the camera's dice."""
    return sorted(set(process.differences(other)) - {"name", "camera.seed"})


@dataclass(frozen=True, slots=True, kw_only=True)
class AdaptiveSettings:
    """How a margin follows its scores."""

    level: float = LEVEL  # share of scores that lie within the margin
    rate: float = 0.01  # γ, by which α moves with each score; larger follows faster and swings more
    memory: int = 400  # scores that the margin is read from; fewer follow faster


class AdaptiveMargin:
    """One-sided: the margin that the next score stays within, learned from one score after another."""

    def __init__(
        self, settings: AdaptiveSettings, *, start: float = inf, scores: Sequence[float] = ()
    ) -> None:
        """`start`: the margin, K, while too few scores are known to tell; `scores`: those known before."""
        self._settings = settings
        self._start = start
        self._known = list(scores)[-settings.memory :]
        self.reset()

    def reset(self) -> None:
        """Back to what was known before."""
        self.alpha = 1.0 - self._settings.level
        self._recent = deque(self._known)
        self._sorted = sorted(self._known)

    @property
    def margin(self) -> float:
        """The ⌈(n + 1)(1 − α)⌉-th smallest of the n scores known; ∞ where there is none of that rank."""
        if len(self._sorted) < count_needed(self._settings.level):
            return self._start
        return _pick_quantile(self._sorted, 1.0 - self.alpha)

    def learn(self, score: float) -> None:
        """Judge the margin by the score that it was for, then keep the score."""
        s = self._settings
        missed = not score <= self.margin
        self.alpha += s.rate * ((1.0 - s.level) - missed)  # by itself it stays within rate of 0 to 1
        self._recent.append(score)
        insort(self._sorted, score)
        if len(self._recent) > s.memory:
            del self._sorted[bisect_left(self._sorted, self._recent.popleft())]


@runtime_checkable
class _Adjustable(Controller, Protocol):
    """A controller that tells how wrong it was and takes margins between ticks."""

    @property
    def innovation(self) -> float:
        """T_max of the newest image over what was expected of it, K; NaN if nothing was compared."""

    def set_margins(self, above: float, below: float) -> None:
        """Keep predictions this far inside the window, K, from the next tick on."""

    def set_window(self, low: float, high: float) -> None:
        """Aim at another window, K, from the next tick on."""


class AdaptiveController:
    """A controller whose margins follow its own innovations; never wider than `most`, K."""

    def __init__(
        self,
        inner: _Adjustable,
        *,
        start: Margins,
        most: float,
        settings: AdaptiveSettings | None = None,
    ) -> None:
        self.inner = inner
        self.name, self.horizon, self.memory = inner.name, inner.horizon, inner.memory
        self.notes = (*getattr(inner, "notes", ()), "the margins follow what the camera sees")
        self._most = most
        self._start = start
        settings = settings or AdaptiveSettings(level=start.level)
        self._above = AdaptiveMargin(settings, start=start.above)
        self._below = AdaptiveMargin(settings, start=start.below)

    @property
    def margins(self) -> tuple[float, float]:
        """Above and below, K, of the next tick."""
        above, below = (min(max(side.margin, 0.0), self._most) for side in (self._above, self._below))
        return above, below

    def set_window(self, low: float, high: float) -> None:
        """Aim at another window, K, from the next tick on; margins for which it has no room shrink."""
        self._most = ROOM * 0.5 * (high - low)
        self.inner.set_window(low, high)
        self.inner.set_margins(*self.margins)

    def reset(self) -> None:
        """Forget everything; the next tick is the first."""
        self.inner.reset()
        self._above.reset()
        self._below.reset()
        self.inner.set_margins(*self.margins)

    def act(self, image: Image | None, preview: Preview) -> Action:
        """Decide the power of the coming tick, then learn from the image."""
        action = replace(self.inner.act(image, preview), margins=self.margins)
        innovation = self.inner.innovation
        if isfinite(innovation):
            self._above.learn(innovation)
            self._below.learn(-innovation)
            self.inner.set_margins(*self.margins)
        return action


def adapt(controller: Controller, problem: MpcProblem) -> Controller:
    """The same controller with margins that follow what it sees, beginning with those of the problem."""
    if not isinstance(controller, _Adjustable):
        raise BadInput(
            f"adaptive margins need the compiled twin, but {controller.name} is not: install a C compiler, "
            "or leave them fixed"
        )
    start = Margins(above=problem.margin_above, below=problem.margin_below)
    return AdaptiveController(controller, start=start, most=ROOM * problem.half_width)
