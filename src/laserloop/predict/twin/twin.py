"""The twin: a predictor from a process alone."""

from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from laserloop.paths.preview import Preview
from laserloop.plant.camera import Image
from laserloop.predict.twin.gain import EXACT, GainFilter, GainSettings
from laserloop.predict.twin.heat import Body, Gaussians
from laserloop.predict.twin.history import SHARES, History
from laserloop.predict.twin.moments import Moments
from laserloop.predict.twin.peak import climb, find_headings, guess_peak
from laserloop.predict.twin.pulse import LAGS, make_rule
from laserloop.process import Material, Process
from laserloop.process.heat_table import tabulate

FloatArray = NDArray[np.float64]

ALPHA_AT = 0.31  # of the way from ambient to the window's middle, where α is read off the material
ROUNDS = 4  # of the search for a peak
HEADROOM = 1000.0  # K above the window, up to which temperatures are told apart
LINES = (3, 5)  # rows and columns of pixels around the peak that are compared, without and with noise
STEEP = (90, 30)  # power of u with which a pixel counts, without and with noise: those at the peak most
FEW = 0.5  # of the wanted u below which nothing is compared: a cooling plate has another α
# Around the peak the plate is colder than one α tells: u is less by SLENDER ln(α(middle)/α(ambient)) times
# the way down from the peak. Measured: 0.10 to 0.22 on four alloys at 0.1 to 0.8 m/s.
SLENDER = 0.15
# Of a ratio when the laser comes on, halved in every tick until nothing is left: a lag that nobody knows of
# shows then, and what it costs in heat is no gain.
START_ERROR, START_TICKS = 1.2, 8
FRAMES = 8  # most of an exposure that are looked at
CORNERS = np.array([[-1.0, -1.0], [1.0, -1.0], [-1.0, 1.0], [1.0, 1.0]]) / np.sqrt(
    3.0
)  # Gauss, in half pixels
SUBPIXEL = 0.2  # σ: pixels larger than this read a mean, not a point


@dataclass(frozen=True, slots=True, kw_only=True)
class TwinSettings:
    """How far the twin looks, and how exact it is."""

    horizon: int = 5  # ticks
    alpha: float | None = None  # m²/s; None: read off the material
    budget: float = 0.2  # K, that merging of old heat may cost
    history: bool = True  # False: heat older than the ticks kept one by one is forgotten (not in C)
    gain: GainSettings | None = None  # how much a reading is believed; None: as the camera's noise asks


class Correction(Protocol):
    """What is known of the twin's own error."""

    def factors(
        self, heat: Gaussians, points: FloatArray, headings: FloatArray, *, sigma: float, wanted: float
    ) -> FloatArray:
        """(m,): u over what heat (m, n) makes it at peaks (m, 2) of beams with headings (m, 2).

        `wanted`: u of the window's middle over the gain, W/m.
        """


def read_alpha(material: Material, ambient: float, middle: float) -> float:
    """The one diffusivity that stands for all temperatures between ambient and a window's middle, m²/s."""
    return find_diffusivity(material, ambient + ALPHA_AT * (middle - ambient))


def find_diffusivity(material: Material, T: float) -> float:
    """α = k/(ρc), m²/s."""
    return float(material.conductivity(T) / (material.density(T) * material.heat_capacity(T)))


class TwinPredictor:
    """Knows a process, what the scanner did, and the ratio of what is seen to what it expects."""

    name = "twin"
    affine = False
    skips_pixels = True  # those that are NaN

    def __init__(
        self,
        process: Process,
        settings: TwinSettings | None = None,
        correction: Correction | None = None,
    ) -> None:
        self.settings = settings or TwinSettings()
        self.correction = correction
        self.process = process
        self.horizon = self.settings.horizon
        middle = 0.5 * sum(process.window)
        alpha = self.settings.alpha or read_alpha(process.material, process.ambient, middle)
        self.body = Body(sigma=process.beam.sigma, alpha=alpha, plate=process.plate)
        diffusivity = [find_diffusivity(process.material, T) for T in (process.ambient, middle)]
        self.slender = SLENDER * float(np.log(diffusivity[1] / diffusivity[0]))
        self.table = tabulate(process.material, process.ambient)
        self.hottest = max(process.window[1], process.ambient) + HEADROOM
        self.wanted = float(self.table.theta_of(np.array([middle]))[0])
        k = float(process.material.conductivity(middle))
        hop, lags = process.speed * process.tick, max(LAGS, self.horizon)  # no coming tick is old heat
        self.rule = make_rule(process.tick, hop, self.body.sigma, alpha, lags)
        camera = process.camera
        self.memory = self.rule.lags + camera.delay + camera.exposure  # ticks kept one by one
        self.worth = self.settings.budget * k / SHARES  # W/m, that a merge may cost
        self._history = History(self.body, process.tick, self.worth, self.memory)
        self.trust = self.settings.gain or (GainSettings() if camera.noise > 0.0 else EXACT)
        self._filter = GainFilter(self.trust)
        self.reset()

    def reset(self) -> None:
        """A plate at rest; the next tick is the first."""
        self._history.reset()
        self._filter.reset()
        self._now = 0  # ticks
        self.ends = np.zeros((self.memory + 1, 2))  # m, where the newest ticks began and ended
        self.watts = np.zeros(self.memory)  # absorbed in each of them, oldest first
        self.emitted = 0.0  # W, what a laser with a lag gives now
        self._seen = -1.0  # s, time of the last image
        self.surprise = float("nan")  # K, by which the peak of the newest image was hotter than expected

    @property
    def gain(self) -> float:
        """g, measured over expected."""
        return self._filter.gain

    @property
    def gaussians(self) -> int:
        """How many stand for the old heat."""
        return len(self._history)

    def observe(self, image: Image | None, preview: Preview) -> "TwinForecast":
        """Take in what was given and seen, and forecast."""
        if not self._now:
            self.ends[:] = preview.positions[0]
        self._follow(preview)
        self.surprise = float("nan")
        if image is not None and image.time != self._seen:
            self._seen = image.time
            self._compare(image)
        return TwinForecast(self, preview)

    def _follow(self, preview: Preview) -> None:
        """Absorb the ticks given since the last call."""
        past = len(preview.powers)
        news = min(round(preview.time / preview.tick) - self._now, past)
        for k in range(past - news, past):
            command = float(preview.powers[k])
            power, self.emitted = self.process.laser.follow(self.emitted, command, preview.tick)
            self.absorb(power, preview.positions[k : k + 2])
        self._filter.wait(news)

    def absorb(self, power: float, spot: FloatArray) -> None:
        """One tick at this mean power."""
        watts = power * self.process.beam.absorptivity
        self._now += 1
        if self.settings.history:
            self._history.add(self._now, watts * self.process.tick, spot)
        self.watts[:-1], self.ends[:-1] = self.watts[1:].copy(), self.ends[1:].copy()
        self.watts[-1], self.ends[-2:] = watts, spot

    def at_moments(self, ends: FloatArray, moments: NDArray[np.intp]) -> Moments:
        """All heat after some of the ticks kept one by one and those that follow them."""
        return Moments(
            self.body,
            self.rule,
            self._history,
            tick=self.process.tick,
            ends=ends,
            first=self._now - self.memory,
            moments=moments,
        )

    def correct(self, heat: Gaussians, points: FloatArray, ends: FloatArray) -> FloatArray:
        """(m,): factors of u at the peaks (m, 2) of moments whose ticks end at ends[1:], m."""
        if self.correction is None:
            return np.ones(len(points))
        return self.correction.factors(
            heat, points, find_headings(ends), sigma=self.body.sigma, wanted=self.wanted / self.gain
        )

    def _compare(self, image: Image) -> None:
        """The gain by the pixels around the peak, when the image was taken."""
        age = self._now - round(image.time / self.process.tick)
        moment = self.memory - age
        if age < 0 or moment < self.rule.lags:
            return
        moments = exposed(moment, self.process.camera.exposure, self.memory - self._now)
        if min(self.watts[moment - 1], self.watts[moments[len(moments) // 2] - 1]) <= 0.0:
            return  # the laser is off, or has just come on
        expected, seen = self._read([self._recall(k) for k in moments], image)
        if not expected.size or self.gain * expected.max() < FEW * self.wanted:
            return
        weight = (expected / expected.max()) ** STEEP[self.process.camera.noise > 0.0] * expected
        norm = float(np.sum(weight * expected))
        ratio = float(np.sum(weight * seen)) / norm
        k = float(self.process.material.conductivity(self.table.temperature_of(self.gain * expected.max())))
        noise = self.process.camera.noise * k * float(np.sqrt(np.sum(weight**2))) / norm
        foreseen, seen_at_peak = self.table.temperature_of(np.array([self.gain, ratio]) * expected.max())
        if self._filter.read(ratio, float(np.hypot(noise, self._find_start_error(moment)))):
            self.surprise = float(seen_at_peak - foreseen)

    def _find_start_error(self, moment: int) -> float:
        """Standard deviation of a ratio because the laser had just come on."""
        dark = np.flatnonzero(self.watts[moment - START_TICKS : moment][::-1] <= 0.0)
        return START_ERROR * 0.5 ** int(dark[0]) if len(dark) else 0.0

    def _recall(self, moment: int) -> tuple[Gaussians, FloatArray]:
        """All heat at a moment of the past, as corrected at its peak, and the peak in it."""
        heat = self.at_moments(self.ends[: moment + 1], np.array([moment])).driven(self.watts[:moment])
        guess = guess_peak(self.ends[None, moment], self.ends[None, moment - 1], self.body.sigma)
        peak = climb(heat, guess, self.body.sigma, ROUNDS)
        factor = self.correct(heat, peak, self.ends[moment - 1 : moment + 1])
        return heat._replace(height=factor[0] * heat.height), peak[0]

    def _read(
        self, frames: list[tuple[Gaussians, FloatArray]], image: Image
    ) -> tuple[FloatArray, FloatArray]:
        """u expected and seen of the pixels around the peak in the middle of an exposure."""
        camera, peak = self.process.camera, frames[len(frames) // 2][1]
        pixel, lines = camera.pixel or 0.0, LINES[camera.noise > 0.0]
        rows, columns = nearest(image.y, peak[1], lines), nearest(image.x, peak[0], lines)
        points = np.stack(np.meshgrid(image.x[columns], image.y[rows]), axis=-1).reshape(-1, 2)
        T_seen = image.temperature[rows, columns].ravel()
        good = ~np.isnan(T_seen)  # a broken pixel counts for nothing
        points, seen = points[good], self.table.theta_of(T_seen[good])
        inside = CORNERS if pixel > SUBPIXEL * self.body.sigma else np.zeros((1, 2))
        spots = (points[:, np.newaxis] + 0.5 * pixel * inside).reshape(-1, 2)
        top = frames[len(frames) // 2][0].at(peak)
        u = [heat.at(spots) for heat, _ in frames]
        T = [self.table.temperature_of(self.gain * (1.0 - self.slender * (1.0 - at / top)) * at) for at in u]
        mean = np.mean(T, axis=0).reshape(len(points), -1).mean(axis=1)
        return self.table.theta_of(mean) / self.gain, seen


def exposed(moment: int, ticks: int, start: int) -> list[int]:
    """The moments, newest first, that an image of so many ticks is the mean of; at most `FRAMES` of them."""
    ticks = max(1, min(ticks, moment - start + 1))
    return [moment - int(k) for k in np.linspace(0, ticks - 1, min(ticks, FRAMES)) + 0.5]


def nearest(lines: FloatArray, at: float, count: int) -> slice:
    """As many rising lines that lie nearest to a place."""
    count = min(count, len(lines))
    first = int(np.clip(np.searchsorted(lines, at) - (count + 1) // 2, 0, len(lines) - count))
    if first + count < len(lines) and at - lines[first] > lines[first + count] - at:
        first += 1
    return slice(first, first + count)


class TwinForecast:
    """What any plan leads to, seen from one tick. Images that are late correct the gain, not the plan."""

    committed: FloatArray = np.empty(0)

    def __init__(self, twin: TwinPredictor, preview: Preview) -> None:
        self._twin = twin
        n, past = twin.horizon, twin.memory
        way = preview.ahead[: n + 1]
        self.previous = preview.power
        self._past = past
        self._way = way
        self._factors = np.ones(n)  # of u, by the correction where the plan was last linearised
        ends = np.concatenate((twin.ends[:-1], way))
        self._moments = twin.at_moments(ends, past + 1 + np.arange(n))
        self.points = guess_peak(way[1:], way[:-1], twin.body.sigma)
        laser, tick = twin.process.laser, twin.process.tick
        self._free = np.empty(n)  # W emitted without any command
        self._follow = np.zeros((n, n))  # W emitted per watt commanded
        for j in range(n + 1):
            power = twin.emitted if j == n else 0.0
            for i in range(n):
                mean, power = laser.follow(power, float(i == j), tick)
                (self._free if j == n else self._follow[:, j])[i] = mean

    def predict(self, plan: FloatArray) -> FloatArray:
        """T_max near the beam, K, at the end of each tick."""
        return self._read_peaks(self._heat(plan))

    def linearise(self, plan: FloatArray) -> tuple[FloatArray, FloatArray]:
        """T_max, K, and its slopes, K/W, at the peaks of a plan."""
        twin, heat = self._twin, self._heat(plan)
        if twin.correction is not None:
            self._factors = twin.correct(heat, self.points, self._way)
        T = self._read_peaks(heat)
        per_watt = self._moments.gains(self.points, range(self._past, self._past + twin.horizon))
        absorbed = twin.process.beam.absorptivity * per_watt @ self._follow
        slope = twin.gain * self._factors / twin.process.material.conductivity(T)
        return T, slope[:, np.newaxis] * absorbed

    def _heat(self, plan: FloatArray) -> Gaussians:
        """All heat at the end of each tick of a plan; leaves the points at the peaks."""
        twin = self._twin
        coming = twin.process.beam.absorptivity * (self._free + self._follow @ plan)
        heat = self._moments.driven(np.concatenate((twin.watts, coming)))
        self.points = climb(heat, self.points, twin.body.sigma, ROUNDS)
        return heat

    def _read_peaks(self, heat: Gaussians) -> FloatArray:
        """T_max, K, at the points."""
        return self._twin.table.temperature_of(self._twin.gain * self._factors * heat.at(self.points))
