"""The search: begun with the twin, made exact by the plant.

Zᵀ (y − plant(p)) = 0 with Z = ∂twin/∂p: the plant's residuals under the twin's slopes. Wrong slopes cost a
step more, not exactness, so that what the twin gets wrong does not end up in the parameters.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import least_squares

from laserloop.bad_input import BadInput
from laserloop.identify.experiment import Experiment, Simulated, set_up
from laserloop.identify.fit import Fit
from laserloop.identify.intervals import find_covariance, find_half_widths, tell_inseparable
from laserloop.identify.parameters import OF_HEAT, USUAL, apply, check_names
from laserloop.logs.recording import Recording
from laserloop.process import Process
from laserloop.process.heat_table import tabulate

FloatArray = NDArray[np.float64]
Progress = Callable[[int, int], None]

PRIOR = 0.5  # of the logarithm of a factor: a process file is rarely wrong by more
DELAYS = 20  # ticks, the most that is looked for
STEP = 0.02  # of a logarithm, for slopes
HALF = 0.5  # tick, to either side, for the slope in the delay
FARTHEST = 0.4  # of a logarithm in one step
ENOUGH = 0.05  # standard deviations: a smaller step ends the fit
OUTLIER = 6.0  # standard deviations
ROUGH = 10.0  # K, by which the twin may be off
FAR = 100.0  # K, beyond which one reading is as bad as another
WARM = 50.0  # K above ambient, from which on a reading is of the heated spot


@dataclass(frozen=True, slots=True, kw_only=True)
class FitSettings:
    """What is fitted, and how much work may be done."""

    names: tuple[str, ...] = USUAL
    ticks: int = 2000  # most of a recording that are simulated
    steps: int = 6  # most simulations by the plant
    progress: Progress | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "names", check_names(self.names))


def identify(recording: Recording, process: Process, settings: FitSettings | None = None) -> Fit:
    """Fit a process to a recording."""
    wish = settings or FitSettings()
    search = Search(set_up(recording, process, wish.ticks), wish)
    search.start()
    search.fit_twin()
    return search.fit_plant()


class Search:
    """The state of a fit: parameters, and which readings count."""

    def __init__(self, experiment: Experiment, wish: FitSettings) -> None:
        self._do, self._wish = experiment, wish
        stamped = experiment.stamped is not None
        self.names = tuple(name for name in wish.names if not (stamped and name == "delay"))
        self.values = np.zeros(len(self.names))
        self.delay = (
            experiment.stamped if experiment.stamped is not None else float(experiment.process.camera.delay)
        )
        self.use = np.ones(len(experiment.readings), np.bool_)
        self.noise = experiment.process.camera.noise

    def start(self) -> None:
        """Absorptivity for each whole delay by a scan; the best pair is where the fit begins."""
        do = self._do
        table = make_scale(do.process)
        peaks = do.twin(do.process)
        delays = [float(d) for d in range(DELAYS + 1)] if "delay" in self.names else [self.delay]
        scales = np.exp(np.linspace(-1.4, 1.0, 97)) if "absorptivity" in self.names else np.ones(1)
        best = (np.inf, 0.0, 1.0)
        trajectories = [table(peaks, scale) for scale in scales]
        for delay in delays:
            for scale, trajectory in zip(scales, trajectories, strict=True):
                error = np.abs(do.readings - do.at(trajectory, delay))  # of all: heat before its light
                cost = float(np.mean(np.minimum(error, FAR)))  # is the best witness against a long delay
                best = min(best, (cost, delay, float(scale)))
        self._put("delay", best[1])
        self._put("absorptivity", float(np.log(best[2])))
        self._choose(table(peaks, best[2]), 1e9)

    def fit_twin(self) -> None:
        """All parameters by the twin alone."""
        do, weak = self._do, self._weak

        def miss(values: FloatArray) -> FloatArray:
            off = (do.readings - self._read(do.twin(self.make(values)), values))[self.use]
            return np.concatenate((off / ROUGH, weak @ values))

        def slopes(values: FloatArray) -> FloatArray:
            peaks = do.twin(self.make(values))
            columns = self._find_columns(peaks, self._find_slopes(values), values)
            return np.concatenate((-columns[self.use] / ROUGH, weak))

        low = np.array([0.0 if name == "delay" else -1.6 for name in self.names])
        high = np.array([DELAYS + 1.0 if name == "delay" else 1.6 for name in self.names])
        begin = np.clip(self.values, low + 1e-6, high - 1e-6)
        found = least_squares(
            miss,
            begin,
            slopes,
            bounds=(low, high),
            loss="soft_l1",
            x_scale=self._reach,
            xtol=1e-4,
            max_nfev=12,
        )
        self.values = np.asarray(found.x)
        peaks = do.twin(self.make(self.values))
        self._choose(peaks, OUTLIER)
        residual = (do.readings - self._read(peaks, self.values))[self.use]
        self.noise = self.noise or float(np.std(np.diff(residual))) / np.sqrt(2.0)

    def fit_plant(self) -> Fit:
        """Gauss–Newton steps with the plant's residuals, until they are small against the intervals."""
        do, wish = self._do, self._wish
        converged, steps = False, 0
        while True:
            seen = do.plant(self.make(self.values), self.noise, wish.progress)
            steps += 1
            if steps == 1:
                self._choose(seen.peaks, OUTLIER)
            slopes = self._find_slopes(self.values)
            new = self._step(seen, slopes)
            residual = (do.readings - self._read(seen.peaks, self.values) - seen.bias)[self.use]
            Z = self._find_columns(seen.peaks, slopes, self.values)[self.use]
            covariance = find_covariance(Z, residual, self._prior)
            moved = np.abs(new - self.values) / np.sqrt(np.diag(covariance))
            converged = bool(moved.max() < ENOUGH)
            if converged or steps >= wish.steps:
                break
            self.values = new
            self.noise = float(np.std(residual)) / max(seen.share, 0.1)
        return self._finish(seen, covariance, steps, converged)

    def make(self, values: FloatArray) -> Process:
        """The process of these parameters."""
        factors = {
            name: float(np.exp(v)) for name, v in zip(self.names, values, strict=True) if name in OF_HEAT
        }
        return apply(self._do.process, factors)

    @property
    def _heat(self) -> NDArray[np.bool_]:
        return np.array([name in OF_HEAT for name in self.names])

    @property
    def _weak(self) -> FloatArray:
        """(factors, p): the prior, as residuals per parameter."""
        factors = np.array([name != "delay" for name in self.names])
        return np.asarray(np.diag(factors / PRIOR)[factors])

    @property
    def _prior(self) -> FloatArray:
        return np.array([float(DELAYS) if name == "delay" else PRIOR for name in self.names])

    @property
    def _reach(self) -> FloatArray:
        return np.array([0.5 if name == "delay" else 0.05 for name in self.names])

    def _put(self, name: str, value: float) -> None:
        if name in self.names:
            self.values[self.names.index(name)] = value

    def _get(self, values: FloatArray, name: str, otherwise: float) -> float:
        return float(values[self.names.index(name)]) if name in self.names else otherwise

    def _read(self, peaks: FloatArray, values: FloatArray) -> FloatArray:
        """What the readings should be, but for the noise."""
        gain = np.exp(self._get(values, "gain", 0.0))
        return np.asarray(gain * self._do.at(peaks, self._get(values, "delay", self.delay)))

    def _choose(self, peaks: FloatArray, most: float) -> None:
        """Readings count that were taken of a warm spot under the laser, and are not far off."""
        do = self._do
        taken = do.arrived - self._get(self.values, "delay", self.delay)
        tick = np.clip(np.ceil(taken - 1e-6).astype(np.intp) - 1, 0, len(do.path) - 1)
        expected = self._read(peaks, self.values)
        warm = (taken >= 1.0) & do.path.lit[tick] & (expected > do.process.ambient + WARM)
        if warm.sum() < 2 * len(self.names) + 10:
            raise BadInput(
                f"a fit needs readings taken under the laser, but only {int(warm.sum())} of {do.path.name} "
                "are; check that time stamps, powers and readings belong together"
            )
        error = do.readings - expected
        centre = float(np.median(error[warm]))
        spread = 1.4826 * float(np.median(np.abs(error[warm] - centre))) + 1e-6
        self.use = warm & (np.abs(error - centre) <= most * max(spread, 1.0))

    def _find_slopes(self, at: FloatArray) -> FloatArray:
        """(n, heat): ∂T/∂(logarithms of what changes the heat), by the twin."""
        do, columns = self._do, []
        for i in np.flatnonzero(self._heat):
            ends = []
            for sign in (1.0, -1.0):
                values = at.copy()
                values[i] += sign * STEP
                ends.append(do.twin(self.make(values)))
            columns.append((ends[0] - ends[1]) / (2.0 * STEP))
        return np.stack(columns, axis=1)

    def _find_columns(self, peaks: FloatArray, slopes: FloatArray, values: FloatArray) -> FloatArray:
        """(m, p): slopes of the readings."""
        do = self._do
        delay, gain = self._get(values, "delay", self.delay), float(np.exp(self._get(values, "gain", 0.0)))
        heat = iter((gain * do.at(slopes, delay)).T)
        columns = []
        for name in self.names:
            if name in OF_HEAT:
                columns.append(next(heat))
            elif name == "gain":
                columns.append(gain * do.at(peaks, delay))
            else:
                columns.append(
                    gain * (do.at(peaks, delay + HALF) - do.at(peaks, delay - HALF)) / (2.0 * HALF)
                )
        return np.stack(columns, axis=1)

    def _step(self, seen: Simulated, slopes: FloatArray) -> FloatArray:
        """The parameters that fit the plant's peaks, moved along the twin's slopes; delays as they are."""
        do, heat = self._do, self._heat
        scale = max(self.noise, 0.5)

        def miss(values: FloatArray) -> FloatArray:
            peaks = seen.peaks + slopes @ (values - self.values)[heat]
            off = (do.readings - self._read(peaks, values) - seen.bias)[self.use]
            return np.concatenate((off / scale, self._weak @ values))

        low = np.where([name == "delay" for name in self.names], self.values - 1.5, self.values - FARTHEST)
        high = np.where([name == "delay" for name in self.names], self.values + 1.5, self.values + FARTHEST)
        if "delay" in self.names:
            low[self.names.index("delay")] = max(low[self.names.index("delay")], -0.5)
        found = least_squares(miss, self.values, bounds=(low, high), x_scale=self._reach)
        return np.asarray(found.x)

    def _finish(self, seen: Simulated, covariance: FloatArray, steps: int, converged: bool) -> Fit:
        do = self._do
        fitted = self._read(seen.peaks, self.values) + seen.bias
        delay = max(self._get(self.values, "delay", self.delay), 0.0)
        noise = float(np.std((do.readings - fitted)[self.use])) / max(seen.share, 0.1)
        changed = self.make(self.values).change(delay_ticks=round(delay), noise_k=float(f"{noise:.3g}"))
        inseparable = tell_inseparable(self.names, covariance, self._prior)
        notes = list(do.path.notes)
        if not converged:
            notes.append(f"the fit has not settled after {steps} simulations: take the values with care")
        if self._get(self.values, "gain", 0.0):
            notes.append("the gain of the readings has no key in a process file: divide readings by it")
        return Fit(
            names=self.names,
            values=self.values,
            half=find_half_widths(covariance, int(self.use.sum())),
            covariance=covariance,
            before=do.given,
            process=name_fitted(changed, do.given, do.path.name),
            delay=delay,
            noise=noise,
            time=do.arrived[self.use] * do.path.tick,
            readings=do.readings[self.use],
            fitted=fitted[self.use],
            steps=steps,
            converged=converged,
            not_separable=tuple(inseparable),
            notes=tuple(notes),
            tally=do.tally.to_json(),
        )


def make_scale(process: Process) -> Callable[[FloatArray, float], FloatArray]:
    """Peaks if so many times the power were absorbed: u is linear in it."""
    table = tabulate(process.material, process.ambient)

    def scale(peaks: FloatArray, factor: float) -> FloatArray:
        return np.asarray(table.temperature_of(factor * table.theta_of(peaks)))

    return scale


def name_fitted(process: Process, before: Process, log: str) -> Process:
    """The process with names that say where its numbers come from; its speed as it was."""
    material = process.material
    if material is not before.material:
        told = f"{material.source.rstrip('.')}; fitted to {log}."
        material = replace(material, source=told)
    name = f"{before.name}, fitted"[:100]
    return replace(process, name=name, material=material, speed=before.speed)
