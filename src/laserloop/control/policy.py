"""A learned policy: one small network from what is seen to the power of the coming tick, in NumPy alone."""

import json
from dataclasses import dataclass, field, replace
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from laserloop.bad_input import BadInput
from laserloop.control.action import Action, Status
from laserloop.control.observation import PARTS, Observer, Vector
from laserloop.paths.preview import Preview
from laserloop.plant.camera import Image
from laserloop.process import CameraSettings, Process

INPUTS = PARTS["place"].start  # where on the plate the beam is does not matter, so it is not looked at
Layers = tuple[tuple[NDArray[np.float32], NDArray[np.float32]], ...]  # weights (out, in) and biases (out,)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Policy:
    """Layers with tanh between them; the last gives the share of the laser's range, −1 to 1."""

    layers: Layers
    about: dict[str, Any] = field(default_factory=dict)  # what it was made for, and how

    def __post_init__(self) -> None:
        sizes = [weight.shape for weight, _ in self.layers]
        fits = all(shape[0] == after[1] for shape, after in zip(sizes, sizes[1:], strict=False))
        if not sizes or sizes[0][1] != INPUTS or sizes[-1][0] != 1 or not fits:
            raise BadInput(
                f"a policy must lead from {INPUTS} numbers to 1, got layers of {sizes}: train it anew"
            )

    def decide(self, seen: Vector) -> float:
        """The share of the laser's range for what is seen now."""
        x = seen[:INPUTS]
        for weight, bias in self.layers[:-1]:
            x = np.tanh(weight @ x + bias)
        weight, bias = self.layers[-1]
        return float((weight @ x + bias)[0])

    def save(self, file: Path) -> None:
        """Write it; no pickle."""
        from safetensors.numpy import save_file

        tensors = {
            f"{name}.{i}": part
            for i, pair in enumerate(self.layers)
            for name, part in zip("wb", pair, strict=True)
        }
        save_file(tensors, file, metadata={"about": json.dumps(self.about)})

    @classmethod
    def load(cls, file: Path) -> "Policy":
        """Read one."""
        from safetensors import SafetensorError, safe_open

        try:
            with safe_open(file, framework="numpy") as opened:
                about = json.loads((opened.metadata() or {}).get("about", "{}"))
                count = len(opened.keys()) // 2
                layers = tuple(
                    (opened.get_tensor(f"w.{i}"), opened.get_tensor(f"b.{i}")) for i in range(count)
                )
        except (OSError, SafetensorError, ValueError) as error:
            raise BadInput(
                f"a policy must be a safetensors file, but {file} is none ({error}): train it"
            ) from None
        return cls(layers=layers, about=about)


class PolicyController:
    """Gives what its policy says of what is seen."""

    def __init__(self, policy: Policy, process: Process, *, name: str = "policy") -> None:
        self.name = name
        self._policy, self._observer = policy, Observer(process)
        self.horizon, self.memory = self._observer.horizon, self._observer.memory

    def reset(self) -> None:
        """Forget everything; the next tick is the first."""
        self._observer.reset()

    def act(self, image: Image | None, preview: Preview) -> Action:
        """Decide the power of the coming tick; without a new image by the last one and its age."""
        began = perf_counter()
        scales = self._observer.scales
        share = self._policy.decide(self._observer.observe(image, preview))
        power = scales.watts(min(max(share, -1.0), 1.0)) if np.isfinite(share) else scales.power[0]
        status = Status.SOLVED if image is not None else Status.BLIND
        return Action(power=power, status=status, solve_s=perf_counter() - began)


def find_policy(folder: Path, process: Process) -> Policy:
    """The policy of a folder that was made for a process; the first by name if there are several."""
    for file in sorted(folder.glob("*.safetensors")):
        policy = Policy.load(file)
        if policy.about.get("process") == fingerprint(process):
            return policy
    raise BadInput(f"no policy in {folder} was made for the process {process.name}: train one for it")


def fingerprint(process: Process) -> str:
    """What a policy is made for: all of a process but its camera and its speed."""
    return replace(process, camera=CameraSettings(), speed=Process().speed).hash
