"""The grid: where the nodes of the plate are, and the widths of their control volumes.

Axis order everywhere: z, y, x. Depth is counted downwards: z = 0 is the lasered surface, the last node of z
is the bottom, which is held at ambient temperature. x and y have their origin at the centre of the plate.
"""

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from laserloop.bad_input import BadInput

FloatArray = NDArray[np.float64]

MOST_NODES = 20_000  # along an axis


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Grid:
    """Nodes of a tensor-product finite-volume grid, m.

    The outermost nodes lie on the plate's faces, and the faces between control volumes midway between the
    nodes, unless faces are given: then the nodes may lie anywhere between theirs.
    """

    x: FloatArray
    y: FloatArray
    z: FloatArray  # depth below the lasered surface, increasing; z[0] = 0
    x_faces: FloatArray = field(default_factory=lambda: np.empty(0))  # one more than nodes
    y_faces: FloatArray = field(default_factory=lambda: np.empty(0))
    widths: tuple[FloatArray, FloatArray, FloatArray] = field(init=False)  # of control volumes: z, y, x

    def __post_init__(self) -> None:
        for name in ("x", "y", "z"):
            nodes = np.array(getattr(self, name), dtype=np.float64)  # a copy: nobody changes it from outside
            rising = nodes.ndim == 1 and len(nodes) >= 3 and np.all(np.diff(nodes) > 0)
            if not (rising and np.all(np.isfinite(nodes))):
                raise BadInput(
                    f"grid axis {name} needs at least 3 finite, increasing nodes, got {nodes!r}: sort them"
                )
            nodes.setflags(write=False)
            object.__setattr__(self, name, nodes)
        if self.z[0] != 0.0:
            raise BadInput(f"the first node of z must be the surface at depth 0, got {self.z[0]}: add it")
        for name in ("x_faces", "y_faces"):
            object.__setattr__(self, name, _check_faces(getattr(self, name[0]), getattr(self, name)))
        faces_zyx = midway(self.z), self.y_faces, self.x_faces
        object.__setattr__(self, "widths", tuple(np.diff(faces) for faces in faces_zyx))

    @property
    def shape(self) -> tuple[int, int, int]:
        """Number of nodes along z, y, x."""
        return len(self.z), len(self.y), len(self.x)

    @property
    def plate(self) -> tuple[float, float, float]:
        """Edge lengths of the plate along x, y, z, m."""
        return float(np.ptp(self.x_faces)), float(np.ptp(self.y_faces)), float(np.ptp(self.z))

    @property
    def edges(self) -> tuple[float, float, float, float]:
        """x_min, x_max, y_min, y_max of the plate, m."""
        (x_low, x_high), (y_low, y_high) = self.x_faces[[0, -1]], self.y_faces[[0, -1]]
        return float(x_low), float(x_high), float(y_low), float(y_high)

    def __str__(self) -> str:
        nz, ny, nx = self.shape
        return (
            f"{nx} × {ny} × {nz} nodes, finest spacing {np.diff(self.x).min() * 1e6:.0f} µm in the plane "
            f"and {self.z[1] * 1e6:.0f} µm in depth"
        )


def _check_faces(nodes: FloatArray, given: FloatArray) -> FloatArray:
    """The faces between control volumes: those given, or midway between the nodes."""
    faces = np.array(given, dtype=np.float64) if len(given) else midway(nodes)
    fits = len(faces) == len(nodes) + 1 and np.all(np.diff(faces) > 0)
    if not (fits and np.all(faces[:-1] <= nodes) and np.all(nodes <= faces[1:])):
        raise BadInput(
            f"a grid axis needs one face between any two nodes, got {faces!r} for {nodes!r}: add it"
        )
    faces.setflags(write=False)
    return faces


def midway(nodes: FloatArray) -> FloatArray:
    """Faces of the control volumes midway between nodes, half volumes at both ends."""
    return np.concatenate((nodes[:1], 0.5 * (nodes[1:] + nodes[:-1]), nodes[-1:]))


def uniform_grid(plate: tuple[float, float, float] = (15e-3, 10e-3, 2e-3), spacing: float = 100e-6) -> Grid:
    """The paper's grid: uniform nodes, 151 × 101 × 21 for its plate."""
    x, y, z = (_uniform_axis(length, spacing) for length in plate)
    return Grid(x=x - plate[0] / 2, y=y - plate[1] / 2, z=z)


def graded_grid(
    plate: tuple[float, float, float],
    region: tuple[float, float, float, float],
    *,
    fine: float,
    first_depth: float,
) -> Grid:
    """Spacing `fine` where the beam goes, growing outwards; from `first_depth` growing downwards.

    `region` is (x_min, x_max, y_min, y_max) of the refined part of the surface, m. In depth the spacing
    grows slowly through the layer that carries the gradient, 25 first spacings, and fast below it.
    """
    if not all(np.isfinite(length) and length > 0 for length in (*plate, fine, first_depth)):
        raise BadInput(
            f"plate and spacings must be positive lengths in m, got {plate}, {fine}, {first_depth}: "
            "correct them"
        )
    if max(*plate[:2]) / fine > MOST_NODES or plate[2] / first_depth > 1e6:
        raise BadInput(
            f"a spacing of {fine:g} m and {first_depth:g} m is too fine for a plate of {plate} m: widen it"
        )
    half_x, half_y = plate[0] / 2, plate[1] / 2
    if not (-half_x <= region[0] < region[1] <= half_x and -half_y <= region[2] < region[3] <= half_y):
        raise BadInput(f"the refined region {region} m must lie on the plate of {plate} m: move the path")
    return Grid(
        x=_refined_axis(half_x, region[0], region[1], fine),
        y=_refined_axis(half_y, region[2], region[3], fine),
        z=find_depths(plate[2], first_depth, coarsest=8 * fine),
    )


def find_depths(thickness: float, first: float, *, coarsest: float) -> FloatArray:
    """Depths of the nodes from the surface to the bottom, m, the first spacing about `first`."""
    depth = _stretched(thickness, first, slow=1.2, until=25 * first, fast=1.4, coarsest=coarsest)
    return np.concatenate(([0.0], np.cumsum(depth)[:-1], [thickness]))


def _uniform_axis(length: float, spacing: float) -> FloatArray:
    if not (np.isfinite(length) and np.isfinite(spacing) and 0 < spacing <= length / 2):
        raise BadInput(
            f"grid spacing must be positive and at most half of {length} m, got {spacing} m: change it"
        )
    return np.linspace(0.0, length, round(length / spacing) + 1)


def _refined_axis(half: float, low: float, high: float, fine: float) -> FloatArray:
    low = -half if low + half < 0.65 * fine else low  # no sliver beside the plate's edge
    high = half if half - high < 0.65 * fine else high
    middle = np.linspace(low, high, max(2, int(np.ceil((high - low) / fine - 1e-9))) + 1)
    left, right = (
        _stretched(length, 1.3 * fine, slow=1.3, until=length, fast=1.3, coarsest=8 * fine)
        for length in (low + half, half - high)
    )
    nodes = np.concatenate((low - np.cumsum(left)[::-1], middle, high + np.cumsum(right)))
    nodes[[0, -1]] = -half, half  # exactly
    return nodes


def _stretched(
    length: float, first: float, *, slow: float, until: float, fast: float, coarsest: float
) -> FloatArray:
    """Spacings from about `first`, growing by `slow` up to `until` and by `fast` beyond, that fill `length`.

    The last one is kept or dropped, whichever is nearer, and all are scaled to fit exactly.
    """
    if length == 0.0:
        return np.empty(0)
    spacings = [min(first, length)]
    total = spacings[0]
    while total < length * (1 - 1e-12):
        spacings.append(min(spacings[-1] * (slow if total < until else fast), coarsest))
        total += spacings[-1]
    if len(spacings) > 3 and total - length > 0.5 * spacings[-1]:
        spacings.pop()
    return np.array(spacings) * (length / sum(spacings))
