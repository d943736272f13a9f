"""What is pinned beside a test: one JSON file, an entry in each line, compared to within rounding."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest

ACCURACY = 1e-6  # relative; another processor rounds otherwise


def read_pin(file: Path, name: str) -> Any:
    """What stands in a file under a name."""
    return json.loads(file.read_text(encoding="utf-8"))[name]


def write_pins(file: Path, pins: Mapping[str, Any]) -> None:
    """All pins of a file, as they are now."""
    lines = (f"{json.dumps(name)}: {json.dumps(plain(pin), allow_nan=False)}" for name, pin in pins.items())
    file.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")


def plain(value: Any) -> Any:
    """As JSON has it, with nine digits of a number and words for what is none."""
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, np.ndarray | list | tuple):
        return [plain(item) for item in value]
    if isinstance(value, float | np.floating):
        return float(f"{value:.9g}") if np.isfinite(value) else str(float(value))
    return value.item() if isinstance(value, np.generic) else value


def differences(found: Any, wanted: Any, place: str = "") -> list[str]:
    """Where they differ, by more than rounding."""
    if isinstance(wanted, dict) and isinstance(found, dict):
        lacking = [f"{place}/{key}: only in one" for key in wanted.keys() ^ found.keys()]
        pairs = ((found[key], wanted[key], f"{place}/{key}") for key in wanted if key in found)
        return lacking + [text for pair in pairs for text in differences(*pair)]
    if isinstance(wanted, list) and isinstance(found, list) and len(wanted) == len(found):
        pairs = ((a, b, f"{place}[{i}]") for i, (a, b) in enumerate(zip(found, wanted, strict=True)))
        return [text for pair in pairs for text in differences(*pair)]
    numbers = all(isinstance(v, float | int) and not isinstance(v, bool) for v in (found, wanted))
    same = found == pytest.approx(wanted, rel=ACCURACY, abs=ACCURACY) if numbers else found == wanted
    return [] if same else [f"{place}: {found!r} instead of {wanted!r}"]
