"""A machine without a browser or a compiler tells what to install, and the CI lets nothing be skipped."""

import os
import runpy
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from tests.conftest import packages

ROOT = Path(__file__).parent.parent
NEEDY = """
from tests.conftest import need

def test_that_needs_a_tool():
    need("cmake")

def test_that_needs_another():
    need("browser")

def test_that_compiles():
    raise OSError("no C compiler was found")

def test_that_needs_nothing():
    pass
"""


@pytest.fixture
def bare(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A machine with nothing on its PATH and nothing in its home."""
    for name in ("bin", "home"):
        (tmp_path / name).mkdir()
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.delenv("PLAYWRIGHT_BROWSERS_PATH", raising=False)
    monkeypatch.delenv("CI", raising=False)
    return tmp_path


def put(folder: Path, name: str) -> str:
    file = folder / name
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text("#!/bin/sh\n")
    file.chmod(0o755)
    return str(file)


@pytest.mark.skipif(sys.platform == "darwin", reason="browsers of macOS lie elsewhere")
def test_a_browser_is_found_wherever_it_is(bare: Path) -> None:
    assert packages.find_browsers() == []
    assert not packages.has("browser")
    own = ".cache/ms-playwright/chromium-1200/chrome-linux/chrome"
    wanted = [put(bare / "bin", name) for name in ("chromium-browser", "google-chrome")]
    wanted.append(put(bare / "home", own))
    assert packages.find_browsers() == wanted
    assert packages.has("browser")


def run_tests(bare: Path, **environ: str) -> subprocess.CompletedProcess[str]:
    """The tests above, in a clone of what they need."""
    for name in ("tests/conftest.py", ".ci/packages.py"):
        (bare / name).parent.mkdir(exist_ok=True)
        shutil.copy(ROOT / name, bare / name)
    tests = bare / "tests" / "test_needy.py"
    tests.write_text(tests.read_text() if tests.exists() else NEEDY)
    options = ("-q", "-ra", "-p", "no:cacheprovider", "-p", "no:xdist", "--import-mode=importlib")
    command = [sys.executable, "-m", "pytest", *options, "--rootdir", str(bare), "-c", "/dev/null", "tests"]
    there = {**os.environ, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", **environ}
    return subprocess.run(command, cwd=bare, env=there, capture_output=True, text=True, check=False)


def test_what_a_machine_lacks_is_skipped_and_told_in_one_sentence(bare: Path) -> None:
    done = run_tests(bare)
    assert done.returncode == 0, done.stdout + done.stderr
    told, counts = done.stdout.splitlines()[-2:]
    assert "1 passed, 3 skipped" in counts
    assert told.startswith("3 tests were skipped for want of cc, cmake, browser; to run all: ")
    assert "playwright install chromium" in told
    put(bare / "bin", "apt-get")
    put(bare / "bin", "cc")
    told = run_tests(bare).stdout
    assert "to run all: apt-get install cmake chromium." in told
    assert "1 failed, 1 passed, 2 skipped" in told  # the compiler is there: what fails has failed


def test_in_the_ci_a_skip_is_a_failure(bare: Path) -> None:
    done = run_tests(bare, CI="true")
    assert done.returncode == 1
    assert "for want of cc, cmake, browser, which CI=true does not allow; to run all" in done.stdout
    for name in ("cc", "cmake", "chromium"):
        put(bare / "bin", name)
    (bare / "tests" / "test_needy.py").write_text(NEEDY.replace("raise", "return"))
    assert run_tests(bare, CI="true").returncode == 0


def test_what_cannot_be_got_ends_the_ci_and_nobody_else(
    bare: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(packages, "get", lambda tools: put(bare / "bin", "cmake"))
    assert packages.main() == 0
    told = capsys.readouterr().err
    assert "the tests that need that will be skipped" in told
    assert "browser" in told
    assert "cmake" not in told
    monkeypatch.setenv("CI", "true")
    assert packages.main() == 1


def test_a_changed_file_chooses_the_tests_that_would_notice(tmp_path: Path) -> None:
    choose = runpy.run_path(str(ROOT / ".ci" / "check.py"))["choose_tests"]
    house = set(choose([], ROOT))
    assert "tests/test_doors.py" in house
    assert not any("live" in test for test in house)
    chosen = set(choose([Path("src/laserloop/loop/record.py")], ROOT))
    assert {"tests/loop/test_record.py", "tests/test_sentences.py"} <= chosen
    assert "tests/paths/test_arc.py" not in chosen
    assert "tests/cli/test_plan_verb.py" in choose([Path("src/laserloop/cli/plan.py")], ROOT)
    assert "tests/native/test_qp.py" in choose([Path("src/laserloop/native/c/qp.c")], ROOT)
    assert "tests/live/test_layout.py" in choose([Path("src/laserloop/live/page/map.js")], ROOT)
    (page,) = set(choose([Path("README.md")], ROOT)) - house
    assert page == "tests/test_docs.py::test_every_block_of_the_page_runs[README.md]"
