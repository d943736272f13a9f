"""What a loop must survive: faults of images and of absorbed power, and controllers that answer late."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from math import ceil
from time import perf_counter

import numpy as np

from laserloop.bad_input import BadInput
from laserloop.control.controller import Action, Controller, Guarded, Status, read_answer
from laserloop.paths.path import Preview
from laserloop.plant import Image

FOR_EVER = 10**9  # ticks
FULL_SCALE = 65535.0  # of a saturated pixel
KINDS = ("drop", "blank", "saturate", "freeze", "absorbed")


@dataclass(frozen=True, slots=True, kw_only=True)
class Fault:
    """One fault: of images, or of `absorbed` power; a share of its ticks is drawn by a seed.

    drop: images do not arrive; blank: they are full of NaN; saturate: their hottest pixel is at full scale;
    freeze: the same picture comes again and again, with new time stamps.
    """

    kind: str
    first: int = 0  # tick
    ticks: int = FOR_EVER
    factor: float = 1.0  # of absorbed power
    share: float = 1.0  # of these ticks
    seed: int = 0  # that chooses them

    def __post_init__(self) -> None:
        if not 0.0 <= self.share <= 1.0:
            raise BadInput(
                f"the share of ticks with a fault must lie between 0 and 1, got {self.share:g}: change it"
            )
        if self.kind not in KINDS:
            raise BadInput(
                f"a fault must be one of {', '.join(KINDS[:-1])} or absorbed, got {self.kind!r}: choose one"
            )

    def __contains__(self, k: int) -> bool:
        if not self.first <= k < self.first + self.ticks:
            return False
        return self.share >= 1.0 or bool(np.random.default_rng((self.seed, k)).random() < self.share)


class Faults:
    """All faults of a loop, one after another. For one of your own, write another `see` or `weaken`."""

    def __init__(self, *faults: Fault) -> None:
        self._faults = faults
        self.reset()

    def reset(self) -> None:
        """Before the first tick."""
        self._frozen: dict[int, Image] = {}  # by the number of the fault

    def see(self, k: int, image: Image) -> Image | None:
        """The image that arrives; None if none does."""
        arrived: Image | None = image
        for number, fault in enumerate(self._faults):
            if arrived is None:
                return None
            if k in fault:
                arrived = self._change(number, fault.kind, arrived)
            else:
                self._frozen.pop(number, None)
        return arrived

    def weaken(self, k: int, power: float) -> float:
        """The power that the plate gets as if it had been commanded, W."""
        for fault in self._faults:
            if fault.kind == "absorbed" and k in fault:
                power *= fault.factor
        return power

    def _change(self, number: int, kind: str, image: Image) -> Image | None:
        match kind:
            case "drop":
                return None
            case "blank":
                return image.with_temperature(np.full_like(image.temperature, np.nan))
            case "saturate":
                temperature = image.temperature.copy()
                temperature.flat[int(np.argmax(temperature))] = FULL_SCALE
                return image.with_temperature(temperature)
            case "freeze":
                return replace(self._frozen.setdefault(number, image), time=image.time)
        return image


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
        known = Guarded(controller)
        self.name, self.horizon, self.memory = known.name, known.horizon, known.memory
        self._inner = controller
        self._charge = charge
        self._policy = policy
        self._every = every
        self._nominal = nominal
        self.reset()

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
