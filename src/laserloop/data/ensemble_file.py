"""Ensemble files: the settings of an ensemble as YAML, by the names that a store keeps them under."""

from pathlib import Path
from typing import Any

import yaml

from laserloop.bad_input import BadInput

LARGEST_FILE = 100_000  # bytes; ten settings take 300


def read_settings(file: str | Path) -> dict[str, Any]:
    """The settings that are in `file`, for `EnsembleSettings.from_json`."""
    rule = f"the ensemble file {str(file)!r} must be"
    if Path(file).suffix.lower() not in (".yaml", ".yml"):
        raise BadInput(
            f"an ensemble must be base, corner or a .yaml file of settings, got {str(file)!r}: choose one."
        )
    try:
        with Path(file).open("rb") as stream:
            content = stream.read(LARGEST_FILE + 1)
    except (OSError, ValueError) as problem:  # ValueError: a null byte in the name
        reason = getattr(problem, "strerror", None) or "not a path"
        raise BadInput(f"{rule} readable, but is not ({reason}); check its name.") from None
    if len(content) > LARGEST_FILE:
        raise BadInput(f"{rule} at most {LARGEST_FILE} bytes long, but is longer; keep only the settings.")
    try:
        settings = yaml.safe_load(content)
    except (yaml.YAMLError, ValueError, RecursionError):
        raise BadInput(f"{rule} YAML, but cannot be read as such; write lines like kind: corner.") from None
    if not isinstance(settings, dict):
        raise BadInput(f"{rule} lines of name: value, but holds something else; write kind: corner.")
    return settings
