"""The training set: the one set of episodes that every learning entrant is trained on, and nothing else.

    python -m laserloop.studies.arena.training_set --out out/arena/lessons    # goes on if stopped

Six minutes on one core: 240 episodes of 320 ticks on the plant `graded` with the process 304, along the first
24 public paths of each family: 76,800 plant steps. Half of them are shaken as in the paper, from 0 W to all
there is. In the other half the power is that of the twin without a camera, which keeps near the window,
shaken by 15 %.
"""

import argparse
import hashlib
import io
import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from laserloop.bad_input import BadInput
from laserloop.control import MpcProblem, make_twin_problem
from laserloop.data import COLUMNS, HOLD, PREVIEW, Excitation, draw_power, record_path
from laserloop.loop import look_ahead
from laserloop.native import make_twin
from laserloop.paths import FAMILIES, ScanPath, find_path
from laserloop.plant import make_plant
from laserloop.process import Process, find_process
from laserloop.store import save

FloatArray = NDArray[np.float64]
Progress = Callable[[int, int], None]

EPISODES = 240
TICKS = 320
FIRST_SEED = 10_000  # the public seeds begin here
PROCESS, PLANT = "304", "graded"
NEAR = "near"  # the window
SHAKES = (*(str(kind) for kind in Excitation), NEAR, NEAR, NEAR)  # a lap over the families takes one
HELD, EACH, OFFSET = 0.15, 0.05, 0.1  # of the power: holds, single ticks, the whole episode; half widths
PAGE = "lessons.json"


@dataclass(frozen=True, slots=True)
class Lesson:
    """One episode: which path, and how its power is shaken."""

    index: int

    @property
    def family(self) -> str:
        """Of its path; the families take turns."""
        return list(FAMILIES)[self.index % len(FAMILIES)]

    @property
    def seed(self) -> int:
        """Of its path and of its power."""
        return FIRST_SEED + self.index // len(FAMILIES)

    @property
    def shake(self) -> str:
        """One of the paper's excitations, or near the window."""
        return SHAKES[self.index // len(FAMILIES) % len(SHAKES)]

    def find_path(self, process: Process) -> ScanPath:
        """Some ticks longer than the episode, so that every preview is of the path."""
        name, ticks = f"{self.family}:{self.seed}", TICKS + PREVIEW
        return find_path(name, process, ticks=ticks)

    def draw_power(self, process: Process, path: ScanPath) -> FloatArray:
        """(ticks,), W."""
        rng = np.random.default_rng((self.index, self.seed))
        most = process.laser.power[1]
        if self.shake != NEAR:
            return draw_power(self.shake, TICKS, rng, power_max=most)
        usual = plan_blindly(process, path)[:TICKS]
        return np.clip(usual * draw_factors(TICKS, rng), process.laser.power[0], most)


def plan_blindly(process: Process, path: ScanPath) -> FloatArray:
    """The twin's power for each tick of a path if no image ever comes, W."""
    problem = make_twin_problem(MpcProblem(window=process.window, power=process.laser.power))
    twin = make_twin(problem, process)
    powers: list[float] = []
    for k in range(len(path)):
        action = twin.act(None, look_ahead(path, k, powers, twin.horizon, twin.memory))
        powers.append(action.power if path.lit[k] else 0.0)
    return np.array(powers)


def draw_factors(ticks: int, rng: np.random.Generator) -> FloatArray:
    """(ticks,): around 1, held for some ticks, shaken in each, and off by some share throughout."""
    count = -(-ticks // HOLD[0])
    holds = np.repeat(rng.uniform(-HELD, HELD, count), rng.integers(*HOLD, size=count, endpoint=True))
    each = rng.uniform(-EACH, EACH, ticks)
    return np.asarray(1.0 + rng.uniform(-OFFSET, OFFSET) + holds[:ticks] + each)


def record_lesson(index: int) -> FloatArray:
    """The record (ticks + 1, columns) of an episode."""
    lesson, process = Lesson(index), find_process(PROCESS)
    path = lesson.find_path(process)
    return record_path(make_plant(PLANT, process), path, lesson.draw_power(process, path))


def make_lessons(folder: Path, episodes: int = EPISODES, progress: Progress | None = None) -> None:
    """Record every episode that a folder lacks; stopped anywhere, the next call goes on."""
    for index in range(episodes):
        file = name_episode(folder, index)
        if not file.exists():
            stream = io.BytesIO()
            np.save(stream, record_lesson(index))
            save(file, stream.getvalue())
        if progress is not None:
            progress(index + 1, episodes)
    page = {"plant": PLANT, "process": PROCESS, "episodes": episodes, "ticks": TICKS, "columns": COLUMNS}
    save(folder / PAGE, (json.dumps(page, indent=1) + "\n").encode())


def read_lessons(folder: Path) -> Iterator[tuple[Lesson, FloatArray]]:
    """Every episode of a folder with its record."""
    for index in range(count_lessons(folder)):
        yield Lesson(index), np.load(name_episode(folder, index), allow_pickle=False)


def count_lessons(folder: Path) -> int:
    """How many episodes a folder has; one that is not complete is refused."""
    try:
        page = json.loads((folder / PAGE).read_text(encoding="utf-8"))
        episodes = int(page["episodes"])
        if tuple(page["columns"]) != COLUMNS or not all(
            name_episode(folder, index).exists() for index in range(episodes)
        ):
            raise ValueError
    except (OSError, ValueError, KeyError, TypeError):
        raise BadInput(
            f"lessons must lie in {folder}, but there are none that are complete: make them with "
            "python -m laserloop.studies.arena.training_set --out FOLDER"
        ) from None
    return episodes


def hash_lessons(folder: Path) -> str:
    """A hex name for the data."""
    digest = hashlib.sha256()
    for index in range(count_lessons(folder)):
        digest.update(name_episode(folder, index).read_bytes())
    return digest.hexdigest()


def name_episode(folder: Path, index: int) -> Path:
    """The file of an episode."""
    return folder / f"episode-{index:04d}.npy"


def main() -> None:
    """Make the lessons."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--episodes", type=int, default=EPISODES)
    options = parser.parse_args()
    make_lessons(options.out, options.episodes, lambda done, total: print(f"{done}/{total}", flush=True))


if __name__ == "__main__":
    main()
