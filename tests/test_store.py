"""Cases: computed once, kept whole, found again."""

import json
import os
from pathlib import Path
from typing import Any

import pytest

import laserloop
from laserloop.bad_input import BadInput
from laserloop.store import RESULT_FILE, check_target, dump, has_case, name_case, save, solve_case
from laserloop.versions import hash_code, hash_source


def test_a_case_on_disk_is_not_computed_again(tmp_path: Path) -> None:
    calls = []

    def compute() -> dict[str, Any]:
        calls.append(1)
        return {"rmse_k": 3.25}

    settings = {"path": "spiral", "seed": 3}
    first = solve_case(tmp_path, settings, compute)
    assert solve_case(tmp_path, {"seed": 3, "path": "spiral"}, compute) == first == {"rmse_k": 3.25}
    assert len(calls) == 1
    solve_case(tmp_path, {"path": "spiral", "seed": 4}, compute)
    assert len(calls) == 2


def test_a_result_of_other_code_is_computed_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    settings = {"path": "spiral"}
    monkeypatch.setattr("laserloop.store.hash_code", lambda: "old")
    assert solve_case(tmp_path, settings, lambda: {"a": 1}) == {"a": 1}
    assert has_case(tmp_path, settings)
    monkeypatch.setattr("laserloop.store.hash_code", lambda: "new")
    assert not has_case(tmp_path, settings)
    assert solve_case(tmp_path, settings, lambda: {"a": 2}) == {"a": 2}
    codes = [json.loads(file.read_text())["code"] for file in tmp_path.glob("*/settings.json")]
    assert sorted(codes) == ["new", "old"]


def test_every_line_that_computes_names_the_code_and_no_line_that_shows(tmp_path: Path) -> None:
    for room in ("plant", "control/gains", "report", "studies/halilovic"):
        (tmp_path / room).mkdir(parents=True)
    hashes = [hash_source(tmp_path)]
    for file, text in (
        ("plant/kernels.py", "a = 1"),
        ("plant/kernels.py", "a = 2"),
        ("control/gains/paper.json", "{}"),
        ("studies/halilovic/cases.py", ""),
        ("plant/links.c", "int a;"),
    ):
        (tmp_path / file).write_text(text)
        hashes.append(hash_source(tmp_path))
    assert len(set(hashes)) == 6
    (tmp_path / "report" / "page.py").write_text("b = 1")
    (tmp_path / "studies/halilovic/report.py").write_text("b = 1")
    (tmp_path / "plant" / "kernels.pyc").write_text("b = 1")
    assert hash_source(tmp_path) == hashes[-1]
    assert hash_code() == hash_source(Path(laserloop.__file__).parent)


def test_a_case_that_was_killed_before_its_result_is_computed(tmp_path: Path) -> None:
    settings = {"a": 1}
    (tmp_path / name_case(settings)).mkdir()
    (tmp_path / name_case(settings) / f".{RESULT_FILE}.123.tmp").write_text('{"half":')
    assert solve_case(tmp_path, settings, lambda: {"b": 2}) == {"b": 2}


def test_a_damaged_result_is_named_and_not_overwritten(tmp_path: Path) -> None:
    settings = {"a": 1}
    solve_case(tmp_path, settings, lambda: {"b": 2})
    result = tmp_path / name_case(settings) / RESULT_FILE
    result.write_text("[1, 2")
    with pytest.raises(BadInput, match=r"result\.json must be a JSON object"):
        solve_case(tmp_path, settings, lambda: {"b": 3})
    assert result.read_text() == "[1, 2"


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


def test_json_knows_no_nan() -> None:
    with pytest.raises(ValueError, match="not JSON compliant"):
        dump({"t_max_k": float("nan")})
