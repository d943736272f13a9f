"""The publication's plant: backward Euler on a grid of nodes, one step per tick, solved line by line.

H  heat above ambient, J/m³      θ  ∫k dT, W/m      b  heat before the step, J/m³      τ  the step, s
g  dθ/dH, m²/s      L  links τ/(distance · width) to the six neighbours      δ  Newton's correction of H

A step solves H − τ∇²θ(H) = b in every control volume, by Newton's method and Gauss–Seidel over lines along
x, each with a tridiagonal system; a line is looked at again only if something beside it has moved. In the end
H = b + τ∇²θ is taken: every face gives to one side what it takes from the other, so that an imbalance within
the tolerance is carried on and no heat is lost.

Storage: nodes in natural order (y, z, x), flat, with an empty line or node beside every edge; the deepest
level is held at ambient temperature. A line is a row of y and a level of z; `first` and `last` of each say
where along x heat has arrived. Beyond, θ is 0, but what crosses the last face is kept there.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import blake2b
from math import erf
from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

from laserloop.bad_input import BadInput
from laserloop.plant.melt_pool import Patch
from laserloop.plant.surface import Surface
from laserloop.process import Process
from laserloop.process.heat_table import HeatTable

FloatArray = NDArray[np.float64]

REACH = 6.0  # beam widths beyond which its flux (4e-9 of the power) is left out
SPACING = 100e-6  # m
MOST_NODES = 20_000_000  # 640 MB of fields; the publication's plate has 320 271
SWEEPS = 2000  # more than this in one step means that the solution is lost
LOST = 1e12  # W/m, by which no θ moves unless the solution is lost
STEEP = 1.5  # times the slope that a step was made with: where θ(H) is steeper, it is shortened
BISECTIONS = 30
FAST = {"contract", "reassoc", "nsz", "arcp"}  # NaN and infinity keep their meaning, so a lost one is noticed
MARGIN = np.uintp(2)  # nodes beside an open balance that are corrected with it
QUIET = 0.1  # of the tolerance: a smaller move opens no other line
U = np.uintp


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Grid:
    """Where the nodes are, m: x and y from the plate's centre, z from its lasered surface to its bottom.

    The outermost lie on the plate's faces; the faces between their volumes lie midway.
    """

    x: FloatArray
    y: FloatArray
    z: FloatArray

    @property
    def shape(self) -> tuple[int, int, int]:
        """Number of nodes along z, y, x."""
        return len(self.z), len(self.y), len(self.x)

    @property
    def widths(self) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Of the control volumes along z, y, x."""
        faces = [
            np.concatenate((nodes[:1], 0.5 * (nodes[1:] + nodes[:-1]), nodes[-1:]))
            for nodes in (self.z, self.y, self.x)
        ]
        return np.diff(faces[0]), np.diff(faces[1]), np.diff(faces[2])


def uniform_grid(plate: tuple[float, float, float] = (15e-3, 10e-3, 2e-3)) -> Grid:
    """The publication's grid: nodes every 100 µm, 151 × 101 × 21 for its plate."""
    if min(plate) < 2 * SPACING:
        raise BadInput(
            f"the publication's grid of {SPACING:g} m is too coarse for a plate of {plate} m: take graded"
        )
    nx, ny, nz = (round(length / SPACING) + 1 for length in plate)
    if nx * ny * nz > MOST_NODES:
        raise BadInput(
            f"a plant may have at most {MOST_NODES} nodes, but the paper grid would need {nx * ny * nz}: "
            "take a smaller plate, or the graded plant"
        )
    x, y, z = (np.linspace(0.0, length, n) for length, n in zip(plate, (nx, ny, nz), strict=True))
    return Grid(x=x - plate[0] / 2, y=y - plate[1] / 2, z=z)


class PaperHeat:
    """The heat of a plate as the publication computes it; everything starts at ambient temperature."""

    def __init__(
        self, process: Process, table: HeatTable, *, tolerance: float = 1e-4, grid: Grid | None = None
    ) -> None:
        """`tolerance`: K, by which a node may still have to move; `grid`: 100 µm everywhere unless given."""
        self.grid = grid = grid or uniform_grid(process.plate)
        self._widths = grid.widths
        spacing = min(np.diff(grid.x).min(), np.diff(grid.y).min())
        if process.beam.sigma < spacing / 3.0:
            raise BadInput(
                f"the beam's sigma of {process.beam.sigma:g} m is too narrow for a grid of {spacing:g} m: "
                f"take at least a third of the spacing, or the graded plant"
            )
        self._beam, self._table, self._tolerance = process.beam, table, tolerance
        self._by_heat = table.by_heat()
        self._by_theta = np.ascontiguousarray(table.temperature.T), table.low, table.per_step
        tables = table.heat.ravel(), table.temperature.ravel(), [table.ambient, table.low]
        numbers = np.concatenate((grid.x, grid.y, grid.z, *tables))
        self.identity = blake2b(numbers.tobytes(), digest_size=16).hexdigest()
        nz, ny, nx = grid.shape
        self._shape = ny + 2, nz + 1, nx + 2  # rows, lines of a row, nodes of a line, with the empty ones
        self._strides = U(nz + 1), U(nx + 2)
        self._links: dict[float, tuple[Any, ...]] = {}
        # H now, what the faces brought in the latest step, θ, and the H that its solver found
        self._fields = np.zeros((4, (ny + 2) * (nz + 1) * (nx + 2)))
        self._heat, self._change, self._theta, self._trial = self._fields
        self._first, self._last = np.zeros((2, (ny + 2) * (nz + 1)), np.uintp)
        self._open = np.zeros(self._first.size, np.bool_)
        self._scratch = *np.zeros((4, nx + 2)), np.zeros(nx + 2, np.int32)
        self.reset()

    def reset(self) -> None:
        """Everything back to ambient temperature."""
        self._fields[:] = 0.0
        self._first[:], self._last[:] = self._shape[2], 0
        self._absorbed = self._lost = 0.0  # J
        self._step = 0.0  # s, the latest

    def advance(self, power: float, spot: FloatArray, seconds: float) -> None:
        """One step with the beam at spot[1], where it arrives."""
        if power > 0.0:
            self._shine(power * seconds, *spot[1].tolist())
        if seconds != self._step:
            self._change *= seconds / self._step if self._step else 0.0
            self._step = seconds
        links, limits = self._find_links(seconds)
        plate = self._heat, self._first, self._last, self._strides
        found = self._trial, self._theta
        prepare(*found, self._change, *plate, self._by_heat, self._scratch)
        self._open[:] = True
        if not solve(*found, *plate, links, self._by_heat, limits, self._open, self._scratch):
            raise BadInput(
                f"the heat balance did not close in {SWEEPS} sweeps: check that power, time step, "
                "tolerance and the material's table are plausible"
            )
        carry(self._change, self._theta, *plate, links)
        _, wy, wx = self._widths
        gap = float(self.grid.z[-1] - self.grid.z[-2])
        self._lost += seconds / gap * float(wy @ self._nodes(self._theta)[-1] @ wx)

    def rest(self, seconds: float) -> None:
        """Refused: a pause is steps without any beam."""
        raise BadInput("the publication's plate knows no pauses: take graded, or step it with the laser off")

    def raise_surface(self, thickness: float) -> None:
        """Refused: nothing is ever built on it."""
        raise BadInput("the publication's plate has no layers: take graded")

    def surface(self, time: float) -> Surface:
        """Temperatures at the nodes of the lasered surface."""
        _, ny, nx = self.grid.shape
        out = np.full((ny, nx), self._table.ambient)
        read_surface(out, self._theta, self._first, self._last, self._strides, self._by_theta)
        return Surface(self.grid.x, self.grid.y, out, time)

    def liquid(self, theta: float) -> Patch:
        """What lies around the nodes hotter than at `theta`, W/m."""
        return Patch.around(self.grid.x, self.grid.y, self.grid.z, self._nodes(self._theta) - theta)

    def energy(self) -> dict[str, float]:
        """Heat absorbed, lost through the bottom and stored, J."""
        wz, wy, wx = self._widths
        stored = float(np.einsum("zyx,z,y,x->", self._nodes(self._heat), wz[:-1], wy, wx))
        return {"absorbed": self._absorbed, "lost": self._lost, "stored": stored}

    def save(self) -> dict[str, NDArray[Any]]:
        """The state as named arrays: of the fields, the part where heat has arrived."""
        part = self._find_warm()
        return {
            "fields": self._fields.reshape(4, *self._shape)[:3, *part].copy(),
            "part": np.array([(span.start, span.stop) for span in part]),
            "first": self._first.copy(),
            "last": self._last.copy(),
            "numbers": np.array((self._absorbed, self._lost, self._step)),
        }

    def load(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        """Back to a saved state."""
        whole = self._fields.reshape(4, *self._shape)
        whole[:, *self._find_warm()] = 0.0
        part = tuple(slice(*span) for span in arrays["part"].tolist())
        whole[:3, *part] = arrays["fields"]
        self._first[:], self._last[:] = arrays["first"], arrays["last"]
        self._absorbed, self._lost, self._step = arrays["numbers"].tolist()

    def describe(self) -> str:
        """The grid in a line."""
        (nz, ny, nx), finest, first = self.grid.shape, np.diff(self.grid.x).min(), self.grid.z[1]
        spacings = f"{1e6 * finest:.0f} µm apart in the plane and {1e6 * first:.0f} µm in depth"
        return f"{nx} × {ny} × {nz} nodes, {spacings}"

    def cells(self) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
        """Lines along x, y and z, and the temperatures (z, y, x) where they cross, K."""
        theta = np.zeros(self.grid.shape)
        theta[:-1] = self._nodes(self._theta)
        return self.grid.x, self.grid.y, self.grid.z, self._table.temperature_of(theta)

    def _nodes(self, flat: FloatArray) -> FloatArray:
        """A field's nodes above the bottom, (z, y, x)."""
        return flat.reshape(self._shape)[1:-1, 1:-1, 1:-1].transpose(1, 0, 2)

    def _find_warm(self) -> tuple[slice, slice, slice]:
        """The rows, lines and nodes of all that is not at ambient temperature."""
        warm = np.flatnonzero(self._last)
        if not warm.size:
            return slice(0, 0), slice(0, 0), slice(0, 0)
        spans = (*np.divmod(warm, self._shape[1]), np.stack((self._first[warm], self._last[warm] - U(1))))
        beyond = int(MARGIN)  # what leaves the outermost is kept one beyond
        low, high = zip(*((int(at.min()) - beyond, int(at.max()) + beyond + 1) for at in spans), strict=True)
        rows, lines, nodes = (slice(max(0, a), b) for a, b in zip(low, high, strict=True))
        return rows, lines, nodes

    def _shine(self, energy: float, x: float, y: float) -> None:
        """Spread what the beam brings, J, over the nodes within reach: just what falls on the plate."""
        wz, wy, wx = self._widths
        columns, along = _spread(self._beam.sigma, self.grid.x, wx, x)
        rows, across = _spread(self._beam.sigma, self.grid.y, wy, y)
        self._nodes(self._heat)[0, rows, columns] += energy / wz[0] * across[:, None] * along
        first, last = (part.reshape(self._shape[:2])[1:-1, 1][rows] for part in (self._first, self._last))
        np.minimum(first, columns.start + 1, out=first)
        np.maximum(last, columns.stop + 1, out=last)
        self._absorbed += energy * float(across @ wy[rows]) * float(along @ wx[columns])

    def _find_links(self, tau: float) -> tuple[Any, ...]:
        """Links along x, y and z, and the imbalance in each level that a node may keep, J/m³."""
        if tau not in self._links:
            links: list[FloatArray] = []
            axes = self.grid.x, self.grid.y, self.grid.z
            for nodes, widths in zip(axes, reversed(self._widths), strict=True):
                previous, following = np.zeros((2, len(nodes) + 2))
                previous[2:-1] = tau / (np.diff(nodes) * widths[1:])
                following[1:-2] = tau / (np.diff(nodes) * widths[:-1])
                links += previous, following
            west, east, south, north, up, down = links
            stiffness = 1.0 + ((west + east).max() + (south + north).max() + up + down) / self._table.stiffest
            limits = self._tolerance * self._table.ambient_capacity * stiffness
            self._links[tau] = tuple(links), limits
        return self._links[tau]


def _spread(sigma: float, nodes: FloatArray, widths: FloatArray, centre: float) -> tuple[slice, FloatArray]:
    """Normal density at the nodes within reach, 1/m, with the exact integral between the plate's edges."""
    low, high = np.searchsorted(nodes, (centre - REACH * sigma, centre + REACH * sigma)).tolist()
    density = np.exp(-0.5 * ((nodes[low:high] - centre) / sigma) ** 2)
    west, east = ((nodes[end] - centre) / (sigma * 2.0**0.5) for end in (0, -1))
    share = 0.5 * (erf(east) - erf(west))
    return slice(low, high), density * (share / float(density @ widths[low:high]))


@njit(cache=True, fastmath=FAST, error_model="numpy")
def prepare(trial, theta, change, heat, first, last, strides, table, scratch):
    """A guess: the faces carry what they carried in the step before."""
    _, _, _, part, piece = scratch
    for line in range(U(first.size)):
        here, lo, hi = line * strides[1], first[line], last[line]
        if lo < hi:
            for i in range(here + lo, here + hi):
                trial[i] = heat[i] + change[i]
            look_up(theta, trial, here, lo, hi, table, part, piece)


@njit(cache=True, fastmath=FAST, error_model="numpy")
def solve(trial, theta, heat, first, last, strides, links, table, limits, is_open, scratch):
    """Correct open lines, sweep by sweep, until there is none; False if there still is."""
    west, east, south_of, north_of, up_of, down_of = links
    residual, slope, pivot, part, piece = scratch
    levels, width = strides
    rows = U(first.size) // levels
    for _ in range(SWEEPS):
        closed = True
        for row in range(U(1), rows - U(1)):
            for level in range(U(1), levels - U(1)):
                line = row * levels + level
                if not is_open[line]:
                    continue
                is_open[line] = False
                lo, hi = find_reach(first, last, line, levels, width)
                if lo >= hi:
                    continue
                here, limit = line * width, limits[level]
                near = west, east, south_of[row], north_of[row], up_of[level], down_of[level]
                balance(residual, U(0), theta, here, lo, hi, levels, width, near)
                lo, hi = find_open(residual, heat, trial, here, lo, hi, limit)
                if lo >= hi:
                    continue
                closed = False
                first[line], last[line] = min(first[line], lo), max(last[line], hi)
                find_slopes(slope, trial, here, lo, hi, table)
                correct(trial, residual, slope, pivot, here, lo, hi, near)
                for i in range(lo, hi):
                    pivot[i] = theta[here + i]
                look_up(theta, trial, here, lo, hi, table, part, piece)
                moved, sum_of_all, steeper = 0.0, 0.0, 0
                for i in range(lo, hi):
                    turn = abs(theta[here + i] - pivot[i])
                    moved = max(moved, turn)
                    sum_of_all += turn
                    steeper += turn > STEEP * slope[i] * abs(residual[i])
                if not (sum_of_all <= LOST):
                    return False
                if steeper > 0:
                    settle(trial, theta, residual, slope, pivot, here, lo, hi, near, table)
                wake(is_open, line, levels, moved, near, QUIET * limit)
        if closed:
            return True
    return False


@njit(cache=True, fastmath=FAST, error_model="numpy")
def carry(change, theta, heat, first, last, strides, links):
    """Give every node what its faces carry."""
    west, east, south_of, north_of, up_of, down_of = links
    levels, width = strides
    rows = U(first.size) // levels
    for row in range(U(1), rows - U(1)):
        for level in range(U(1), levels - U(1)):
            line = row * levels + level
            lo, hi = find_reach(first, last, line, levels, width)
            if lo < hi:
                here = line * width
                near = west, east, south_of[row], north_of[row], up_of[level], down_of[level]
                balance(change, here, theta, here, lo, hi, levels, width, near)
                for i in range(here + lo, here + hi):
                    heat[i] += change[i]


@njit(cache=True, fastmath=FAST, error_model="numpy", forceinline=True)
def find_reach(first, last, line, levels, width):
    """The nodes of a line that exchange heat: its own, some beside them, and those beside other lines."""
    lo = min(first[line - levels], first[line + levels], first[line - U(1)], first[line + U(1)])
    hi = max(last[line - levels], last[line + levels], last[line - U(1)], last[line + U(1)])
    if last[line] > U(0):
        lo = min(lo, max(first[line], U(1) + MARGIN) - MARGIN)
        hi = max(hi, min(last[line] + MARGIN, width - U(1)))
    return lo, hi


@njit(cache=True, fastmath=FAST, error_model="numpy", forceinline=True)
def balance(out, start, theta, here, lo, hi, levels, width, near):
    """What the faces bring to the nodes lo … hi − 1 of a line, τ∇²θ."""
    west, east, south, north, up, down = near
    a, b, c, d = here - levels * width, here + levels * width, here - width, here + width
    for i in range(lo, hi):
        t = theta[here + i]
        out[start + i] = (
            west[i] * (theta[here + i - U(1)] - t)
            + east[i] * (theta[here + i + U(1)] - t)
            + south * (theta[a + i] - t)
            + north * (theta[b + i] - t)
            + up * (theta[c + i] - t)
            + down * (theta[d + i] - t)
        )


@njit(cache=True, fastmath=FAST, error_model="numpy", forceinline=True)
def find_open(residual, heat, trial, here, lo, hi, limit):
    """b + τ∇²θ − H of a line, and which of its nodes to correct: around those where that is too much."""
    count = 0
    for i in range(lo, hi):
        residual[i] += heat[here + i] - trial[here + i]
        count += not (abs(residual[i]) <= limit)
    if count == 0:
        return hi, hi
    a, b = lo, hi
    while abs(residual[a]) <= limit:
        a += U(1)
    while abs(residual[b - U(1)]) <= limit:
        b -= U(1)
    return max(a, lo + MARGIN) - MARGIN, min(b + MARGIN, hi)


@njit(cache=True, fastmath=FAST, error_model="numpy", forceinline=True)
def correct(trial, residual, slope, pivot, here, lo, hi, near):
    """H ← H + δ along a line: (1 + ΣL g) δ − what δ of the two beside it brings = residual."""
    west, east, south, north, up, down = near
    others = south + north + up + down
    before = coupling = 0.0
    for i in range(lo, hi):
        g = slope[i]
        p = 1.0 / (1.0 + g * (west[i] + east[i] + others - west[i] * coupling))
        residual[i] = p * (residual[i] + west[i] * before)
        pivot[i] = p * east[i]
        before = g * residual[i]
        coupling = g * pivot[i]
    ahead = 0.0
    for n in range(hi - lo):
        i = hi - U(1) - n
        step = residual[i] + pivot[i] * ahead
        trial[here + i] += step
        residual[i] = step
        ahead = slope[i] * step


@njit(cache=True, error_model="numpy", forceinline=True)
def settle(trial, theta, step, slope, before, here, lo, hi, near, table):
    """Where θ(H) gets steeper on the way, as where the last of an alloy melts, take a part of the step.

    That after which H + ΣL θ has grown by as much as the slope had promised; the whole would push the nodes
    beside further than they had pushed this one.
    """
    west, east, south, north, up, down = near
    pieces, low, per_step = table
    end = float(pieces.shape[1] - 1)
    for i in range(lo, hi):
        if abs(theta[here + i] - before[i]) > STEEP * slope[i] * abs(step[i]):
            links = west[i] + east[i] + south + north + up + down
            start, promised = trial[here + i] - step[i], abs(step[i]) * (1.0 + slope[i] * links)
            none, whole = 0.0, 1.0
            for _ in range(BISECTIONS):
                part = 0.5 * (none + whole)
                j, f = find_piece(start + part * step[i], low, per_step, end)
                value = pieces[0, j] + f * (pieces[1, j] + f * pieces[2, j])
                if abs(part * step[i] + links * (value - before[i])) > promised:
                    whole = part
                else:
                    none, trial[here + i], theta[here + i] = part, start + part * step[i], value


@njit(cache=True, fastmath=FAST, error_model="numpy", forceinline=True)
def wake(is_open, line, levels, moved, near, quiet):
    """A line that has moved is looked at again, and so are those beside it that notice."""
    _, _, south, north, up, down = near
    is_open[line] = True
    is_open[line - levels] |= moved * south > quiet
    is_open[line + levels] |= moved * north > quiet
    is_open[line - U(1)] |= moved * up > quiet
    is_open[line + U(1)] |= moved * down > quiet


@njit(cache=True, fastmath=FAST, error_model="numpy", forceinline=True)
def find_piece(value, low, per_step, end):
    """The piece of a table that serves a value, and the place in it, in steps."""
    place = (value - low) * per_step
    knot = place + 1.0 if place > -1.0 else 0.0  # 0 for NaN too: no index from nowhere
    j = np.int32(knot if knot < end else end)
    return j, place - max(j - np.int32(1), np.int32(0))


@njit(cache=True, fastmath=FAST, error_model="numpy", forceinline=True)
def find_slopes(slope, trial, here, lo, hi, table):
    """g of the nodes lo … hi − 1 of a line; that of a piece's end would go round in circles on melting."""
    pieces, low, per_step = table
    end = float(pieces.shape[1] - 1)
    for i in range(lo, hi):
        j, f = find_piece(trial[here + i], low, per_step, end)
        slope[i] = (pieces[U(1), np.uint32(j)] + 2.0 * f * pieces[U(2), np.uint32(j)]) * per_step


@njit(cache=True, fastmath=FAST, error_model="numpy", forceinline=True)
def look_up(theta, trial, here, lo, hi, table, part, piece):
    """θ(H) of the nodes lo … hi − 1 of a line."""
    pieces, low, per_step = table
    end = float(pieces.shape[1] - 1)
    for i in range(lo, hi):
        piece[i], part[i] = find_piece(trial[here + i], low, per_step, end)
    for i in range(lo, hi):
        j, f = np.uint32(piece[i]), part[i]
        theta[here + i] = pieces[U(0), j] + f * (pieces[U(1), j] + f * pieces[U(2), j])


@njit(cache=True, fastmath=FAST, error_model="numpy")
def read_surface(out, theta, first, last, strides, table):
    """T at the nodes of the lasered surface where heat has arrived, (y, x)."""
    pieces, low, per_step = table
    end = float(pieces.shape[1] - 1)
    levels, width = strides
    for row in range(U(out.shape[0])):
        line = (row + U(1)) * levels + U(1)
        for i in range(first[line], last[line]):
            j, f = find_piece(theta[line * width + i], low, per_step, end)
            out[row, i - U(1)] = pieces[0, j] + f * (pieces[1, j] + f * pieces[2, j])
