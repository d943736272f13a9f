"""Material: conductivity, density and heat capacity against temperature, by polynomial or by table.

T  temperature, K      k  conductivity, W/mK      rho  density, kg/m³      cp  heat capacity, J/kgK
"""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from numbers import Real
from typing import Any, Self

import numpy as np
from numpy.polynomial import Polynomial
from numpy.typing import ArrayLike, NDArray
from scipy.interpolate import PchipInterpolator

from laserloop.bad_input import BadInput, show
from laserloop.process.melting import NOT_MODELLED, Melting

FloatArray = NDArray[np.float64]
Property = Polynomial | PchipInterpolator

COLUMNS = ("T", "k", "rho", "cp")
LEAST, MOST = 1e-6, 1e9  # in the units above; beyond, the heat balance loses its digits
DIFFUSIVITY = 1e-7, 2e-4  # m²/s, from polymers to silver
SLIPS = (  # a property, what it is multiplied with if it is in the first unit, and where it lies then
    ("rho", 1e3, "g/cm³", "kg/m³", (500.0, 25_000.0)),
    ("cp", 1e3, "J/gK", "J/kgK", (50.0, 5e3)),
    ("k", 1e2, "W/cmK", "W/mK", (0.1, 500.0)),
)
SLACK = 0.5  # K, less is not worth a sentence


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Material:
    """Three positive properties of T; outside `valid` each is held at its value at the limit.

    With `melting` that ends at the solidus: from there on the melt's properties are used.
    """

    name: str
    source: str  # where the numbers come from
    valid: tuple[float, float]  # K
    k: Property  # W/mK
    rho: Property  # kg/m³
    cp: Property  # J/kgK
    melting: Melting | None = None

    def __post_init__(self) -> None:
        low, high = self.valid
        if not (np.isfinite(low) and np.isfinite(high) and 0 < low < high):
            raise BadInput(
                f"the range of material {self.name} must be two finite rising temperatures above 0 K, "
                f"got {low:g} to {high:g}: correct `valid`"
            )
        if self.melting is not None and self.melting.solidus < high:
            raise BadInput(
                f"material {self.name} must be solid up to the end of its range, {high:g} K, but its solidus "
                f"is {self.melting.solidus:g} K: narrow `valid` or correct solidus_k"
            )
        self._check_curves()
        T = np.union1d(np.linspace(low, high, 2001), self.knots())
        for label, name in (("conductivity", "k"), ("density", "rho"), ("heat capacity", "cp")):
            values = self._held(name, T)
            bad = np.flatnonzero(~((values >= LEAST) & (values <= MOST)))
            if bad.size:
                raise BadInput(
                    f"the {label} of material {self.name} must be positive ({LEAST:g} to {MOST:g}) in "
                    f"{low:g}–{high:g} K, got {values[bad[0]]:g} at {T[bad[0]]:.5g} K: correct the data or "
                    "narrow `valid`"
                )

    def check_diffusivity(self, T: float) -> None:
        """Refuse a k/(ρc) at `T`, K, that no solid has, and name the likely slip."""
        values = {name: float(self._held(name, T)) for name in COLUMNS[1:]}
        alpha = values["k"] / (values["rho"] * values["cp"])
        least, most = DIFFUSIVITY
        if least <= alpha <= most:
            return
        cure = "check the units of k (W/mK), rho (kg/m³) and cp (J/kgK)"
        for name, factor, slip, unit, (low, high) in SLIPS:
            mended = alpha * (factor if name == "k" else 1 / factor)
            if low <= values[name] * factor <= high and least <= mended <= most:
                cure = f"{name} = {values[name]:.4g} looks like {slip}, so give it in {unit}"
                break
        raise BadInput(
            f"the diffusivity k/(ρc) of material {self.name} must lie between {least:g} and {most:g} m²/s, "
            f"got {alpha:.3g} at {T:g} K: {cure}"
        )

    def _check_curves(self) -> None:
        """Refuse what no file can say: curves of several kinds, or through rows at different temperatures."""
        curves = [getattr(self, name) for name in COLUMNS[1:]]
        tables = [curve.x for curve in curves if isinstance(curve, PchipInterpolator)]
        alike = len(tables) == len(curves) and all(np.array_equal(tables[0], T) for T in tables)
        if not (alike or all(isinstance(curve, Polynomial) for curve in curves)):
            kinds = ", ".join(f"{name} {type(getattr(self, name)).__name__}" for name in COLUMNS[1:])
            raise BadInput(
                f"the properties of material {self.name} must be three polynomials, or three tables at the "
                f"same temperatures, got {kinds}: use Material.from_table"
            )

    @classmethod
    def constant(cls, *, k: float, rho: float, cp: float, name: str = "constant") -> Self:
        """The same properties at every temperature."""
        curves: dict[str, Any] = {
            label: Polynomial([check_number(value, f"{label} of material {name}")])
            for label, value in (("k", k), ("rho", rho), ("cp", cp))
        }
        return cls(name=name, source="Constants given by the user.", valid=(1.0, 1e4), **curves)

    @classmethod
    def from_table(
        cls,
        *,
        T: Sequence[float] | FloatArray,
        k: Sequence[float] | FloatArray,
        rho: Sequence[float] | FloatArray,
        cp: Sequence[float] | FloatArray,
        name: str,
        source: str,
        valid: tuple[float, float] | None = None,
    ) -> Self:
        """Monotone cubic (PCHIP) curves through the rows of a table; `valid` is all of it unless given."""
        where = f"the table of material {name}"
        table = check_table({"T": T, "k": k, "rho": rho, "cp": cp}, where)
        valid = valid or (float(table["T"][0]), float(table["T"][-1]))
        return cls(name=name, source=source, valid=valid, **_interpolate(table, where))

    def conductivity(self, T: ArrayLike) -> FloatArray:
        """k(T), W/mK."""
        return self._held("k", T)

    def density(self, T: ArrayLike) -> FloatArray:
        """ρ(T), kg/m³."""
        return self._held("rho", T)

    def heat_capacity(self, T: ArrayLike) -> FloatArray:
        """c_p(T), J/kgK, without latent heat."""
        return self._held("cp", T)

    def apparent_capacity(self, T: ArrayLike) -> FloatArray:
        """ρ·(c_p + what melting takes), J/m³K."""
        heat = self.density(T) * self.heat_capacity(T)
        return heat if self.melting is None else heat + self.density(T) * self.melting.latent_capacity(T)

    @property
    def last(self) -> float:
        """The temperature above which every property is held, K: the end of the range, or boiling."""
        return self.valid[1] if self.melting is None else self.melting.boiling

    def knots(self) -> FloatArray:
        """Rising temperatures where a solid's property may not be smooth: the limits and a table's rows."""
        low, high = self.valid
        nodes = [curve.x for curve in (self.k, self.rho, self.cp) if isinstance(curve, PchipInterpolator)]
        knots = np.unique(np.concatenate([np.array(self.valid, dtype=np.float64), *nodes]))
        return knots[(low <= knots) & (knots <= high)]

    def outside(self, lowest: float, highest: float) -> str | None:
        """A sentence if temperatures from `lowest` to `highest` leave the range of validity, else None."""
        low, high = self.valid
        above, below = highest - high, low - lowest
        if max(above, below) <= SLACK:
            return None
        T, excess, side = (highest, above, "above") if above >= below else (lowest, below, "below")
        if side == "above" and self.melting is not None and highest > self.melting.solidus:
            return (
                f"temperatures of {T:.5g} K lie {T - self.melting.solidus:.0f} K above the solidus of "
                f"material {self.name} ({self.melting.solidus:g} K): latent heat counts, {NOT_MODELLED}"
            )
        return (
            f"temperatures of {T:.5g} K lie {excess:.0f} K {side} the range of material {self.name} "
            f"({low:g}–{high:g} K): its properties are held at the limit"
        )

    def _held(self, name: str, T: ArrayLike) -> FloatArray:
        curve, T = getattr(self, name), np.asarray(T, dtype=np.float64)
        with np.errstate(over="ignore", invalid="ignore"):
            solid = np.asarray(curve(np.clip(T, *self.valid)), dtype=np.float64)
        if self.melting is None or not np.any(self.melting.solidus < T):
            return solid
        return np.where(self.melting.solidus < T, self.melting.carry_on(T, solid, name), solid)


def _interpolate(table: Mapping[str, FloatArray], where: str) -> dict[str, Any]:
    try:
        with np.errstate(all="ignore"):  # absurd values overflow here, and are refused now or by Material
            return {
                name: PchipInterpolator(table["T"], table[name], extrapolate=False) for name in COLUMNS[1:]
            }
    except ValueError as error:
        raise BadInput(f"{where} must change at finite rates, got an overflow: spread its rows") from error


def check_table(
    columns: Mapping[str, object], where: str, rows: Sequence[str] | None = None, *, least: int = 2
) -> dict[str, FloatArray]:
    """The columns as arrays, if they are equally long, positive, and T rises; `rows` names the rows."""
    lists = {name: check_list(values, f"{name} of {where}") for name, values in columns.items()}
    lengths = [len(values) for values in lists.values()]
    if min(lengths) != max(lengths) or lengths[0] < least:
        few = "two rows" if least > 1 else "one row"
        raise BadInput(
            f"{where} must have at least {few} in columns of equal length, "
            f"got {', '.join(map(str, lengths))} values of {', '.join(lists)}: complete the table"
        )
    places = [f"{row} of {where}" for row in rows or [f"row {i + 1}" for i in range(lengths[0])]]
    table: dict[str, FloatArray] = {}
    for name, values in lists.items():
        numbers = [
            check_number(value, f"{name} in {place}") for value, place in zip(values, places, strict=True)
        ]
        for number, place in zip(numbers, places, strict=True):
            if number <= 0:
                raise BadInput(f"{name} must be positive, got {number:g} in {place}: correct it")
        table[name] = np.array(numbers)
    T = table["T"]
    for i in np.flatnonzero(np.diff(T) <= 0):
        raise BadInput(
            f"T must rise from row to row, got {T[i + 1]:g} after {T[i]:g} in {places[i + 1]}: sort the rows"
        )
    return table


def check_list(value: object, where: str) -> list[object]:
    """The values one by one, if they are a list, a tuple or a column."""
    if isinstance(value, list | tuple) or (isinstance(value, np.ndarray) and value.ndim == 1):
        return list(value)
    raise BadInput(f"{where} must be a list of numbers, got {show(value)}: write [1.0, 2.0, …]")


def check_number(value: object, where: str) -> float:
    """The value as a finite float; text counts, since CSV is text and PyYAML reads 1e-4 as text."""
    number = np.nan
    if not isinstance(value, bool) and isinstance(value, Real | str):
        with suppress(ValueError, OverflowError):
            number = float(value)
    if not np.isfinite(number):
        raise BadInput(f"{where} must be a finite number, got {show(value)}: correct it")
    return number
