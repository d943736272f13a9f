"""A stage: tasks that leave files behind, and a conclusion that is drawn from them."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from laserloop.studies.halilovic.folder import Folder


@dataclass(frozen=True, slots=True)
class Task:
    """Work for one worker: a function of plain arguments that leaves its result on disk."""

    function: Callable[..., Any]
    arguments: tuple[Any, ...]
    done: bool  # when it was listed


@dataclass(frozen=True, slots=True, kw_only=True)
class Stage:
    """What a stage has to do when those before it are done, and what it then says."""

    name: str
    title: str
    list_tasks: Callable[[Folder], Sequence[Task]]
    conclude: Callable[[Folder], Mapping[str, Mapping[str, Any]]]  # name of the result → result
    progress: Callable[[Folder], float] | None = None  # how much of the tasks' work is done, 0 to 1
    quiet: bool = False  # its tasks read a clock: last, one at a time, when the workers are gone
