"""Window networks as predictors: what they read off an image and a preview, and their slopes.

N  horizon      P (N) plan, W      T̂ (N) prediction, K

Within a tick only the powers P are free, so an MS-DeepONet is folded: what the tick already knows is
contracted into constants, and the network shrinks to
    T̂ = C σ(W σ(A P + a) + b) + c
with the kinematics k inside a, the trunk t contracted into C and c, all scalers folded in: P in W, T̂ in K.
    a = K k + a₀      C = L t      c = M t + m      K, L, M, a₀ and m are the model's own
    ∂T̂/∂P = C diag(σ′₂) W diag(σ′₁) A
σ(z) = ½(z + √(z² + ε)), the rectifier at ε = 0, otherwise smooth and at most √ε/2 above it
"""

from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from laserloop.bad_input import BadInput
from laserloop.paths.path import Preview
from laserloop.plant.camera import Image
from laserloop.predict.model import Model
from laserloop.predict.networks import ROW, TRUNK, FloatArray, MsDeepONet
from laserloop.predict.predictor import difference

SMOOTHING = 1e-6  # ε, the paper's
NUDGE = 1e-3  # W to each side, by which slopes are found where no formula gives them


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _FoldedNetwork:
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


class Folding:
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

    def fold(self, kinematics: FloatArray, temps: FloatArray, location: FloatArray) -> _FoldedNetwork:
        """Contract kinematics (N_h, 4), temperatures (1 + N_h,) and peak (2,) into the network."""
        t = self._see(temps, location)
        return _FoldedNetwork(
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


# No slots: the folded network is kept once it is known.
@dataclass(frozen=True, kw_only=True, eq=False)
class WindowForecast:
    """The features of one tick; the powers are all that is left open."""

    kinematics: FloatArray  # (N, 4): position, m, and velocity, m/s, at the start of each tick
    temps: FloatArray  # (1 + N,), K: T_max, then the surface now where the beam will be
    location: FloatArray  # (2,), m, where T_max is
    committed: FloatArray  # (d,), W, given since the image was taken
    previous: float  # W, before the first of them
    model: Model = field(repr=False)
    folder: Folding | None = field(default=None, repr=False)  # of the model, where it can be folded

    def predict(self, plan: FloatArray) -> FloatArray:
        """T̂, K; that of a folded network with the rectifier that every solver smooths."""
        return self._roll(plan[np.newaxis]).ravel() if self._folded is None else self._folded.predict(plan)

    def linearise(self, plan: FloatArray) -> tuple[FloatArray, FloatArray]:
        """T̂, K, and ∂T̂/∂P (N, N), K/W: by the chain rule, or by differences from one batch."""
        if self._folded is not None:
            return self._folded.linearise(plan)
        return difference(self._roll, plan, NUDGE)

    @cached_property
    def _folded(self) -> _FoldedNetwork | None:
        if self.folder is None:
            return None
        return self.folder.fold(self.kinematics, self.temps, self.location)

    def _roll(self, plans: FloatArray) -> FloatArray:
        """T̂ (n, N) of plans (n, N) by the network as trained."""
        ways = np.broadcast_to(self.kinematics, (len(plans), *self.kinematics.shape))
        state = (np.broadcast_to(part, (len(plans), len(part))) for part in (self.temps, self.location))
        return self.model.predict(np.concatenate((plans[:, :, np.newaxis], ways), axis=2), *state)


class WindowPredictor:
    """Plans from the last image, however old: the network itself rolls the powers since then forward."""

    affine = False

    def __init__(self, model: Model) -> None:
        self.name: str = model.architecture.name
        self.horizon = self.memory = model.architecture.horizon
        self.model = model
        foldable = isinstance(model.architecture, MsDeepONet)
        self.folder = Folding(model, smoothing=SMOOTHING) if foldable else None
        self.reset()

    def reset(self) -> None:
        """Forget the last image."""
        self._image: Image | None = None

    def observe(self, image: Image | None, preview: Preview) -> WindowForecast | None:
        """From the latest image; None if that is older than the horizon or than what the preview shows."""
        self._image = image = image or self._image
        if image is None:
            return None
        age = preview.age(image.time)
        if not 0 <= age < self.horizon or age > len(preview.powers):
            return None
        then = preview.rewound(age)
        ahead = image.sample(then.ahead[1 : self.horizon + 1])
        return WindowForecast(
            kinematics=then.kinematics(self.horizon),
            temps=np.concatenate(([image.peak.temperature], ahead)),
            location=np.array([image.peak.x, image.peak.y]),
            committed=preview.powers[len(preview.powers) - age :],
            previous=then.power,
            model=self.model,
            folder=self.folder,
        )
