"""Controllers that predict nothing, and their gains: constant power, PI, and feed-forward along the path.

PI: e = setpoint − T_max      P = P₀ + K_p (e + 1/T_i ∫e dt), held inside the power bounds

Feed-forward: less power where the beam comes back to where it has just been. No camera needed.
D_k = Σ_j exp(−(t_k − t_j)/τ) exp(−|ξ_k − ξ_j|²/2r²)      dwell, over the lit ticks j before k
P_k = P₀ (1 − κ (D_k/D_line − 1)), D_line the dwell of a straight line at the same speed that was lit as long
"""

import json
import math
from dataclasses import asdict, dataclass, replace
from importlib.resources import files
from typing import Any

import numpy as np

from laserloop.bad_input import BadInput
from laserloop.control.controller import Action, ImageValidator, Status
from laserloop.paths.path import Preview
from laserloop.plant.camera import Image
from laserloop.process import Process


class ConstantController:
    """Looks at nothing."""

    name = "constant"
    horizon = 1
    memory = 0

    def __init__(self, power: float) -> None:
        if not (math.isfinite(power) and power >= 0):
            raise BadInput(f"the power must be a finite number of at least 0 W, got {power}: change it")
        self.power = power

    def reset(self) -> None:
        """Nothing to forget."""

    def act(self, image: Image | None, preview: Preview) -> Action:
        """The same power as ever."""
        return Action(power=self.power, status=Status.SOLVED)


@dataclass(frozen=True, slots=True, kw_only=True)
class PiGains:
    """Found by `tune_pi` for one plant and window; they do not carry over to others."""

    setpoint: float  # K
    bias: float  # P₀, W, what a straight line needs
    gain: float  # K_p, W/K; larger is faster, until it swings
    reset_time: float  # T_i, s; larger is slower and calmer


class PiController:
    """Anti-windup by conditional integration: a saturated laser does not wind the integral further up."""

    name = "pi"
    horizon = 1
    memory = 0

    def __init__(
        self, gains: PiGains, power: tuple[float, float], window: tuple[float, float] | None = None
    ) -> None:
        """`window`, K: the one that the gains were tuned for, if another may be set later."""
        self.gains = gains
        self._power = power
        self._window = window
        self._validator = ImageValidator()
        self.reset()

    def set_window(self, low: float, high: float) -> None:
        """Hold the same place in another window, K, from the next tick on; gain and bias stay."""
        if self._window is None:
            raise BadInput("a PI controller must know its window before it takes another: give it one")
        before = self._window
        share = (self.gains.setpoint - before[0]) / (before[1] - before[0])
        self.gains = replace(self.gains, setpoint=low + share * (high - low))
        self._window = low, high

    def reset(self) -> None:
        """Forget everything; the next tick is the first."""
        self._validator.reset()
        self._integral = 0.0  # K s
        self._last: float | None = None  # W

    def act(self, image: Image | None, preview: Preview) -> Action:
        """Decide the power of the coming tick; without a credible image the last one is held."""
        good, mended = self._validator.judge(image)
        low, high = self._power
        if good is None:
            if self._last is None:
                return Action(power=low, status=Status.EXHAUSTED)
            return Action(power=self._last, status=Status.BLIND)
        gains = self.gains
        error = gains.setpoint - good.peak.temperature
        integral = self._integral + error * preview.tick
        wanted = gains.bias + gains.gain * (error + integral / gains.reset_time)
        power = min(max(wanted, low), high)
        heated = preview.lit[0]  # without light no power is to blame for the error
        if heated and (power == wanted or (wanted > high) == (error < 0)):  # not saturated, or on its way out
            self._integral = integral
        self._last = power
        return Action(power=power, status=Status.MENDED if mended else Status.SOLVED)


MEMORY = 6.0  # of τ; what is older has e⁻⁶ of its weight


@dataclass(frozen=True, slots=True, kw_only=True)
class FeedforwardGains:
    """Found by `tune_feedforward` for one plant and window."""

    power: float  # P₀, W, what a straight line needs
    relief: float  # κ; larger takes more away where the path comes back
    memory: float  # τ, s, how long a place stays warm
    reach: float  # r, m, how far its warmth goes


class FeedforwardController:
    """Scales the power by the local dwell of the path, and looks at nothing else."""

    name = "feedforward"
    horizon = 1
    memory = 0

    def __init__(self, gains: FeedforwardGains, power: tuple[float, float]) -> None:
        self.gains = gains
        self._power = power
        self.reset()

    def reset(self) -> None:
        """Forget everything; the next tick is the first."""
        self._way: list[tuple[float, float]] = []
        self._lit: list[bool] = []

    def act(self, image: Image | None, preview: Preview) -> Action:
        """Decide the power of the coming tick."""
        gains = self.gains
        now, target = preview.ahead[0], preview.ahead[1]
        self._way.append((float(now[0]), float(now[1])))
        self._lit.append(bool(preview.lit[0]))
        first = -max(1, int(MEMORY * gains.memory / preview.tick))
        self._way, self._lit = self._way[first:], self._lit[first:]
        past, lit = np.array(self._way[::-1]), np.array(self._lit[::-1])
        ages = np.arange(1, len(past) + 1)
        fading = np.exp(-ages * preview.tick / gains.memory)
        hop = float(np.hypot(*(target - now)))
        dwell = (lit * fading) @ np.exp(-np.sum((past - target) ** 2, axis=1) / (2 * gains.reach**2))
        since = max(1, int(np.argmin(np.append(lit, False))))  # ticks that the laser has been on
        line = fading[:since] @ np.exp(-((ages[:since] * hop) ** 2) / (2 * gains.reach**2))
        wanted = gains.power * (1.0 - gains.relief * (dwell / line - 1.0))
        low, high = self._power
        return Action(power=float(min(max(wanted, low), high)), status=Status.SOLVED)


FOLDER = "gains"
FORGIVEN = {
    f"camera.{key}" for key in ("noise_k", "exposure_ticks", "delay_ticks", "every_ticks", "heat_ratio")
}
FINE = 0.5  # of σ; wider pixels read the peak too cold


@dataclass(frozen=True, slots=True, kw_only=True)
class Gains:
    """What tuning on the training paths of one plant and process gave; None of what was not asked for."""

    constant: float  # W
    pi: PiGains | None = None
    feedforward: FeedforwardGains | None = None

    def to_json(self) -> dict[str, Any]:
        """Plain numbers, SI."""
        return asdict(self)

    @classmethod
    def from_json(cls, content: dict[str, Any]) -> "Gains":
        """The gains that `to_json` wrote."""
        return cls(
            constant=content["constant"],
            pi=PiGains(**content["pi"]),
            feedforward=FeedforwardGains(**content["feedforward"]),
        )


def find_gains(plant: str, process: Process) -> Gains | None:
    """The shipped gains that were tuned on this plant for this process, or None.

    Noise, delay and rate of the camera are forgiven, and pixels that are fine against the beam.
    """
    for file in (files("laserloop.control") / FOLDER).iterdir():
        page = json.loads(file.read_text(encoding="utf-8")) if file.name.endswith(".json") else {}
        if page.get("plant") != plant:
            continue
        others = set(process.differences(Process.from_json(page["process"]))) - FORGIVEN
        if others == {"camera.pixel_um"} and (process.camera.pixel or 0.0) <= FINE * process.beam.sigma:
            others = set()
        if not others:
            return Gains.from_json(page["gains"])
    return None
