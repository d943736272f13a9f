"""The verb that writes the controller as C."""

import json
from pathlib import Path

import pytest
from tests.conftest import need

from laserloop.cli import main
from laserloop.control.margins import find_margins
from laserloop.process import find_process


def test_a_model_is_not_exported_for_a_process_it_was_not_made_for(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "firmware"
    assert main(["export", "paper-corner", "--material", "316", "--window-k", "1500,1700", "--out", str(out)])
    told = capsys.readouterr().err
    assert "material is another than in its training" in told
    assert "the window is 1500 to 1700 K" in told
    assert "--force" in told
    assert not out.exists()


def test_an_export_names_its_files_and_its_margin(tmp_path: Path) -> None:
    need("cc")
    out, told = tmp_path / "firmware", tmp_path / "told.json"
    wish = ["--material", "316", "--force", "--delta-k", "5", "--out", str(out), "--json", str(told)]
    assert main(["export", "paper-corner", *wish]) == 0
    found = json.loads(told.read_text())
    assert found["delta_k"] == 5.0
    assert found["files"] == {file.name: file.stat().st_size for file in out.iterdir()}
    assert "Model paper-corner" in (out / "laserloop_network_config.h").read_text()


def test_a_twin_is_exported_with_the_margins_that_control_plans_with(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    need("cc")
    out, told = tmp_path / "firmware", tmp_path / "told.json"
    assert main(["export", "--process", "ti64", "--out", str(out), "--json", str(told)]) == 0
    margins = find_margins("graded", find_process("ti64"))
    assert margins is not None
    found = json.loads(told.read_text())
    assert found["margins_k"] == {"above": margins.above, "below": margins.below}
    assert f"{margins.above:g} K above" in (out / "laserloop_twin_config.h").read_text()
    own = ["--process", "ti64", "--window-k", "1180,1220", "--out", str(out), "--json", str(told)]
    assert main(["export", *own]) == 0  # another process: nobody has calibrated it
    assert json.loads(told.read_text())["margins_k"] == {"above": 0.0, "below": 0.0}
    assert "no margins were calibrated" in capsys.readouterr().err
