"""Libraries: built once, kept whole, and without a compiler it is said why there are none."""

import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import pytest

from laserloop.control.problem import MpcProblem
from laserloop.native import build
from laserloop.native.network import CEngine
from laserloop.predict.model import Model

Setup = tuple[Model, MpcProblem]


@pytest.fixture
def shelf(compilers: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty cache."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    return tmp_path / "laserloop" / "native"


@pytest.fixture
def forget() -> Iterator[None]:
    """Look for a compiler anew, before and after."""
    build.find_compiler.cache_clear()
    yield
    build.find_compiler.cache_clear()


def load(number: int) -> int:
    sources = {
        "two.c": '#include "one.h"\nint answer(void) { return ONE; }\n',
        "one.h": f"#define ONE {number}\n",
    }
    return int(build.load_library(sources, "two.c").answer())


def test_a_library_is_built_once_and_kept_for_the_next_start(shelf: Path, small: Setup) -> None:
    CEngine(*small)
    (library,) = shelf.iterdir()
    written = library.stat().st_mtime_ns
    CEngine(small[0], replace(small[1], window=(700.0, 750.0)))  # the shape is the same
    assert [path.stat().st_mtime_ns for path in shelf.iterdir()] == [written]


def test_another_header_makes_another_library(shelf: Path) -> None:
    assert (load(1), load(2), load(1)) == (1, 2, 1)
    assert len(list(shelf.iterdir())) == 2


def test_builds_at_the_same_time_leave_one_whole_library(shelf: Path) -> None:
    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(load, [7] * 4)) == [7] * 4
    assert [path.suffix for path in shelf.iterdir()] == [".so"]


def test_a_library_that_was_cut_short_is_built_again(shelf: Path) -> None:
    code = "import sys; sys.path.insert(0, sys.argv[1]); import test_build; print(test_build.load(3))"
    command = [sys.executable, "-c", code, str(Path(__file__).parent)]
    subprocess.run(command, check=True)
    (library,) = shelf.iterdir()
    library.write_bytes(library.read_bytes()[:100])
    assert subprocess.run(command, check=True, capture_output=True, text=True).stdout == "3\n"


def test_without_a_compiler_it_is_said_why(
    forget: None, small: Setup, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setenv("CC", "no-such-compiler")
    with pytest.raises(build.NoCompiler, match="no C compiler"):
        CEngine(*small)


def test_a_compiler_that_fails_is_said_to(
    forget: None, shelf: Path, small: Setup, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    broken = tmp_path / "broken-cc"
    broken.write_text("#!/bin/sh\necho no disk left >&2\nexit 1\n")
    broken.chmod(0o755)
    monkeypatch.setenv("CC", str(broken))
    with pytest.raises(build.NoCompiler, match="no disk left"):
        CEngine(*small)
    assert list(shelf.iterdir()) == []


def test_a_cache_that_cannot_be_written_is_said_to_be(
    compilers: list[str], small: Setup, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    with pytest.raises(build.NoCompiler, match="no library could be kept"):
        CEngine(*small)


def test_importing_the_engine_needs_no_compiler(tmp_path: Path) -> None:
    code = "import laserloop.native.network, laserloop.native.export"
    environment = {"PATH": str(tmp_path), "CC": "no-such-compiler", "PYTHONPATH": ":".join(sys.path)}
    subprocess.run([sys.executable, "-c", code], check=True, env=environment)
