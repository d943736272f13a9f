"""Either solver from any temperatures and with any source, for exact solutions that begin so."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from laserloop.plant import nested_kernels
from laserloop.plant.boxes import make_boxes
from laserloop.plant.nested import NestedHeat
from laserloop.plant.paper import PaperHeat
from laserloop.process import Process
from laserloop.process.heat_table import tabulate

FloatArray = NDArray[np.float64]
Places = tuple[FloatArray, FloatArray, FloatArray]


def make_heat(process: Process, **changes: Any) -> PaperHeat:
    return PaperHeat(process, tabulate(process.material, process.ambient), **changes)


def make_root(process: Process, spacing: tuple[float, float, float]) -> NestedHeat:
    """The nested plant without anything nested: all of the plate in cells of these sizes."""
    heat = NestedHeat(process, tabulate(process.material, process.ambient))
    heat.boxes = make_boxes(process.plate, spacing, spacing, 0)
    heat._dark = 0.0
    return heat


def places(heat: PaperHeat | NestedHeat) -> Places:
    """x, y and depth of what may be filled, m, broadcasting to (z, y, x)."""
    if isinstance(heat, PaperHeat):
        return heat.grid.x[None, None, :], heat.grid.y[None, :, None], heat.grid.z[:, None, None]
    box = heat.boxes[0]
    (hx, hy, hz), (layers, rows, columns) = box.spacing, box.shape
    x, y = hx * (np.arange(0.5, columns) - 0.5 * columns), hy * (np.arange(0.5, rows) - 0.5 * rows)
    return x[None, None, :], y[None, :, None], (hz * np.arange(0.5, layers))[:, None, None]


def heights(heat: PaperHeat | NestedHeat) -> FloatArray:
    """Of the layers, m."""
    if isinstance(heat, PaperHeat):
        return heat.grid.widths[0]
    return np.full(heat.boxes[0].shape[0], heat.boxes[0].spacing[2])


def fill(heat: PaperHeat | NestedHeat, temperature: FloatArray) -> None:
    """Begin from temperatures (z, y, x), K, of which those of a node on the bottom do not count."""
    table = (
        tabulate(heat.process.material, heat.process.ambient) if isinstance(heat, NestedHeat) else heat._table
    )
    theta = table.theta_of(np.asarray(temperature, dtype=np.float64))
    if isinstance(heat, NestedHeat):
        cells(heat)[:] = table.heat_of(theta)
        look_up(heat)
    else:
        heat.reset()
        heat._nodes(heat._heat)[...] = table.heat_of(theta[:-1])
        heat._nodes(heat._theta)[...] = theta[:-1]
        for part, value in ((heat._first, 1), (heat._last, len(heat.grid.x) + 1)):
            part.reshape(heat._shape[:2])[1:-1, 1:-1] = value
        heat._absorbed = heat.energy()["stored"]


def cells(heat: NestedHeat) -> FloatArray:
    """The heat of the root's cells, J/m³."""
    return heat.boxes[0].heat[1:-1, 1:-1, 1:-1]


def look_up(heat: NestedHeat) -> None:
    box = heat.boxes[0]
    nested_kernels.look_up(box.heat, heat.by_heat, box.theta[0])


def temperatures(heat: PaperHeat | NestedHeat) -> FloatArray:
    """K, at the `places`."""
    if isinstance(heat, PaperHeat):
        return heat.cells()[3]
    theta = heat.boxes[0].theta[0, 1:-1, 1:-1, 1:-1]
    found = np.ascontiguousarray(theta)
    nested_kernels.look_up(found, heat.by_theta, found)
    return found


def bring(heat: PaperHeat | NestedHeat, source: FloatArray, seconds: float) -> None:
    """A step in the dark with a source (z, y, x), W/m³: half of it before and half after, or all before."""
    if isinstance(heat, PaperHeat):
        heat._nodes(heat._heat)[...] += seconds * source[:-1]
        heat.advance(0.0, np.zeros((2, 2)), seconds)
        return
    for half in range(2):
        cells(heat)[:] += 0.5 * seconds * source
        look_up(heat)
        if half == 0:
            heat._conduct(heat.boxes[0], seconds)


def shine(heat: PaperHeat | NestedHeat, flux: float, seconds: float) -> None:
    """A step under the same flux everywhere, W/m²."""
    if isinstance(heat, PaperHeat):
        source = np.zeros(heat.grid.shape)
        source[0] = flux / heights(heat)[0]
        bring(heat, source, seconds)
        return
    _, rows, columns = heat.boxes[0].shape

    def everywhere(start: FloatArray, end: FloatArray, past: FloatArray) -> tuple[FloatArray, FloatArray]:
        return np.ones((len(past), rows)), np.ones((len(past), columns))

    heat._profile = everywhere  # type: ignore[method-assign]
    heat._conduct(heat.boxes[0], seconds, flux, (np.zeros(2), np.zeros(2)))
