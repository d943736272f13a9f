"""Where a model comes from: versions of the software and the commit of the source."""

import platform
import subprocess
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

PACKAGES = ("laserloop", "numpy", "torch")


def find_versions() -> dict[str, str]:
    """The versions that decide what a training gives."""
    found = {"python": platform.python_version()}
    for package in PACKAGES:
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            continue
    return found


def find_commit() -> str | None:
    """The commit of the source, with + if it has been changed since; None for an installed package."""
    folder = Path(__file__).parent
    try:
        commit = _git(folder, "rev-parse", "HEAD")
        changed = _git(folder, "status", "--porcelain", "--untracked-files=no", "--", str(folder))
    except (OSError, subprocess.SubprocessError):
        return None
    return commit + "+" * bool(changed)


def _git(folder: Path, *words: str) -> str:
    done = subprocess.run(["git", *words], cwd=folder, check=True, capture_output=True, text=True, timeout=10)
    return done.stdout.strip()
