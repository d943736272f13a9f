"""What a loop must survive: faults of images and of absorbed power, and controllers that answer late."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import ceil
from time import perf_counter

import numpy as np

from laserloop.bad_input import BadInput
from laserloop.control.controller import Action, Controller, Status, read_answer
from laserloop.paths.preview import Preview
from laserloop.plant import Image

Disturb = Callable[[int, Image], Image | None]
"""Tick and image in; the image that arrives out, None if none does."""
Drift = Callable[[int, float], float]
"""Tick and command in; the power that the plate gets as if it had been commanded out, W."""

FOR_EVER = 10**9  # ticks


@dataclass(frozen=True, slots=True)
class Span:
    """The ticks from `first` on that a fault lasts; with a `share`, as many of them, drawn by a seed."""

    first: int
    ticks: int = 1
    share: float = 1.0
    seed: int = 0

    def __contains__(self, k: int) -> bool:
        if not self.first <= k < self.first + self.ticks:
            return False
        return self.share >= 1.0 or bool(np.random.default_rng((self.seed, k)).random() < self.share)


def drop(span: Span) -> Disturb:
    """Images that do not arrive."""
    return lambda k, image: None if k in span else image


def blank(span: Span) -> Disturb:
    """Images full of NaN."""
    return lambda k, image: _change(image, np.full_like(image.temperature, np.nan)) if k in span else image


def saturate(span: Span, value: float = 65535.0) -> Disturb:
    """One pixel, the hottest, at the sensor's full scale."""

    def fault(k: int, image: Image) -> Image:
        if k not in span:
            return image
        temperature = image.temperature.copy()
        temperature.flat[int(np.argmax(temperature))] = value
        return _change(image, temperature)

    return fault


def freeze(span: Span) -> Disturb:
    """The same picture again and again, with new time stamps."""
    held: list[Image] = []

    def fault(k: int, image: Image) -> Image:
        if k not in span:
            held.clear()
            return image
        if not held:
            held.append(image)
            return image
        old = held[0]
        return Image(
            time=image.time,
            x=old.x,
            y=old.y,
            temperature=old.temperature,
            peak=old.peak,
            sampling=old.sampling,
            subgrid=old.subgrid,
        )

    return fault


def slow_down(every: int) -> Disturb:
    """A camera that gives an image only every so many ticks."""
    return lambda k, image: image if k % every == 0 else None


def weaken(span: Span, factor: float) -> Drift:
    """Power of which only a share arrives, as when absorptivity changes."""
    return lambda k, power: factor * power if k in span else power


IMAGE_FAULTS = {"drop": drop, "blank": blank, "saturate": saturate, "freeze": freeze}


@dataclass(frozen=True, slots=True, kw_only=True)
class Fault:
    """One fault as settings: of images by name, or of `absorbed` power."""

    kind: str  # drop, blank, saturate, freeze or absorbed
    first: int = 0  # tick
    ticks: int = FOR_EVER
    factor: float = 1.0  # of absorbed power
    share: float = 1.0  # of these ticks
    seed: int = 0  # of the dice that choose them

    def __post_init__(self) -> None:
        if not 0.0 <= self.share <= 1.0:
            raise BadInput(
                f"the share of ticks with a fault must lie between 0 and 1, got {self.share:g}: change it"
            )
        if self.kind not in (*IMAGE_FAULTS, "absorbed"):
            raise BadInput(
                f"a fault must be one of {', '.join(IMAGE_FAULTS)} or absorbed, got {self.kind!r}: choose one"
            )

    @property
    def disturb(self) -> Disturb | None:
        """What happens to images."""
        return IMAGE_FAULTS[self.kind](self.span) if self.kind in IMAGE_FAULTS else None

    @property
    def drift(self) -> Drift | None:
        """What happens to power."""
        return weaken(self.span, self.factor) if self.kind == "absorbed" else None

    @property
    def span(self) -> Span:
        """When."""
        return Span(self.first, self.ticks, self.share, self.seed)


def disturb_by(faults: Sequence[Fault], last: Disturb | None = None) -> Disturb | None:
    """What all of them do to images, one after another, and `last` after them."""
    given = [*(fault.disturb for fault in faults), last]
    chain = [disturb for disturb in given if disturb is not None]

    def disturb(k: int, image: Image) -> Image | None:
        arrived: Image | None = image
        for change in chain:
            arrived = None if arrived is None else change(k, arrived)
        return arrived

    return disturb if chain else None


def drift_by(faults: Sequence[Fault], last: Drift | None = None) -> Drift | None:
    """What all of them do to power, one after another, and `last` after them."""
    given = [*(fault.drift for fault in faults), last]
    chain = [drift for drift in given if drift is not None]

    def drift(k: int, power: float) -> float:
        for change in chain:
            power = change(k, power)
        return power

    return drift if chain else None


def _change(image: Image, temperature: "np.ndarray[tuple[int, ...], np.dtype[np.float64]]") -> Image:
    return image.with_temperature(temperature)


Pair = tuple[float, float] | None
Charge = Callable[[float], float]
"""Measured seconds of a decision in, seconds that it is charged with out."""


def draw_charges(times: Sequence[float]) -> Charge:
    """Each answer costs a time drawn from those measured, the same ones in every run; none cost nothing."""
    rng = np.random.default_rng(0)
    return (lambda _: float(rng.choice(np.asarray(times)))) if times else lambda _: 0.0


POLICIES = ("shift", "late")
IN_TIME = 1e-9  # of a tick, rounding


class DeadlineController:
    """Any controller, charged for its time.

    `policy`: a late plan is entered where it stands by then (shift), or from its first power on (late).
    `every`: so many powers of a plan are given before the next question is asked.
    """

    def __init__(
        self,
        controller: Controller,
        *,
        charge: Charge = lambda seconds: seconds,
        policy: str = "shift",
        every: int = 1,
        nominal: float = 0.0,  # W, before the first answer
    ) -> None:
        if policy not in POLICIES:
            raise BadInput(f"the policy must be one of {', '.join(POLICIES)}, got {policy!r}: choose one")
        if every < 1:
            raise BadInput(f"a plan must be followed for at least 1 tick, got {every}: choose 1 or more")
        self.name = getattr(controller, "name", type(controller).__name__)
        self._inner = controller
        self._charge = charge
        self._policy = policy
        self._every = every
        self._nominal = nominal
        self.reset()

    @property
    def horizon(self) -> int:
        """That of the controller."""
        return getattr(self._inner, "horizon", 1)

    @property
    def memory(self) -> int:
        """That of the controller."""
        return getattr(self._inner, "memory", 0)

    def reset(self) -> None:
        """Forget everything; the next tick is the first."""
        if hasattr(self._inner, "reset"):
            self._inner.reset()
        self._tick = -1
        self._asked = -self._every  # the tick of the latest question
        self._answer: tuple[int, Action] | None = None  # when it is there, and what it says
        self._plan = np.full(1, self._nominal)  # W, its first power was given last
        self._predicted = np.full(1, np.nan)
        self._kept: tuple[Pair, Pair] = None, None  # margins and window of the plan that is followed

    def act(self, image: Image | None, preview: Preview) -> Action:
        """Ask if there is time for it; give what is known by now."""
        self._tick += 1
        if self._answer is None and self._tick >= self._asked + self._every:
            began = perf_counter()
            answer = read_answer(self._inner.act(image, preview))
            took = self._charge(perf_counter() - began) / preview.tick
            self._asked = self._tick
            self._answer = self._tick + max(0, ceil(took - IN_TIME) - 1), answer
        if self._answer is not None and self._answer[0] <= self._tick:
            _, answer = self._answer
            self._answer = None
            return self._take(answer)
        return self._follow(Status.FOLLOWED if self._answer is None else Status.LATE)

    def _take(self, answer: Action) -> Action:
        """Begin the plan of an answer, in time or late."""
        age = self._tick - self._asked
        plan = answer.plan if len(answer.plan) else np.full(1, answer.power)
        skipped = min(age, len(plan) - 1) if self._policy == "shift" else 0
        self._plan = plan[skipped:]
        self._predicted = answer.predicted[skipped:] if age == skipped else np.empty(0)
        self._kept = answer.margins, answer.window
        return self._give(answer.status if age == 0 else Status.LATE, answer)

    def _follow(self, status: Status) -> Action:
        """One tick on in the plan, or its last power held."""
        held = len(self._plan) <= 1
        self._plan = self._plan if held else self._plan[1:]
        self._predicted = np.empty(0) if held else self._predicted[1:]
        return self._give(status, None)

    def _give(self, status: Status, answer: Action | None) -> Action:
        return Action(
            power=float(self._plan[0]),
            status=status,
            plan=self._plan,
            predicted=self._predicted,
            iterations=0 if answer is None else answer.iterations,
            solve_s=0.0 if answer is None else answer.solve_s,
            margins=self._kept[0],
            window=self._kept[1],
        )
