"""Folding: what a tick already knows of an MS-DeepONet, contracted into constants.

Within a tick only the powers P (N_h) are free, so the network shrinks to
    T̂ = C σ(W σ(A P + a) + b) + c
with the kinematics k inside a, the trunk t contracted into C and c, all scalers folded in: P in W, T̂ in K.
    a = K k + a₀      C = L t      c = M t + m      K, L, M, a₀ and m are the model's own
    ∂T̂/∂P = C diag(σ′₂) W diag(σ′₁) A
σ(z) = ½(z + √(z² + ε)), the rectifier at ε = 0, otherwise smooth and at most √ε/2 above it
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from laserloop.bad_input import BadInput
from laserloop.predict.networks.architecture import ROW
from laserloop.predict.networks.deeponet import TRUNK
from laserloop.predict.networks.model import Model
from laserloop.predict.networks.ms_deeponet import MsDeepONet

FloatArray = NDArray[np.float64]

SMOOTHING = 1e-6  # ε, the paper's


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Folded:
    """The network of one tick."""

    A: FloatArray  # (w, N_h)
    a: FloatArray  # (w,)
    W: FloatArray  # (w, w)
    b: FloatArray  # (w,)
    C: FloatArray  # (N_h, w)
    c: FloatArray  # (N_h,)
    smoothing: float  # ε of its rectifiers

    def predict(self, plan: FloatArray) -> FloatArray:
        """T̂ (N_h,), K, of a plan, W."""
        hidden = rectify(self.W @ rectify(self.A @ plan + self.a, self.smoothing) + self.b, self.smoothing)
        return self.C @ hidden + self.c

    def linearise(self, plan: FloatArray) -> tuple[FloatArray, FloatArray]:
        """T̂ (N_h,), K, and ∂T̂/∂P (N_h, N_h), K/W."""
        first = self.A @ plan + self.a
        second = self.W @ rectify(first, self.smoothing) + self.b
        carried = self.W @ (slope(first, self.smoothing)[:, np.newaxis] * self.A)
        slopes: FloatArray = (self.C * slope(second, self.smoothing)) @ carried
        return self.C @ rectify(second, self.smoothing) + self.c, slopes


class Folder:
    """Folds one model tick after tick; what no tick changes is worked out once."""

    def __init__(self, model: Model, *, smoothing: float = 0.0) -> None:
        """`smoothing` is that of the rectifiers; 0 leaves them as trained."""
        architecture = check_foldable(model)
        self._seen = list(architecture.seen)
        self._smoothing = smoothing
        weights, scalers = model.double, model.scalers
        horizon, basis, width = (getattr(architecture, name) for name in ("horizon", "basis", "width"))
        first = weights["branch.0.weight"] / scalers.branch.std
        moving = np.arange(ROW * horizon) % ROW > 0  # all but the powers
        last = weights["branch.2.weight"].reshape(horizon, basis, width)
        std = scalers.target.std[:, np.newaxis]
        self.A = first[:, ~moving]
        self.W, self.b = weights["branch.1.weight"], weights["branch.1.bias"]
        self._K = first[:, moving]
        self._a0 = weights["branch.0.bias"] - first @ scalers.branch.mean
        self._L = np.ascontiguousarray((std[:, :, np.newaxis] * last).swapaxes(0, 1).reshape(basis, -1))
        self._M = std * weights["branch.2.bias"].reshape(horizon, basis)
        self._m = scalers.target.unscale(weights["bias"])
        trunk = [(weights[weight], weights[bias]) for weight, bias in TRUNK]
        standard = trunk[0][0] / scalers.trunk.std
        self._trunk = [(standard, trunk[0][1] - standard @ scalers.trunk.mean), *trunk[1:]]

    def fold(self, kinematics: FloatArray, temps: FloatArray, location: FloatArray) -> Folded:
        """Contract kinematics (N_h, 4), temperatures (1 + N_h,) and peak (2,) into the network."""
        t = self._see(temps, location)
        return Folded(
            A=self.A,
            a=self._K @ kinematics.ravel() + self._a0,
            W=self.W,
            b=self.b,
            C=(t @ self._L).reshape(len(self._m), -1),
            c=self._M @ t + self._m,
            smoothing=self._smoothing,
        )

    def _see(self, temps: FloatArray, location: FloatArray) -> FloatArray:
        """t (p,), the trunk's answer to the thermal state."""
        t = np.concatenate((temps, location))[self._seen]
        for layer, (weight, bias) in enumerate(self._trunk):
            t = weight @ (rectify(t, self._smoothing) if layer else t) + bias
        return t


def rectify(z: FloatArray, smoothing: float = 0.0) -> FloatArray:
    """σ."""
    if smoothing == 0.0:
        return np.maximum(z, 0.0)
    return np.asarray(0.5 * (z + np.sqrt(z * z + smoothing)))


def slope(z: FloatArray, smoothing: float = 0.0) -> FloatArray:
    """σ′."""
    if smoothing == 0.0:
        return np.asarray(z > 0.0, np.float64)
    return np.asarray(0.5 * (1.0 + z / np.sqrt(z * z + smoothing)))


def check_foldable(model: Model) -> MsDeepONet:
    """The architecture of a model whose trunk does not depend on the plan; others are refused."""
    architecture = model.architecture
    if not isinstance(architecture, MsDeepONet):
        raise BadInput(
            f"only an ms-deeponet can be folded, got {architecture.name}: "
            "choose another model, or ipopt with the plain graph"
        )
    return architecture
