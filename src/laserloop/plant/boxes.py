"""Boxes of cells around the beam, each in the one before and three times as fine."""

from dataclasses import dataclass
from math import ceil, prod, sqrt

import numpy as np
from numpy.typing import NDArray

from laserloop.plant.nested_kernels import COLD, INSULATED, OPEN, RATIO

FloatArray = NDArray[np.float64]
Spacing = tuple[float, float, float]
Shape = tuple[int, int, int]

MOST_LEVELS, MOST_CELLS = 12, 500_000  # of boxes, and in the root
STIFF = np.array([1.0, 1.0, 4.0 / 3.0])  # of the fluxes along x, y and z


@dataclass(eq=False)
class Box:
    """A block of cells under the surface, with one ghost cell beyond each face."""

    spacing: Spacing  # m, along x, y, z
    plate: Shape  # layers, rows and columns of the whole plate at this spacing
    shape: Shape  # of this box
    parent: "Box | None" = None
    open: bool = False
    origin: tuple[int, int] = (0, 0)  # row and column of its first cell on the plate
    behind: float = 0.0  # s since its latest step, while the boxes inside went on

    def __post_init__(self) -> None:
        self.usual = self.shape
        self.children: list[Box] = []
        self.weights = 1.0 / np.array(self.spacing) ** 2
        self.stiffness = float((self.weights * STIFF).sum())
        self.volume = prod(self.spacing)
        self.faces = np.zeros(6, dtype=np.int64)
        self.make(self.shape, self.origin)

    def make(self, shape: Shape, origin: tuple[int, int]) -> None:
        """Empty fields of that shape, there."""
        self.shape = shape
        layers, rows, columns = (n + 2 for n in shape)
        self.heat = np.zeros((layers, rows, columns))
        self.theta = np.zeros((2, layers, rows, columns))  # of now, and of the stage before
        self.beyond = np.zeros((layers, rows, columns))  # the parent's θ at the ghosts
        self.scratch = np.zeros((3, layers, rows, columns))
        self.drift = np.zeros(self.shape[1:])  # dθ/dt of the surface when it was last stepped, W/m s
        self.place(origin)

    def place(self, origin: tuple[int, int]) -> None:
        """Put it there."""
        self.origin = origin
        for axis in (0, 1):
            first, last = origin[axis], origin[axis] + self.shape[1 + axis]
            self.faces[2 - 2 * axis] = OPEN if first > 0 else INSULATED
            self.faces[3 - 2 * axis] = OPEN if last < self.plate[1 + axis] else INSULATED
        self.faces[5] = COLD if self.shape[0] == self.plate[0] else OPEN
        self.x, self.y = self._find_lines(1), self._find_lines(0)

    @property
    def in_parent(self) -> tuple[int, int]:
        """Row and column of the parent's box in which it begins."""
        assert self.parent is not None
        row, column = self.parent.origin
        return self.origin[0] // RATIO - row, self.origin[1] // RATIO - column

    @property
    def under(self) -> tuple[slice, slice, slice]:
        """The cells of the parent's fields that it covers."""
        row, column = self.in_parent
        layers, rows, columns = (n // RATIO for n in self.shape)
        return slice(1, layers + 1), slice(row + 1, row + rows + 1), slice(column + 1, column + columns + 1)

    @property
    def inside(self) -> list["Box"]:
        """The open boxes in it."""
        return [box for box in self.children if box.open]

    def _find_lines(self, axis: int) -> FloatArray:
        """The middles of the rows (0) or columns (1), m, and the plate's edges where it reaches them."""
        edges = self.edges(axis)
        west, east = (int(self.faces[face - 2 * axis] == INSULATED) for face in (2, 3))
        return np.concatenate((edges[:west], 0.5 * (edges[1:] + edges[:-1]), edges[len(edges) - east :]))

    def edges(self, axis: int) -> FloatArray:
        """Between the rows (0) or columns (1), m."""
        cells = self.origin[axis] - 0.5 * self.plate[1 + axis] + np.arange(self.shape[1 + axis] + 1.0)
        return self.spacing[1 - axis] * cells

    @property
    def depths(self) -> FloatArray:
        """The surface and the middles of the layers, m."""
        return np.append(0.0, self.spacing[2] * (0.5 + np.arange(self.shape[0])))

    def with_edges(self, values: FloatArray) -> FloatArray:
        """A field (layers, rows, columns) of the cells on the lines x and y.

        On the plate's edges, where its parabola has no slope, it is there as well.
        """
        for axis, face in ((2, 0), (1, 2)):
            last = values.shape[axis] - 1
            for at, inner, kind in (
                (0, min(1, last), self.faces[face]),
                (-1, -min(2, last + 1), self.faces[face + 1]),
            ):
                if kind == INSULATED:
                    near = values.take([at], axis)
                    edge = near + 0.125 * (near - values.take([inner], axis))
                    values = np.concatenate((values, edge) if at else (edge, values), axis)
        return values


def make_boxes(plate: Spacing, finest: Spacing, reach: Spacing, levels: int | None = None) -> list[Box]:
    """The root, which is the plate, and the boxes in it, each inside the one before.

    The last one has cells of at most the `finest` spacing and at least this `reach` along x, y and z, m; the
    levels above it, unless given, are as many as make its steps cheapest.
    """
    choices = range(MOST_LEVELS) if levels is None else (levels,)
    layouts = [divide(plate, finest, reach, n) for n in choices]
    boxes: list[Box] = []
    for spacing, whole, shape in min(layouts, key=find_work):
        parent = boxes[-1] if boxes else None
        boxes.append(Box(spacing, whole, shape, parent))
        if parent is not None:
            parent.children.append(boxes[-1])
    boxes[0].open = True
    return boxes


def divide(
    plate: Spacing, finest: Spacing, reach: Spacing, levels: int
) -> list[tuple[Spacing, Shape, Shape]]:
    """Spacing, cells of the plate and cells of the box, from the root to so many levels below it."""
    coarsest = RATIO**levels
    counts = [max(1, ceil(length / (h * coarsest) - 1e-9)) for length, h in zip(plate, finest, strict=True)]
    layout = []
    for level in range(levels + 1):
        nx, ny, nz = (n * RATIO**level for n in counts)
        hx, hy, hz = plate[0] / nx, plate[1] / ny, plate[2] / nz
        wide = RATIO ** (levels - level)
        x, y, z = (
            min(n, RATIO * ceil(wide * size / (RATIO * h) - 1e-9)) if level else n
            for n, size, h in zip((nx, ny, nz), reach, (hx, hy, hz), strict=True)
        )
        layout.append(((hx, hy, hz), (nz, ny, nx), (z, y, x)))
    return layout


def find_work(layout: list[tuple[Spacing, Shape, Shape]]) -> tuple[float, float]:
    """What is to be small: a root that fills the memory, then cells and stages per step of the finest box."""
    work = sum(
        prod(shape) * sqrt(sum(h**-2 for h in spacing)) / RATIO ** (len(layout) - 1 - level)
        for level, (spacing, _, shape) in enumerate(layout)
    )
    return max(prod(layout[0][1]), MOST_CELLS), work
