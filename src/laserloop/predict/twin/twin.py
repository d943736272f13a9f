"""The twin: a predictor from a process alone."""

from dataclasses import dataclass
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from laserloop.paths.path import Preview
from laserloop.plant.camera import Image
from laserloop.predict.twin.gain import EXACT, MOST_LATE, D, E, GainFilter, GainSettings, X
from laserloop.predict.twin.heat import (
    LAGS,
    SHARES,
    Gaussians,
    HeatSum,
    Medium,
    ThermalHistory,
    find_headings,
    find_peak,
    guess_peak,
    make_quadrature,
)
from laserloop.process import Material, Process
from laserloop.process.heat_table import tabulate

FloatArray = NDArray[np.float64]

ALPHA_AT = 0.31  # of the way from ambient to the window's middle, where α is read off the material
ROUNDS = 4  # of the search for a peak
HEADROOM = 1000.0  # K above the window, up to which temperatures are told apart
LINES = 5  # rows and columns of pixels around the peak that are compared
STEEP = (90, 30)  # power of u with which a pixel counts, without and with noise: those at the peak most
FEW = 0.5  # of the wanted u below which nothing is compared: a cooling plate has another α
# Around the peak the plate is colder than one α tells: u is less by CORRECTED ln(α(middle)/α(ambient)) times
# the way down from the peak. Measured: 0.10 to 0.22 on four alloys at 0.1 to 0.8 m/s.
CORRECTED = 0.15
# Of a ratio when the laser comes on, halved in every tick until nothing is left: what a lag
# costs in heat then is no gain.
START_ERROR, START_TICKS = 1.2, 8
DIM = 0.005  # of the most power, below which a tick counts as dark
TURN = 2  # ticks before one whose way tells whether it is part of a turn
ROUNDS_OF_PLACE, HALFWAY = 3, 0.3  # at most, until the spot is nearer, σ
FARTHEST = 1.5  # σ: an image whose spot is further off shows something else
SURE_OF_PLACE = 0.3  # of the hottest pixel expected: colder ones tell nothing of the spot's place
ENOUGH, LINE = 6, 1e-3  # pixels that tell it, and how far from all in one line they must lie
SPARE = 8  # ticks kept beyond those of the rule and the camera, for what is late
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


class _Correction(Protocol):
    """What is known of the twin's own error."""

    def factors(
        self, heat: Gaussians, points: FloatArray, headings: FloatArray, *, sigma: float, wanted: float
    ) -> FloatArray:
        """(m,): u over what heat (m, n) makes it at peaks (m, 2) of beams with headings (m, 2).

        `wanted`: u of the window's middle over the gain, W/m.
        """


def read_alpha(material: Material, ambient: float, middle: float) -> float:
    """The one diffusivity that stands for all temperatures between ambient and a window's middle, m²/s."""
    return _find_diffusivity(material, ambient + ALPHA_AT * (middle - ambient))


def _find_diffusivity(material: Material, T: float) -> float:
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
        correction: _Correction | None = None,
    ) -> None:
        self.settings = settings or TwinSettings()
        self.correction = correction
        self.process = process
        self.horizon = self.settings.horizon
        middle = 0.5 * sum(process.window)
        alpha = self.settings.alpha or read_alpha(process.material, process.ambient, middle)
        self.body = Medium(sigma=process.beam.sigma, alpha=alpha, plate=process.plate)
        diffusivity = [_find_diffusivity(process.material, T) for T in (process.ambient, middle)]
        self.diffusivity_correction = CORRECTED * float(np.log(diffusivity[1] / diffusivity[0]))
        self.table = tabulate(process.material, process.ambient)
        self.hottest = max(process.window[1], process.ambient) + HEADROOM
        self.aim(*process.window)
        self.dim = DIM * process.laser.power[1] * process.beam.absorptivity  # W
        k = float(process.material.conductivity(middle))
        hop, lags = process.speed * process.tick, max(LAGS, self.horizon)  # no coming tick is old heat
        self.rule = make_quadrature(process.tick, hop, self.body.sigma, alpha, lags)
        camera = process.camera
        self.memory = self.rule.lags + camera.delay + camera.exposure + SPARE  # ticks kept one by one
        self.merge_tolerance = self.settings.budget * k / SHARES  # W/m, that a merge may cost
        self._history = ThermalHistory(self.body, process.tick, self.merge_tolerance, self.memory)
        self.filter_settings = self.settings.gain or (GainSettings() if camera.noise > 0.0 else EXACT)
        self._filter = GainFilter(self.filter_settings, camera.heat_ratio, self.body.sigma)
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
        self.unused = False  # was the newest image not believed?
        self.innovation = float("nan")  # K, by which the peak of the newest image was hotter than expected

    @property
    def gain(self) -> float:
        """g, measured over expected."""
        return self._filter.gain

    @property
    def offset(self) -> FloatArray:
        """Of the images from where the scanner says the beam is, m."""
        return self._filter.state[X:]

    @property
    def late(self) -> tuple[float, float]:
        """Ticks by which places and power come later than they are told to, as the images show them."""
        return float(self._filter.state[D]), float(self._filter.state[E])

    @property
    def scanner_late(self) -> float:
        """Ticks by which places come later than power, as far as that is sure."""
        return max(self._filter.between, 0.0)

    @property
    def laser_late(self) -> float:
        """Ticks by which power comes later than places, as far as that is sure."""
        return max(-self._filter.between, 0.0)

    @property
    def gaussians(self) -> int:
        """How many stand for the old heat."""
        return len(self._history)

    def observe(self, image: Image | None, preview: Preview) -> "_TwinForecast":
        """Take in what was given and seen, and forecast."""
        if not self._now:
            self.ends[:] = preview.positions[0]
        self._follow(preview)
        self.innovation, self.unused = float("nan"), False
        if image is not None and image.time != self._seen:
            self._seen = image.time
            self._compare(image)
        return _TwinForecast(self, preview)

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
        if self._now == 0:
            self.ends[:] = spot[0]  # before its first tick the beam was where that began
        self._now += 1
        self.watts[:-1], self.ends[:-1] = self.watts[1:].copy(), self.ends[1:].copy()
        self.watts[-1], self.ends[-2:] = watts, spot
        if self.settings.history:
            came = float(lag(self.watts, self.laser_late)[-1])
            where = delay(self.ends[-int(MOST_LATE) - 3 :], self.scanner_late)[-2:]
            self._history.add(self._now, came * self.process.tick, where)

    def sum_heat(self, ends: FloatArray, moments: NDArray[np.intp], late: float = 0.0) -> HeatSum:
        """All heat after some of the ticks kept one by one and those that follow them; as it was `late` ticks
        before, if the list is that late."""
        return HeatSum(
            self.body,
            self.rule,
            self._history,
            tick=self.process.tick,
            ends=ends,
            first=self._now - self.memory,
            moments=moments,
            late=late,
        )

    def correct(self, heat: Gaussians, points: FloatArray, ends: FloatArray) -> FloatArray:
        """(m,): factors of u at the peaks (m, 2) of moments whose ticks end at ends[1:], m."""
        if self.correction is None:
            return np.ones(len(points))
        return self.correction.factors(
            heat, points, find_headings(ends), sigma=self.body.sigma, wanted=self.wanted / self.gain
        )

    def aim(self, low: float, high: float) -> None:
        """Images are compared near another window, K."""
        self.wanted = float(self.table.theta_of(np.array([0.5 * (low + high)]))[0])

    def _compare(self, image: Image) -> None:
        """Where the image lies, what is late, and the gain, by the pixels around the peak."""
        age = self._now - round(image.time / self.process.tick)
        moment = self.memory - age
        exposure = self.process.camera.exposure
        self.unused = age < 0 or moment - exposure + 1 < self.rule.lags + SPARE  # of the future, or too old
        if self.unused:
            return
        moments = _exposed(moment, exposure, self.memory - self._now)
        middle = len(moments) // 2
        if min(self.watts[moment - 1], self.watts[moments[middle] - 1]) <= self.dim:
            return  # the laser is off, or has just come on
        frames = [self._recall(k) for k in moments]
        slope = self._find_slope(frames[middle], moments[middle])  # as it was recalled, before more is known
        pixels = self._place(frames, frames[middle], image)
        if pixels is None:
            return
        expected, seen = pixels.expected, pixels.seen
        weight = (expected / expected.max()) ** STEEP[self.process.camera.noise > 0.0] * expected
        norm = float(np.sum(weight * expected))
        ratio = float(np.sum(weight * seen)) / norm
        k = float(self.process.material.conductivity(self.table.temperature_of(self.gain * expected.max())))
        noise = self.process.camera.noise * k * float(np.sqrt(np.sum(weight**2))) / norm
        foreseen, seen_at_peak = self.table.temperature_of(np.array([self.gain, ratio]) * expected.max())
        start = 0.0 if ratio > self.gain else self._find_start_error(moment)  # no lag makes it hotter
        error = float(np.hypot(noise, start))
        self.unused = not self._filter.read(ratio, error, slope)
        if not self.unused:
            self.innovation = float(seen_at_peak - foreseen)

    def _find_start_error(self, moment: int) -> float:
        """Standard deviation of a ratio because the laser had just come on."""
        dark = np.flatnonzero(self.watts[moment - START_TICKS : moment][::-1] <= self.dim)
        return START_ERROR * 0.5 ** int(dark[0]) if len(dark) else 0.0

    def _place(self, frames: list["_Recalled"], middle: "_Recalled", image: Image) -> "_Pixels | None":
        """Find the spot, and take in by how much it lies off; the pixels as they are to be compared then.

        Two Gaussians of one shape differ by a factor whose logarithm is a plane: its slope tells how far they
        lie apart. None: nothing is hot, or the spot is nowhere near.
        """
        known = off = self.offset
        top, _, bend = middle.heat.field(middle.peak[np.newaxis])
        stiff = -np.array([[bend[0, 0], bend[0, 1]], [bend[0, 1], bend[0, 2]]]) / top[0]
        step = np.zeros(2)
        pixels = None
        for _ in range(ROUNDS_OF_PLACE):
            off = off + step
            pixels = self._read(frames, middle, off, image)
            found = None if pixels is None else pixels.find_plane(self.gain)
            if pixels is None or found is None:
                return pixels
            slopes, told = found
            step = np.linalg.solve(stiff, slopes)
            if np.hypot(*step) < HALFWAY * self.body.sigma:
                break
        if not np.hypot(*(off + step)) <= FARTHEST * self.body.sigma:
            self.unused = True
            return None
        k = float(self.process.material.conductivity(self.table.temperature_of(self.gain * top[0])))
        spread = np.linalg.solve(stiff, np.linalg.solve(stiff, told).T)
        noise = self.process.camera.noise * k / self.gain * np.sqrt(0.5 * np.trace(spread))
        believed = self._filter.place(off + step - known, middle.hop, float(noise), middle.turn)
        self.unused = believed is None
        if believed is None or pixels is None:
            return None
        return pixels.shifted(known + believed - off, stiff)

    def _find_slope(self, recalled: "_Recalled", moment: int) -> float:
        """What a tick's delay of the power would change in the heat at a peak, of itself."""
        watts = self._late_watts(min(moment + 1, self.memory))
        change = np.gradient(watts)[:moment]  # from both sides: a swing from tick to tick tells nothing
        change[: max(0, self.memory - self._now)] = 0.0  # where it was before the first tick is not known
        per_watt = recalled.moments.heat.weights(recalled.peak[np.newaxis])[0]
        owner = recalled.moments.owner[0]
        u = float(recalled.heat.at(recalled.peak[np.newaxis])[0])
        return -float(np.sum(np.where(owner >= 0, per_watt * change[owner], 0.0))) / u

    def _late_ends(self, moment: int) -> FloatArray:
        """Where the beam was after each tick up to a moment, as images of that moment show it."""
        return delay(self.ends, float(self._filter.state[D]))[: moment + 1]

    def _late_watts(self, moment: int) -> FloatArray:
        """What each tick had absorbed up to a moment, as images of that moment show it."""
        led = self.laser_late
        return delay(lag(self.watts, led), float(self._filter.state[E]) - led)[:moment]

    def _recall(self, moment: int) -> "_Recalled":
        """All heat at a moment of the past, as corrected at its peak, and the peak in it."""
        ends = self._late_ends(moment)
        stamp = float(self._filter.state[D]) - self.scanner_late
        moments = self.sum_heat(ends, np.array([moment]), stamp)
        heat = moments.powered(self._late_watts(moment))
        beam, sigma = ends[None, moment], self.body.sigma
        peak = find_peak(heat, guess_peak(beam, ends[None, moment - 1], sigma), beam, sigma, ROUNDS)
        factor = self.correct(heat, peak, ends[moment - 1 : moment + 1])
        heat = heat._replace(height=factor[0] * heat.height)
        *before, hop = np.diff(ends[moment - 1 - TURN : moment + 1], axis=0)
        turn = float(np.linalg.norm(before - hop, axis=1).max())
        return _Recalled(moments, heat, peak[0], hop, turn)

    def _read(
        self, frames: list["_Recalled"], middle: "_Recalled", off: FloatArray, image: Image
    ) -> "_Pixels | None":
        """Pixels around the peak in an image that lies off; None if nothing is hot."""
        camera, peak = self.process.camera, middle.peak
        pixel = camera.pixel or 0.0
        rows, columns = nearest(image.y, peak[1] + off[1], LINES), nearest(image.x, peak[0] + off[0], LINES)
        points = np.stack(np.meshgrid(image.x[columns], image.y[rows]), axis=-1).reshape(-1, 2) - off
        T_seen = image.temperature[rows, columns].ravel()
        good = ~np.isnan(T_seen)  # a broken pixel counts for nothing
        points, seen = points[good], self.table.theta_of(T_seen[good])
        inside = CORNERS if pixel > SUBPIXEL * self.body.sigma else np.zeros((1, 2))
        spots = (points[:, np.newaxis] + 0.5 * pixel * inside).reshape(-1, 2)
        top = middle.heat.at(peak)
        u = [frame.heat.at(spots) for frame in frames]
        T = [
            self.table.temperature_of(self.gain * (1.0 - self.diffusivity_correction * (1.0 - at / top)) * at)
            for at in u
        ]
        mean = np.mean(T, axis=0).reshape(len(points), -1).mean(axis=1)
        expected = self.table.theta_of(mean) / self.gain
        if not expected.size or self.gain * expected.max() < FEW * self.wanted:
            return None
        return _Pixels(points - peak, expected, seen)


class _Recalled(NamedTuple):
    """A moment of the past."""

    moments: HeatSum
    heat: Gaussians
    peak: FloatArray  # (2,), m
    hop: FloatArray  # (2,), m, of the beam in the tick that ended then
    turn: float  # m, by which that differs from those before


class _Pixels(NamedTuple):
    """Some pixels, as they are expected and seen."""

    points: FloatArray  # (n, 2), m from the peak
    expected: FloatArray  # (n,), u
    seen: FloatArray  # (n,), u

    def find_plane(self, gain: float) -> tuple[FloatArray, FloatArray] | None:
        """Slopes (2,) of ln(seen/expected) and their covariance (2, 2) per variance of u; None: too few."""
        use = (self.seen > 0.0) & (self.expected > SURE_OF_PLACE * self.expected.max())
        if np.count_nonzero(use) < ENOUGH:
            return None
        e = self.expected[use]
        plane = np.column_stack((np.ones(len(e)), self.points[use])) * e[:, np.newaxis]
        normal = plane.T @ plane
        centred = normal[1:, 1:] - np.outer(normal[0, 1:], normal[0, 1:]) / normal[0, 0]
        if not np.linalg.det(centred) > LINE * centred[0, 0] * centred[1, 1]:
            return None  # all in one line
        spread = np.linalg.inv(normal)
        slopes = spread @ (plane.T @ (e * np.log(self.seen[use] / (gain * e))))
        return slopes[1:], spread[1:, 1:]

    def shifted(self, step: FloatArray, stiff: FloatArray) -> "_Pixels":
        """The same where the spot lies a step further off."""
        pull = stiff @ step
        factor = np.exp(self.points @ pull - 0.5 * step @ pull)
        return self._replace(points=self.points - step, expected=self.expected * factor)


def lag(series: FloatArray, ticks: float) -> FloatArray:
    """Means of ticks behind a first order lag of so many ticks; before them, all was as in the first."""
    if ticks < 0.02:
        return series
    left = float(np.exp(-1.0 / ticks))
    mean = (1.0 - left) * ticks
    out, state = np.empty_like(series), series[0]
    for k, value in enumerate(series):
        out[k] = value + (state - value) * mean
        state = value + (state - value) * left
    return out


def delay(series: FloatArray, ticks: float) -> FloatArray:
    """A series that begins as it is and is as late as that everywhere, straight between its entries.

    Places go straight on for up to a tick: held, the newest heat would lie closer and seem hotter.
    """
    if ticks == 0.0:
        return series
    n = len(series)
    at = np.clip(np.arange(n) - ticks, 0.0, n - 1.0 + (series.ndim > 1))
    low = np.minimum(at.astype(int), n - 2)
    part = at - low
    part = part[:, np.newaxis] if series.ndim > 1 else part
    return np.asarray(series[low] * (1.0 - part) + series[low + 1] * part)


def _exposed(moment: int, ticks: int, start: int) -> list[int]:
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


class _TwinForecast:
    """What any plan leads to, seen from one tick. Images that are late correct the gain, not the plan."""

    committed: FloatArray = np.empty(0)

    def __init__(self, twin: TwinPredictor, preview: Preview) -> None:
        self._twin = twin
        n, past = twin.horizon, twin.memory
        self.previous = preview.power
        self._past = past
        self._factors = np.ones(n)  # of u, by the correction where the plan was last linearised
        ends = delay(np.concatenate((twin.ends[:-1], preview.ahead[: n + 1])), twin.scanner_late)
        self._way = way = ends[past:]
        self._moments = twin.sum_heat(ends, past + 1 + np.arange(n))
        self.points = self._behind = guess_peak(way[1:], way[:-1], twin.body.sigma)
        laser, tick = twin.process.laser, twin.process.tick
        self._free = np.empty(n)  # W emitted without any command
        self._follow = np.zeros((n, n))  # W emitted per watt commanded
        for j in range(n + 1):
            power = twin.emitted if j == n else 0.0
            for i in range(n):
                mean, power = laser.follow(power, float(i == j), tick)
                (self._free if j == n else self._follow[:, j])[i] = mean
        given = twin.watts / twin.process.beam.absorptivity
        self._free = lag(np.concatenate((given, self._free)), twin.laser_late)[past:]
        for j in range(n):
            self._follow[:, j] = lag(np.concatenate((np.zeros(past), self._follow[:, j])), twin.laser_late)[
                past:
            ]
        self._given = lag(twin.watts, twin.laser_late)

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
        """All heat at the end of each tick of a plan; leaves the points at the peaks that it makes.

        The search begins behind the beam each time: where an earlier plan gave no light there was no peak.
        """
        twin = self._twin
        coming = twin.process.beam.absorptivity * (self._free + self._follow @ plan)
        heat = self._moments.powered(np.concatenate((self._given, coming)))
        self.points = find_peak(heat, self._behind, self._way[1:], twin.body.sigma, ROUNDS)
        return heat

    def _read_peaks(self, heat: Gaussians) -> FloatArray:
        """T_max, K, at the points."""
        return self._twin.table.temperature_of(self._twin.gain * self._factors * heat.at(self.points))
