"""What a page may ask for, and what it does: checked word by word before anything is computed."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cache
from math import isfinite
from pathlib import Path
from typing import Any

from laserloop.bad_input import BadInput, show
from laserloop.loop.controllers import CONTROLLERS
from laserloop.loop.scenario import Scenario
from laserloop.paths import Placement, ScanPath, find_path
from laserloop.paths.shapes import FAMILIES
from laserloop.planning.window import check_window
from laserloop.plant import PLANTS
from laserloop.process import Process, find_process, shipped_materials, shipped_processes
from laserloop.process.keys import LARGEST_FILE, find_key, load_yaml, read_text

SHAPES = ("spiral", "diagonal", "vertical", "horizontal")
TICKS = 320  # of a built-in path
MOST_TICKS = 100_000  # of a run; ten minutes of computing
MOST_CONTROLLERS = 2  # side by side
ABSORBED = (0.2, 5.0)  # of what the process says, or of the start
KEYS = (
    *("path", "centre", "s_max", "process", "changes"),
    *("plant", "controllers", "ticks", "absorptivity_error"),
)
Uploaded = Mapping[str, tuple[str, Path]]  # those that were dropped, by id: shown name, place
NUMBERS = ("speed_mm_s", "sigma_um", "absorptivity", "noise_k", "delay_ticks")


@dataclass(frozen=True, slots=True, kw_only=True)
class RunRequest:
    """A path, a process, who controls it, and what is wrong with the plate."""

    path: str  # a built-in name, or that of a dropped file
    file: Path | None = None  # where a dropped file lies
    centre: bool = True  # does a file go to the plate's centre?
    s_max: float | None = None  # which S of G-code is the laser's full power; None: S is in W
    process: Process
    plant: str = "graded"
    controllers: tuple[str, ...] = ("twin",)
    ticks: int | None = None  # None: 320, of a file all
    absorptivity_error: float = 1.0  # what the plate absorbs over what the process says

    def find_path(self) -> ScanPath:
        """The path, sampled once a tick; a long one is refused."""
        process = self.process
        check_window(process)
        if self.file is None:
            path = find_path(self.path, process, ticks=self.ticks or TICKS)
        else:
            placement = Placement(centre=self.centre, s_max=self.s_max)
            path = find_path(str(self.file), process, placement=placement)
            path = path if self.ticks is None or self.ticks >= len(path) else path.truncated(self.ticks)
        if len(path) > MOST_TICKS:
            raise BadInput(
                f"a live run may last {MOST_TICKS} ticks, but {self.path} has {len(path)}: say how many "
                "to follow, or use laserloop control"
            )
        notes = tuple(note.replace(str(self.file), self.path) for note in path.notes)
        return replace(path, name=self.path, notes=notes)

    def make_case(self, controller: str) -> Scenario:
        """The case of one of the controllers."""
        wrong = self.absorptivity_error
        return Scenario(
            path=self.path,
            controller=controller,
            plant=self.plant,
            process=self.process,
            delta_k=None,
            mismatch=() if wrong == 1.0 else (("absorptivity", wrong),),
        )


def read_request(order: object, files: Uploaded) -> RunRequest:
    """What a page sends; `files` are those that were dropped, by id, with name and place."""
    if not isinstance(order, dict) or not set(order) <= set(KEYS):
        raise BadInput(f"an order may have the keys {', '.join(KEYS)}, but is {show(order)}: correct it")
    path, file = _read_path(order.get("path", "spiral"), files)
    s_max = order.get("s_max")
    return RunRequest(
        path=path,
        file=file,
        s_max=None if s_max is None or file is None else read_number("s_max", s_max, (1e-6, 1e9)),
        centre=_read_flag("centre", order.get("centre", True)),
        process=_read_process(order.get("process", "paper"), order.get("changes", {}), files),
        plant=_read_choice("plant", order.get("plant", "graded"), PLANTS),
        controllers=read_controllers(order.get("controllers", ["twin"])),
        ticks=_read_ticks(order.get("ticks")),
        absorptivity_error=read_number("absorptivity_error", order.get("absorptivity_error", 1.0), ABSORBED),
    )


def _read_file(order: Mapping[str, Any], files: Uploaded) -> tuple[str, Path]:
    key = order.get("file")
    dropped = files.get(key) if isinstance(key, str) else None
    if dropped is None:
        raise BadInput("a dropped file must still be there, but this one is gone: drop it again")
    return dropped


def _read_path(path: object, files: Uploaded) -> tuple[str, Path | None]:
    if isinstance(path, dict):
        return _read_file(path, files)
    family, _, seed = path.partition(":") if isinstance(path, str) else ("", "", "")
    if path in SHAPES or (family in FAMILIES and seed.isascii() and seed.isdigit() and len(seed) <= 9):
        assert isinstance(path, str)
        return path, None
    raise BadInput(
        f"a path must be one of {', '.join(SHAPES)}, FAMILY:SEED or a dropped file, got {show(path)}: "
        "choose one"
    )


def _read_own(shown: str, place: Path) -> Process:
    """A process that was dropped; no other file is read for it, so its alloy is inside or a shipped one."""
    text = read_text(place, f"the process file {shown} must be", LARGEST_FILE)
    content = load_yaml(text, "a process", shown)
    if not isinstance(content, dict):
        raise BadInput(f"{shown} must be a process as laserloop init writes it, but is none: drop another")
    material = content.get("material")
    if isinstance(material, int) and not isinstance(material, bool):
        material = str(material)  # 304 without quotes
    if isinstance(material, str) and material.lower() not in shipped_materials():
        raise BadInput(
            f"the alloy of a dropped process must be one of {', '.join(shipped_materials())} or stand in the "
            f"file itself, got {show(material)}: write its properties there"
        )
    named = {"name": Path(shown).stem, **content}
    return Process.from_json(named if material is None else {**named, "material": material}, where=shown)


def _read_process(order: object, changes: object, files: Uploaded) -> Process:
    process = (
        _read_own(*_read_file(order, files))
        if isinstance(order, dict)
        else find_process(_read_choice("process", order, shipped_processes()))
    )
    if not isinstance(changes, dict):
        raise BadInput(f"changes of a process must be keys with values, got {show(changes)}: correct them")
    values: dict[str, Any] = {}
    for key, value in changes.items():
        if key == "material":
            values[key] = _read_choice("material", value, shipped_materials())
        elif key == "window_k":
            values[key] = value
        elif key == "power_max_w":
            most = read_number(key, value, (1e-3, 1e4))
            values["power_w"] = (min(process.laser.power[0], most / 2), most)
        elif key in NUMBERS:
            values[key] = read_number(key, value, (0.0, 1e6))
        else:
            raise BadInput(
                f"a live run may change material, window_k, {', '.join(NUMBERS)}, power_max_w, "
                f"got {show(key)}: drop it"
            )
    return process.change(**values)


def read_controllers(names: object) -> tuple[str, ...]:
    """Those of a run, side by side."""
    if not isinstance(names, list) or not 1 <= len(names) <= MOST_CONTROLLERS:
        raise BadInput(f"a live run has one or {MOST_CONTROLLERS} controllers, got {show(names)}: choose")
    return tuple(_read_choice("controller", name, CONTROLLERS) for name in names)


def _read_ticks(value: object) -> int | None:
    if value is None:
        return None
    return int(read_number("ticks", value, (1, MOST_TICKS)))


def _read_choice(what: str, value: object, choices: Any) -> str:
    if not isinstance(value, str) or value not in choices:
        raise BadInput(f"a {what} must be one of {', '.join(choices)}, got {show(value)}: choose one")
    return value


def _read_flag(what: str, value: object) -> bool:
    if not isinstance(value, bool):
        raise BadInput(f"{what} must be true or false, got {show(value)}: choose one")
    return value


def read_number(what: str, value: object, bounds: tuple[float, float]) -> float:
    """A finite number within bounds; no boolean."""
    fine = isinstance(value, int | float) and not isinstance(value, bool) and isfinite(value)
    if not fine or not bounds[0] <= value <= bounds[1]:  # type: ignore[operator]
        raise BadInput(
            f"{what} must be a number from {bounds[0]:g} to {bounds[1]:g}, got {show(value)}: change it"
        )
    return float(value)  # type: ignore[arg-type]


@cache
def describe_form() -> dict[str, Any]:
    """Everything that the page offers."""
    return {
        "processes": {name: describe_process(find_process(name).to_json()) for name in shipped_processes()},
        "materials": list(shipped_materials()),
        "shapes": list(SHAPES),
        "controllers": [
            {"name": name, "spoken": kind.label, "text": kind.about}
            for name, kind in sorted(CONTROLLERS.items(), key=lambda item: item[1].page)
            if kind.page
        ],
        "bounds": {name: _describe_bounds(name) for name in NUMBERS},
    }


def describe_process(process: Mapping[str, Any]) -> dict[str, Any]:
    """The values of a process that the form shows."""
    return {
        "name": process["name"],
        "material": process["material"]["name"],
        "window_k": process["window_k"],
        "power_max_w": process["laser"]["power_w"][1],
        "speed_mm_s": process["speed_mm_s"],
        "sigma_um": process["beam"]["sigma_um"],
        "absorptivity": process["beam"]["absorptivity"],
        "noise_k": process["camera"]["noise_k"],
        "delay_ticks": process["camera"]["delay_ticks"],
        "plate_mm": process["plate_mm"],
        "tick_us": process["tick_us"],
    }


def _describe_bounds(name: str) -> dict[str, Any]:
    entry = find_key(name)
    return {"low": entry.low, "high": entry.high, "unit": entry.unit, "text": entry.text}
