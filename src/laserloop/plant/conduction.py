"""Nonlinear heat conduction in a cuboid: its state, and one time step of an implicit scheme.

The state is the heat H of every control volume, kept in flux form: each step adds exactly what the faces and
the source brought, so an imbalance within the solver's tolerance is carried on, never lost. θ is the field
that carries the fluxes; it satisfies H(θ) = H to `tolerance`.
"""

import weakref
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from laserloop.bad_input import BadInput
from laserloop.plant import fields, kernels
from laserloop.plant.checkerboard import EMPTY, Box, Checkerboard, enclose
from laserloop.plant.grid import Grid, midway
from laserloop.plant.links import Links, make_links
from laserloop.plant.remap import find_weights, remap
from laserloop.process.heat_table import HeatTable

FloatArray = NDArray[np.float64]
Indices = NDArray[np.uintp]

CORRECTIONS = 60  # more than this in one stage means that the solution is lost
POOL = 4  # discarded states whose memory is kept for the next
KINDS = 16  # of step, whose links are kept
COLD = 1e-5  # K, least tolerance at which 4e-7 K between polynomial and table cannot be noticed
WARM = 1e-2  # of the tolerance: heat that makes a node part of what is worked on
GROWTH = 4  # nodes by which the window grows when heat reaches its edge


@dataclass(frozen=True, slots=True)
class Scheme:
    """A stiffly accurate diagonally implicit scheme of one (γ = 1) or two stages, at times γΔt and Δt."""

    name: str
    gamma: float

    @property
    def stages(self) -> tuple[tuple[float, float], ...]:
        """(time, weight) of each stage in units of the step; the weights are those of the heat books."""
        if self.gamma == 1.0:
            return ((1.0, 1.0),)
        return ((self.gamma, 1.0 - self.gamma), (1.0, self.gamma))


BACKWARD_EULER = Scheme("backward Euler", 1.0)  # first order
SDIRK2 = Scheme("SDIRK2", 1.0 - 0.5**0.5)  # second order, L-stable (Alexander 1977)


@dataclass(frozen=True, slots=True, eq=False)
class Source:
    """Separable surface flux (x) ⊗ (y), W/m², and an optional heat source per volume, W/m³ (z, y, x)."""

    x: FloatArray
    y: FloatArray
    volume: FloatArray | None = None


# History and weights of the guess, shares of base and heat that a stage starts from.
Start = tuple[tuple[FloatArray, FloatArray, FloatArray], tuple[float, float, float], tuple[float, float]]


@dataclass(frozen=True, slots=True, weakref_slot=True, eq=False)
class State:
    """All that is needed to go on from here; fields cover the window only.

    The memory of its fields is used again when the state is dropped: keep the state, not its fields.
    """

    grid: Grid
    window: Box
    warm: tuple[Indices, ...]
    fields: tuple[FloatArray, ...]
    absorbed: float
    lost: float


class Conduction:
    """The heat of a plate on a grid, advanced step by step; everything starts at ambient temperature."""

    def __init__(
        self, grid: Grid, table: HeatTable, *, scheme: Scheme, tolerance: float, edge: float
    ) -> None:
        """`tolerance`: K, by which a node may still have to move; `edge`: K, rise that widens the window."""
        self.table = table
        self.scheme = scheme
        self._tolerance = tolerance
        self._edge = edge * table.ambient_capacity
        heat, self._temperature_table = (
            (*np.ascontiguousarray(pieces.T), table.low, table.per_step)
            for pieces in (table.heat, table.temperature)
        )
        cold = table.cold if tolerance >= COLD else (np.inf, -np.inf, *table.cold[2:])  # no θ lies there
        self._heat_table = (*heat, float(table.watch), cold)
        self._pool: list[FloatArray] = []  # memory of states that nobody holds any more
        self._lay(grid)
        self.absorbed = 0.0  # J
        self.lost = 0.0  # J, through the bottom
        self.corrections = 0  # of the latest step, all stages together

    def _lay(self, grid: Grid) -> None:
        """Take a grid, with everything on it at ambient temperature."""
        self.grid = grid
        self.board = Checkerboard(*grid.shape)
        self._strides = self.board.strides
        self._areas = self.board.pack_x(grid.widths[2]), self.board.pack_y(grid.widths[1])
        self._links: dict[float, Links] = {}
        self._work = self._make_work()
        # where in each row of the window heat has arrived: first and last column, and levels
        self._warm = tuple(np.zeros(self.board.ny + 2, np.uintp) for _ in range(3))
        self._lately = EMPTY  # the box around the beam that was made warm last
        # θ now, one and two steps ago, and room for the next; heat now, and room for the next
        self.theta, self._previous, self._older, self._spare, self.heat, self._other = make_fields(
            6, self.board.size, np.float64
        )
        self._set_window(EMPTY)

    def move(self, grid: Grid) -> None:
        """Go on from here on another grid of the same plate and depths; the heat is kept to round-off.

        The three θ, which are the guesses of the next step, are moved by the same formula. From then on the
        plate is solved whole: so few nodes are not worth a window, and each step costs the same.
        """
        old, lasting, depth = self.board, self._lasting, self.window[4]
        if self.window != EMPTY:
            self._clear_around(self.window)
        rows = find_weights(self.grid.y_faces, grid.y_faces)
        columns = find_weights(self.grid.x_faces, grid.x_faces)
        self._lay(grid)
        for new, field in zip(self._lasting, lasting, strict=True):
            remap(new, field, self._strides, old.strides, rows, columns, depth)
        self._set_window(self.board.whole)
        self._heat_up(self.board.whole)

    def raise_surface(self, depths: FloatArray) -> None:
        """Go on under fresh metal at ambient temperature, in a plate whose nodes are at `depths`, m.

        The heat stays at its height above the bottom; what comes to lie in the node that is held at ambient
        there counts as lost.
        """
        old, grid, lasting, window = self.board, self.grid, self._lasting, self.window
        fresh = float(depths[-1] - grid.z[-1])
        faces = np.concatenate(([0.0], midway(grid.z) + fresh))
        share = find_weights(faces, midway(depths), points=2)[0][:, 1:]  # nothing comes from the fresh metal
        self._lay(Grid(x=grid.x, y=grid.y, z=depths, x_faces=grid.x_faces, y_faces=grid.y_faces))
        if window == EMPTY:
            return
        for new, field in zip(self._lasting, lasting, strict=True):
            inside = np.zeros(old.size)
            old.part(inside, window)[...] = old.part(field, window)
            moved = np.einsum("kl,lyx->kyx", share, old.unpack(inside))
            if new is self.heat:
                _, wy, wx = self.grid.widths
                self.lost += float(self.grid.widths[0][-1] * (wy @ moved[-1] @ wx))
            moved[-1] = 0.0
            new[:] = self.board.pack(moved)
        deepest = int(np.searchsorted(depths, grid.z[window[4] - 1] + fresh)) + 2
        self._open((*window[:4], deepest))
        self._heat_up(self.window)

    def forget(self) -> None:
        """Let the next step start from here as it is: it will be of another length than the last."""
        self._previous[:] = self.theta
        self._older[:] = self.theta

    def restart(self, grid: Grid) -> None:
        """Everything at ambient temperature, on this grid."""
        self._lay(grid)
        self.absorbed = self.lost = 0.0

    def reset(self) -> None:
        """Everything back to ambient temperature."""
        for field in (*self._fields, self._residual):
            field[:] = 0.0
        self._set_window(EMPTY)
        self._heat_up((0, self.board.ny + 2, 0, 0, 0))
        self.absorbed = self.lost = 0.0

    def start(self, temperature: FloatArray) -> None:
        """Begin anew from a temperature field (z, y, x), K, whose deepest level is at ambient temperature."""
        if np.any(np.abs(temperature[-1] - self.table.ambient) > 1e-6):
            raise BadInput(
                f"the deepest level must be at the ambient temperature of {self.table.ambient} K: set it so"
            )
        self.reset()
        theta = self.table.theta_of(temperature)
        for field in (self.theta, self._previous, self._older):
            field[:] = self.board.pack(theta)
        self.heat[:] = self.board.pack(self.table.heat_of(theta))
        self._set_window(self.board.whole)
        self._heat_up(self.board.whole)
        self.absorbed = self.stored()

    def widen(self, x_low: float, x_high: float, y_low: float, y_high: float, depth: float) -> None:
        """Let the window cover this part of the plate, m."""
        col0, col1 = np.searchsorted(self.grid.x, (x_low, x_high)) // 2
        row0, row1 = np.searchsorted(self.grid.y, (y_low, y_high))
        level = np.searchsorted(self.grid.z, depth)
        wanted = (int(row0), int(row1) + 2, int(col0), int(col1) + 2, int(level) + 1)
        self._open(enclose(self.window, wanted))
        if wanted == self._lately:
            return
        self._lately = wanted
        row0, row1, col0, col1, depth = self.board.clip(wanted)
        first, last, deep = (part[row0:row1] for part in self._warm)
        first[...] = np.where(deep > 0, np.minimum(first, col0), col0)
        np.maximum(last, col1, out=last)
        np.maximum(deep, depth, out=deep)

    def advance(self, step: float, sources: tuple[Source, ...]) -> None:
        """One time step of `step` seconds, with one source for each stage of the scheme."""
        gamma = self.scheme.gamma
        links = self._links_for(step * gamma)
        self.corrections = 0
        self._make_room(links)
        base, after = self.heat, self._other
        older, previous, now, stage = self._older, self._previous, self.theta, self._spare
        history = (older, previous, now)
        weights, shares = _parabola(gamma, gamma if len(sources) > 1 else 0.0), (1.0, 0.0)
        for (time, weight), source in zip(self.scheme.stages, sources, strict=True):
            if time > gamma:  # the second stage starts from what the first one brought
                base, after = after, base
                older, stage = stage, older
                weights, shares = _parabola(1.0, 0.0), (1.0 / gamma - 1.0, 2.0 - 1.0 / gamma)
            self._solve(stage, base, after, (history, weights, shares), source, links)
            self._keep_books(stage, source, weight * step)
            line, hot, watch = self._work[4], self._work[-1], self._heat_table[-2]
            kernels.polish(
                stage, self._residual, links.gain, self._strides, self._warm_patch, line, hot, watch
            )
            least = WARM * self._tolerance * self.table.ambient_capacity
            kernels.spread(after, self._strides, self._patch, self._warm, self._work[7], least)
        self.theta, self._previous, self._older, self._spare = stage, now, previous, older
        self.heat, self._other = after, base
        self._grow()

    def stored(self) -> float:
        """Heat above ambient in the plate, J, from the temperature field itself."""
        return self._integrate(self.table.heat_of(self.field()))

    def field(self) -> FloatArray:
        """θ of all nodes, (z, y, x), W/m."""
        inside = np.zeros(self.board.size)
        self.board.part(inside, self.window)[...] = self.board.part(self.theta, self.window)
        return self.board.unpack(inside)

    def surface_temperature(self) -> FloatArray:
        """T at the nodes of the lasered surface, (y, x), K."""
        return self.read_surface()[0]

    def read_surface(self) -> tuple[FloatArray, int, int]:
        """T at the nodes of the lasered surface, (y, x), K, and row and column of the hottest."""
        out = np.full((self.board.ny, 2 * self.board.columns), self.table.ambient)
        row, col = fields.surface_temperature(
            self.theta,
            self._strides,
            self._warm_patch,
            self._temperature_table,
            out,
        )
        return out[:, : self.board.nx], row, col

    def column_block(self, rows: slice, columns: slice) -> FloatArray:
        """θ of the window's levels under a part of the surface, (z, y, x), W/m."""
        stop = min(columns.stop, self.board.nx)
        first, last = columns.start // 2, (stop + 1) // 2
        whole: FloatArray = self.theta.reshape(self.board.shape)[1:-1, :, : self.window[4], 1:-1]
        block = whole[rows, :, :, first:last].transpose(2, 0, 3, 1)
        depth, ny, half, _ = block.shape
        natural: FloatArray = block.reshape(depth, ny, 2 * half)
        return natural[:, :, columns.start - 2 * first : stop - 2 * first]

    def save(self) -> State:
        """A copy of the state; cheap, because only the window is copied, into memory that is used again."""
        fields_now = [self.board.part(field, self.window) for field in self._lasting]
        size = fields_now[0].size
        memory = self._find_memory(len(fields_now) * self.board.size)
        copies = []
        for n, field in enumerate(fields_now):
            copies.append(memory[n * size : (n + 1) * size].reshape(field.shape))
            copies[-1][...] = field
        warm = tuple(part.copy() for part in self._warm)
        state = State(self.grid, self.window, warm, tuple(copies), self.absorbed, self.lost)
        weakref.finalize(state, self._take_back, memory)
        return state

    def _find_memory(self, size: int) -> FloatArray:
        """Memory that was used before, if enough of it is left in one piece."""
        memory = self._pool.pop() if self._pool else np.empty(size)
        return memory if memory.size >= size else np.empty(size)

    def _take_back(self, memory: FloatArray) -> None:
        """Fresh memory costs more (page faults) than the copy itself."""
        if len(self._pool) < POOL:
            self._pool.append(memory)

    def load(self, state: State) -> None:
        """Back to a saved state, and to the grid it was saved on."""
        if state.grid is not self.grid:
            self._lay(state.grid)
        if self.window != EMPTY:
            row0, row1, col0, col1, depth = self.window
            touched = (row0 - 1, row1 + 1, col0 - 1, col1 + 1, depth + 1)  # with the mirrored layer
            kept = self._lasting if self.window == state.window else ()  # all of it is written anew below
            for field in (*self._fields, self._residual):
                if not any(field is other for other in kept):
                    self.board.part(field, touched)[...] = 0.0
        for field, saved in zip(self._lasting, state.fields, strict=True):
            self.board.part(field, state.window)[...] = saved
        self._set_window(state.window)
        self._lately = EMPTY
        for part, saved_part in zip(self._warm, state.warm, strict=True):
            part[...] = saved_part
        self.absorbed, self.lost = state.absorbed, state.lost

    @property
    def _lasting(self) -> tuple[FloatArray, ...]:
        """The fields that the next step depends on."""
        return self.theta, self._previous, self._older, self.heat

    @property
    def _residual(self) -> Any:
        """The imbalance, float32; like θ and H it is 0 where no heat has arrived."""
        return self._work[0]

    @property
    def _fields(self) -> tuple[FloatArray, ...]:
        """All of them; outside the window and its mirrored layer every one is 0."""
        return *self._lasting, self._spare, self._other

    def _solve(
        self,
        theta: FloatArray,
        base: FloatArray,
        after: FloatArray,
        start: Start,
        source: Source,
        links: Links,
    ) -> None:
        if source.volume is not None:
            own, other = start[2]
            base = own * base + other * after + links.tau * self.board.pack(source.volume)
            start = (*start[:2], (1.0, 0.0))
        first_width = self.grid.widths[0][0]
        flux = self.board.pack_x(source.x * (links.tau / first_width)), self.board.pack_y(source.y)
        corrections = kernels.solve_stage(
            theta,
            base,
            after,
            start,
            self._work,
            self._strides,
            self._patch,
            self._warm,
            links.exact,
            links.rough,
            flux,
            self._heat_table,
            links.stiffness * self._tolerance,
            (links.overrelaxation, links.sweeps, *links.margins),
            CORRECTIONS,
        )
        if corrections < 0:
            raise BadInput(
                f"the heat balance did not close in {CORRECTIONS} corrections: check that power, time step, "
                "tolerance and the material's table are plausible"
            )
        self.corrections += corrections

    def _keep_books(self, theta: FloatArray, source: Source, duration: float) -> None:
        _, wy, wx = self.grid.widths
        self.absorbed += duration * float(source.x @ wx) * float(source.y @ wy)
        if source.volume is not None:
            self.absorbed += duration * self._integrate(source.volume)
        if self.window[4] == self.board.nz - 1:
            gap = float(self.grid.z[-1] - self.grid.z[-2])
            flow = fields.sum_level(theta, self._strides, self._patch, *self._areas)
            self.lost += duration * flow / gap

    def _integrate(self, density: FloatArray) -> float:
        """∫ over the plate; the deepest nodes are held at ambient and store nothing."""
        wz, wy, wx = self.grid.widths
        return float(np.einsum("zyx,z,y,x->", density[:-1], wz[:-1], wy, wx))

    def _grow(self) -> None:
        """Widen the window wherever heat has come to its edge."""
        row0, row1, col0, col1, depth = self.window
        south, north, west, east, below = fields.warm_edges(self.heat, self._strides, self._patch, self._edge)
        half = GROWTH // 2
        self._open(
            (
                row0 - GROWTH * south,
                row1 + GROWTH * north,
                col0 - half * west,
                col1 + half * east,
                depth + GROWTH * below,
            )
        )

    def _set_window(self, window: Box) -> None:
        self.window = window
        self._patch = self.board.patch(window)  # the same for the kernels

    @property
    def _warm_patch(self) -> tuple[object, ...]:
        """What of the window heat has reached, for the kernels."""
        return *self._patch[:2], *self._warm

    def _heat_up(self, box: Box) -> None:
        """Just this box is warm."""
        self._lately = EMPTY
        for part, value in zip(self._warm, box[2:], strict=True):
            part[...] = 0
            part[box[0] : box[1]] = value

    def _make_room(self, links: Links) -> None:
        """A long step on a fine grid carries heat beyond any window that grows by a few nodes."""
        row0, row1, col0, col1, depth = self.window
        wider = int(links.margins[0]) if links.margins[0] > GROWTH else 0
        deeper = self._levels_within(links.reach)
        if deeper > GROWTH:
            warm = self.board.part(self.heat, (row0, row1, col0, col1, depth))[:, :, -1 - deeper :]
            deeper *= bool(np.any(np.abs(warm) > self._edge)) or wider > 0
        else:
            deeper = wider
        self._open((row0 - wider, row1 + wider, col0 - wider, col1 + wider, depth + deeper))
        if wider or deeper > GROWTH:
            self._heat_up(self.window)  # one such step reaches all of it

    def _levels_within(self, reach: float) -> int:
        """How many levels lie within `reach` above the bottom of the window."""
        bottom = self.window[4] - 1
        return bottom - int(np.searchsorted(self.grid.z[: bottom + 1], self.grid.z[bottom] - reach))

    def _open(self, box: Box) -> None:
        """Make this the window; the mirrored layer around the old one goes back to ambient."""
        old, new = self.window, self.board.clip(box)
        if new == old:
            return
        self._set_window(new)
        if old == EMPTY:
            return
        self._clear_around(old)

    def _clear_around(self, window: Box) -> None:
        """The mirrored layer around a window back to ambient."""
        row0, row1, col0, col1, depth = window
        for field in (self.theta, self._previous, self._older, self._spare):
            whole = field.reshape(self.board.shape)
            whole[row0 - 1] = whole[row1] = 0.0
            whole[:, :, :, col0 - 1] = whole[:, :, :, col1] = 0.0
            whole[:, :, depth] = 0.0

    def _links_for(self, tau: float) -> Links:
        if tau not in self._links:
            if len(self._links) >= KINDS:
                self._links.clear()
            self._links[tau] = make_links(self.grid, self.board, tau, self.table)
        return self._links[tau]

    def _make_work(self) -> tuple[Any, ...]:
        """Scratch of the kernels: residual, slope, inverse, delta; line; pieces; three patches; hot rows."""
        ny, _, nz, width = self.board.shape
        return (
            *make_fields(4, self.board.size, np.float32),
            np.zeros((nz + 1) * width, np.float32),
            (np.zeros(width, np.int32), np.zeros(width)),
            *(tuple(np.zeros(ny, np.uintp) for _ in range(3)) for _ in range(3)),
            np.zeros(ny, np.uintp),
        )


def make_fields(count: int, size: int, kind: type) -> NDArray[Any]:
    """Fields of zeros in one block: of 4 MB or more, NumPy asks for huge pages, which are found faster."""
    block: NDArray[Any] = np.empty((count, size), kind)
    block[...] = 0
    return block


def _parabola(at: float, euler: float) -> tuple[float, float, float]:
    """Weights of the values two, one and no steps ago in the parabola through them, `at` steps from now.

    A first stage is a backward Euler step of `euler` steps and misses the parabola by ½·euler²·θ″; so does
    the guess for it.
    """
    bend = 0.5 * (at * at + at + euler * euler)
    return bend, -at - 2.0 * bend, 1.0 + at + bend
