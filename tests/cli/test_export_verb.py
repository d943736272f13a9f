"""The verb that writes the controller as C."""

import json
import shutil
from pathlib import Path

import pytest

from laserloop.cli import main

needs_compiler = pytest.mark.skipif(
    not any(map(shutil.which, ("cc", "gcc", "clang"))), reason="no C compiler on this machine"
)


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


@needs_compiler
def test_an_export_names_its_files_and_its_margin(tmp_path: Path) -> None:
    out, told = tmp_path / "firmware", tmp_path / "told.json"
    wish = ["--material", "316", "--force", "--delta-k", "5", "--out", str(out), "--json", str(told)]
    assert main(["export", "paper-corner", *wish]) == 0
    found = json.loads(told.read_text())
    assert found["delta_k"] == 5.0
    assert found["files"] == {file.name: file.stat().st_size for file in out.iterdir()}
    assert "Model paper-corner" in (out / "laserloop_config.h").read_text()
