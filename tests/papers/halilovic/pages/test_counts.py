"""The project counts itself."""

from pathlib import Path

import laserloop
from laserloop.papers.halilovic.pages.counts import count, find_checkout, list_dependencies, write_counts
from laserloop.papers.halilovic.report.blocks import Table


def test_lines_are_those_of_the_files(tmp_path: Path) -> None:
    (tmp_path / "deep").mkdir()
    (tmp_path / "one.py").write_text("a\nb\n")
    (tmp_path / "deep" / "two.py").write_text("c")
    (tmp_path / "three.md").write_text("d\n")
    assert count(tmp_path, "*.py") == ("2", "3")


def test_dependencies_are_sorted_by_extra() -> None:
    lines = ["numpy>=2.0", "dask>=2025.1; extra == 'data'", 'laserloop[data]; extra == "train"']
    assert list_dependencies(lines) == {"": ["numpy"], "data": ["dask"], "train": ["laserloop[data]"]}


def test_an_installed_package_has_no_checkout(tmp_path: Path) -> None:
    assert find_checkout(tmp_path / "site-packages" / "laserloop") is None


def test_the_package_itself_is_counted() -> None:
    sizes, dependencies, _ = write_counts()
    assert isinstance(sizes, Table)
    assert isinstance(dependencies, Table)
    files = len(list(Path(laserloop.__file__).parent.rglob("*.py")))
    assert tuple(sizes.rows[0])[:2] == ("source", str(files))
    assert "numpy" in str(dependencies.rows[0][2])
