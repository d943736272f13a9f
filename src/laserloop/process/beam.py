"""The laser beam: how wide it is, and how much of it becomes heat."""

from dataclasses import dataclass

from laserloop.bad_input import BadInput, is_finite, show


@dataclass(frozen=True, slots=True, kw_only=True)
class Beam:
    """A Gaussian, q(x, y) = ηP/(2πσ²) · exp(−r²/2σ²), W/m²."""

    sigma: float = 100e-6  # m, standard deviation of the Gaussian
    absorptivity: float = 1.0  # η, share of the power that becomes heat

    def __post_init__(self) -> None:
        if not (is_finite(self.sigma) and self.sigma > 0):
            raise BadInput(
                f"the beam's sigma must be a positive length in m, got {show(self.sigma)}: correct it"
            )
        if not (is_finite(self.absorptivity) and 0 < self.absorptivity <= 1):
            raise BadInput(f"absorptivity must lie in (0, 1], got {show(self.absorptivity)}: correct it")
