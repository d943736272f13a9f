"""Heat in a plate as a sum of Gaussians: its field on the surface, its newest and its oldest part, its peak.

E  absorbed energy, J      τ  its age, s      C  scatter of where it was absorbed, m²      h  thickness, m
u  ∫k dT from ambient, W/m      S = C + (σ² + 2ατ) I, m²      d  distance from the centre of a Gaussian, m

    u(x) = Σ E α D(τ) / (√(πατ) 2π √det S) · exp(−½ dᵀ S⁻¹ d)

D is what is left above a bottom held at ambient: image sources of alternating sign while the heat is young,
decaying modes when it is old. Sides let no heat through: their images are Gaussians too.

The newest heat is singular in time, and the beam moves while it heats: ∫ f(τ) dτ over a tick that ended L
ticks ago, f ∝ 1/√τ. With τ = w² the integrand is smooth, so Gauss–Legendre in w does. Older ticks need one
point with the scatter of a beam that moved straight on.

Old heat is kept in few Gaussians: neighbours in time merge once nobody can tell them apart. A merged Gaussian
keeps energy, centre, mean time and scatter. What merging changes obeys the heat equation, so it only fades:
it is judged once, when it happens, against a share of the error budget.
"""

from dataclasses import dataclass
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]

YOUNG = 0.5  # ατ/h² up to which three images, above which three modes, leave 1e-7
# The newest ticks.
LAGS = 8  # ticks that need more than one point
MOST = 32  # points of a tick
POINTS = 288  # of all ticks, for which there is room in twin_types.h
# The sides of a plate.
REACH = 4.5  # standard deviations within which a side of the plate is felt
OLD = -1  # owner of heat that belongs to no tick of the list
# The peak.
BEHIND = 0.7  # σ behind the beam, where the search begins
SHORTEST = 1e-12  # m, below which the beam rests
LONGEST = 0.5  # σ, of a step
LOST = 1.5  # σ between beam and peak, from which on a peak is not of this light but of old heat
# Old heat.
PAIRS = 8  # of neighbours judged each tick
SHARES = 40.0  # a merge may cost this part of the budget; sums stay within it (tests/predict/twin)
FADED = 1e-3  # of what a merge may cost: a Gaussian lower than this is forgotten
CAPACITY = 768  # Gaussians; beyond, the oldest two merge whatever it costs
MERGED = 512  # of them at least for what is older than the ticks kept one by one
PROBES = np.array([-1.0, -0.5, 0.0, 0.5, 1.0])  # where a merge is judged, in distances of the two centres
E, T, X, Y, XX, XY, YY = range(7)  # columns: energy, J; mean time, ticks; centre, m; scatter, m²


class _Field(NamedTuple):
    """u, W/m, its gradient and its second derivatives xx, xy, yy, at some points."""

    value: FloatArray  # (…,)
    slope: FloatArray  # (…, 2)
    bend: FloatArray  # (…, 3)


class Gaussians(NamedTuple):
    """Heat at one moment, or at several: centre, inverse of S and height of each, (…, n)."""

    x: FloatArray
    y: FloatArray
    ixx: FloatArray
    ixy: FloatArray
    iyy: FloatArray
    height: FloatArray

    def weights(self, points: FloatArray) -> FloatArray:
        """What each adds to u (…, n) at points (…, 2)."""
        dx, dy = points[..., 0, None] - self.x, points[..., 1, None] - self.y
        form = self.ixx * dx * dx + 2.0 * self.ixy * dx * dy + self.iyy * dy * dy
        return np.asarray(self.height * np.exp(-0.5 * form))

    def at(self, points: FloatArray) -> FloatArray:
        """u (…,) at points (…, 2)."""
        return np.asarray(self.weights(points).sum(-1))

    def field(self, points: FloatArray) -> _Field:
        """u and its derivatives at points (…, 2)."""
        dx, dy = points[..., 0, None] - self.x, points[..., 1, None] - self.y
        px, py = self.ixx * dx + self.ixy * dy, self.ixy * dx + self.iyy * dy
        g = self.height * np.exp(-0.5 * (px * dx + py * dy))
        slope = np.stack((-(g * px).sum(-1), -(g * py).sum(-1)), axis=-1)
        bend = (g * (px * px - self.ixx), g * (px * py - self.ixy), g * (py * py - self.iyy))
        return _Field(g.sum(-1), slope, np.stack([part.sum(-1) for part in bend], axis=-1))


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Medium:
    """What the heat spreads in, as far as the twin knows it."""

    sigma: float  # m
    alpha: float  # m²/s
    plate: tuple[float, float, float]  # m

    def spread(
        self, energy: FloatArray, tau: FloatArray, place: FloatArray, scatter: FloatArray
    ) -> Gaussians:
        """What heats have become at these ages; `place` (…, 2), `scatter` (…, 3): xx, xy, yy."""
        grown = self.sigma**2 + 2.0 * self.alpha * tau
        xx, xy, yy = scatter[..., 0] + grown, scatter[..., 1], scatter[..., 2] + grown
        det = xx * yy - xy * xy
        depth = np.sqrt(np.pi * self.alpha * tau)
        height = energy * self.alpha * self.left_above_bottom(tau) / (depth * 2.0 * np.pi * np.sqrt(det))
        return Gaussians(place[..., 0], place[..., 1], yy / det, -xy / det, xx / det, height)

    def left_above_bottom(self, tau: FloatArray) -> FloatArray:
        """D(τ); 1 for young heat in a thick plate."""
        x = self.alpha * tau / self.plate[2] ** 2
        young, old = np.clip(x, 1e-3, YOUNG), np.maximum(x, YOUNG)
        images = sum((-1.0) ** n * np.exp(-(n**2) / young) for n in (1, 2, 3))
        modes = sum(np.exp(-(((n + 0.5) * np.pi) ** 2) * old) for n in (0, 1, 2))
        return np.where(x < YOUNG, 1.0 + 2.0 * images, 2.0 * np.sqrt(np.pi * old) * modes)


def _reflect(heat: Gaussians, axis: int, wall: float) -> Gaussians:
    """Heat together with its images in a side of the plate at x or y = `wall`, m."""
    image = heat._replace(ixy=-heat.ixy)
    image = image._replace(x=2.0 * wall - heat.x) if axis == 0 else image._replace(y=2.0 * wall - heat.y)
    return Gaussians(*(np.concatenate(pair, axis=-1) for pair in zip(heat, image, strict=True)))


def repeat(heat: Gaussians, axis: int, length: float) -> Gaussians:
    """Heat and the same again a length, m, to either side: its images in two sides of the plate."""
    steps = (0.0, length, -length)
    name = "xy"[axis]
    copies = [heat._replace(**{name: getattr(heat, name) + by}) for by in steps]
    return Gaussians(*(np.concatenate(parts, axis=-1) for parts in zip(*copies, strict=True)))


@dataclass(frozen=True, slots=True, eq=False)
class _Quadrature:
    """Points for the ticks of lag 0 … L−1, one after another: which tick, how old, and which share of it."""

    lag: NDArray[np.intp]  # (n,)
    tau: FloatArray  # (n,), s before the moment of evaluation
    share: FloatArray  # (n,), of the tick's energy
    way: FloatArray  # (n,), share of the tick that had passed: 1 at its end

    @property
    def lags(self) -> int:
        """How many of the newest ticks need more than one point."""
        return int(self.lag[-1]) + 1


def make_quadrature(tick: float, hop: float, sigma: float, alpha: float, lags: int = LAGS) -> _Quadrature:
    """The points for a tick, s, in which the beam moves by at most `hop`, m."""
    lag, tau, share, way = list[int](), list[float](), list[float](), list[float]()
    for k, count in enumerate(_count_points(tick, hop, sigma, alpha, lags)):
        nodes, weights = np.polynomial.legendre.leggauss(count)
        start, end = np.sqrt(k * tick), np.sqrt((k + 1) * tick)
        w = 0.5 * (start + end) + 0.5 * (end - start) * nodes
        lag += [k] * count
        tau += list(w**2)
        share += list((end - start) * weights * w / tick)
        way += list(1.0 + k - w**2 / tick)
    return _Quadrature(np.array(lag), np.array(tau), np.array(share), np.array(way))


def _count_points(tick: float, hop: float, sigma: float, alpha: float, lags: int) -> list[int]:
    """How many points each tick needs; where they are more than there is room for, the largest shrink."""
    widths = np.sqrt(sigma**2 + 2.0 * alpha * tick * np.arange(lags))
    least = np.array([(6, 4, 3)[k] if k < 3 else 2 for k in range(lags)])
    counts = np.minimum(MOST, least + np.ceil(3.0 * hop / widths).astype(np.intp))
    most = next(m for m in range(MOST, 0, -1) if np.minimum(counts, m).sum() <= POINTS)
    found: list[int] = np.minimum(counts, most).tolist()
    return found


class _OldHeat(Protocol):
    """Heat of ticks that need no more than one Gaussian each."""

    def gaussians(self, moments: FloatArray, lag: int) -> Gaussians:
        """(m, n): heat at moments (m,), ticks, of what had been absorbed `lag` ticks before each."""


class HeatSum:
    """Gaussians (m, n) at m moments, and which tick of a list owns each."""

    def __init__(
        self,
        body: Medium,
        rule: _Quadrature,
        history: _OldHeat,
        *,
        tick: float,  # s
        ends: FloatArray,  # (ticks + 1, 2), m, of a list of ticks, oldest first
        first: int,  # the tick with which the list begins
        moments: NDArray[np.intp],  # (m,): how many ticks of the list have passed
        late: float = 0.0,  # ticks by which the list is late, and old heat is to be
    ) -> None:
        owner = moments[:, np.newaxis] - 1 - rule.lag
        there = np.maximum(owner, 0)
        place = ends[there] + rule.way[:, np.newaxis] * (ends[there + 1] - ends[there])
        energy = np.where(owner >= 0, tick * rule.share, 0.0)
        young = body.spread(energy, rule.tau, place, np.zeros(3))
        old = history.gaussians(np.asarray(first + moments - late, dtype=np.float64), rule.lags)
        self.heat = Gaussians(*(_join(*pair) for pair in zip(young, old, strict=True)))
        self.owner = _join(there, np.full(old.height.shape, OLD))
        self._feel_sides(body, ends[moments[-1]])

    def _feel_sides(self, body: Medium, beam: FloatArray) -> None:
        """Add the images in those sides that the heat reaches.

        In both of two that face each other heat is seen again and again; three times either way are enough as
        long as the bottom takes it away before it is wider than the plate.
        """
        for axis in (0, 1):
            wall = float(np.copysign(0.5 * body.plate[axis], beam[axis]))
            inverse, centre = (self.heat.ixx, self.heat.x) if axis == 0 else (self.heat.iyy, self.heat.y)
            hot = self.heat.height > 0.0
            near, far = (
                np.any(((abs(side - beam[axis]) + np.abs(side - centre)) ** 2 * inverse < REACH**2) & hot)
                for side in (wall, -wall)
            )
            if near or far:
                self.heat = _reflect(self.heat, axis, wall)
                self.owner = _join(self.owner, self.owner)
            if far:
                self.heat = repeat(self.heat, axis, 4.0 * wall)
                self.owner = _join(_join(self.owner, self.owner), self.owner)

    def powered(self, watts: FloatArray) -> Gaussians:
        """The heat if each tick of the list absorbs so many watts."""
        per = np.where(self.owner == OLD, 1.0, watts[self.owner])
        return self.heat._replace(height=self.heat.height * per)

    def gains(self, points: FloatArray, ticks: range) -> FloatArray:
        """∂u/∂W (m, ticks) at points (m, 2) of some ticks of the list."""
        weights = self.heat.weights(points)
        return np.stack([np.where(self.owner == q, weights, 0.0).sum(-1) for q in ticks], axis=-1)


def _join(left: NDArray, right: NDArray) -> NDArray:  # type: ignore[type-arg]
    """Side by side, as many rows as the longer has."""
    rows = max(np.atleast_2d(left).shape[0], np.atleast_2d(right).shape[0])
    wide = [np.broadcast_to(part, (rows, part.shape[-1])) for part in (left, right)]
    return np.concatenate(wide, axis=-1)


def guess_peak(beam: FloatArray, before: FloatArray, sigma: float) -> FloatArray:
    """(…, 2): a little behind the beam, which came from `before`."""
    back = before - beam
    length = np.linalg.norm(back, axis=-1, keepdims=True)
    return np.asarray(beam + BEHIND * sigma * back / np.maximum(length, 1e-12))


def find_peak(heat: Gaussians, points: FloatArray, beam: FloatArray, sigma: float, rounds: int) -> FloatArray:
    """Points (…, 2) moved uphill, but never away from the beam (…, 2) to old heat.

    Where the field is no hill yet, they move along its slope.
    """
    for _ in range(rounds):
        u, slope, bend = heat.field(points)
        xx, xy, yy = np.moveaxis(bend, -1, 0)
        det = xx * yy - xy * xy
        hill = (xx < 0.0) & (det > 0.0)
        safe = np.where(hill, det, 1.0)
        sx, sy = slope[..., 0], slope[..., 1]
        newton = np.stack(((xy * sy - yy * sx) / safe, (xy * sx - xx * sy) / safe), axis=-1)
        ascent = slope * (sigma**2 / np.maximum(u, 1e-12))[..., np.newaxis]
        step = np.where(hill[..., np.newaxis], newton, ascent)
        length = np.linalg.norm(step, axis=-1, keepdims=True)
        points = points + step * np.minimum(1.0, LONGEST * sigma / np.maximum(length, 1e-12))
        off = points - beam
        length = np.linalg.norm(off, axis=-1, keepdims=True)
        points = beam + off * np.minimum(1.0, LOST * sigma / np.maximum(length, 1e-12))
    return points


def find_headings(ends: FloatArray) -> FloatArray:
    """(n, 2): unit vectors from each of n + 1 positions, m, to the next; x where the beam rests."""
    way = np.diff(ends, axis=0)
    length = np.linalg.norm(way, axis=-1, keepdims=True)
    return np.where(length > SHORTEST, way / np.maximum(length, SHORTEST), np.array([1.0, 0.0]))


class ThermalHistory:
    """Heat of all ticks so far, oldest first; those of the last `single` ticks stay apart."""

    def __init__(self, body: Medium, tick: float, merge_tolerance: float, single: int) -> None:
        """`merge_tolerance`: W/m of u, that a merge may cost; a budget over `SHARES`."""
        self._body = body
        self._tick = tick
        self._merge_tolerance = merge_tolerance
        self._single = single
        self.reset()

    def reset(self) -> None:
        """A plate at rest."""
        self._table = np.zeros((max(CAPACITY, self._single + MERGED), 7))
        self._count = 0
        self._cursor = 0

    def __len__(self) -> int:
        return self._count

    def add(self, now: int, energy: float, spot: FloatArray) -> None:
        """The heat of the tick that ends now, in which the beam moved from spot[0] to spot[1]."""
        if energy > 0.0:
            if self._count == len(self._table):
                self._merge(0)
            dx, dy = spot[1] - spot[0]
            scatter = dx * dx / 12.0, dx * dy / 12.0, dy * dy / 12.0
            self._table[self._count] = (energy, now - 0.5, *spot.mean(axis=0), *scatter)
            self._count += 1
        self._tidy(now)

    def gaussians(self, moments: FloatArray, lag: int) -> Gaussians:
        """(m, n): heat at moments (m,), ticks, of the ticks that had ended `lag` ticks before each."""
        return spread_rows(self._table[: self._count], self._body, self._tick, moments, lag)

    def _tidy(self, now: int) -> None:
        """Judge the next few pairs of neighbours, and merge those that nobody would miss."""
        for _ in range(PAIRS):
            if self._cursor + 1 >= self._count or self._table[self._cursor + 1, T] > now - self._single:
                self._cursor = 0
                if self._count < 2 or self._table[1, T] > now - self._single:
                    return
            if not self._judge(self._cursor, now):
                self._cursor += 1

    def _judge(self, i: int, now: int) -> bool:
        """Merge the pair i, i + 1, or forget its elder, if that can be afforded."""
        pair = self._table[i : i + 2]
        both = merge_rows(pair)
        split, whole = self._spread(pair, now), self._spread(both[np.newaxis], now)
        if split.height[0] < FADED * self._merge_tolerance:
            self._remove(i)
            return True
        points = both[X : Y + 1] + PROBES[:, np.newaxis] * (pair[1, X : Y + 1] - pair[0, X : Y + 1])
        if np.abs(split.at(points) - whole.at(points)).max() >= self._merge_tolerance:
            return False
        self._merge(i)
        return True

    def _spread(self, rows: FloatArray, now: int) -> Gaussians:
        tau = self._tick * (now - rows[:, T])
        return self._body.spread(rows[:, E], tau, rows[:, X : Y + 1], rows[:, XX:])

    def _merge(self, i: int) -> None:
        self._table[i + 1] = merge_rows(self._table[i : i + 2])
        self._remove(i)

    def _remove(self, i: int) -> None:
        self._table[i : self._count - 1] = self._table[i + 1 : self._count]
        self._count -= 1


def spread_rows(rows: FloatArray, body: Medium, tick: float, moments: FloatArray, lag: int) -> Gaussians:
    """(m, n): what rows have become at moments (m,), ticks; nothing yet of the `lag` ticks before each."""
    age = moments[:, np.newaxis] - rows[:, T]
    part = np.clip(age - lag + 0.5, 0.0, 1.0)  # of a tick that ends within these
    keep = (part > 0.0).any(axis=0)
    tau = tick * np.where(part > 0.0, age, 1.0)[:, keep]
    energy = (part * rows[:, E])[:, keep]
    return body.spread(energy, tau, rows[keep, X : Y + 1], rows[keep, XX:])


def merge_rows(rows: FloatArray) -> FloatArray:
    """(7,): one Gaussian of the same energy, centre, mean time and scatter as some."""
    energy = rows[:, E].sum()
    share = rows[:, E] / energy
    time, x, y = share @ rows[:, T : Y + 1]
    dx, dy = rows[:, X] - x, rows[:, Y] - y
    xx, xy, yy = share @ (rows[:, XX:] + np.stack((dx * dx, dx * dy, dy * dy), axis=1))
    return np.array((energy, time, x, y, xx, xy, yy))
