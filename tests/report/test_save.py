import json
import os
from pathlib import Path
from typing import Any

import pytest
from matplotlib.figure import Figure

from laserloop.bad_input import BadInput
from laserloop.report.page import save_comparison
from laserloop.report.save import check_target, dump, save, save_figure


def test_a_file_replaces_its_former_self_and_leaves_no_trace(tmp_path: Path) -> None:
    file = tmp_path / "new" / "folder" / "a.txt"
    save(file, "first")
    save(file, "zwölf µm")
    assert file.read_text(encoding="utf-8") == "zwölf µm"
    assert os.listdir(file.parent) == ["a.txt"]


def test_a_failed_save_keeps_the_former_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "a.txt"
    save(file, "first")

    def fail(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "replace", fail)
    with pytest.raises(OSError, match="No space"):
        save(file, "second")
    assert file.read_text() == "first"
    assert os.listdir(tmp_path) == ["a.txt"]


def test_a_failed_save_names_the_file_that_was_meant(tmp_path: Path) -> None:
    file = tmp_path / f"{'a' * 250}.txt"  # with the temporary's letters more, too long a name for a file
    with pytest.raises(OSError, match="too long") as failed:
        save(file, "text")
    assert failed.value.filename == str(file)


def test_a_link_keeps_pointing_to_its_file(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(tmp_path / "real")
    save(tmp_path / "link", "text")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "real").read_text() == "text"


def test_a_device_stays_a_device() -> None:
    save(Path("/dev/null"), "text")
    assert Path("/dev/null").is_char_device()


def test_hopeless_targets_are_seen_in_advance(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    for target in (tmp_path, tmp_path / "file" / "x"):
        with pytest.raises(OSError, match="directory"):
            check_target(target)
    check_target(tmp_path / "not" / "yet" / "there")
    assert not (tmp_path / "not").exists()


@pytest.mark.parametrize(("name", "start"), [("a.png", b"\x89PNG"), ("a.SVG", b"<?xml"), ("a.pdf", b"%PDF")])
def test_a_figures_format_follows_its_name(tmp_path: Path, name: str, start: bytes) -> None:
    save_figure(tmp_path / name, Figure())
    assert (tmp_path / name).read_bytes().startswith(start)


def test_an_unknown_figure_format_is_refused(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match=r"must end in \.png, \.svg, \.pdf, but got 'a\.xyz'"):
        save_figure(tmp_path / "a.xyz", Figure())


def test_json_knows_no_nan() -> None:
    with pytest.raises(ValueError, match="not JSON compliant"):
        dump({"t_max_k": float("nan")})


def test_a_report_overwrites_its_own_files_only(tmp_path: Path, constant: dict[str, Any]) -> None:
    (tmp_path / "notes.txt").write_text("mine")
    (tmp_path / "index.html").write_text("old")
    page = save_comparison(tmp_path, [constant], command="")
    assert (tmp_path / "notes.txt").read_text() == "mine"
    assert page.read_text().startswith("<!DOCTYPE html>")
    assert json.loads((tmp_path / "run-1.json").read_text()) == constant
    assert {file.name for file in tmp_path.glob("*.png")} == {"run-1.png", "comparison.png", "tick-times.png"}
