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


def read_request(given: object, files: Uploaded) -> RunRequest:
    """What a page sends; `files` are those that were dropped, by id, with name and place."""
    if not isinstance(given, dict) or not set(given) <= set(KEYS):
        raise BadInput(f"an order may have the keys {', '.join(KEYS)}, but is {show(given)}: correct it")
    path, file = _read_path(given.get("path", "spiral"), files)
    s_max = given.get("s_max")
    return RunRequest(
        path=path,
        file=file,
        s_max=None if s_max is None or file is None else read_number("s_max", s_max, (1e-6, 1e9)),
        centre=_read_flag("centre", given.get("centre", True)),
        process=_read_process(given.get("process", "paper"), given.get("changes", {}), files),
        plant=_read_choice("plant", given.get("plant", "graded"), PLANTS),
        controllers=read_controllers(given.get("controllers", ["twin"])),
        ticks=_read_ticks(given.get("ticks")),
        absorptivity_error=read_number("absorptivity_error", given.get("absorptivity_error", 1.0), ABSORBED),
    )


def _read_file(given: Mapping[str, Any], files: Uploaded) -> tuple[str, Path]:
    key = given.get("file")
    found = files.get(key) if isinstance(key, str) else None
    if found is None:
        raise BadInput("a dropped file must still be there, but this one is gone: drop it again")
    return found


def _read_path(given: object, files: Uploaded) -> tuple[str, Path | None]:
    if isinstance(given, dict):
        return _read_file(given, files)
    family, _, seed = given.partition(":") if isinstance(given, str) else ("", "", "")
    if given in SHAPES or (family in FAMILIES and seed.isascii() and seed.isdigit() and len(seed) <= 9):
        assert isinstance(given, str)
        return given, None
    raise BadInput(
        f"a path must be one of {', '.join(SHAPES)}, FAMILY:SEED or a dropped file, got {show(given)}: "
        "choose one"
    )


def _read_own(shown: str, place: Path) -> Process:
    """A process that was dropped; no other file is read for it, so its alloy is inside or a shipped one."""
    text = read_text(place, f"the process file {shown} must be", LARGEST_FILE)
    given = load_yaml(text, "a process", shown)
    if not isinstance(given, dict):
        raise BadInput(f"{shown} must be a process as laserloop init writes it, but is none: drop another")
    material = given.get("material")
    if isinstance(material, int) and not isinstance(material, bool):
        material = str(material)  # 304 without quotes
    if isinstance(material, str) and material.lower() not in shipped_materials():
        raise BadInput(
            f"the alloy of a dropped process must be one of {', '.join(shipped_materials())} or stand in the "
            f"file itself, got {show(material)}: write its properties there"
        )
    named = {"name": Path(shown).stem, **given}
    return Process.from_json(named if material is None else {**named, "material": material}, where=shown)


def _read_process(given: object, changes: object, files: Uploaded) -> Process:
    process = (
        _read_own(*_read_file(given, files))
        if isinstance(given, dict)
        else find_process(_read_choice("process", given, shipped_processes()))
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


def read_controllers(given: object) -> tuple[str, ...]:
    """Those of a run, side by side."""
    if not isinstance(given, list) or not 1 <= len(given) <= MOST_CONTROLLERS:
        raise BadInput(f"a live run has one or {MOST_CONTROLLERS} controllers, got {show(given)}: choose")
    return tuple(_read_choice("controller", name, CONTROLLERS) for name in given)


def _read_ticks(given: object) -> int | None:
    if given is None:
        return None
    return int(read_number("ticks", given, (1, MOST_TICKS)))


def _read_choice(what: str, given: object, choices: Any) -> str:
    if not isinstance(given, str) or given not in choices:
        raise BadInput(f"a {what} must be one of {', '.join(choices)}, got {show(given)}: choose one")
    return given


def _read_flag(what: str, given: object) -> bool:
    if not isinstance(given, bool):
        raise BadInput(f"{what} must be true or false, got {show(given)}: choose one")
    return given


def read_number(what: str, given: object, bounds: tuple[float, float]) -> float:
    """A finite number within bounds; no boolean."""
    fine = isinstance(given, int | float) and not isinstance(given, bool) and isfinite(given)
    if not fine or not bounds[0] <= given <= bounds[1]:  # type: ignore[operator]
        raise BadInput(
            f"{what} must be a number from {bounds[0]:g} to {bounds[1]:g}, got {show(given)}: change it"
        )
    return float(given)  # type: ignore[arg-type]


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


def describe_process(told: Mapping[str, Any]) -> dict[str, Any]:
    """The values of a process that the form shows."""
    return {
        "name": told["name"],
        "material": told["material"]["name"],
        "window_k": told["window_k"],
        "power_max_w": told["laser"]["power_w"][1],
        "speed_mm_s": told["speed_mm_s"],
        "sigma_um": told["beam"]["sigma_um"],
        "absorptivity": told["beam"]["absorptivity"],
        "noise_k": told["camera"]["noise_k"],
        "delay_ticks": told["camera"]["delay_ticks"],
        "plate_mm": told["plate_mm"],
        "tick_us": told["tick_us"],
    }


def _describe_bounds(name: str) -> dict[str, Any]:
    entry = find_key(name)
    return {"low": entry.low, "high": entry.high, "unit": entry.unit, "text": entry.text}
