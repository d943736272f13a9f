"""The project's own size, counted in what is installed and, if there is one, in the checkout around it."""

import re
from importlib.metadata import requires
from pathlib import Path

import laserloop
from laserloop.papers.halilovic.report.blocks import Block, Prose, Table

CHECKOUT = {  # folder of a checkout → what is counted there
    "tests": ("tests", "*.py"),
    "docs": ("docs", "*.md"),
    "examples": ("examples", "*.py"),
    "benchmarks": ("benchmarks", "*.py"),
}


def write_counts() -> list[Block]:
    """Files and lines, then dependencies."""
    package = Path(laserloop.__file__).parent
    rows = [("source", *count(package, "*.py"))]
    templates = [count(package, pattern) for pattern in ("*.html", "*.c", "*.h", "*.j2")]
    rows.append(("templates", str(sum(int(f) for f, _ in templates)), str(sum(int(n) for _, n in templates))))
    root = find_checkout(package)
    if root is not None:
        rows += [
            (name, *count(root / folder, pattern))
            for name, (folder, pattern) in CHECKOUT.items()
            if (root / folder).is_dir()
        ]
    extras = list_dependencies(requires("laserloop") or [])
    return [
        Table(("what", "files", "lines"), rows),
        Table(
            ("dependencies", "count", "which"),
            [(name or "core", str(len(names)), ", ".join(names)) for name, names in extras.items()],
            wordy=True,
        ),
        Prose(
            "Counted in the installed package"
            + (" and in the checkout it comes from." if root else "; there is no checkout.")
        ),
    ]


def count(folder: Path, pattern: str) -> tuple[str, str]:
    """How many files, and how many lines in them."""
    files = [file for file in sorted(folder.rglob(pattern)) if file.is_file()]
    lines = sum(len(file.read_text(encoding="utf-8", errors="replace").splitlines()) for file in files)
    return str(len(files)), str(lines)


def find_checkout(package: Path) -> Path | None:
    """The repository that the package was imported from, if it was: src/laserloop beside pyproject.toml."""
    root = package.parent.parent
    return root if package.parent.name == "src" and (root / "pyproject.toml").is_file() else None


def list_dependencies(requirements: list[str]) -> dict[str, list[str]]:
    """Names by extra; those without one under the empty name."""
    found: dict[str, list[str]] = {"": []}
    for line in requirements:
        name = re.match(r"[\w.\-]+(\[[\w,\-]+\])?", line)
        extra = re.search(r"extra\s*==\s*['\"]([\w\-]+)['\"]", line)
        if name:
            found.setdefault(extra[1] if extra else "", []).append(name[0])
    return found
