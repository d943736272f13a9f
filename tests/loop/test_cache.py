"""Cases: computed once, kept whole, found again."""

from pathlib import Path
from typing import Any

import pytest

from laserloop.bad_input import BadInput
from laserloop.loop.cache import RESULT_FILE, name_case, solve_case


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
