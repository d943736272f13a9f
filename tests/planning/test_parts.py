"""Several files, each on a plate of its own."""

from dataclasses import replace
from pathlib import Path

import pytest

from laserloop.paths.files import ScanFile
from laserloop.planning.commands import PlanSettings
from laserloop.planning.job import Job, plan_job
from laserloop.planning.verify import Checking, Part, PlannedPart, plan_part, plan_parts
from laserloop.process import Process

LINE = "x_mm,y_mm\n-0.5,0\n0.5,0\n"


def make_part(folder: Path, name: str, text: str = LINE, *, simulate: bool = False) -> Part:
    file = folder / name
    file.write_text(text)
    job = Job(
        file=ScanFile(name, text.encode(), None, 20.0), process=Process(), settings=PlanSettings(by="vector")
    )
    return Part(path=name, job=job, checking=Checking(simulate=simulate))


def test_a_part_is_planned_as_its_file_alone_and_needs_no_file(tmp_path: Path) -> None:
    part = make_part(tmp_path, "a.csv")
    alone = plan_job(part.job)
    content = alone.write()
    (tmp_path / "a.csv").unlink()
    found = plan_part(part)
    assert found.content == content
    assert found.record is not None
    assert found.record["path"] == "a.csv"
    assert found.record["power_w"] == alone.tell()["power_w"]
    assert "verified" not in found.record
    assert not any(str(tmp_path.parent) in note or "/tmp" in note for note in found.record["notes"])


def test_a_part_that_cannot_be_planned_says_why_and_stops_no_other(tmp_path: Path) -> None:
    parts = [make_part(tmp_path, "bad.csv", "x_mm,y_mm\n0,oops\n"), make_part(tmp_path, "good.csv")]
    bad, good = plan_parts(parts, workers=1)
    assert bad.problem.startswith("bad.csv, line 2: ")
    assert bad.record is None
    assert good.problem == ""
    assert good.content


def test_a_part_is_verified_where_it_is_planned(tmp_path: Path) -> None:
    found = plan_part(make_part(tmp_path, "a.csv", simulate=True))
    assert found.record is not None
    assert 700 < found.record["verified"]["t_min_k"] <= found.record["verified"]["t_max_k"] < 810
    assert found.record["layers"][0]["verified"]["plant"] == "graded"


def test_workers_find_what_one_process_finds(tmp_path: Path) -> None:
    pytest.importorskip("distributed")
    parts = [make_part(tmp_path, "a.csv"), make_part(tmp_path, "b.csv", LINE.replace("0.5,0", "0.4,0"))]
    here = {done.path: done.content for done in plan_parts(parts, workers=1)}
    there = {done.path: done.content for done in plan_parts(parts, workers=2)}
    assert there == here


def test_a_part_whose_workers_die_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from contextlib import nullcontext

    parts = [make_part(tmp_path, "a.csv"), make_part(tmp_path, "b.csv")]
    monkeypatch.setattr("laserloop.planning.verify.open_cluster", lambda *_: nullcontext())
    monkeypatch.setattr("laserloop.planning.verify.share_out", lambda *_: iter([PlannedPart(path="b.csv")]))
    done = {part.path: part.problem for part in plan_parts(parts, workers=2)}
    assert done == {"b.csv": "", "a.csv": "a.csv: its worker died again and again; plan it alone."}


def test_parts_keep_their_settings(tmp_path: Path) -> None:
    part = make_part(tmp_path, "a.csv")
    process = part.job.process.change(window_k=(700, 740))
    (done,) = plan_parts([replace(part, job=replace(part.job, process=process))], workers=1)
    assert done.record is not None
    assert done.record["t_max_k"] < 740
