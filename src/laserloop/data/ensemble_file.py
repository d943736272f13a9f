"""Ensemble files: the settings of an ensemble as YAML, by the names that a store keeps them under."""

from pathlib import Path
from typing import Any

from laserloop.bad_input import BadInput
from laserloop.process.yaml_file import load_yaml, read_text

LARGEST_FILE = 100_000  # bytes; ten settings take 300


def read_settings(file: str | Path) -> dict[str, Any]:
    """The settings that are in `file`, for `EnsembleSettings.from_json`."""
    rule = f"the ensemble file {str(file)!r} must be"
    if Path(file).suffix.lower() not in (".yaml", ".yml"):
        raise BadInput(
            f"an ensemble must be base, corner or a .yaml file of settings, got {str(file)!r}: choose one."
        )
    settings = load_yaml(
        read_text(file, rule, LARGEST_FILE), "an ensemble", f"the ensemble file {str(file)!r}"
    )
    if not isinstance(settings, dict):
        raise BadInput(f"{rule} lines of name: value, but holds something else; write kind: corner.")
    return settings
