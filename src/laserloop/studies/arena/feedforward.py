"""Power along a known path without a model of heat, and PI on top; fitted to twenty public paths.

    python -m laserloop.studies.arena.feedforward    # fits both laws and prints what stands in LAWS

h_k = Σ_j w(t_k − t_j, |ξ_k − ξ_j|)      heat left where the beam comes to in tick k, of the lit ticks j ≤ k
P_k = a + b h_k / h_line + c (v_k / v − 1)      h_line of an endless straight line at the usual speed v

dwell            w = exp(−t/τ) exp(−d²/2r²)
residual heat    w = (1 − t/τ)₊² (1 − d/r)₊²      the residual heat factor of powder-bed fusion
"""

from dataclasses import dataclass, replace
from itertools import product

import numpy as np
from numpy.typing import NDArray

from laserloop.control import Action, PiController, PiGains, Preview, Status
from laserloop.loop import prepare
from laserloop.paths import FAMILIES, ScanPath
from laserloop.plant import Image
from laserloop.process import Process
from laserloop.studies.arena.tasks import SPLITS, Task

FloatArray = NDArray[np.float64]

SEEDS = SPLITS["public"][30:32]  # of each family; those before are the training set's
FAR = 100.0  # K from the middle, where PI leaves the start to feed-forward


@dataclass(frozen=True, slots=True, kw_only=True)
class Law:
    """A kernel and the powers that go with it, W."""

    kernel: str  # dwell or residual heat
    memory: float  # τ, s
    reach: float  # r, m
    power: float = 0.0  # a
    relief: float = 0.0  # b
    pace: float = 0.0  # c

    def weigh(self, age: FloatArray, distance: FloatArray) -> FloatArray:
        """w."""
        if self.kernel == "dwell":
            return np.asarray(np.exp(-age / self.memory - distance**2 / (2.0 * self.reach**2)))
        left, near = (
            np.clip(1.0 - age / self.memory, 0.0, None),
            np.clip(1.0 - distance / self.reach, 0.0, None),
        )
        return np.asarray(left**2 * near**2)

    def features(self, path: ScanPath, process: Process) -> FloatArray:
        """(ticks, 3): one, h/h_line and v_k/v − 1."""
        n, tick = len(path), path.tick
        start, end = path.positions[:n], path.positions[1 : n + 1]
        hop = process.speed * tick
        back = np.arange(1.0, max(2, int(6.0 * self.memory / tick)), dtype=np.float64)
        line = float(self.weigh(back * tick, back * hop).sum())
        k, j = np.arange(n)[:, np.newaxis], np.arange(n)[np.newaxis]
        far = np.asarray(np.linalg.norm(end[:, np.newaxis] - start[np.newaxis], axis=2), np.float64)
        age = np.asarray((k - j + 1.0) * tick, np.float64)
        weight = self.weigh(age, far) * (j <= k) * np.asarray(path.lit)
        pace = np.linalg.norm(end - start, axis=1) / hop - 1.0
        return np.stack((np.ones(n), weight.sum(axis=1) / line, pace), axis=1)

    def powers(self, path: ScanPath, process: Process, bounds: tuple[float, float]) -> FloatArray:
        """(ticks,), W."""
        wanted = self.features(path, process) @ (self.power, self.relief, self.pace)
        return np.where(path.lit, np.clip(wanted, *bounds), 0.0)


LAWS = {
    "dwell": Law(kernel="dwell", memory=1.414e-3, reach=2.52e-4, power=15.897, relief=-5.434, pace=0.535),
    "residual heat": Law(
        kernel="residual heat", memory=5.657e-3, reach=8e-4, power=14.749, relief=-4.311, pace=0.577
    ),
}


class FeedforwardPi:
    """Settled powers, and PI on the error of the peak that is left."""

    name, horizon, memory = "feedforward-pi", 1, 0

    def __init__(self, powers: FloatArray, gains: PiGains, most: float) -> None:
        self._powers = powers
        self._pi = PiController(replace(gains, bias=0.0), (-most, most))
        self._setpoint = gains.setpoint

    def reset(self) -> None:
        """Forget everything; the next tick is the first."""
        self._pi.reset()
        self._near = False

    def act(self, image: Image | None, preview: Preview) -> Action:
        """The power of the tick, corrected from when the peak has first come near."""
        k = min(round(preview.time / preview.tick), len(self._powers) - 1)
        self._near |= image is not None and abs(image.peak.temperature - self._setpoint) < FAR
        if not self._near:
            return Action(power=float(self._powers[k]), status=Status.SOLVED)
        action = self._pi.act(image, preview)
        return replace(action, power=float(self._powers[k]) + action.power)


def fit_law(kernel: str, paths: list[tuple[ScanPath, FloatArray]], process: Process) -> tuple[Law, float]:
    """The law whose powers are nearest to those that hold the middle of the window; RMS, W."""
    best = None
    lit = [np.asarray(path.lit) for path, _ in paths]
    target = np.concatenate([power[on] for (_, power), on in zip(paths, lit, strict=True)])
    for memory, reach in product(np.geomspace(0.5e-3, 16e-3, 11), np.geomspace(1.0e-4, 8e-4, 10)):
        law = Law(kernel=kernel, memory=float(memory), reach=float(reach))
        rows = np.concatenate(
            [law.features(path, process)[on] for (path, _), on in zip(paths, lit, strict=True)]
        )
        found, *_ = np.linalg.lstsq(rows, target)
        error = float(np.sqrt(np.mean((rows @ found - target) ** 2)))
        if best is None or error < best[1]:
            a, b, c = (float(value) for value in found)
            best = replace(law, power=a, relief=b, pace=c), error
    assert best is not None
    return best


def main() -> None:
    """Fit both laws to the powers by which the twin holds the middle on an undisturbed plant."""
    paths = []
    for seed, family in product(SEEDS, FAMILIES):
        case = Task(family=family, seed=seed).make_case()
        run = prepare(replace(case, controller="twin")).run()
        paths.append((case.find_path(), run.power))
    for kernel in LAWS:
        print(*fit_law(kernel, paths, case.process), flush=True)


if __name__ == "__main__":
    main()
