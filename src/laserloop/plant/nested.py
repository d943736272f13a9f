"""The plant to trust: boxes of cells nested around the beam, each three times as fine as the one around it.

The state is the heat H of every cell, J/m³; θ = ∫k dT and T are looked up, so that latent heat and properties
that depend on temperature are local, and ∂H/∂t = ∇²θ is stepped by RKL2. The finest box follows the beam.
What lies further out changes slowly: a parent waits until its own stable step has passed, and takes it at
once, with the heat that crossed the faces of the box inside. A tick costs the same on a plate of any size.
"""

from collections.abc import Mapping
from functools import lru_cache
from hashlib import blake2b
from math import ceil, inf, sqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray

from laserloop.plant import nested_kernels as kernels
from laserloop.plant.boxes import Box, Shape, Spacing, make_boxes
from laserloop.plant.melt_pool import Patch
from laserloop.plant.nested_kernels import COLD, RATIO
from laserloop.plant.surface import Surface, compose
from laserloop.process import Process
from laserloop.process.heat_table import HeatTable
from laserloop.process.material import Melting

FloatArray = NDArray[np.float64]
Arrays = Mapping[str, NDArray[Any]]

CELLS = 4.0  # per beam width in the finest box,
MELTED = 8.0  # and in depth where the process melts: the end of a pool is thin,
THIN = 0.7  # of √(ασ/v), how deep heat enters under the beam, per cell in depth at most
HALF = 4.0  # beam widths from the beam to the sides of the finest box at least,
DEPTH = 2.7  # and to its bottom,
SHALLOW = 1.5  # where the process melts
ROOM = 4  # cells between a shallow melt and the sides,
WIDER = 6  # and what comes on each side if there are fewer
WIDEST = 16.0  # beam widths, from which on it grows no more
DEEP = 2 / 3  # of its depth, from which on the parent sees the end of the melt as well
HOP = 0.25  # beam widths moved per step at most
JUMPS = 0.02, 0.1, 0.25  # changes of power or of way, as a share of it, that each take one step more
SPREAD = 0.15  # of α·dt/σ² per step at most
WAIT = 2.0  # steps of forward Euler that a parent may wait, twice as many where the process melts
GROW = 0.2  # of the time since the beam went, the longest step in the dark
CENTRE = 0.75  # of a parent's cell, how far the beam may be from a box's middle
COLD_SHARE = 1e-12  # of the heat absorbed, below which a plate at rest is cold
MARGIN, AROUND = 2, 3  # cells around the melt that belong to its patch, and lines more for interpolation
ROWS = 8192  # of the tables: 0.4 K apart for steel, in which the error is 1e-5 K
KNOTS = 32_769  # of their making


class NestedHeat:
    """Heat in a plate, on boxes that follow the beam."""

    def __init__(self, process: Process, table: HeatTable, *, refine: float = 1.0) -> None:
        self.process, self.refine = process, refine
        self.by_heat, self.by_theta, self.diffusivity = tabulate_heat(table)
        per, low, known = self.by_heat
        at = int((0.0 - low) * per)
        self._cold = float(known[at + 1] - known[at]) * per  # dθ/dH at ambient, m²/s
        melting, sigma = process.material.melting, process.beam.sigma
        self._melting = find_melting(table, melting)
        self._melt = inf if melting is None else float(table.theta_of(np.array([melting.solidus]))[0])
        melts = melting is not None and process.window[1] > melting.solidus
        h, thin = sigma / (CELLS * refine), THIN * sqrt(self._cold * sigma / process.speed) / refine
        self._depth, self._wait = (SHALLOW, 2.0 * WAIT) if melts else (DEPTH, WAIT)
        self._finest = h, h, min(h, thin, sigma / (MELTED * refine) if melts else h)
        self.reset()

    @property
    def identity(self) -> str:
        """What the numbers of a saved state mean."""
        depth = [self._depth] * (self._depth != DEPTH)
        geometry = (*self.process.plate, *self._finest, self.process.ambient, *self.by_heat[:2], *depth)
        digest = blake2b(np.array(geometry).tobytes(), digest_size=16)
        digest.update(self.by_heat[2].tobytes())
        return digest.hexdigest()

    @property
    def opened(self) -> list[Box]:
        """The boxes that are open, from the root to the finest."""
        return [box for box in self.boxes if box.open]

    @property
    def leaf(self) -> Box:
        """The finest box that is open."""
        return self.opened[-1]

    def reset(self) -> None:
        """The whole plate at ambient temperature, as thick as it was at first."""
        self._make_boxes(self.process.plate)
        self.absorbed = self.lost = 0.0  # J
        self._dark = inf  # s, since the beam went
        self._beam: tuple[float, FloatArray] | None = None  # W and place, of this moment
        self._latest = 0.0, np.zeros(2), 1  # W, way and steps of the latest call

    def _make_boxes(self, plate: Spacing, levels: int | None = None) -> None:
        self.plate, sigma = plate, self.process.beam.sigma
        self.boxes = make_boxes(
            plate, self._finest, (2 * HALF * sigma, 2 * HALF * sigma, self._depth * sigma), levels
        )

    def advance(self, power: float, spot: FloatArray, seconds: float) -> None:
        """Absorb so many W on the way from spot[0] to spot[1], m; with 0 W the beam may be anywhere."""
        if power == 0.0:
            self.rest(seconds)
            return
        self._dark = 0.0
        sigma, way = self.process.beam.sigma, spot[1] - spot[0]
        least = self.refine * max(float(np.hypot(*way)) / (HOP * sigma), self._take_up(power, way))
        steps = ceil(max(least, seconds / self._longest()) - 1e-9)
        for n in range(steps):
            ends = spot[0] + way * (n / steps), spot[0] + way * ((n + 1) / steps)
            self._follow(0.5 * (ends[0] + ends[1]))
            self._step(seconds / steps, power, ends)
        self._beam = power, spot[1]

    def rest(self, seconds: float) -> None:
        """No beam: steps grow with the time since it went, and what has spread needs no fine box any more."""
        self._beam, self._latest = None, (0.0, np.zeros(2), 1)
        left = seconds
        while left > 0.0 and not self._is_cold():
            through = 0.2 * self.plate[2] ** 2 / self.diffusivity  # s, half of what the slowest wave lasts
            longest = max(min(seconds, self._longest()), min(GROW / self.refine * self._dark, through))
            leaf = self.leaf
            if leaf.parent is not None:
                longest = min(longest, self._wait * self._euler(leaf.parent))
            dt = longest if left > 2.0 * longest else left / max(1, ceil(left / longest - 1e-9))
            self._step(dt)
            self._dark += dt
            left = left - dt if left > (1.0 + 1e-9) * dt else 0.0
            while leaf.parent is not None and self._dark > self._lasting(leaf):
                self._synchronise(leaf.parent)
                leaf.open = False
                leaf = leaf.parent

    def _is_cold(self) -> bool:
        """Has the plate given away all but a millionth of a millionth of its heat? Then the rest goes too."""
        root = self.boxes[0]
        if root is not self.leaf:
            return False
        left = root.volume * float(root.heat.sum())
        if left > COLD_SHARE * self.absorbed:
            return False
        self.lost += left
        root.heat[:] = root.theta[:] = 0.0
        return True

    def _take_up(self, power: float, way: FloatArray) -> int:
        """Steps of a tick that begins otherwise than the latest one ended; one fewer in each that follows."""
        before, way_before, steps = self._latest
        change = max(
            abs(power - before) / max(power, before),
            float(np.hypot(*(way - way_before)) / max(np.hypot(*way), np.hypot(*way_before), 1e-15)),
        )
        steps = max(steps - 1, 1 + sum(change > share for share in JUMPS))
        self._latest = power, way, steps
        return steps

    def _longest(self) -> float:
        """The longest step that resolves what the beam does, s."""
        longest = SPREAD * self.process.beam.sigma**2 / (self.diffusivity * self.refine)
        parent = self.boxes[-1].parent
        return longest if parent is None else min(longest, self._wait * self._euler(parent))

    def _lasting(self, box: Box) -> float:
        """Until heat has spread so far that the parent of this box shows it as well, s."""
        return float((RATIO**2 * max(box.spacing)) ** 2 / (2.0 * self.diffusivity))

    def _euler(self, box: Box) -> float:
        """The longest stable step of forward Euler, s."""
        return 0.5 / (self.diffusivity * box.stiffness)

    def _step(self, dt: float, power: float = 0.0, ends: tuple[FloatArray, FloatArray] | None = None) -> None:
        """The finest box by one step, and its parents when it is time."""
        box = self.leaf
        self._conduct(box, dt, power, ends)
        while box.parent is not None:
            box = box.parent
            box.behind += dt
            if box.behind + 0.5 * dt < self._wait * self._euler(box):
                break
            dt = box.behind
            self._catch_up(box)

    def _synchronise(self, box: Box) -> None:
        """A parent to the time of the boxes inside."""
        if box.behind > 0.0:
            seconds = box.behind
            self._catch_up(box)
            if box.parent is not None:
                box.parent.behind += seconds

    def _catch_up(self, box: Box) -> None:
        """One step over all the time that has passed since the latest one."""
        seconds, box.behind = box.behind, 0.0
        self._conduct(box, seconds)
        self._find_drift(box)
        for child in box.inside:
            self._read_parent(child)

    def _find_drift(self, box: Box) -> None:
        kernels.find_drift(
            box.heat, box.theta[0], box.beyond, box.faces, box.weights, self.by_heat, box.drift
        )

    @staticmethod
    def _read_parent(box: Box) -> None:
        parent = box.parent
        assert parent is not None
        kernels.read_parent(parent.theta[0], box.beyond, box.faces, parent.faces, *box.in_parent)

    def _conduct(
        self, box: Box, seconds: float, power: float = 0.0, ends: tuple[FloatArray, FloatArray] | None = None
    ) -> None:
        """One step of a box, with what left the boxes inside meanwhile; then it takes their means."""
        stages = find_stages(seconds / self._euler(box))
        if ends is None:
            across, along = (np.zeros((stages, size)) for size in box.shape[1:])
        else:
            across, along = self._profile(*ends, find_times(stages))
            across *= power / box.spacing[2]
        holes, flows = self._collect(box, seconds)
        heated = kernels.step(
            box.heat, box.theta, box.scratch, box.beyond, box.faces, box.weights,
            self.by_heat, self._melting, across, along, holes, flows, seconds, stages,
        )  # fmt: skip
        self.absorbed += box.volume * heated
        for child in box.inside:
            mine, tables = (box.heat, box.theta[0]), (self.by_heat, self._melting)
            kernels.restrict(child.heat, child.theta[0], *mine, *tables, *child.in_parent)
            if child.faces[5] == COLD:
                box.heat[(-1, *child.under[1:])] = 0.0  # that column has lost its heat already
        if box.faces[5] == COLD:
            bottom = box.heat[-1, 1:-1, 1:-1]
            self.lost += box.volume * float(bottom.sum())
            bottom[:] = 0.0

    @staticmethod
    def _collect(box: Box, seconds: float) -> tuple[NDArray[np.int64], FloatArray]:
        """What crossed the faces of the boxes inside: where, and how much, W/m³ of this box."""
        sizes = ((n // RATIO for n in child.shape) for child in box.inside)
        room = sum(2 * layers * (rows + columns) + rows * columns for layers, rows, columns in sizes)
        holes, flows = np.empty((room, 3), dtype=np.int64), np.empty(room)
        found = 0
        for child in box.inside:
            place = *child.in_parent, box.heat.shape
            found += kernels.hand_over(child.heat, child.faces, *place, seconds, holes[found:], flows[found:])
        return holes[:found], flows[:found]

    def _follow(self, beam: FloatArray) -> None:
        """Open the boxes around the beam, and move those whose middle it has left."""
        self._make_room(self.leaf)
        wanted = {box: self._around(box, beam) for box in self.boxes[1:]}
        moved = [box for box, origin in wanted.items() if not box.open or origin != box.origin]
        if not moved:
            return
        first = self.boxes.index(moved[0])
        for box in reversed(self.boxes[first - 1 : -1]):
            if box.open:
                self._synchronise(box)
        for box in moved:
            self._put(box, box.shape if box.open else box.usual, wanted[box])
        for box in self.boxes[first:]:
            assert box.parent is not None
            self._find_drift(box.parent)
            self._read_parent(box)

    def _make_room(self, leaf: Box) -> None:
        """Widen the finest box before a melt reaches its sides that ends thinner than the parent's cells."""
        top, parent = leaf.theta[0, 1, 1:-1, 1:-1], leaf.parent
        if parent is None or top.max() <= self._melt:
            return
        if leaf.theta[0, 1 + int(DEEP * leaf.shape[0])].max() > self._melt:
            return
        sizes, origin = list(leaf.shape[1:]), list(leaf.origin)
        for axis in (0, 1):
            at = np.flatnonzero((top > self._melt).any(axis=1 - axis))
            wide = sizes[axis] * leaf.spacing[1 - axis] > WIDEST * self.process.beam.sigma
            if min(at[0], sizes[axis] - 1 - at[-1]) < ROOM and not wide:
                sizes[axis] = min(sizes[axis] + 2 * WIDER, leaf.plate[1 + axis])
                origin[axis] = min(max(origin[axis] - WIDER, 0), leaf.plate[1 + axis] - sizes[axis])
        if (shape := (leaf.shape[0], sizes[0], sizes[1])) != leaf.shape:
            self._synchronise(parent)
            self._put(leaf, shape, (origin[0], origin[1]))
            self._read_parent(leaf)

    @staticmethod
    def _around(box: Box, beam: FloatArray) -> tuple[int, int]:
        """The origin that keeps the beam near the middle of a box, in whole cells of its parent."""
        found, shape = [], box.shape if box.open else box.usual
        for axis in (0, 1):
            size, end = shape[1 + axis], box.plate[1 + axis]
            exact = (float(beam[1 - axis]) / box.spacing[1 - axis] + 0.5 * (end - size)) / RATIO
            now = box.origin[axis] // RATIO
            there = now if box.open and abs(exact - now) <= CENTRE else round(exact)
            found.append(RATIO * min(max(there, 0), (end - size) // RATIO))
        return found[0], found[1]

    def _put(self, box: Box, shape: Shape, origin: tuple[int, int]) -> None:
        """Cells that come in are divided from the parent's, which has kept those that leave."""
        assert box.parent is not None
        old, theta, moved = box.heat, box.theta[0], (origin[0] - box.origin[0], origin[1] - box.origin[1])
        if not box.open:
            box.open, box.behind, moved = True, 0.0, box.plate[1:]  # nothing stays
        if shape == box.shape:
            box.heat, box.theta = np.zeros_like(old), np.zeros_like(box.theta)
            box.place(origin)
        else:
            box.make(shape, origin)
        here = box.parent.heat, self.by_heat, *box.in_parent
        kernels.move(old, theta, box.heat, box.theta[0], *here, *moved)

    def _profile(self, start: FloatArray, end: FloatArray, past: FloatArray) -> tuple[FloatArray, FloatArray]:
        """1/m, a beam's means over the finest box's rows and its columns after these shares of its way."""
        leaf, unit = self.leaf, sqrt(2.0) * self.process.beam.sigma
        rows, columns = (
            kernels.place_beam(
                leaf.origin[axis], leaf.shape[1 + axis], leaf.plate[1 + axis], leaf.spacing[1 - axis] / unit,
                start[1 - axis] / unit, end[1 - axis] / unit, past,
            ) / leaf.spacing[1 - axis]
            for axis in (0, 1)
        )  # fmt: skip
        return rows, columns

    def raise_surface(self, thickness: float) -> None:
        """Metal at ambient temperature on top, m; the cells get other heights and share the heat anew."""
        for box in reversed(self.opened):
            self._synchronise(box)
        self._beam = None  # it has just been off
        old, width, length = self.boxes, *self.plate[:2]
        self._make_boxes((width, length, self.plate[2] + thickness), len(old) - 1)
        for before, box in zip(old, self.boxes, strict=True):
            box.open = before.open
            box.make((box.shape[0], *before.shape[1:]), before.origin)
            if not box.open:
                continue
            if box.parent is not None:
                there = box.parent.heat, self.by_heat, *box.in_parent
                kernels.move(before.heat, before.theta[0], box.heat, box.theta[0], *there, *box.plate[1:])
            share = share_layers(before, box, thickness)
            known = share.sum(axis=1) > 1.0 - 1e-9
            known |= box.parent is None
            cells = box.heat[1:-1, 1:-1, 1:-1]
            mixed = np.tensordot(share, before.heat[1:-1, 1:-1, 1:-1], axes=1)
            fresh = np.arange(len(cells)) * box.spacing[2] < thickness  # in or across the new layer
            cells[known | fresh] = mixed[known | fresh]
            if box.parent is not None:  # which keeps the heat
                of_parent = box.parent.heat[box.under]
                mine = cells.reshape(*(n for m in of_parent.shape for n in (m, RATIO))).mean(axis=(1, 3, 5))
                cells += np.kron(of_parent - mine, np.ones((RATIO, RATIO, RATIO)))
            kernels.look_up(box.heat, self.by_heat, box.theta[0])
        for box in self.opened[1:]:
            self._read_parent(box)

    def surface(self, time: float) -> Surface:
        """The surface of this moment."""
        views = []
        for box in self.opened:
            top = box.with_edges(self._read_top(box)[np.newaxis])[0]
            kernels.look_up(top, self.by_theta, top)
            views.append((box.x, box.y, top))
        return Surface(*views[-1], time, around=tuple(views[-2::-1]))

    def _read_top(self, box: Box) -> FloatArray:
        """θ of the surface above a box."""
        top = np.empty(box.shape[1:])
        across, along = np.zeros(top.shape[0]), np.zeros(top.shape[1])
        if self._beam is not None and box is self.leaf:
            power, place = self._beam
            rows, columns = self._profile(place, place, np.ones(1))
            across, along = power * rows[0], columns[0]
        kernels.read_top(box.theta[0], across, along, box.spacing[2], top)
        return top + box.behind * box.drift if box.behind > 0.0 else top

    def _stack(self, box: Box) -> FloatArray:
        """θ of the surface and of the cells under it."""
        return np.concatenate((self._read_top(box)[np.newaxis], box.theta[0, 1:-1, 1:-1, 1:-1]))

    def field(self, region: list[tuple[float, float]] | None = None) -> tuple[list[FloatArray], FloatArray]:
        """Lines along z, from the surface down, y and x, m, and θ (z, y, x) on them.

        `region`: from and to along each axis, m, beyond which nothing is wanted.
        """
        found = None
        for box in self.opened:
            axes, theta = [box.depths, box.y, box.x], box.with_edges(self._stack(box))
            if box.faces[5] == COLD:
                axes[0] = np.append(axes[0], self.plate[2])
                theta = np.concatenate((theta, np.zeros_like(theta[:1])))
            if region is not None:
                parts = [cut_out(lines, *ends) for lines, ends in zip(axes, region, strict=True)]
                axes = [lines[part] for lines, part in zip(axes, parts, strict=True)]
                theta = np.ascontiguousarray(theta[tuple(parts)])
                if found is not None and min(theta.shape) < AROUND:
                    break
            found = (axes, theta) if found is None else compose(*found, axes, theta)
        assert found is not None
        return found

    def cells(self) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
        """x, y and z of lines, m, z from the surface down, and temperatures (z, y, x) on them, K."""
        (z, y, x), theta = self.field()
        kernels.look_up(theta, self.by_theta, theta)
        return x, y, z, theta

    def liquid(self, theta: float) -> Patch | None:
        """What is around the cells whose θ is above this one, less this; None if none is."""
        found = []
        for box in self.opened:
            stack = self._stack(box)
            for child in box.inside:  # which knows better
                (row, column), (layers, rows, columns) = child.in_parent, (n // RATIO for n in child.shape)
                stack[: layers + 1, row : row + rows, column : column + columns] = 0.0
            hot = np.nonzero(stack > theta)
            if hot[0].size:
                lines = [box.depths, *(0.5 * (e[1:] + e[:-1]) for e in (box.edges(0), box.edges(1)))]
                ends = np.array([(at[n.min()], at[n.max()]) for at, n in zip(lines, hot, strict=True)])
                found.append(ends + (MARGIN + 0.5) * np.outer(box.spacing[::-1], (-1.0, 1.0)))
        if not found:
            return None
        region = list(zip(np.min(found, axis=0)[:, 0], np.max(found, axis=0)[:, 1], strict=True))
        lines, values = self.field(region)
        k, j, i = (slice(*np.searchsorted(at, ends)) for at, ends in zip(lines, region, strict=True))
        return Patch(lines[2][i], lines[1][j], lines[0][k], np.ascontiguousarray(values[k, j, i]) - theta)

    def energy(self) -> dict[str, float]:
        """Heat absorbed, lost through the bottom, and stored, J."""
        stored = 0.0
        for box in self.opened:
            heat = float(box.heat.sum())  # what crossed the faces and was not handed over lies in the ghosts
            heat -= sum(float(box.heat[child.under].sum()) for child in box.inside)
            stored += box.volume * heat
        return {"absorbed": self.absorbed, "lost": self.lost, "stored": stored}

    def save(self) -> dict[str, NDArray[Any]]:
        """The state, to come back to."""
        opened = self.opened
        beam = (0.0, 0.0, 0.0) if self._beam is None else (self._beam[0], *self._beam[1])
        arrays: dict[str, NDArray[Any]] = {
            "plate": np.array(self.plate),
            "boxes": np.array([(*box.origin, box.behind) for box in opened]),
            "numbers": np.array([self.absorbed, self.lost, self._dark, *beam]),
            "latest": np.array([self._latest[0], *self._latest[1], self._latest[2]]),
        }
        for n, box in enumerate(opened):
            for name in STATE:
                values = box.theta[0] if name == "theta" else getattr(box, name)
                arrays[f"{name}_{n}"] = values.copy()
        return arrays

    def load(self, arrays: Arrays) -> None:
        """Back to a saved state of this plate, or of one with the same numbers."""
        plate = tuple(float(length) for length in arrays["plate"])
        if plate != self.plate:
            self._make_boxes((plate[0], plate[1], plate[2]), len(self.boxes) - 1)
        self.absorbed, self.lost, self._dark, power, x, y = (float(number) for number in arrays["numbers"])
        self._beam = (power, np.array([x, y])) if power > 0.0 else None
        before, way_x, way_y, steps = arrays["latest"].tolist()
        self._latest = before, np.array([way_x, way_y]), int(steps)
        for box in self.boxes:
            box.open = False
        for n, (row, column, behind) in enumerate(arrays["boxes"].tolist()):
            box = self.boxes[n]
            box.open, box.behind = True, behind
            layers, rows, columns = (size - 2 for size in arrays[f"heat_{n}"].shape)
            box.make((layers, rows, columns), (int(row), int(column)))
            box.heat[:], box.theta[0], box.beyond[:], box.drift[:] = (arrays[f"{name}_{n}"] for name in STATE)

    def describe(self) -> str:
        """One line for people."""
        finest, root = self.boxes[-1], self.boxes[0]
        sizes = " × ".join(f"{1e6 * h:.3g}" for h in finest.spacing)
        cells = sum(int(np.prod(box.shape)) for box in self.boxes)
        boxes = "one box" if finest is root else f"{len(self.boxes)} nested boxes"
        return f"{boxes}, {cells:_} cells, the finest of {sizes} µm".replace("_", " ")


STATE = "heat", "theta", "beyond", "drift"  # of a box


def cut_out(lines: FloatArray, low: float, high: float) -> slice:
    """What lies between, and enough beside it for a cubic."""
    first, last = np.searchsorted(lines, (low, high))
    return slice(max(0, int(first) - AROUND), int(last) + AROUND)


def find_stages(ratio: float) -> int:
    """The fewest stages of a stable step that is `ratio` times forward Euler's."""
    return max(2, ceil(0.5 * (sqrt(9.0 + 16.0 * ratio) - 1.0) - 1e-9))


@lru_cache
def find_times(stages: int) -> FloatArray:
    """When the rate of each stage is taken, as a share of the step."""
    n, whole = np.arange(stages, dtype=float), stages * stages + stages - 2.0
    times = (n * n + n - 2.0) / whole
    times[:2] = 0.0, 4.0 / 3.0 / whole
    return np.asarray(times)


def share_layers(before: Box, after: Box, thickness: float) -> FloatArray:
    """Which share of each new layer (rows) was in each old one (columns) before metal came on top."""
    old, new = before.spacing[2], after.spacing[2]
    top = thickness + old * np.arange(before.shape[0])
    ours = new * np.arange(after.shape[0])[:, np.newaxis]
    overlap = np.minimum(top + old, ours + new) - np.maximum(top, ours)
    return np.asarray(np.clip(overlap, 0.0, None) / new)


Table = tuple[float, float, FloatArray]  # rows per unit, where they begin, and what they say


@lru_cache(maxsize=8)
def tabulate_heat(table: HeatTable) -> tuple[Table, Table, float]:
    """θ by heat and T by θ, on even rows, and the largest dθ/dH, m²/s."""
    pieces = len(table.heat) - 2
    theta = table.low + np.linspace(0.0, pieces, KNOTS) / table.per_step
    heat = table.heat_of(theta)
    even, step = np.linspace(heat[0], heat[-1], ROWS, retstep=True)
    found = np.interp(even, heat, theta)
    by_theta, apart = np.linspace(theta[0], theta[-1], ROWS, retstep=True)
    return (
        (1.0 / float(step), float(even[0]), np.asarray(found)),
        (1.0 / float(apart), float(by_theta[0]), table.temperature_of(by_theta)),
        float(np.diff(found)[even[1:] > 0.0].max() / step),
    )


def find_melting(table: HeatTable, melting: Melting | None) -> tuple[float, float, float, float, float]:
    """Heat at the solidus, from there to the liquidus, θ between them, and dθ/dH below and above."""
    if melting is None:
        return inf, 1.0, 1.0, 1.0, 1.0
    solidus, liquidus = ends = table.theta_of(np.array([melting.solidus, melting.liquidus]))
    heat, aside = table.heat_of(ends), 1e-3 * np.array([solidus - liquidus, liquidus - solidus])
    below, above = aside / (table.heat_of(ends + aside) - heat)
    return float(heat[0]), float(heat[1] - heat[0]), float(liquidus - solidus), float(below), float(above)
