"""Which rooms each room may import: a shortcut is seen the day it is taken."""

import ast
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import laserloop

HOUSE = Path(laserloop.__file__).parent

DOORS: dict[str, set[str]] = {
    "__init__": {"bad_input", "control", "data", "loop", "paths", "plant", "process", "script"},
    "__main__": {"cli"},
    "bad_input": set(),
    "bench": {"bad_input", "control", "data", "loop", "native", "paths", "plant", "predict", "process"},
    "cli": {
        *(
            "bad_input",
            "bench",
            "control",
            "data",
            "doctor",
            "evaluation",
            "identification",
            "logs",
            "loop",
        ),
        *(
            "native",
            "paths",
            "planning",
            "plant",
            "predict",
            "process",
            "quantity",
            "report",
            "live",
            "store",
            "studies",
            "versions",
        ),
    },
    "doctor": {"loop", "native", "paths", "plant", "process"},
    "control": {"bad_input", "paths", "plant", "predict", "process"},
    "data": {"bad_input", "jobs", "paths", "plant", "process", "store"},
    "evaluation": {"bad_input", "data", "paths", "plant", "predict", "process", "store", "versions"},
    "gym": {"bad_input", "paths"},  # registers the environments of the arena by their names
    "identification": {"bad_input", "logs", "paths", "plant", "predict", "process"},
    "live": {"bad_input", "control", "loop", "paths", "planning", "plant", "predict", "process", "report"},
    "logs": {"bad_input", "paths", "plant", "process"},
    "jobs": {"bad_input"},
    "lazy": set(),
    "loop": {
        "bad_input",
        "control",
        "jobs",
        "logs",
        "native",
        "paths",
        "plant",
        "predict",
        "process",
        "store",
    },
    "native": {"bad_input", "control", "paths", "plant", "predict", "process"},
    "paths": {"bad_input", "process"},
    "planning": {
        *("bad_input", "jobs", "control", "data", "native", "paths", "plant", "predict", "process"),
        *("store", "versions"),
    },
    "plant": {"bad_input", "paths", "process"},
    "predict": {"bad_input", "data", "paths", "plant", "process", "store"},
    "process": {"bad_input", "quantity"},
    "quantity": set(),
    "report": {"bad_input", "data", "loop", "store"},
    "script": {
        *("bad_input", "control", "identification", "logs", "loop", "paths", "planning", "plant", "process"),
        "report",
    },
    "store": {"bad_input", "versions"},
    "studies": {
        *("bad_input", "bench", "jobs", "control", "data", "evaluation", "loop", "paths", "plant"),
        *("predict", "process", "report", "store", "logs", "native", "versions"),
    },
    "versions": set(),
}


def rooms() -> dict[str, list[Path]]:
    """Room name → its files; a module beside the rooms is a room of one file."""
    found: dict[str, list[Path]] = {}
    for file in sorted(HOUSE.rglob("*.py")):
        found.setdefault(file.relative_to(HOUSE).parts[0].removesuffix(".py"), []).append(file)
    return found


def doors_of(file: Path) -> set[str]:
    """The rooms a file imports, wherever in the file, also for types only."""
    names = set()
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{file}: imports are absolute"
            names |= {f"{node.module}.{alias.name}" for alias in node.names}
    return {name.split(".")[1] for name in names if name.startswith("laserloop.")}


def test_every_room_is_listed() -> None:
    assert set(rooms()) == set(DOORS)


def test_rooms_open_only_their_own_doors() -> None:
    for room, files in rooms().items():
        for file in files:
            beyond = doors_of(file) - DOORS[room] - {room, "lazy"}  # a way to open doors, behind none
            assert not beyond, f"{file.relative_to(HOUSE)} may not import {sorted(beyond)}"


def test_no_room_imports_a_study() -> None:
    assert [room for room, doors in DOORS.items() if "studies" in doors] == ["cli"]  # whose verbs run them


def test_the_core_starts_without_pytorch() -> None:
    modules = [
        path.stem for path in (HOUSE / "predict").glob("*.py") if not path.stem.startswith(("torch_", "__"))
    ]
    names = [
        "laserloop",
        "laserloop.cli",
        *(f"laserloop.predict.{name}" for name in sorted(modules)),
    ]
    code = f"import sys, {', '.join(names)}; sys.exit('torch' in sys.modules)"
    subprocess.run([sys.executable, "-c", code], check=True)


def test_predictors_and_controllers_see_of_the_plant_only_the_camera() -> None:
    for file in [*(HOUSE / "control").rglob("*.py"), *(HOUSE / "predict").rglob("*.py")]:
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("laserloop.plant"):
                assert node.module == "laserloop.plant.camera", f"{file.name} imports {node.module}"


def public_names(room: str) -> set[str]:
    """What a room lists; of a module beside the rooms all that has no underscore."""
    module = import_module(f"laserloop.{room}")
    own = (name for name in vars(module) if not name.startswith("_"))
    return set(getattr(module, "__all__", own if Path(str(module.__file__)).name != "__init__.py" else ()))


def test_the_arena_takes_only_names_that_a_room_lists() -> None:
    """A study stands on the library as any user of it does."""
    for file in sorted((HOUSE / "studies" / "arena").glob("*.py")):
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("laserloop."):
                room = str(node.module).split(".")[1]
                if room != "studies":
                    taken = {alias.name for alias in node.names}
                    assert node.module == f"laserloop.{room}", f"{file.name} reaches into {node.module}"
                    assert taken <= public_names(room), f"{file.name}: {taken - public_names(room)}"
            elif isinstance(node, ast.Import):
                assert not any(alias.name.startswith("laserloop") for alias in node.names), file.name
