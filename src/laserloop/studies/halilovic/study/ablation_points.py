"""Points of the ablation figures: an axis, a value on it, our errors and the paper's."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from laserloop.studies.halilovic.check import is_near
from laserloop.studies.halilovic.published import ABLATIONS
from laserloop.studies.halilovic.study.ablations import NOISES, Row, Trial

DEPLOYED, LOC, SHIPPED = "corner-nh5-seed0", "corner-loc", "paper-corner"
NOISY = (DEPLOYED, LOC, SHIPPED)  # models that are also shown noise

# the value on an axis → the trial whose figures stand there
AXES: dict[str, dict[str, Trial]] = {
    "horizon": {
        "3": Trial("corner-nh3"),
        "5": Trial(DEPLOYED),
        "7": Trial("corner-nh7"),
        "10": Trial("corner-nh10"),
    },
    "trunk": {"temps": Trial(DEPLOYED), "loc": Trial(LOC), "both": Trial("corner-both")},
    "basis": {"50": Trial("corner-p50"), "100": Trial(DEPLOYED), "150": Trial("corner-p150")},
    "width": {"64": Trial("corner-w64"), "128": Trial(DEPLOYED), "256": Trial("corner-w256")},
    "noise": {f"{noise:g}": Trial(DEPLOYED, noise) for noise in NOISES},
    "shared noise": {f"{noise:g}": Trial(DEPLOYED, noise, noise > 0) for noise in NOISES},
    "noise on loc": {f"{noise:g}": Trial(LOC, noise) for noise in NOISES},
    "sampling": {"nearest": Trial(DEPLOYED), "bilinear": Trial("corner-bilinear")},
    "structure": {
        "one-shot": Trial(DEPLOYED),
        "SS-AR": Trial("corner-ss-ar"),
        "SS-AR with place": Trial("corner-ss-ar-loc"),
        "LSTM": Trial("corner-lstm"),
    },
    "full protocol, noise": {f"{noise:g}": Trial(SHIPPED, noise) for noise in NOISES},
    "full protocol, shared noise": {f"{noise:g}": Trial(SHIPPED, noise, noise > 0) for noise in NOISES},
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Point:
    """One point of a figure, K; the paper's errors are None where it gives no number."""

    axis: str
    value: str
    model: str
    seen: float
    seen_std: float  # from path to path
    unseen: float
    seen_per_step: tuple[float, ...]
    unseen_per_step: tuple[float, ...]
    paper_seen: float | None = None
    paper_unseen: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """Ours beside a number of the paper's, K."""

    axis: str
    value: str
    where: str  # seen, unseen
    ours: float
    paper: float

    @property
    def ratio(self) -> float:
        """Ours over the paper's."""
        return self.ours / self.paper

    @property
    def matters(self) -> bool:
        """Beyond the factor that counts as one, either way."""
        return not is_near(self.ours, self.paper)


def place_points(rows: Iterable[Row]) -> list[Point]:
    """The points whose rows are there, axis by axis; the others are left out."""
    found = {Trial(row["model"], row["noise_k"], row["noise_shared"]): row for row in rows}
    points = []
    for axis, values in AXES.items():
        for value, trial in values.items():
            if trial not in found:
                continue
            row = found[trial]
            paper_seen, paper_unseen = ABLATIONS.get((axis, value), (None, None))
            points.append(
                Point(
                    axis=axis,
                    value=value,
                    model=row["model"],
                    seen=row["seen_k"],
                    seen_std=row["seen_std_k"],
                    unseen=row["unseen_k"],
                    seen_per_step=tuple(row["seen_per_step_k"]),
                    unseen_per_step=tuple(row["unseen_per_step_k"]),
                    paper_seen=paper_seen,
                    paper_unseen=paper_unseen,
                )
            )
    return points


def compare(points: Sequence[Point]) -> list[Difference]:
    """Every number of the paper's that ours can stand beside, each once."""
    differences: dict[tuple[str, str, float], Difference] = {}
    for point in points:
        for where, ours, paper in (
            ("seen", point.seen, point.paper_seen),
            ("unseen", point.unseen, point.paper_unseen),
        ):
            if paper is not None:
                differences.setdefault(
                    (point.model, where, paper),
                    Difference(axis=point.axis, value=point.value, where=where, ours=ours, paper=paper),
                )
    return list(differences.values())


def measure_scales(
    rows: Iterable[Row], seeds: Sequence[str], schedules: tuple[str, str]
) -> dict[str, dict[str, float]]:
    """What else moves an error, K, seen and unseen: the spread of seeds, and short or full training."""
    found = {row["model"]: row for row in rows if row["noise_k"] == 0.0}
    scales: dict[str, dict[str, float]] = {"seen": {}, "unseen": {}}
    for where, sizes in scales.items():
        lucky = [found[name][f"{where}_k"] for name in seeds if name in found]
        if len(lucky) > 1:
            sizes["the seed"] = float(np.std(lucky, ddof=1))
        if all(name in found for name in schedules):
            short, full = (found[name][f"{where}_k"] for name in schedules)
            sizes["the schedule"] = abs(short - full)
    return scales
