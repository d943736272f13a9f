"""Runs of the arena in the viewer: found by the leaderboard's links, named by task and entrant."""

import re
from pathlib import Path

from playwright.sync_api import Page
from tests.live.conftest import serve, until

from laserloop.studies.arena.benchmark import make_benchmark, run_benchmark
from laserloop.studies.arena.leaderboard import VIEWER, save_leaderboard
from laserloop.studies.arena.ranking import save_tables, tabulate
from laserloop.studies.arena.tasks import list_tasks


def test_the_leaderboard_leads_to_its_runs_in_the_viewer(page: Page, tmp_path: Path) -> None:
    out = tmp_path / "arena"
    contest = make_benchmark(list_tasks(paths=1, levels=("off", "hard"), ticks=14), ("twin", "pi"))
    run_benchmark(contest, out, workers=1)
    tables = tabulate(contest, out)
    save_tables(tables, contest, out)
    board = save_leaderboard(tables, out, command="laserloop arena")
    page.goto(board.as_uri())
    page.locator("details#pi summary").click()
    run = page.locator("details#pi tr", has_text="raster-304-hard-v1:40000@14")
    link = run.get_by_role("link", name="view").get_attribute("href") or ""
    with serve(tmp_path) as server:  # a folder above is fine, too
        page.goto(link.replace(VIEWER, server.address))
        until(page, "document.querySelectorAll('#rows tr').length === 2")
        assert page.inner_text("#title") == "raster-304-hard-v1:40000@14"
        names = page.locator("#rows th").all_inner_texts()
        assert [re.split(r"\W", name)[0] for name in names] == ["pi", "twin"]
        headings = page.locator("#list h3").all_inner_texts()
        assert sorted(headings) == ["raster-304-hard-v1:40000@14", "raster-304-off-v1:40000@14"]
        rows = page.locator("#list label.run").all_inner_texts()
        assert sorted(row.split("\n")[0].split(" ·")[0] for row in rows) == ["pi", "pi", "twin", "twin"]
