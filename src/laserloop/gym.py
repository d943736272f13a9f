"""Importing this registers laserloop's environments with Gymnasium.

import gymnasium, laserloop.gym
gymnasium.make("laserloop/Diagonal-v1", level="nominal")
gymnasium.make_vec("laserloop/Twin-v1", num_envs=128)
"""

from laserloop.bad_input import BadInput
from laserloop.paths import FAMILIES

try:
    from gymnasium import register, registry
except ModuleNotFoundError as missing:
    raise BadInput("environments need Gymnasium: pip install 'laserloop[gym]'") from missing

VERSION = 1  # of the tasks
ROOM = "laserloop.studies.arena.environments"
PLANT_ENV, TWIN_ENV = f"{ROOM}:LoopEnv", f"{ROOM}:TwinVectorEnv"
PATHS = ("diagonal", *FAMILIES)
NAMES = tuple(f"laserloop/{path.capitalize()}-v{VERSION}" for path in PATHS)


def register_all() -> None:
    """One environment per family of paths, the diagonal, one for a task by name, and many twins at once."""
    for name, path in zip(NAMES, PATHS, strict=True):
        _register(name, entry_point=PLANT_ENV, kwargs={"path": path})
    _register(f"laserloop/Task-v{VERSION}", entry_point=PLANT_ENV)
    _register(f"laserloop/Twin-v{VERSION}", vector_entry_point=TWIN_ENV)


def _register(name: str, **kwargs: object) -> None:
    if name not in registry:
        register(name, **kwargs)  # type: ignore[arg-type]


register_all()
