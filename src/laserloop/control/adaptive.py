"""Margins that follow what is seen, by adaptive conformal inference (Gibbs and Candès 2021).

α  the share of scores that may lie beyond the margin next; it falls after each that did and rises after each
that did not, so that in the long run the share is 1 − level whatever the plant does: drift, noise, wear.
"""

from bisect import bisect_left, insort
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import inf, isfinite
from typing import Protocol, runtime_checkable

from laserloop.control.action import Action, Controller
from laserloop.control.margins import LEVEL, Margins, count_needed, pick_quantile
from laserloop.control.problem import ROOM
from laserloop.paths.preview import Preview
from laserloop.plant.camera import Image


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
        return pick_quantile(self._sorted, 1.0 - self.alpha)

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
class Adjustable(Controller, Protocol):
    """A controller that tells how wrong it was and takes margins between ticks."""

    @property
    def surprise(self) -> float:
        """T_max of the newest image over what was expected of it, K; NaN if nothing was compared."""

    def set_margins(self, above: float, below: float) -> None:
        """Keep predictions this far inside the window, K, from the next tick on."""

    def set_window(self, low: float, high: float) -> None:
        """Aim at another window, K, from the next tick on."""


class AdaptiveController:
    """A controller whose margins follow its own surprises; never wider than `most`, K."""

    def __init__(
        self,
        inner: Adjustable,
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
        surprise = self.inner.surprise
        if isfinite(surprise):
            self._above.learn(surprise)
            self._below.learn(-surprise)
            self.inner.set_margins(*self.margins)
        return action
