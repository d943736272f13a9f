"""PI control of the measured peak: the practitioner's loop.

e = setpoint − T_max      P = P₀ + K_p (e + 1/T_i ∫e dt), held inside the power bounds
"""

from dataclasses import dataclass, replace

from laserloop.bad_input import BadInput
from laserloop.control.action import Action, Status
from laserloop.control.validator import ImageValidator
from laserloop.paths.preview import Preview
from laserloop.plant.camera import Image


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
