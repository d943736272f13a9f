"""The paper's plant again, independently and straightforwardly with SciPy: the check and the yardstick.

Nothing is shared with the fast plant but the material. The unknown is the temperature of every node above
the bottom, kept as one vector with z slowest and the lasered surface last; conduction is a sparse matrix
over the whole plate; Newton's corrections are found by conjugate gradients. For k linear in T the
difference of ∫k dT between two nodes is the flux with the arithmetic mean of their conductivities.
"""

import numpy as np
from numpy.polynomial import Polynomial
from numpy.typing import NDArray
from scipy.sparse import csr_array, diags_array, kron
from scipy.sparse.linalg import cg

from laserloop.bad_input import BadInput
from laserloop.process.material import Material

FloatArray = NDArray[np.float64]


class ReferencePlant:
    """Backward Euler on a uniform grid, for materials given by polynomials."""

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
