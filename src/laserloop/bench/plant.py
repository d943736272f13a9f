"""The plants on one core: against a straightforward SciPy implementation, and against the exact integral."""

import resource
import subprocess
import sys
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.polynomial import Polynomial
from numpy.typing import NDArray
from scipy.sparse import csr_array, diags_array, kron
from scipy.sparse.linalg import cg

from laserloop.bad_input import BadInput
from laserloop.bench.laps import one_core
from laserloop.paths import ScanPath, find_path
from laserloop.plant import Plant, make_plant
from laserloop.predict.twin.exact import Pulses, polyline_gaussian
from laserloop.process import Beam, Laser, Material, Process, find_material

FloatArray = NDArray[np.float64]
K, RHO, CP = 21.5, 7900.0, 500.0  # W/mK, kg/m³, J/kgK; steel's at some temperature, the same at all here
LINES, LENGTH, GAP = 5, 2e-3, 1e-4  # of a serpentine, m
EVERY = 3  # ticks between two that are compared
POWER = 14.0  # W
BLOCK = 20  # steps: long enough to refill the caches, short enough to share the machine's moods
Progress = Callable[[int, int], None]


class ReferencePlant:
    """The paper's plant again, independently and plainly with SciPy: backward Euler on a uniform grid.

    Nothing is shared with the fast plant but the material, given by polynomials. The unknown is the
    temperature of every node above the bottom, kept as one vector with z slowest and the lasered surface
    last; conduction is a sparse matrix over the whole plate; Newton's corrections are found by conjugate
    gradients. For k linear in T the difference of ∫k dT between two nodes is the flux with the arithmetic
    mean of their conductivities.
    """

    def __init__(
        self,
        material: Material,
        *,
        plate: tuple[float, float, float] = (15e-3, 10e-3, 2e-3),
        spacing: float = 100e-6,
        sigma: float = 100e-6,
        ambient: float = 300.0,
        tick: float = 1.25e-4,
        tolerance: float = 1e-4,
    ) -> None:
        """`tolerance`: K, of each node's heat balance."""
        k, rho, cp = material.k, material.rho, material.cp
        if not (isinstance(k, Polynomial) and isinstance(rho, Polynomial) and isinstance(cp, Polynomial)):
            raise BadInput(
                f"the reference plant takes polynomial materials only, got {material.name}: choose one"
            )
        self.conductivity, self.capacity = k, rho * cp
        self.theta = k.integ(lbnd=ambient)
        self.heat = self.capacity.integ(lbnd=ambient)
        self.sigma, self.tick, self.tolerance = sigma, tick, tolerance
        nx, ny, nz = (round(length / spacing) + 1 for length in plate)
        self.x = np.linspace(-plate[0] / 2, plate[0] / 2, nx)
        self.y = np.linspace(-plate[1] / 2, plate[1] / 2, ny)
        wz, wy, wx = (_half_at_ends(n) * spacing for n in (nz, ny, nx))
        self.area = np.outer(wy, wx)
        self.volume = np.einsum("z,y,x->zyx", wz[1:], wy, wx).ravel()
        self.exchange = _assemble((wz, wy, wx), spacing)
        self.temperature = np.full(self.volume.size, ambient)

    def step(self, power: float, x: float, y: float) -> FloatArray:
        """One tick with the beam at (x, y), m; returns the surface temperature (y, x), K."""
        T = self.temperature.copy()
        before = self.volume * self.heat(T)
        before[-self.area.size :] += self.tick * self._absorbed(power, x, y)
        for _ in range(30):
            residual = self.volume * self.heat(T) - self.tick * (self.exchange @ self.theta(T)) - before
            capacity = self.volume * self.capacity(T)
            if np.max(np.abs(residual) / capacity) < self.tolerance:
                self.temperature = T
                return T[-self.area.size :].reshape(self.area.shape)
            k = self.conductivity(T)
            jacobian = diags_array(capacity / k) - self.tick * self.exchange
            diagonal = diags_array(1.0 / jacobian.diagonal())
            correction, _ = cg(jacobian, residual, M=diagonal)
            T -= correction / k
        raise ArithmeticError("the reference plant did not converge in 30 corrections")

    def _absorbed(self, power: float, x: float, y: float) -> FloatArray:
        """W into each node of the surface."""
        distance = (self.y[:, None] - y) ** 2 + (self.x - x) ** 2
        flux = power / (2 * np.pi * self.sigma**2) * np.exp(-distance / (2 * self.sigma**2))
        return (flux * self.area).ravel()


def _half_at_ends(n: int) -> FloatArray:
    widths = np.ones(n)
    widths[[0, -1]] = 0.5
    return widths


def _assemble(widths: tuple[FloatArray, FloatArray, FloatArray], spacing: float) -> csr_array:
    """Face area / distance · (θ of the neighbour − θ), summed over the faces; the bottom plane has θ = 0."""
    lines = []
    for width in widths:
        main = np.full(width.size, -2.0)
        main[[0, -1]] = -1.0
        ones = np.ones(width.size - 1)
        lines.append(
            (diags_array(main) + diags_array(ones, offsets=1) + diags_array(ones, offsets=-1)) / spacing
        )
    along_z, along_y, along_x = lines
    wz, wy, wx = (diags_array(width) for width in widths)
    full = kron(kron(along_z, wy), wx) + kron(kron(wz, along_y), wx) + kron(kron(wz, wy), along_x)
    held = widths[1].size * widths[2].size
    return csr_array(full)[held:, held:]


@dataclass(frozen=True, slots=True, kw_only=True)
class Scale:
    """A kind of machine, by what its spot does."""

    sigma: float  # m
    speed: float  # m/s
    tick: float  # s
    power: float  # W

    @property
    def process(self) -> Process:
        """With constant properties, and a plate on which the beam does not see the edges."""
        return Process(
            material=Material.constant(k=K, rho=RHO, cp=CP),
            beam=Beam(sigma=self.sigma),
            laser=Laser(power=(0.0, 10.0 * self.power)),
            tick=self.tick,
            speed=self.speed,
        )

    def solve(self, positions: FloatArray, powers: FloatArray) -> Pulses:
        """The exact solution at the end of the way."""
        return polyline_gaussian(
            positions, powers, self.tick, sigma=self.sigma, conductivity=K, diffusivity=K / (RHO * CP)
        )


SCALES = {
    "heat_treatment": Scale(sigma=100e-6, speed=0.3, tick=1e-4, power=14.0),
    "powder_bed": Scale(sigma=42.5e-6, speed=0.8, tick=2e-5, power=50.0),
}


def make_serpentine(
    hop: float, *, lines: int = LINES, length: float = LENGTH, gap: float = GAP
) -> FloatArray:
    """Places (n, 2), m, a `hop` apart along lines to and fro and what joins them, about the origin."""
    y = np.repeat(gap * (np.arange(lines) - 0.5 * (lines - 1)), 2)
    x = 0.5 * length * np.resize([-1.0, 1.0, 1.0, -1.0], 2 * lines)
    along = np.concatenate(([0.0], np.cumsum(np.hypot(np.diff(x), np.diff(y)))))
    at = np.arange(0.0, along[-1], hop)
    return np.column_stack([np.interp(at, along, x), np.interp(at, along, y)])


def drive_peaks(
    scale: Scale, positions: FloatArray, powers: FloatArray, *, refine: float = 1.0
) -> tuple[FloatArray, float]:
    """The plant's peak after every tick, K above ambient, and the CPU milliseconds that a tick took."""
    plant = make_plant("graded", scale.process, refine=refine)
    ticks = list(zip(powers.tolist(), map(np.array, pairwise(positions)), strict=True))
    for power, spot in ticks[:3]:  # loads the kernels
        plant.t_max(plant.step(power, spot))
    plant.reset()
    began = time.process_time()
    peaks = [plant.t_max(plant.step(power, spot)).temperature for power, spot in ticks]
    spent = time.process_time() - began
    return np.array(peaks) - scale.process.ambient, 1e3 * spent / len(peaks)


def solve_peaks(scale: Scale, positions: FloatArray, powers: FloatArray, after: Iterable[int]) -> FloatArray:
    """The exact peak, K above ambient, `after` so many ticks each."""
    return np.array([scale.solve(positions[: n + 1], powers[:n]).peak()[0] for n in after])


def _measure_error(
    scale: Scale, *, refine: float = 1.0, progress: Callable[[int, int], None] | None = None
) -> dict[str, float]:
    """The peak's RMS and largest error on a serpentine, shares of the mean rise, and a tick's CPU time."""
    positions = make_serpentine(scale.speed * scale.tick)
    powers = np.full(len(positions) - 1, scale.power)
    found, ms = drive_peaks(scale, positions, powers, refine=refine)
    after = range(1, len(positions), EVERY)
    exact = np.empty(len(after))
    for n, ticks in enumerate(after):
        exact[n] = solve_peaks(scale, positions, powers, [ticks])[0]
        if progress is not None:
            progress(n + 1, len(after))
    error = (found[::EVERY] - exact) / exact.mean()
    return {
        "graded_error_rms": float(np.sqrt((error**2).mean())),
        "graded_error_max": float(np.abs(error).max()),
        "ms": ms,
    }


def run_plant_bench(
    *, steps: int = 400, reference_steps: int = 400, progress: Progress | None = None
) -> dict[str, Any]:
    """Measure both plants over `steps` ticks and the reference over the first `reference_steps` of them.

    The three take turns, block by block, in one process on one core. `ratio_scipy` divides the reference's
    mean step by our mean step over the *whole* episode, whose later steps are the dearer ones for us. Then
    the graded plant's peak along two serpentines, against the exact one.
    """
    path = find_path("diagonal", ticks=steps)
    with one_core():
        paper, graded = make_plant("paper"), make_plant("graded")
        for plant in (paper, graded):  # compiles, and shows the memory of an episode
            _drive(plant, path, range(steps))
        memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        snapshots = {plant.settings.name: _time_snapshot(plant) for plant in (paper, graded)}
        return {
            **_race(paper, graded, path, min(reference_steps, steps), progress),
            "snapshot_ms": max(s[0] for s in snapshots.values()),
            "restore_ms": max(s[1] for s in snapshots.values()),
            "peak_memory_mb": memory,
            "second_start_s": _time_second_start(),
            **{name: _measure_error(scale, progress=progress) for name, scale in SCALES.items()},
        }


def _race(
    paper: Plant, graded: Plant, path: ScanPath, reference_steps: int, progress: Progress | None
) -> dict[str, float | int]:
    material, tolerance = find_material("304"), paper.settings.tolerance
    reference = ReferencePlant(material, tolerance=tolerance)
    spent = {"paper": 0.0, "graded": 0.0, "scipy": 0.0}
    difference = 0.0
    steps = len(path)
    paper.reset()
    graded.reset()
    for first in range(0, steps, BLOCK):
        block = range(first, min(first + BLOCK, steps))
        seconds, ours = _drive(paper, path, block)
        spent["paper"] += seconds
        spent["graded"] += _drive(graded, path, block)[0]
        for k in block[: max(0, reference_steps - first)]:
            start = time.process_time()
            surface = reference.step(POWER, *path.spot(k)[1])
            spent["scipy"] += time.process_time() - start
            difference = max(difference, abs(float(surface.max()) - ours[k - first]))
        if progress is not None:
            progress(block[-1] + 1, steps)
    paper_ms, graded_ms = (1e3 * spent[name] / steps for name in ("paper", "graded"))
    scipy_ms = 1e3 * spent["scipy"] / reference_steps
    return {
        "steps": steps,
        "compared_steps": reference_steps,
        "tolerance_k": tolerance,
        "ratio_scipy": scipy_ms / paper_ms,
        "t_max_difference_k": difference,
        "paper_ms": paper_ms,
        "graded_ms": graded_ms,
        "scipy_ms": scipy_ms,
        "graded_over_paper": graded_ms / paper_ms,
    }


def _drive(plant: Plant, path: ScanPath, ticks: range) -> tuple[float, list[float]]:
    """Seconds of the processor spent in `ticks`, and the hottest node of each."""
    start = time.process_time()
    surfaces = [plant.step(POWER, path.spot(k)) for k in ticks]
    seconds = time.process_time() - start
    return seconds, [surface.node.temperature for surface in surfaces]


def _time_snapshot(plant: Plant) -> tuple[float, float]:
    """Median milliseconds of a snapshot and of a restore, at the end of an episode."""
    times = []
    for _ in range(21):
        start = time.perf_counter()
        snapshot = plant.snapshot()
        middle = time.perf_counter()
        plant.restore(snapshot)
        times.append((middle - start, time.perf_counter() - middle))
    save, load = 1e3 * np.median(times, axis=0)
    return float(save), float(load)


def _time_second_start() -> float:
    """Seconds from nothing to the first step, the kernels having been compiled before."""
    code = "from laserloop.cli import main; main(['simulate', 'diagonal', '--ticks', '1'])"
    start = time.perf_counter()
    subprocess.run([sys.executable, "-c", code], check=True, stdout=subprocess.DEVNULL)
    return time.perf_counter() - start
