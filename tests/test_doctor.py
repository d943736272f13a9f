"""The doctor: what is missing is told with its cure, what is broken ends in a sentence."""

import json
import tomllib
from pathlib import Path

import pytest
from tests.conftest import need

from laserloop import doctor
from laserloop.cli import main
from laserloop.native import build
from laserloop.native.twin import RATIO


def test_a_healthy_house_is_told_so(tmp_path: Path) -> None:
    need("cc")
    file = tmp_path / "doctor.json"
    assert main(["doctor", "--json", str(file)]) == 0
    checks = {check["what"]: check for check in json.loads(file.read_text())["checks"]}
    assert {check["state"] for check in checks.values()} == {"ok"}
    assert "the twin holds 77" in checks["loop"]["found"]


def test_a_compiler_that_fails_is_missing_and_not_fatal(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(build, "find_compiler", lambda: "/bin/false")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    check = doctor.look_for_compiler()
    assert check.state == "missing"
    assert "NumPy" in check.found


def test_what_is_broken_is_told_and_ends_with_2(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(doctor, "try_plant", lambda: 1 / 0)
    monkeypatch.setattr(doctor, "try_loop", lambda: "fine")
    assert main(["doctor"]) == 2
    told = capsys.readouterr()
    assert "1 of" in told.err
    assert "ZeroDivisionError" in told.out


def test_every_extra_that_people_install_is_looked_for() -> None:
    project = tomllib.loads((Path(__file__).parent.parent / "pyproject.toml").read_text(encoding="utf-8"))
    extras = project["project"]["optional-dependencies"]
    assert set(doctor.EXTRAS) == set(extras) - {"docs", "dev"}
    for extra, (_, modules, _) in doctor.EXTRAS.items():
        own = [need for need in extras[extra] if not need.startswith("laserloop[")]
        assert len(modules) == len(own), extra


def test_without_a_compiler_all_say_the_same_slowness() -> None:
    root = Path(__file__).parent.parent
    pages = [root / "docs" / "limits.md", root / "docs" / "how-to" / "deploy-the-controller.md"]
    for file in (*pages, Path(doctor.__file__)):
        assert f"about {RATIO} times slower" in file.read_text(encoding="utf-8"), file


def test_an_extra_that_is_not_installed_has_its_cure(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(doctor, "find_spec", lambda module: None)
    assert all("pip install 'laserloop[" in check.found for check in doctor.look_for_extras())
