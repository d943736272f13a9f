"""Controllers and predictors from a user's own file, named FILE.py:NAME."""

import sys
from collections.abc import Callable
from importlib.util import module_from_spec, spec_from_file_location
from inspect import signature
from pathlib import Path
from typing import Any

from laserloop.bad_input import BadInput
from laserloop.control.action import Controller
from laserloop.control.problem import MpcProblem
from laserloop.predict.predictor import Predictor


def names_own(name: object) -> bool:
    """Whether it reads FILE.py:NAME."""
    return isinstance(name, str) and ".py:" in name


def load_predictor(name: str, process: object = None) -> Predictor:
    """What NAME(process) returns; the process is None where there is none."""
    made: Predictor = _make(name, process, ("name", "horizon", "memory", "affine", "reset", "observe"))
    return made


def load_controller(name: str, problem: MpcProblem, process: object = None) -> Controller:
    """What NAME(problem) returns; it may do with `act` alone, and may ask for the `process` by that name."""
    made: Controller = _make(name, problem, ("act",), process=process)
    return made


def _make(name: str, given: object, wanted: tuple[str, ...], **more: object) -> Any:
    """Call NAME of FILE.py and see that the result has what is wanted of it; `more` goes to who names it."""
    call = _find(name)
    try:
        asked = signature(call).parameters
        made = call(given, **{key: value for key, value in more.items() if key in asked})
    except BadInput:
        raise
    except (Exception, SystemExit) as error:
        raise BadInput(f"{name} cannot be built: {_tell(error)}; correct the file") from error
    missing = [attribute for attribute in wanted if not hasattr(made, attribute)]
    if missing:
        raise BadInput(
            f"what {name} builds must have {', '.join(wanted)}, but lacks {', '.join(missing)}: add them"
        )
    return made


def _find(name: str) -> Callable[..., object]:
    """NAME of FILE.py."""
    file, _, attribute = name.rpartition(":")
    path = Path(file)
    if not path.is_file():
        raise BadInput(f"{name!r} must name a Python file, but {file!r} is not there: correct the path")
    spec = spec_from_file_location(f"laserloop_own_{path.stem}", path)
    assert spec is not None  # its name ends in .py
    assert spec.loader is not None
    module = module_from_spec(spec)
    sys.modules[spec.name] = module  # where dataclasses and pickle look a class up
    try:
        spec.loader.exec_module(module)
    except (Exception, SystemExit) as error:  # a script without `if __name__ == "__main__"` may end itself
        raise BadInput(f"{file} cannot be imported: {_tell(error)}; correct the file") from error
    found = getattr(module, attribute, None)
    if not callable(found):
        raise BadInput(f"{file} must have a class or function {attribute!r}, but has none: correct the name")
    result: Callable[..., object] = found
    return result


def _tell(error: BaseException) -> str:
    """An error in one line."""
    return f"{type(error).__name__}: {' '.join(str(error).split())}"
