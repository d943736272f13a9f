"""A process fitted to a recording: begun with the twin, made exact by the plant, with intervals.

Zᵀ (y − plant(p)) = 0 with Z = ∂twin/∂p: the plant's residuals under the twin's slopes. Wrong slopes cost a
step more, not exactness, so that what the twin gets wrong does not end up in the parameters.

How sure it is comes from residuals that are correlated in time:
Z  slopes of the readings, (m, p)      e  residuals, K      G = ZᵀZ + Λ, Λ a weak prior
V = G⁻¹ (Σ_{|l|≤L} (1 − |l|/(L+1)) Σ_i z_i e_i e_{i+l} z_{i+l}ᵀ) G⁻¹, at least s² G⁻¹
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import least_squares
from scipy.stats import t as student

from laserloop.bad_input import BadInput
from laserloop.identification.experiment import (
    LEAST_SHARE,
    Experiment,
    Model,
    Peaks,
    Prior,
    Several,
    Simulated,
    doubt_offset,
    find_settled,
    set_up,
)
from laserloop.identification.parameters import (
    AMBIENT,
    DEFAULTS,
    DELAYS,
    LAG,
    MISPLACED,
    NAMES,
    OF_HEAT,
    OFFSETS,
    SCANNER,
    SENSOR,
    TRAIL,
    WITH_PLACES,
    check_names,
)
from laserloop.identification.verdict import Evidence, Verdict, judge
from laserloop.logs.recording import Recording
from laserloop.process import Process
from laserloop.process.heat_table import tabulate

FloatArray = NDArray[np.float64]
Progress = Callable[[int, int], None]

ENOUGH = 0.05  # standard deviations: a smaller step ends the fit
OUTLIER = 6.0  # standard deviations
ROUGH, ASTRAY = 10.0, 0.1  # K and σ, by which the twin may be off
LONGEST_LAG = 20.0  # ticks of delay that a lag may look like
STILL, EXACT = 0.2, 0.02  # K, by which a last step may still move the readings, and that is nothing
FIRST, SOON = 3, 8.0  # readings, and ticks by which they came, that tell whether a log begins hot
HOT = 0.2  # of the usual heat, by which they are hotter than a cold plate
ENOUGH_LIGHT = 400  # lit ticks, from which the twin begins: its time grows faster than a log
FAR_SLOPES = 4.0  # usual changes, after which slopes are found anew: wrong ones cost steps, not exactness
LAGS = (0.0, 0.4, 0.8, 1.6)  # of the laser, in times that the beam takes for σ, where the fit may begin
NEAR = 0.15  # of a logarithm: as far as absorptivity is looked for again with another lag
FAR = 100.0  # K, beyond which one reading is as bad as another
WARM = 50.0  # K above ambient, from which on a reading is of the heated spot
LEVEL = 0.95
CAMERA = 1.0, 0.1  # what a reading is, and how sure what noise adds to it is told
UNKNOWN = 0.5, 1.0
WIDER = 1.3  # where it is not known what a reading is: as much more than told were errors of known truths
SETTLED = 2  # simulations, from which the noise is told
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
    power: FloatArray  # (m,), W, when they were taken
    share: FloatArray  # (m,), standard deviation of each over that of a pixel
    steps: int  # simulations by the plant
    converged: bool
    verdict: Verdict
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
            ends = {"value": value, "low": value - half, "high": value + half}
            if name == "delay":  # no image comes before it is taken
                told["delay_ticks"] = {key: max(end, 0.0) for key, end in ends.items()}
            elif name == AMBIENT:
                told[name] = {key: self.before.ambient + end for key, end in ends.items()}
            elif name in (LAG, SCANNER, *OFFSETS):
                told[name] = self._tell_off(name)
            else:
                label, was = units[name]
                told[label] = {key: float(was * np.exp(end)) for key, end in ends.items()}
        if "delay" not in self.names:
            told["delay_ticks"] = {"value": self.delay, "low": self.delay, "high": self.delay}
        if {LAG, SCANNER, *OFFSETS} & {*self.names}:
            told["sentences"] = list(self.sentences)
        return told | {
            "holds": self.verdict.holds,
            "verdict": self.verdict.to_json(),
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
                "power_w": self.power.tolist(),
            },
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class FitSettings:
    """What is fitted, and how much work may be done."""

    names: tuple[str, ...] | None = None  # None: the usual ones, of a log with the places of peaks more
    ticks: int = 2000  # most of a recording that are simulated
    steps: int = 6  # most simulations by the plant
    priors: Mapping[str, Prior] = field(default_factory=dict)  # what is known before, and how well
    sensor: str | None = None  # camera or pyrometer; None: as the log says, or as readings tell
    span: tuple[float, float] = (0.0, np.inf)  # s of the log, whose readings count
    progress: Progress | None = None

    def __post_init__(self) -> None:
        if self.names is not None:
            object.__setattr__(self, "names", check_names(self.names))


def identify(
    recordings: Recording | Sequence[Recording], process: Process, settings: FitSettings | None = None
) -> Fit:
    """Fit a process to a recording, or to several of the same machine."""
    wish = settings or FitSettings()
    several = (recordings,) if isinstance(recordings, Recording) else tuple(recordings)
    logs = tuple(set_up(recording, process, wish.ticks, wish.span) for recording in several)
    brief = begin(logs, wish)
    hot = [brief.starts_hot(i) for i in range(len(logs))]
    if any(hot):
        logs = tuple(log.forget() if one else log for log, one in zip(logs, hot, strict=True))
        brief = begin(logs, wish)
    search = Search(logs, wish)
    search.values, search.noise = brief.values, brief.noise
    return search.fit_plant()


def begin(logs: tuple[Experiment, ...], wish: FitSettings) -> "Search":
    """A fit of the first light by the twin alone."""
    search = Search(tuple(log.begin(ENOUGH_LIGHT) for log in logs), wish)
    search.start()
    search.fit_twin()
    return search


class Begin(NamedTuple):
    """Where a fit may begin."""

    cost: float  # K
    delay: float  # ticks
    scale: float  # logarithm of a factor on the absorptivity
    driven: Several
    values: FloatArray  # (p,), of the other parameters


class Search:
    """The state of a fit: parameters, and which readings count."""

    def __init__(self, logs: tuple[Experiment, ...], wish: FitSettings) -> None:
        self._wish = wish
        names, camera = choose_names(logs, wish)
        self.model = Model(logs, names, wish.priors, camera)
        self.names = names
        self.values = self.model.said.copy()
        self.use = np.ones(len(self.model.readings), np.bool_)
        self.placed = np.zeros(len(self.use), np.bool_)  # those whose place counts
        self.noise = logs[0].process.camera.noise

    def start(self) -> None:
        """Absorptivity for each whole delay by a scan; the best pair is where the fit begins.

        If the laser's lag is fitted, some are tried as well: less delay and more lag look nearly the same.
        """
        model = self.model
        longest = min(DELAYS, max(len(log.path) for log in model.logs) // 2)
        delays = np.arange(longest + 1.0) if "delay" in self.names else np.array([model.delay])
        scales = np.linspace(-1.4, 1.0, 97) if "absorptivity" in self.names else np.zeros(1)
        best = self._scan(self.values, delays, scales)
        if LAG in self.names:
            near = (delays <= best.delay) & (delays > best.delay - LONGEST_LAG)
            delays, scales = delays[near], scales[np.abs(scales - best.scale) < NEAR]
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
        model, driven = self.model, self.model.drive(values)
        table = make_scale(model.do.process)
        best = Begin(np.inf, 0.0, 0.0, driven, values)
        first = model.do.process.ambient
        lines = [
            np.stack([np.append(first, table(each.peaks, np.exp(scale))) for scale in scales], axis=1)
            for each in driven
        ]
        for delay in delays.tolist():
            each = zip(model.logs, lines, strict=True)
            expected = np.concatenate([log.sample(line, delay) for log, line in each])
            error = np.abs(model.readings[:, np.newaxis] - expected)  # of all: heat before its light
            cost = np.minimum(error, FAR).mean(axis=0)  # is the best witness against a long delay
            i = int(np.argmin(cost))
            if cost[i] < best.cost:
                scaled = tuple(
                    each._replace(peaks=line[1:, i]) for each, line in zip(driven, lines, strict=True)
                )
                best = Begin(float(cost[i]), delay, float(scales[i]), scaled, values)
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

        begin = np.clip(self.values, model.low + 1e-6, model.high - 1e-6)
        found = least_squares(
            miss,
            begin,
            slopes,
            bounds=(model.low, model.high),
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

    def starts_hot(self, i: int) -> bool:
        """Are the first readings of a log much hotter than a plate can be that was cold at its start?"""
        log = self.model.logs[i]
        first = np.flatnonzero(log.arrived <= SOON)[:FIRST]
        if len(first) < FIRST:
            return False
        driven = self.model.drive(self.values)[i]
        at_once = log.at(driven.peaks, 0.0, log.process.ambient)[first]
        heat = float(np.median(log.readings)) - log.process.ambient
        return bool(np.median(log.readings[first] - at_once) > max(HOT * heat, OUTLIER * self.noise))

    def fit_plant(self) -> Fit:
        """Gauss–Newton steps with the plant's residuals, until they are small against the intervals."""
        model, wish = self.model, self._wish
        steps, taken = 0, self.values
        counted = np.array([name != SENSOR for name in self.names])
        while True:
            plant = model.simulate(self.values, self.noise, wish.progress)
            seen, bias = tuple(one.seen for one in plant), [one.bias for one in plant]
            if not steps:
                self._choose(seen, OUTLIER)
            if not steps or np.abs((self.values - taken) / model.usual).max() > FAR_SLOPES:
                slopes, taken = model.find_slopes(self.values), self.values
            steps += 1
            new = self._step(seen, slopes, bias)
            residual, astray = self._miss(seen, self.values, bias)
            Z, W = self._find_columns(seen, slopes, self.values, bias)
            per = float(np.std(residual)) / find_scatter(astray)  # K per σ
            covariance = find_covariance(
                np.concatenate((Z, per * W)), np.concatenate((residual, per * astray)), model.prior
            )
            moved = (np.abs(new - self.values) / np.sqrt(np.diag(covariance)))[counted]
            shift = float(np.sqrt(np.mean((Z @ (new - self.values)) ** 2)))  # K, of the readings
            still = shift < max(ENOUGH * float(np.std(residual)), STILL)
            if (moved.max() < ENOUGH and still) or steps >= wish.steps:
                break
            self.values = new
            if steps > SETTLED:  # a camera's bias is fitted from here on
                continue
            self.noise = float(np.std(residual)) / self._find_share(plant)
        settled = shift < EXACT  # of a log without noise intervals are too narrow to judge a step by
        return self._finish(plant, covariance, steps, 0.0 if settled else float(moved.max()))

    def _find_share(self, plant: tuple[Simulated, ...]) -> float:
        """Root mean square of how much of a pixel's noise the readings have."""
        model = self.model
        share = model.gather([one.share for one in plant], model.find_delay(self.values), 1.0)[self.use]
        camera = model.get(self.values, SENSOR, model.camera)
        return max(float(np.sqrt(np.mean((1.0 + np.clip(camera, 0.0, 1.0) * (share - 1.0)) ** 2))), 0.1)

    def _miss(
        self, driven: Several, values: FloatArray, bias: Sequence[FloatArray] | None = None
    ) -> tuple[FloatArray, FloatArray]:
        """By how much readings differ from these peaks, K, and their places, σ, x and y in turn."""
        model = self.model
        off = (model.readings - model.read(driven, values, bias))[self.use]
        if not self.placed.any():
            return off, np.empty(0)
        return off, (model.places / model.sigma - model.see(driven, values))[self.placed].ravel()

    def _find_columns(
        self, driven: Several, slopes: Several, values: FloatArray, bias: Sequence[FloatArray] | None = None
    ) -> tuple[FloatArray, FloatArray]:
        """(…, p): slopes of what `_miss` compares."""
        Z, W = self.model.find_columns(driven, slopes, values, bias)
        return Z[self.use], W[self.placed].reshape(-1, len(values))

    def _choose(self, driven: Several, most: float) -> None:
        """Readings count that were taken of a warm spot under the laser, and are not far off."""
        model = self.model
        delay = model.find_delay(self.values)
        expected = model.read(driven, self.values)
        ambient = model.do.process.ambient
        warm = np.concatenate([log.find_lit(delay) for log in model.logs]) & (expected > ambient + WARM)
        if warm.sum() < 2 * len(self.names) + 10:
            raise BadInput(
                f"a fit needs readings taken under the laser, but only {int(warm.sum())} of "
                f"{model.do.path.name} are; check that time stamps, powers and readings belong together"
            )
        error = model.readings - expected
        centre = float(np.median(error[warm]))
        spread = 1.4826 * float(np.median(np.abs(error[warm] - centre))) + 1e-6
        self.warm, self.use = warm, warm & (np.abs(error - centre) <= most * max(spread, 1.0))
        if TRAIL not in self.names:
            return
        settled = np.concatenate([find_settled(log, delay) for log in model.logs])
        self.placed = self.use & settled
        if self.placed.any():
            astray = model.places / model.sigma - model.see(driven, self.values)
            far = np.linalg.norm(astray - np.median(astray[self.placed], axis=0), axis=1)
            spread = 1.4826 * float(np.median(far[self.placed]))
            self.placed &= far <= most * max(spread, MISPLACED)

    def _step(self, seen: Several, slopes: Several, bias: Sequence[FloatArray]) -> FloatArray:
        """The parameters that fit the plant's peaks, moved along the twin's slopes; delays as they are."""
        model, scale = self.model, max(self.noise, 0.5)
        scatter = find_scatter(self._miss(seen, self.values)[1])

        def miss(values: FloatArray) -> FloatArray:
            by = (values - self.values)[model.heat]
            moved = tuple(
                Peaks(*(was + slope @ by for was, slope in zip(each, way, strict=True)))
                for each, way in zip(seen, slopes, strict=True)
            )
            off, astray = self._miss(moved, values, bias)
            return np.concatenate((off / scale, astray / scatter, model.leave(values)))

        farthest = np.array([reach.farthest for reach in model.reaches])
        low, high = (
            np.maximum(self.values - farthest, model.low),
            np.minimum(self.values + farthest, model.high),
        )
        inside = np.clip(self.values, low + 1e-9, high - 1e-9)
        found = least_squares(miss, inside, bounds=(low, high), x_scale=model.usual)
        return np.asarray(found.x)

    def _finish(self, plant: tuple[Simulated, ...], covariance: FloatArray, steps: int, moved: float) -> Fit:
        model, do = self.model, self.model.do
        seen, bias = tuple(one.seen for one in plant), [one.bias for one in plant]
        fitted = model.read(seen, self.values, bias)
        delay = max(model.find_delay(self.values), 0.0)
        noise = float(np.std((model.readings - fitted)[self.use])) / self._find_share(plant)
        errors = zip(self.names, np.sqrt(np.diag(covariance)), model.reaches, strict=True)
        vague = tuple(name for name, error, reach in errors if error > reach.sure)
        changed = model.make(self.values).change(delay_ticks=round(delay), noise_k=float(f"{noise:.3g}"))
        n = sum(name not in (*OFFSETS, TRAIL, SENSOR) for name in self.names)
        inseparable = note_inseparable(
            self.names[:n], covariance[:n, :n], [name for name in vague if name not in (SCANNER, *OFFSETS)]
        )
        if LAG in self.names and any(name in OF_HEAT for name in vague):
            vague = (*vague, LAG)  # how fast the spot heats up tells of both
            inseparable.append(
                "a lag of the laser and the heat that it brings are not told apart: record changing powers "
                "and turns"
            )
        if SCANNER in vague:
            inseparable.append("the readings say hardly anything about how late the scanner is")
        shown = slice(sum(name not in (TRAIL, SENSOR) for name in self.names))
        names, own = self.names[shown], covariance[shown, shown]
        if any(name in OFFSETS for name in vague):
            inseparable.append(doubt_offset(self.values[n : n + 2], own[n:, n:], model.sigma))
        notes = [note for log in model.logs for note in log.path.notes]
        if moved >= ENOUGH:
            notes.append(f"the fit has not settled after {steps} simulations: take the values with care")
        if model.get(self.values, "gain"):
            notes.append("the gain of the readings has no key in a process file: divide readings by it")
        if held := [name for name in OF_HEAT if name not in self.names]:
            notes.append(
                f"{' and '.join(held)} {'are' if len(held) > 1 else 'is'} held as the process has "
                f"{'them' if len(held) > 1 else 'it'}, as if exact: intervals hold only if so; fit "
                f"{'them' if len(held) > 1 else 'it'}, or say with --prior how well known"
            )
        power = model.gather([log.power for log in model.logs], delay)
        share = model.gather([one.share for one in plant], delay, 1.0)
        return Fit(
            names=names,
            values=self.values[shown],
            half=half_widths(own, int(self.use.sum())) * (WIDER if model.unsure else 1.0),
            covariance=own,
            before=do.given,
            process=name_fitted(changed, do.given, do.path.name),
            passage=model.passage,
            delay=delay,
            noise=noise,
            time=np.concatenate([log.arrived for log in model.logs])[self.use] * do.path.tick,
            readings=model.readings[self.use],
            fitted=fitted[self.use],
            power=power[self.use],
            share=share[self.use],
            steps=steps,
            converged=moved < ENOUGH,
            verdict=self._judge(fitted, share, power, noise, covariance, moved),
            not_separable=tuple(inseparable),
            notes=tuple(notes),
            tally=do.tally.to_json(),
            vague=vague,
        )

    def _judge(
        self,
        fitted: FloatArray,
        share: FloatArray,
        power: FloatArray,
        noise: float,
        covariance: FloatArray,
        moved: float,
    ) -> Verdict:
        model, do = self.model, self.model.do
        suspicious = []
        for name, value, low, high in zip(self.names, self.values, model.low, model.high, strict=True):
            natural = name in (TRAIL, SENSOR, "delay") or (name == LAG and value < 1.0)
            if not natural and (value < low + 1e-3 or value > high - 1e-3):
                suspicious.append(f"{name} lies at the end of what is looked for")
        if "absorptivity" in self.names:
            i = self.names.index("absorptivity")
            least = (
                float(np.exp(self.values[i] - 2.0 * np.sqrt(covariance[i, i]))) * do.process.beam.absorptivity
            )
            if least > 1.0:
                suspicious.append(
                    f"absorptivity would be above {least:.2f}, which cannot be: is the alloy the right one?"
                )
        use, camera = self.use, model.get(self.values, SENSOR, model.camera)
        spread = 1.0 + np.clip(camera, 0.0, 1.0) * (np.clip(share, LEAST_SHARE, 1.0) - 1.0)
        arrived = np.concatenate([log.arrived for log in model.logs])
        return judge(
            Evidence(
                residuals=((model.readings - fitted) / spread)[use],
                time=arrived[use],
                power=power[use],
                fitted=fitted[use],
                ambient=do.process.ambient,
                noise=noise,
                told=do.given.camera.noise,
                astray=1.0 - float(use.sum()) / max(float(self.warm.sum()), 1.0),
                whole=np.concatenate([log.whole for log in model.logs]),
                moved=moved,
                suspicious=tuple(suspicious),
            )
        )


def choose_names(logs: tuple[Experiment, ...], wish: FitSettings) -> tuple[tuple[str, ...], Prior]:
    """What is fitted, and what a reading is (1: a camera's maximum, 0: a pyrometer's), with its error.

    A delay is fitted only if no time stamps tell it.
    """
    placed = any(log.places is not None for log in logs)
    names = wish.names or (WITH_PLACES if placed else DEFAULTS)
    if not placed and OFFSETS[0] in names:
        raise BadInput(
            f"an offset can be fitted where a log says where peaks were seen, but {logs[0].path.name} does "
            f"not; add measured_peak_x_mm and measured_peak_y_mm, or do not fit {OFFSETS[0]}"
        )
    names = tuple(name for name in NAMES if name in (*names, *wish.priors))
    stamped = all(log.stamped is not None for log in logs)
    names = tuple(name for name in names if not (stamped and name == "delay"))
    hidden = (TRAIL,) if OFFSETS[0] in names else ()
    if wish.sensor == "pyrometer":
        return (*names, *hidden), (0.0, 0.0)
    surely = wish.sensor == "camera" or any(log.is_camera for log in logs)
    return (*names, *hidden, SENSOR), CAMERA if surely else UNKNOWN


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
    pull = np.einsum("ij,jk,ik->i", slopes, bread, slopes)  # a reading that pulls the fit hides its residual
    scores = slopes * (residuals / np.maximum(1.0 - pull, 0.1))[:, np.newaxis]
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
