"""Process files: find a built-in process by name, read one from YAML, write one with its comments."""

import json
from collections.abc import Mapping
from importlib.resources import files
from pathlib import Path

import yaml

from laserloop.bad_input import BadInput, check_kind, guess
from laserloop.process.material_file import describe_material, shipped_materials
from laserloop.process.process import Process
from laserloop.process.schema import DIGITS, ENTRIES, FORMAT, SECTIONS, Entry, get_value
from laserloop.process.yaml_file import load_yaml, read_text

LARGEST_FILE = 1_000_000  # bytes; a material's table of a thousand rows inside takes 40 kB
SHELF = files("laserloop.process") / "processes"


def shipped_processes() -> tuple[str, ...]:
    """The names of the processes that come with the package."""
    return tuple(
        sorted(file.name.removesuffix(".yaml") for file in SHELF.iterdir() if file.name.endswith(".yaml"))
    )


def find_process(text: str) -> Process:
    """A built-in process by name, or one read from a YAML file by path."""
    check_kind(text, str, "a process", "name a built-in one, such as '316', or a .yaml file")
    if text.lower() in shipped_processes():
        name = text.lower()
        return _parse((SHELF / f"{name}.yaml").read_text(encoding="utf-8"), name, Path())
    if Path(text).suffix.lower() in (".yaml", ".yml"):
        return read_process(text)
    known, meant = ", ".join(shipped_processes()), guess(text, shipped_processes())
    raise BadInput(f"a process must be {known} or a .yaml file, but got {text[:80]!r}{meant}; choose one.")


def read_process(file: str | Path) -> Process:
    """Read a process; a material's file is looked for beside it."""
    path = Path(file)
    text = read_text(path, f"the process file {str(file)!r} must be", LARGEST_FILE)
    return _parse(text, path.stem, path.parent)


def _parse(text: str, name: str, folder: Path) -> Process:
    where = f"the process {name}"
    given = load_yaml(text, "a process", where)
    if not isinstance(given, Mapping):
        raise BadInput(
            f"{where} must be lines of name: value, but holds something else; start from a built-in one."
        )
    material = given.get("material")
    if isinstance(material, int) and not isinstance(material, bool):
        material = str(material)  # 304 without quotes
    if isinstance(material, str) and material.lower() not in shipped_materials():
        material = str(folder / material)
    named = {"name": name, **given}
    return Process.from_json(named if material is None else {**named, "material": material}, where=where)


def write_process(process: Process, *, material: str | None = None, folder: Path | None = None) -> str:
    """The text of a process file: every key with its unit, its range and what it does.

    `material` is the name or file to write in place of the whole table. What would be read again as another
    process, a material's file being in `folder`, is refused.
    """
    text = _write(process, material)
    if (material is None or folder is not None) and _parse(text, "", folder or Path()) != process:
        raise BadInput(
            f"a process file must say what it was given, but that of {process.name} would not; write the "
            "numbers into it by hand."
        )
    return text


def _write(process: Process, material: str | None) -> str:
    inside = describe_material(process.material)
    whole = yaml.safe_dump({"material": inside}, sort_keys=False, allow_unicode=True, default_flow_style=None)
    lines = [
        f"laserloop_process: {FORMAT}",
        f"name: {json.dumps(process.name, ensure_ascii=False)}",  # JSON's quotes are YAML's too
        f"# {', '.join(shipped_materials())}, a .yaml or .csv file beside this one, or its properties.",
        whole.strip() if material is None else f"material: {json.dumps(material, ensure_ascii=False)}",
    ]
    section = ""
    for entry in ENTRIES:
        owner, _, key = entry.key.rpartition(".")
        if owner != section and owner in SECTIONS:
            lines.append(f"{owner}:")
        section = owner
        lines += [f"{'  ' if owner else ''}{line}" for line in _write_entry(process, entry, key)]
    return "\n".join(lines) + "\n"


def _write_entry(process: Process, entry: Entry, key: str) -> list[str]:
    value = entry.tell(get_value(process, entry))
    if value is None:
        shown = ""
    elif entry.names:
        shown = f" [{', '.join(f'{part:.{DIGITS}g}' for part in value)}]"
    else:
        shown = f" {value:.{DIGITS}g}"
    return [f"# {entry.text} ({entry.rule})", f"{key}:{shown}"]
