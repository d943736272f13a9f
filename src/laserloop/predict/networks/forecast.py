"""Networks as predictors: what they read off an image and a preview, and their slopes.

N  horizon      P (N) plan, W      T̂ (N) prediction, K
"""

from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from laserloop.paths.preview import Preview
from laserloop.plant.camera import Image
from laserloop.predict.networks.architecture import FloatArray
from laserloop.predict.networks.folding import SMOOTHING, Folded, Folder
from laserloop.predict.networks.model import Model
from laserloop.predict.networks.ms_deeponet import MsDeepONet

NUDGE = 1e-3  # W to each side, by which slopes are found where no formula gives them


# No slots: the folded network is kept once it is known.
@dataclass(frozen=True, kw_only=True, eq=False)
class NetworkForecast:
    """The features of one tick; the powers are all that is left open."""

    kinematics: FloatArray  # (N, 4): position, m, and velocity, m/s, at the start of each tick
    temps: FloatArray  # (1 + N,), K: T_max, then the surface now where the beam will be
    location: FloatArray  # (2,), m, where T_max is
    committed: FloatArray  # (d,), W, given since the image was taken
    previous: float  # W, before the first of them
    model: Model = field(repr=False)
    folder: Folder | None = field(default=None, repr=False)  # of the model, where it can be folded

    def predict(self, plan: FloatArray) -> FloatArray:
        """T̂, K; that of a folded network with the rectifier that every solver smooths."""
        return self._roll(plan[np.newaxis]).ravel() if self._folded is None else self._folded.predict(plan)

    def linearise(self, plan: FloatArray) -> tuple[FloatArray, FloatArray]:
        """T̂, K, and ∂T̂/∂P (N, N), K/W: by the chain rule, or by differences from one batch."""
        if self._folded is not None:
            return self._folded.linearise(plan)
        n = len(plan)
        nudges = NUDGE * np.eye(n)
        found = self._roll(np.concatenate((plan[np.newaxis], plan + nudges, plan - nudges)))
        return found[0], (found[1 : n + 1] - found[n + 1 :]).T / (2 * NUDGE)

    @cached_property
    def _folded(self) -> Folded | None:
        if self.folder is None:
            return None
        return self.folder.fold(self.kinematics, self.temps, self.location)

    def _roll(self, plans: FloatArray) -> FloatArray:
        """T̂ (n, N) of plans (n, N) by the network as trained."""
        ways = np.broadcast_to(self.kinematics, (len(plans), *self.kinematics.shape))
        state = (np.broadcast_to(part, (len(plans), len(part))) for part in (self.temps, self.location))
        return self.model.predict(np.concatenate((plans[:, :, np.newaxis], ways), axis=2), *state)


class NetworkPredictor:
    """Plans from the last image, however old: the network itself rolls the powers since then forward."""

    affine = False

    def __init__(self, model: Model) -> None:
        self.name: str = model.architecture.name
        self.horizon = self.memory = model.architecture.horizon
        self.model = model
        foldable = isinstance(model.architecture, MsDeepONet)
        self.folder = Folder(model, smoothing=SMOOTHING) if foldable else None
        self.reset()

    def reset(self) -> None:
        """Forget the last image."""
        self._image: Image | None = None

    def observe(self, image: Image | None, preview: Preview) -> NetworkForecast | None:
        """From the latest image; None if that is older than the horizon or than what the preview shows."""
        self._image = image = image or self._image
        if image is None:
            return None
        age = preview.age(image.time)
        if not 0 <= age < self.horizon or age > len(preview.powers):
            return None
        then = preview.rewound(age)
        ahead = image.sample(then.ahead[1 : self.horizon + 1])
        return NetworkForecast(
            kinematics=then.kinematics(self.horizon),
            temps=np.concatenate(([image.peak.temperature], ahead)),
            location=np.array([image.peak.x, image.peak.y]),
            committed=preview.powers[len(preview.powers) - age :],
            previous=then.power,
            model=self.model,
            folder=self.folder,
        )
