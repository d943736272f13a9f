"""A process fitted to a recording: begun with the twin, made exact by the plant, with intervals.

Zᵀ (y − plant(p)) = 0 with Z = ∂twin/∂p: the plant's residuals under the twin's slopes. Wrong slopes cost a
step more, not exactness, so that what the twin gets wrong does not end up in the parameters.

How sure it is comes from residuals that are correlated in time:
Z  slopes of the readings, (m, p)      e  residuals, K      G = ZᵀZ + Λ, Λ a weak prior
V = G⁻¹ (Σ_{|l|≤L} (1 − |l|/(L+1)) Σ_i z_i e_i e_{i+l} z_{i+l}ᵀ) G⁻¹, at least s² G⁻¹
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import least_squares
from scipy.stats import t as student

from laserloop.bad_input import BadInput
from laserloop.identification.experiment import (
    Experiment,
    Model,
    Peaks,
    Simulated,
    doubt_offset,
    find_settled,
    set_up,
)
from laserloop.identification.parameters import (
    DEFAULTS,
    DELAYS,
    LAG,
    MISPLACED,
    OF_HEAT,
    OFFSETS,
    SCANNER,
    TRAIL,
    WITH_PLACES,
    check_names,
)
from laserloop.logs.recording import Recording
from laserloop.process import Process
from laserloop.process.heat_table import tabulate

FloatArray = NDArray[np.float64]
Progress = Callable[[int, int], None]

ENOUGH = 0.05  # standard deviations: a smaller step ends the fit
OUTLIER = 6.0  # standard deviations
ROUGH, ASTRAY = 10.0, 0.1  # K and σ, by which the twin may be off
LAGS = (0.0, 0.4, 0.8, 1.6)  # of the laser, in times that the beam takes for σ, where the fit may begin
NEAR = 0.15  # of a logarithm: as far as absorptivity is looked for again with another lag
FAR = 100.0  # K, beyond which one reading is as bad as another
WARM = 50.0  # K above ambient, from which on a reading is of the heated spot
LEVEL = 0.95
TOGETHER = 0.95  # correlation beyond which two parameters are not told apart


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Fit:
    """A process fitted to readings."""

    names: tuple[str, ...]
    values: FloatArray  # (p,), logarithms of factors, ticks of delay, lags in passages, offsets in σ
    half: FloatArray  # (p,), half the length of each 95 % interval
    covariance: FloatArray  # (p, p)
    before: Process
    process: Process  # as it is now
    passage: float  # s, that the beam takes for σ
    delay: float  # ticks
    noise: float  # K, of a pixel
    time: FloatArray  # (m,), s, of the readings that count
    readings: FloatArray  # (m,), K
    fitted: FloatArray  # (m,), K
    steps: int  # simulations by the plant
    converged: bool
    not_separable: tuple[str, ...]
    notes: tuple[str, ...]
    tally: dict[str, int] = field(default_factory=dict)
    vague: tuple[str, ...] = ()  # parameters about which the readings say hardly anything

    @property
    def residual_rms(self) -> float:
        """K."""
        return float(np.sqrt(np.mean((self.readings - self.fitted) ** 2)))

    @property
    def sentences(self) -> tuple[str, ...]:
        """What the readings tell of lag, scanner and offset."""
        text = {}
        for name, digits in {LAG: 0, SCANNER: 2, **dict.fromkeys(OFFSETS, 1)}.items():
            if name in self.names and name not in self.vague:
                found = self._tell_off(name)
                value = round(found["value"], digits) + 0.0  # not -0
                text[name] = f"{value:.{digits}f} ± {found['std_error']:.{digits}f}"
        sentences = []
        if LAG in text:
            sentences.append(f"the laser follows its command with a lag of {text[LAG]} µs")
        if SCANNER in text:
            sentences.append(f"the scanner comes {text[SCANNER]} ticks later than the log says")
        if all(name in text for name in OFFSETS):
            x, y = (text[name] for name in OFFSETS)
            sentences.append(f"images lie {x} µm in x and {y} µm in y from where the log has the beam")
        return tuple(f"{sentence} (± one standard error)" for sentence in sentences)

    def _tell_off(self, name: str) -> dict[str, Any]:
        """The laser's lag or an offset, µs or µm, or how late the scanner is, ticks."""
        i = self.names.index(name)
        per, least = {
            LAG: (1e6 * self.passage, 0.0),
            SCANNER: (self.passage / self.process.tick, -np.inf),
        }.get(name, (1e6 * self.before.beam.sigma, -np.inf))
        value, half, error = (
            float(each) for each in (self.values[i], self.half[i], np.sqrt(self.covariance[i, i]))
        )
        ends = {"value": value, "low": max(value - half, least), "high": value + half, "std_error": error}
        return {key: per * end for key, end in ends.items()} | {"told": name not in self.vague}

    def to_json(self) -> dict[str, Any]:
        """Values and intervals, with units in their names, and the series that they were taken from."""
        told: dict[str, Any] = {}
        units = {
            "absorptivity": ("absorptivity", self.before.beam.absorptivity),
            "diffusivity": ("diffusivity_factor", 1.0),
            "sigma": ("sigma_um", 1e6 * self.before.beam.sigma),
            "gain": ("gain", 1.0),
        }
        for name, value, half in zip(self.names, self.values.tolist(), self.half.tolist(), strict=True):
            if name == "delay":
                told["delay_ticks"] = {"value": value, "low": max(value - half, 0.0), "high": value + half}
                continue
            if name in (LAG, SCANNER, *OFFSETS):
                told[name] = self._tell_off(name)
                continue
            label, was = units[name]
            ends = {"value": value, "low": value - half, "high": value + half}
            told[label] = {key: float(was * np.exp(end)) for key, end in ends.items()}
        if "delay" not in self.names:
            told["delay_ticks"] = {"value": self.delay, "low": self.delay, "high": self.delay}
        if {LAG, SCANNER, *OFFSETS} & {*self.names}:
            told["sentences"] = list(self.sentences)
        return told | {
            "noise_k": self.noise,
            "residual_rms_k": self.residual_rms,
            "readings": len(self.readings),
            "frames": self.tally,
            "plant_runs": self.steps,
            "converged": self.converged,
            "correlation": {"names": list(self.names), "matrix": correlate(self.covariance).tolist()},
            "not_separable": list(self.not_separable),
            "notes": list(self.notes),
            "process": self.process.to_json(),
            "series": {
                "t_s": self.time.tolist(),
                "t_measured_k": self.readings.tolist(),
                "t_fitted_k": self.fitted.tolist(),
            },
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class FitSettings:
    """What is fitted, and how much work may be done."""

    names: tuple[str, ...] | None = None  # None: the usual ones, of a log with the places of peaks more
    ticks: int = 2000  # most of a recording that are simulated
    steps: int = 6  # most simulations by the plant
    progress: Progress | None = None

    def __post_init__(self) -> None:
        if self.names is not None:
            object.__setattr__(self, "names", check_names(self.names))


def identify(recording: Recording, process: Process, settings: FitSettings | None = None) -> Fit:
    """Fit a process to a recording."""
    wish = settings or FitSettings()
    search = Search(set_up(recording, process, wish.ticks), wish)
    search.start()
    search.fit_twin()
    return search.fit_plant()


class Begin(NamedTuple):
    """Where a fit may begin."""

    cost: float  # K
    delay: float  # ticks
    scale: float  # logarithm of a factor on the absorptivity
    driven: Peaks
    values: FloatArray  # (p,), of the other parameters


class Search:
    """The state of a fit: parameters, and which readings count."""

    def __init__(self, experiment: Experiment, wish: FitSettings) -> None:
        self._do, self._wish = experiment, wish
        self.model = Model(experiment, choose_names(experiment, wish.names))
        self.names = self.model.names
        self.values = self.model.said.copy()
        self.use = np.ones(len(experiment.readings), np.bool_)
        self.placed = np.zeros(len(experiment.readings), np.bool_)  # those whose place counts
        self.noise = experiment.process.camera.noise

    def start(self) -> None:
        """Absorptivity for each whole delay by a scan; the best pair is where the fit begins.

        If the laser's lag is fitted, some are tried as well: less delay and more lag look nearly the same.
        """
        model = self.model
        delays = np.arange(DELAYS + 1.0) if "delay" in self.names else np.array([model.delay])
        scales = np.linspace(-1.4, 1.0, 97) if "absorptivity" in self.names else np.zeros(1)
        best = self._scan(self.values, delays, scales)
        if LAG in self.names:
            delays, scales = delays[delays <= best.delay], scales[np.abs(scales - best.scale) < NEAR]
            for lag in LAGS:
                values = self.values.copy()
                model.put(values, LAG, lag)
                best = min(best, self._scan(values, delays, scales), key=lambda begin: begin.cost)
        self.values = best.values.copy()
        model.put(self.values, "delay", best.delay)
        model.put(self.values, "absorptivity", best.scale)
        self._choose(best.driven, 1e9)

    def _scan(self, values: FloatArray, delays: FloatArray, scales: FloatArray) -> Begin:
        """The best of some delays, ticks, and logarithms of absorptivities."""
        do, driven = self._do, self.model.drive(values)
        table = make_scale(do.process)
        best = Begin(np.inf, 0.0, 0.0, driven, values)
        trajectories = [table(driven.peaks, float(np.exp(scale))) for scale in scales]
        for delay in delays.tolist():
            for scale, trajectory in zip(scales.tolist(), trajectories, strict=True):
                error = np.abs(do.readings - do.at(trajectory, delay))  # of all: heat before its light
                cost = float(np.mean(np.minimum(error, FAR)))  # is the best witness against a long delay
                if cost < best.cost:
                    best = Begin(cost, delay, scale, Peaks(trajectory, driven.behind), values)
        return best

    def fit_twin(self) -> None:
        """All parameters by the twin alone."""
        model = self.model
        held = np.diag(1.0 / model.prior)[model.held]

        def miss(values: FloatArray) -> FloatArray:
            off, astray = self._miss(model.drive(values), values)
            return np.concatenate((off / ROUGH, astray / ASTRAY, model.leave(values)))

        def slopes(values: FloatArray) -> FloatArray:
            Z, W = self._find_columns(model.drive(values), model.find_slopes(values), values)
            return np.concatenate((-Z / ROUGH, -W / ASTRAY, held))

        low = np.array([reach.low for reach in model.reaches])
        high = np.array([reach.high for reach in model.reaches])
        begin = np.clip(self.values, low + 1e-6, high - 1e-6)
        found = least_squares(
            miss,
            begin,
            slopes,
            bounds=(low, high),
            loss="soft_l1",
            x_scale=[reach.usual for reach in model.reaches],
            xtol=1e-4,
            max_nfev=12,
        )
        self.values = np.asarray(found.x)
        driven = model.drive(self.values)
        self._choose(driven, OUTLIER)
        residual, _ = self._miss(driven, self.values)
        self.noise = self.noise or float(np.std(np.diff(residual))) / np.sqrt(2.0)

    def fit_plant(self) -> Fit:
        """Gauss–Newton steps with the plant's residuals, until they are small against the intervals."""
        model, wish = self.model, self._wish
        converged, steps = False, 0
        while True:
            late = self._do.late(model.find_late(self.values))
            plant = late.plant(model.make(self.values), self.noise, wish.progress)
            steps += 1
            if steps == 1:
                self._choose(plant.seen, OUTLIER)
            slopes = model.find_slopes(self.values)
            new = self._step(plant, slopes)
            residual, astray = self._miss(plant.seen, self.values, plant.bias)
            Z, W = self._find_columns(plant.seen, slopes, self.values)
            per = float(np.std(residual)) / find_scatter(astray)  # K per σ
            covariance = find_covariance(
                np.concatenate((Z, per * W)), np.concatenate((residual, per * astray)), model.prior
            )
            moved = np.abs(new - self.values) / np.sqrt(np.diag(covariance))
            converged = bool(moved.max() < ENOUGH)
            if converged or steps >= wish.steps:
                break
            self.values = new
            self.noise = float(np.std(residual)) / max(plant.share, 0.1)
        return self._finish(plant, covariance, steps, converged)

    def _miss(self, driven: Peaks, values: FloatArray, bias: float = 0.0) -> tuple[FloatArray, FloatArray]:
        """By how much readings differ from these peaks, K, and their places, σ, x and y in turn."""
        do, model = self._do, self.model
        off = (do.readings - model.read(driven.peaks, values) - bias)[self.use]
        if do.places is None or not self.placed.any():
            return off, np.empty(0)
        return off, (do.places / model.sigma - model.see(driven.behind, values))[self.placed].ravel()

    def _find_columns(
        self, driven: Peaks, slopes: Peaks, values: FloatArray
    ) -> tuple[FloatArray, FloatArray]:
        """(…, p): slopes of what `_miss` compares."""
        Z, W = self.model.find_columns(driven, slopes, values)
        return Z[self.use], W[self.placed].reshape(-1, len(values))

    def _choose(self, driven: Peaks, most: float) -> None:
        """Readings count that were taken of a warm spot under the laser, and are not far off."""
        do, model = self._do, self.model
        delay = model.find_delay(self.values)
        taken = do.arrived - delay
        tick = np.clip(np.ceil(taken - 1e-6).astype(np.intp) - 1, 0, len(do.path) - 1)
        expected = model.read(driven.peaks, self.values)
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
        if do.places is None or TRAIL not in self.names:
            return
        self.placed = self.use & find_settled(do, delay)
        if self.placed.any():
            astray = do.places / model.sigma - model.see(driven.behind, self.values)
            far = np.linalg.norm(astray - np.median(astray[self.placed], axis=0), axis=1)
            spread = 1.4826 * float(np.median(far[self.placed]))
            self.placed &= far <= most * max(spread, MISPLACED)

    def _step(self, plant: Simulated, slopes: Peaks) -> FloatArray:
        """The parameters that fit the plant's peaks, moved along the twin's slopes; delays as they are."""
        model, scale = self.model, max(self.noise, 0.5)
        scatter = find_scatter(self._miss(plant.seen, self.values)[1])

        def miss(values: FloatArray) -> FloatArray:
            by = (values - self.values)[model.heat]
            moved = Peaks(*(seen + slope @ by for seen, slope in zip(plant.seen, slopes, strict=True)))
            off, astray = self._miss(moved, values, plant.bias)
            return np.concatenate((off / scale, astray / scatter, model.leave(values)))

        farthest = np.array([reach.farthest for reach in model.reaches])
        low = np.maximum(self.values - farthest, [reach.least for reach in model.reaches])
        usual = [reach.usual for reach in model.reaches]
        found = least_squares(miss, self.values, bounds=(low, self.values + farthest), x_scale=usual)
        return np.asarray(found.x)

    def _finish(self, plant: Simulated, covariance: FloatArray, steps: int, converged: bool) -> Fit:
        do, model = self._do, self.model
        fitted = model.read(plant.seen.peaks, self.values) + plant.bias
        delay = max(model.find_delay(self.values), 0.0)
        noise = float(np.std((do.readings - fitted)[self.use])) / max(plant.share, 0.1)
        errors = zip(self.names, np.sqrt(np.diag(covariance)), model.reaches, strict=True)
        vague = tuple(name for name, error, reach in errors if error > reach.sure)
        changed = model.make(self.values).change(delay_ticks=round(delay), noise_k=float(f"{noise:.3g}"))
        n = sum(name not in (*OFFSETS, TRAIL) for name in self.names)
        inseparable = note_inseparable(
            self.names[:n], covariance[:n, :n], [name for name in vague if name not in (SCANNER, *OFFSETS)]
        )
        if LAG in self.names and LAG not in vague and any(name in OF_HEAT for name in vague):
            vague = (*vague, LAG)  # how fast the spot heats up tells of both
            inseparable.append(
                "a lag of the laser and the heat that it brings are not told apart: record changing powers "
                "and turns"
            )
        if SCANNER in vague:
            inseparable.append("the readings say hardly anything about how late the scanner is")
        shown = slice(len(self.names) - (TRAIL in self.names))
        names, own = self.names[shown], covariance[shown, shown]
        if any(name in OFFSETS for name in vague):
            inseparable.append(doubt_offset(self.values[n : n + 2], own[n:, n:], model.sigma))
        notes = list(do.path.notes)
        if not converged:
            notes.append(f"the fit has not settled after {steps} simulations: take the values with care")
        if model.get(self.values, "gain"):
            notes.append("the gain of the readings has no key in a process file: divide readings by it")
        return Fit(
            names=names,
            values=self.values[shown],
            half=half_widths(own, int(self.use.sum())),
            covariance=own,
            before=do.given,
            process=name_fitted(changed, do.given, do.path.name),
            passage=do.passage,
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
            vague=vague,
        )


def choose_names(do: Experiment, wish: tuple[str, ...] | None) -> tuple[str, ...]:
    """What is fitted; a delay only if no time stamps tell it."""
    names = wish or (DEFAULTS if do.places is None else WITH_PLACES)
    if do.places is None and OFFSETS[0] in names:
        raise BadInput(
            f"an offset can be fitted where a log says where peaks were seen, but {do.path.name} does not; "
            f"add measured_peak_x_mm and measured_peak_y_mm, or do not fit {OFFSETS[0]}"
        )
    names = tuple(name for name in names if not (do.stamped is not None and name == "delay"))
    return (*names, TRAIL) if OFFSETS[0] in names else names


def find_scatter(astray: FloatArray) -> float:
    """Standard deviation of places, σ, but not less than the plant's own."""
    return max(float(np.std(astray)) if astray.size else 0.0, MISPLACED)


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


def find_covariance(slopes: FloatArray, residuals: FloatArray, prior: FloatArray) -> FloatArray:
    """(p, p): covariance of the parameters; `prior` (p,) are standard deviations."""
    m, p = slopes.shape
    white = float(residuals @ residuals) / max(m - p, 1)
    bread = np.linalg.inv(slopes.T @ slopes + np.diag(white / prior**2))
    scores = slopes * residuals[:, np.newaxis]
    meat = scores.T @ scores
    lags = max(4, round(m ** (1 / 3)))
    for lag in range(1, lags + 1):
        cross = scores[lag:].T @ scores[:-lag]
        meat = meat + (1.0 - lag / (lags + 1.0)) * (cross + cross.T)
    found, least = bread @ meat @ bread, white * bread
    scale = np.sqrt(np.maximum(1.0, np.diag(least) / np.maximum(np.diag(found), 1e-300)))
    spread = np.sqrt(np.maximum(np.diag(found), 0.0)) * scale
    tied = np.sqrt(np.diag(least))
    return np.asarray(least / np.outer(tied, tied) * np.outer(spread, spread))


def half_widths(covariance: FloatArray, readings: int) -> FloatArray:
    """(p,): half the length of each interval."""
    freedom = max(readings - len(covariance), 1)
    return np.asarray(student.ppf(0.5 + 0.5 * LEVEL, freedom) * np.sqrt(np.diag(covariance)))


def correlate(covariance: FloatArray) -> FloatArray:
    """(p, p): correlation of the parameters."""
    spread = np.sqrt(np.diag(covariance))
    return np.asarray(covariance / np.outer(spread, spread))


def note_inseparable(names: tuple[str, ...], covariance: FloatArray, vague: Sequence[str]) -> list[str]:
    """Sentences about what the data cannot tell; `vague`: the parameters about which they say little."""
    told = ["conductivity, heat capacity and absorptivity times one number give the same temperatures: "
            "conductivity is taken from the process, so absorptivity is relative to it"]  # fmt: skip
    tied = correlate(covariance)
    for i, j in combinations(range(len(names)), 2):
        if abs(tied[i, j]) > TOGETHER:
            way = "together" if tied[i, j] > 0 else "against each other"
            told.append(
                f"{names[i]} and {names[j]} can be changed {way} without the readings telling (correlation "
                f"{tied[i, j]:+.3f}): their combination is known better than each"
            )
    told += [
        f"the readings say hardly anything about {name}: it is held near the process's own value"
        for name in vague
    ]
    return told
