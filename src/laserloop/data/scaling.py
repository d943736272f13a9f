"""The scaler: each feature to zero mean and unit variance, and back. It travels with the model."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from laserloop.bad_input import BadInput

FloatArray = NDArray[np.float64]

CONSTANT = 1e-12  # of its mean; a feature that varies less is rounding and keeps its unit


@dataclass(frozen=True, slots=True, eq=False)
class Scaler:
    """One mean and one standard deviation for each feature, in the shape that the features have."""

    mean: FloatArray
    std: FloatArray

    def __post_init__(self) -> None:
        for name in ("mean", "std"):
            array = np.array(getattr(self, name), dtype=np.float64)
            array.setflags(write=False)
            object.__setattr__(self, name, array)
        fine = np.isfinite(self.mean).all() and np.isfinite(self.std).all() and (self.std > 0).all()
        if self.mean.shape != self.std.shape or not fine:
            raise BadInput(
                "a scaler must have one finite mean and one positive std for each feature, but has shapes "
                f"{self.mean.shape} and {self.std.shape} or other numbers; fit it again."
            )

    def scale(self, values: ArrayLike) -> FloatArray:
        """(values − mean) / std."""
        return (np.asarray(values) - self.mean) / self.std

    def unscale(self, values: ArrayLike) -> FloatArray:
        """The inverse of `scale`."""
        return np.asarray(values) * self.std + self.mean

    def to_json(self) -> dict[str, Any]:
        """Plain lists; every bit survives."""
        return {"mean": self.mean.tolist(), "std": self.std.tolist()}

    @classmethod
    def from_json(cls, given: object) -> "Scaler":
        """The scaler that `to_json` wrote."""
        if not isinstance(given, Mapping) or set(given) != {"mean", "std"}:
            raise BadInput("a scaler must have a mean and a std, but one is missing; fit it again.")
        try:
            mean, std = (np.array(given[name], dtype=np.float64) for name in ("mean", "std"))
        except (TypeError, ValueError):
            raise BadInput(
                "a scaler must hold lists of numbers, but holds something else; fit it again."
            ) from None
        return cls(mean, std)


def fit_scaler(values: ArrayLike) -> Scaler:
    """Mean and standard deviation over the first axis; a constant feature gets std 1."""
    values = np.asarray(values, dtype=np.float64)
    if values.ndim < 1 or not len(values):
        raise BadInput(f"a scaler needs at least one sample, but got shape {values.shape}; give some.")
    mean, std = values.mean(axis=0), values.std(axis=0)
    return Scaler(mean, np.where(std > CONSTANT * np.abs(mean), std, 1.0))
