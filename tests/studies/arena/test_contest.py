"""Contests: killed and resumed, by one or by two, the tables are the same; the page leads to every run."""

import json
import re
from dataclasses import replace
from inspect import signature
from pathlib import Path

import pytest

from laserloop.bad_input import BadInput
from laserloop.cli import main
from laserloop.cli.ship import view
from laserloop.loop.scenario import Scenario
from laserloop.studies.arena import benchmark as room
from laserloop.studies.arena.benchmark import (
    Benchmark,
    find_missing,
    make_benchmark,
    read_runs,
    run_benchmark,
    settings_of,
)
from laserloop.studies.arena.entrants import find_entrant
from laserloop.studies.arena.leaderboard import save_leaderboard
from laserloop.studies.arena.ranking import Tables, save_tables, summarise, tabulate
from laserloop.studies.arena.tasks import Task, list_tasks

TIMELESS = ("standings.json", "scores.parquet")


@pytest.fixture(scope="module")
def contest() -> Benchmark:
    return make_benchmark(list_tasks(paths=2, levels=("nominal",), ticks=14), ("twin-informed", "twin", "pi"))


@pytest.fixture(scope="module")
def held(contest: Benchmark, tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("arena")
    assert run_benchmark(contest, out, workers=1) == 6
    save_tables(tabulate(contest, out), contest, out)
    return out


def test_what_is_there_is_not_run_again(contest: Benchmark, held: Path) -> None:
    assert find_missing(contest, held) == []
    assert run_benchmark(contest, held, workers=1) == 0


def test_a_contest_that_was_stopped_ends_with_the_same_tables(
    contest: Benchmark, held: Path, tmp_path: Path
) -> None:
    asked = iter([False, False, True, True, True])
    assert run_benchmark(contest, tmp_path, workers=1, until=lambda: next(asked)) == 2
    broken = next((tmp_path / "runs").iterdir())
    (broken / "result.json").unlink()  # killed before it was written
    assert len(find_missing(contest, tmp_path)) == 5
    assert run_benchmark(contest, tmp_path, workers=1) == 5
    save_tables(tabulate(contest, tmp_path), contest, tmp_path)
    for name in TIMELESS:
        assert (tmp_path / name).read_bytes() == (held / name).read_bytes()


def test_two_workers_give_the_tables_of_one(contest: Benchmark, held: Path, tmp_path: Path) -> None:
    run_benchmark(contest, tmp_path, workers=2)
    save_tables(tabulate(contest, tmp_path), contest, tmp_path)
    for name in TIMELESS:
        assert (tmp_path / name).read_bytes() == (held / name).read_bytes()


def test_nothing_in_the_tables_without_clocks_is_a_time(contest: Benchmark, held: Path) -> None:
    tables = tabulate(contest, held)
    for kept, row in zip(read_runs(contest, held), tables.rows, strict=True):
        assert (kept.record["entrant"], kept.record["task"]) == (row["entrant"], row["task"])
        assert not {name for name in row if "decision" in name or "missed" in name or name.endswith("_ms")}
    assert set(tables.clocks) == {"twin-informed", "twin", "pi"}


def test_csv_is_written_where_parquet_cannot_be(
    contest: Benchmark, held: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("laserloop.studies.arena.ranking.can_parquet", lambda: False)
    save_tables(tabulate(contest, held), contest, tmp_path)
    lines = (tmp_path / "scores.csv").read_text().splitlines()
    assert len(lines) == 7
    assert lines[0].startswith("entrant,task,family")


def test_the_summary_has_what_the_interface_promises(contest: Benchmark, held: Path) -> None:
    found = summarise(tabulate(contest, held), contest)
    assert set(found) == {"tasks", "entrants"}
    promised = {"gap_mean_k", "gap_worst_k", "outside_fraction", "rms_k", "decision_p999_us", "runs"}
    assert all(promised <= set(numbers) for numbers in found["entrants"].values())
    assert found["entrants"]["twin-informed"]["gap_mean_k"] == 0.0
    assert found["entrants"]["pi"]["gap_mean_k"] > found["entrants"]["twin"]["gap_mean_k"]


def test_every_link_of_the_page_leads_to_a_file_or_to_a_place_on_it(contest: Benchmark, held: Path) -> None:
    tables: Tables = tabulate(contest, held)
    page = save_leaderboard(tables, held, command="laserloop arena")
    text = page.read_text(encoding="utf-8")
    links = set(re.findall(r'href="([^"]+)"', text))
    assert len([link for link in links if link.startswith("runs/")]) == 6
    for link in links:
        if link.startswith("#"):
            assert f'id="{link[1:]}"' in text
        elif link.startswith("http"):  # one run in the viewer, or two
            viewer, _, runs = link.partition("#")
            assert viewer == f"http://127.0.0.1:{signature(view).parameters['port'].default}/"
            assert all((held / run).is_file() for run in runs.split(","))
        else:
            assert (held / link).is_file(), link
    assert "nearest to the informed twin" in text
    assert len([link for link in links if link.startswith("http") and "," in link]) == 4  # beside the bound


def test_a_page_of_a_run_shows_a_bound_that_came_later(
    contest: Benchmark, held: Path, tmp_path: Path
) -> None:
    (tmp_path / "runs").symlink_to(held / "runs", target_is_directory=True)
    pages = []
    for entrants in (("pi",), ("twin-informed", "pi")):
        tables = tabulate(replace(contest, entrants=entrants), tmp_path)
        save_leaderboard(tables, tmp_path, command="laserloop arena")
        worst = max(
            (row for row in tables.rows if row["entrant"] == "pi"), key=lambda row: row["excursion_k"]
        )
        pages.append((tmp_path / "pages" / f"{worst['run']}.html").read_text(encoding="utf-8"))
    assert ["twin-informed" in page for page in pages] == [False, True]


def test_workers_that_write_nothing_end_in_a_sentence(
    contest: Benchmark, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(room, "keep_run", lambda *_: {})
    with pytest.raises(BadInput, match="stayed without a run"):
        run_benchmark(contest, tmp_path, workers=1)


def test_the_verb_runs_an_own_controller_on_the_same_tasks(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(room, "QUICK_TICKS", 14)
    mine = tmp_path / "mine.py"
    mine.write_text(
        "class Mine:\n    def __init__(self, problem): pass\n    def act(self, image, preview): return 9\n"
    )
    options = ["--quick", "--paths", "1", "--entrants", "twin", "--workers", "1"]
    found = tmp_path / "arena.json"
    own = ["--controller", f"{mine}:Mine"]
    assert main(["arena", *options, *own, "--out", str(tmp_path / "out"), "--json", str(found)]) == 0
    told = json.loads(found.read_text())
    assert set(told["entrants"]) == {"twin", "Mine"}
    assert told["tasks"] == ["raster-304-nominal-v1:40000@14"]
    assert (tmp_path / "out" / "index.html").is_file()
    assert "Leaderboard" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("options", "complaint"),
    [
        (["--controller", "nowhere.py:Mine"], "FILE.py:NAME"),
        (["--controller", __file__], "add the name of its class"),
        (["--controller", f"{__file__}:NotThere"], "must have a class or function 'NotThere'"),
        (["--entrants", f"{__file__}:NotThere"], "must have a class or function 'NotThere'"),
        (["--entrants", "nobody"], "an entrant must be one of"),
        (["--levels", "wild"], "level of a task"),
        (["--processes", "gold"], "process of a task"),
        (["--split", "secret"], "a split must be one of"),
        (["--workers", "2", "--scheduler", "tcp://nowhere:1"], "exclude each other"),
    ],
)
def test_what_the_verb_cannot_do_is_a_sentence(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], options: list[str], complaint: str
) -> None:
    assert main(["arena", "--quick", "--paths", "1", *options, "--out", str(tmp_path / "out")]) == 2
    assert complaint in capsys.readouterr().err
    assert not (tmp_path / "out").exists()


def test_a_run_is_named_by_its_way_whoever_draws_it(monkeypatch: pytest.MonkeyPatch) -> None:
    twin = find_entrant("twin")
    calm, hard = (
        settings_of(Task(family="stroke", level=level, seed=40_000), twin) for level in ("off", "hard")
    )
    other = settings_of(Task(family="stroke", seed=40_001), twin)
    assert calm["path"] == hard["path"] != other["path"]
    room._hash_path.cache_clear()
    other_path = Task(family="stroke", seed=40_001).make_case().find_path()
    monkeypatch.setattr(Scenario, "find_path", lambda _: other_path)
    assert settings_of(Task(family="stroke", level="off", seed=40_000), twin)["path"] == other["path"]
    room._hash_path.cache_clear()
