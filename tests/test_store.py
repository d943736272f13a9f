"""Cases: computed once, kept whole, found again."""

import json
from pathlib import Path
from typing import Any

import pytest

import laserloop
from laserloop.bad_input import BadInput
from laserloop.store import RESULT_FILE, has_case, name_case, solve_case
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
