"""The verbs of the whole paper: what they print at the end, and what machines get."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from laserloop.cli import main

Put = Callable[..., Path]
Make = Callable[[], dict[str, Any]]
Capture = pytest.CaptureFixture[str]


@pytest.fixture(autouse=True)
def no_pages(monkeypatch: pytest.MonkeyPatch) -> None:
    """The pages have tests of their own."""
    monkeypatch.setattr("laserloop.studies.halilovic.report.write_report", lambda root: root)


def test_a_report_ends_with_the_verdicts(
    tmp_path: Path, put_results: Put, make_results: Make, capsys: Capture
) -> None:
    root = put_results(tmp_path / "run", make_results())
    assert main(["report", str(root), "--json", str(tmp_path / "claims.json")]) == 0
    out = capsys.readouterr().out
    told = json.loads((tmp_path / "claims.json").read_text())
    assert [claim["key"] for claim in told["claims"]] == ["C1", "C2", "C3", "C4", "C5", "Finding"]
    for claim in told["claims"]:
        held = [check["holds"] for check in claim["checks"]]
        word = "confirmed" if all(held) else "partly" if any(held) else "not"
        assert (bool(held), claim["verdict"]) == (True, word)
        assert any(line.split()[:2] == [claim["key"], word] for line in out.splitlines())
    assert out.endswith(f"Report: {root}/report/index.html\n")
    assert (told["size"], told["note"]) == ("full", "")
    assert "QUICK" not in out


def test_what_is_small_is_called_so(
    tmp_path: Path, put_results: Put, make_results: Make, capsys: Capture
) -> None:
    root = put_results(tmp_path / "run", {"plant": make_results()["plant"]}, size="quick")
    assert main(["report", str(root)]) == 0
    assert "QUICK RUN" in capsys.readouterr().out
    assert main(["report", str(root), "--json", "-"]) == 0
    told = json.loads(capsys.readouterr().out)  # and nothing else
    assert {claim["verdict"] for claim in told["claims"]} == {"not judged"}


def test_a_reproduction_ends_in_the_same_way(
    tmp_path: Path, put_results: Put, make_results: Make, monkeypatch: pytest.MonkeyPatch, capsys: Capture
) -> None:
    root = tmp_path / "run"
    monkeypatch.setattr(
        "laserloop.studies.halilovic.run.reproduce", lambda out, *_, **__: put_results(out, make_results())
    )
    assert main(["reproduce", "--out", str(root), "--json", str(tmp_path / "claims.json")]) == 0
    assert json.loads((tmp_path / "claims.json").read_text())["page"] == f"{root}/report/index.html"
    assert f"Report: {root}/report/index.html" in capsys.readouterr().out


def test_hopeless_output_is_refused_before_the_hours(tmp_path: Path, capsys: Capture) -> None:
    (tmp_path / "file").touch()
    target = str(tmp_path / "file" / "claims.json")
    assert main(["reproduce", "--out", str(tmp_path / "run"), "--json", target]) == 2
    assert "--json" in capsys.readouterr().err
    assert not (tmp_path / "run").exists()
