"""Which rooms each room may import: a shortcut is seen the day it is taken."""

import ast
import subprocess
import sys
from pathlib import Path

import laserloop

HOUSE = Path(laserloop.__file__).parent

DOORS: dict[str, set[str]] = {
    "__init__": {"bad_input", "episode", "excitation", "paths", "plant"},
    "__main__": {"cli"},
    "bad_input": set(),
    "bench": {"bad_input", "control", "dataset", "paths", "plant", "study", "surrogates"},
    "cli": {
        *("bad_input", "control_verbs", "learning_verbs", "options", "output", "plant_verbs"),
        *("report", "reproduce_verbs", "versions", "view_verbs"),
    },
    "control": {"bad_input", "plant", "surrogates"},
    "crew": {"bad_input"},
    "control_verbs": {
        *("bad_input", "bench", "control", "loop", "options", "output"),
        *("paths", "plant", "report", "study", "surrogates"),
    },
    "dataset": {"bad_input", "crew", "episode", "excitation", "paths", "plant"},
    "episode": {"bad_input", "paths", "plant"},
    "excitation": {"bad_input"},
    "learning_verbs": {
        *(
            "bad_input",
            "bench",
            "dataset",
            "excitation",
            "options",
            "output",
            "report",
            "study",
            "surrogates",
        ),
    },
    "loop": {"bad_input", "control", "paths", "plant", "surrogates"},
    "options": {"bad_input", "episode", "excitation", "paths", "plant"},
    "output": {"bad_input", "options", "report"},
    "paths": {"bad_input"},
    "plant": {"bad_input"},
    "plant_verbs": {"bench", "episode", "options", "output", "paths", "plant", "report"},
    "report": {"bad_input", "episode"},
    "reproduce": {
        *("bad_input", "bench", "control", "crew", "dataset", "episode", "excitation", "paths", "plant"),
        *("report", "study", "surrogates"),
    },
    "reproduce_verbs": {"options", "output", "report", "reproduce"},
    "study": {
        *("bad_input", "control", "dataset", "episode", "excitation", "loop", "paths", "plant", "surrogates"),
    },
    "surrogates": {"bad_input", "dataset"},
    "versions": set(),
    "view_verbs": {"options", "report", "viewer"},
    "viewer": {"bad_input", "report"},
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
            beyond = doors_of(file) - DOORS[room] - {room}
            assert not beyond, f"{file.relative_to(HOUSE)} may not import {sorted(beyond)}"


def test_the_core_starts_without_pytorch() -> None:
    modules = [
        path.stem for path in (HOUSE / "surrogates").glob("*.py") if not path.stem.startswith("torch_")
    ]
    names = ["laserloop", "laserloop.cli", *(f"laserloop.surrogates.{name}" for name in sorted(modules))]
    code = f"import sys, {', '.join(names)}; sys.exit('torch' in sys.modules)"
    subprocess.run([sys.executable, "-c", code], check=True)


def test_a_controller_sees_of_the_plant_only_the_camera() -> None:
    for file in (HOUSE / "control").glob("*.py"):
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("laserloop.plant"):
                assert node.module == "laserloop.plant.camera", f"{file.name} imports {node.module}"
