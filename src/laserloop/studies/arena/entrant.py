"""An entrant: a controller with a name, what it may know, what it cost, and how it is made for a task."""

import hashlib
import inspect
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from laserloop.bad_input import BadInput
from laserloop.control import Action, Controller, MpcProblem, Preview, Status
from laserloop.paths import ScanPath
from laserloop.plant import Image, Plant
from laserloop.process import Process

FloatArray = NDArray[np.float64]
TrialPass = Callable[[FloatArray], FloatArray]
"""Powers of a whole pass (n,), W, in; the peaks that the camera saw (n,), K, NaN where no image came, out."""

FORESIGHTS = ("none", "path")
COST_FILE = "training.json"
MODELS = Path(__file__).parent / "models"  # seed 0 of each; others are made beside the training set
OUT = Path("out") / "arena"  # in the working directory, unless the training set lies elsewhere


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class TaskContext:
    """What an entrant is given to make its controller for a task: no more than it declared."""

    problem: MpcProblem  # window, power bounds, and the price of leaving the window's middle
    process: Process  # as it is told; the plant may differ
    fastest: float  # m/s, that the scanner will go
    path: ScanPath | None = None  # the whole of it, for those who know the path
    trial_pass: TrialPass | None = None  # over the task itself, for those that declare passes
    plant: Plant | None = None  # the truth itself, for bounds only


@dataclass(frozen=True, slots=True, kw_only=True)
class Cost:
    """What a training took, and on how much of the plant."""

    core_minutes: float = 0.0
    plant_steps: int = 0  # ticks of the plant, data and rounds in all

    @classmethod
    def read(cls, folder: Path) -> "Cost":
        """From the file that lies beside a model."""
        file = folder / COST_FILE
        try:
            told = json.loads(file.read_text(encoding="utf-8"))
            return cls(core_minutes=float(told["core_minutes"]), plant_steps=int(told["plant_steps"]))
        except (OSError, ValueError, KeyError, TypeError):
            raise BadInput(
                f"the cost of a training must lie in {file} as core_minutes and plant_steps, but does not: "
                "train it again"
            ) from None

    def write(self, folder: Path) -> None:
        """Beside a model."""
        told = {"core_minutes": self.core_minutes, "plant_steps": self.plant_steps}
        (folder / COST_FILE).write_text(json.dumps(told) + "\n", encoding="utf-8")


Make = Callable[[TaskContext], Controller]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Entrant:
    """One of those who are compared.

    It is made by `make`, or else by the controller and model that its `settings` of a `Scenario` name.
    """

    name: str
    about: str  # one sentence
    make: Make | None = None  # of a learner: a `partial` of a function of the model's folder
    settings: Mapping[str, Any] = field(default_factory=dict)  # of Scenario: controller, model, tracking, …
    foresight: str = "path"  # or "none": previews go straight on from where the beam is
    camera: bool = True  # False: no image ever comes
    passes: int = 0  # over each task before it counts, as many plant steps are charged
    bound: bool = False  # it looks at the plant: what could be had, not a contestant
    learns: bool = False  # from data
    model: Path | None = None  # its folder, with the cost of its training; None if it has none
    sources: tuple[Any, ...] = ()  # files, and classes whose files the rooms of the loop do not count

    def __post_init__(self) -> None:
        if self.foresight not in FORESIGHTS:
            raise BadInput(
                f"foresight must be one of {', '.join(FORESIGHTS)}, got {self.foresight!r}: choose one"
            )
        if (self.make is None) == (not self.settings):
            raise BadInput(f"the entrant {self.name} must have either make or settings: give it one of them")

    @property
    def cost(self) -> Cost:
        """Of its training; nothing for those that do not learn."""
        return Cost.read(self.model) if self.model is not None and self.learns else Cost()

    def identity(self) -> dict[str, Any]:
        """What its runs depend on besides the task and the rooms of the loop; no other entrant's lines."""
        files = [
            source if isinstance(source, Path) else Path(inspect.getfile(source)) for source in self.sources
        ]
        if self.model is not None:
            files += sorted(
                file for file in self.model.rglob("*") if file.is_file() and file.name != COST_FILE
            )
        made = self.make.func if isinstance(self.make, partial) else self.make
        given = self.make.keywords if isinstance(self.make, partial) else {}
        more = {name: value for name, value in given.items() if name != "folder"}  # whose files count
        return {
            "name": self.name,
            "settings": dict(self.settings),
            "foresight": self.foresight,
            "camera": self.camera,
            "passes": self.passes,
            "with": repr(sorted(more.items())),
            "make": None if made is None else hashlib.sha256(inspect.getsource(made).encode()).hexdigest(),
            "files": [hashlib.sha256(file.read_bytes()).hexdigest()[:16] for file in files],
        }


class OpenLoopController:
    """Gives powers that were settled before the run."""

    horizon, memory = 1, 0

    def __init__(self, powers: FloatArray, name: str = "open loop") -> None:
        self.name = name
        self._powers = powers

    def reset(self) -> None:
        """Nothing to forget: the preview tells the tick."""

    def act(self, image: Image | None, preview: Preview) -> Action:
        """The power of this tick."""
        k = min(round(preview.time / preview.tick), len(self._powers) - 1)
        return Action(power=float(self._powers[k]), status=Status.SOLVED)
