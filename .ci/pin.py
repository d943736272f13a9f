"""Writes constraints.txt from this environment, constraints-oldest.txt from the ranges (make constraints)."""

import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
TOOLS = {"laserloop", "pip", "uv", "wheel"}  # not what the project is run or tested with
NEWEST = "# All of .[dev], tested together. Made by `make constraints`; ranges live in pyproject.toml.\n"
OLDEST = (
    "# The oldest versions that pyproject.toml admits with [data], Python 3.11. Made by `make constraints`.\n"
)


def freeze() -> str:
    """What is installed here, without the project and without local build tags such as +cpu."""
    command = [sys.executable, "-m", "pip", "freeze", "--all", "--exclude-editable"]
    lines = subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()
    pins = (re.fullmatch(r"([\w.-]+)==([\w.!]+)(\+\w+)?", line) for line in lines)
    return "".join(f"{pin[1]}=={pin[2]}\n" for pin in pins if pin and pin[1].lower() not in TOOLS)


def resolve_oldest() -> str:
    """The lower bounds of direct dependencies, with the newest of what they need."""
    command = [
        *(sys.executable, "-m", "uv", "pip", "compile", "--quiet", "--no-header", "--no-annotate"),
        *("--resolution", "lowest-direct", "--python-version", "3.11", "--extra", "data", "pyproject.toml"),
    ]
    return subprocess.run(command, capture_output=True, text=True, check=True, cwd=ROOT).stdout


if __name__ == "__main__":
    (ROOT / "constraints.txt").write_text(NEWEST + freeze(), encoding="utf-8")
    (ROOT / "constraints-oldest.txt").write_text(OLDEST + resolve_oldest(), encoding="utf-8")
