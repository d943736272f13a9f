"""Facts of a run in words with units, so that runs of one name are told apart by what differs."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from pathlib import PurePosixPath
from typing import Any

FACTS = {
    "plant": "{} plant",
    "window_k": "window {} K",
    "delta_k": "margin {} K",
    "seed": "seed {}",
    "mismatch": "{}",
    "process.name": "process {}",
    "process.material.name": "alloy {}",
    "process.beam.sigma_um": "beam σ {} µm",
    "process.beam.absorptivity": "absorptivity {}",
    "process.speed_mm_s": "{} mm/s",
    "process.laser.power_w": "laser {} W",
    "process.laser.lag_us": "lag {} µs",
    "process.tick_us": "tick {} µs",
    "process.camera.noise_k": "noise {} K",
    "process.camera.delay_ticks": "delay {} ticks",
    "process.camera.every_ticks": "image every {} ticks",
    "process.camera.pixel_um": "pixel {} µm",
    "process.plate_mm": "plate {} mm",
    "ticks": "{} ticks",
}
PARTS = {key: tuple(key.split(".")) for key in FACTS}
MOST_PARTS = 12  # of a fact: more is none
LONGEST = 60  # characters of a fact


def find_facts(record: Mapping[str, Any]) -> dict[str, Any]:
    """What a run says of itself, by key; put into words only where it is needed."""
    facts = {}
    for key, parts in PARTS.items():
        value: Any = record
        for part in parts:
            value = value.get(part) if type(value) is dict else None
        if _is_plain(value):
            facts[key] = value
    return facts


def _is_plain(value: Any) -> bool:
    """A word, a number, or a few of them: a stranger may have nested anything."""
    if isinstance(value, dict | list):
        parts = list(value.values() if isinstance(value, dict) else value)
        return len(parts) <= MOST_PARTS and all(isinstance(part, str | int | float) for part in parts)
    return isinstance(value, str | int | float)


def spell(words: str) -> str:
    """The model and its margin as the page says it, without the letter that reports have for the margin."""
    return words.replace("δ ", "margin ")


def tell_apart(runs: Sequence[Mapping[str, Any]]) -> list[str]:
    """For each run what differs among those of its task or path and of its name; nothing if it is alone.

    Where nothing differs, the file's name is told.
    """
    groups: dict[tuple[Any, ...], list[int]] = defaultdict(list)
    for i, run in enumerate(runs):
        groups[run["task"] or run["path"], run["name"], run["model"]].append(i)
    told = [""] * len(runs)
    for members in groups.values():
        if len(members) > 1:
            _tell_group(runs, members, told)
    return told


def _tell_group(runs: Sequence[Mapping[str, Any]], members: list[int], told: list[str]) -> None:
    keys = [key for key in FACTS if len({repr(runs[i]["facts"].get(key)) for i in members}) > 1]
    for i in members:
        facts = runs[i]["facts"]
        told[i] = ", ".join(FACTS[key].format(_say(facts[key]))[:LONGEST] for key in keys if key in facts)
    counts: dict[str, int] = defaultdict(int)
    for i in members:
        counts[told[i]] += 1
    for i in members:
        if counts[told[i]] > 1:
            file = str(PurePosixPath(runs[i]["file"]).with_suffix(""))
            told[i] = f"{told[i]}, {file}" if told[i] else file


def _say(value: Any) -> str:
    if isinstance(value, Mapping):
        return ", ".join(f"{name} × {_say(part)}" for name, part in list(value.items())[:4])
    if isinstance(value, list | tuple):
        return " to ".join(_say(part) for part in value[:4])
    return f"{value:g}" if isinstance(value, float) else str(value)
