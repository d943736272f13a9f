"""Common ground: what is compared was run on the same tasks."""

from typing import Any

from arena_rows import keep_common, share_further, share_tasks


def run(entrant: str, count: int, start: int = 0) -> list[dict[str, Any]]:
    """Its rows on so many tasks."""
    return [{"entrant": entrant, "task": f"raster-304-off-v1:{30_000 + k}"} for k in range(start, count)]


def count(rows: list[dict[str, Any]]) -> dict[str, int]:
    """Rows of each entrant."""
    found: dict[str, int] = {}
    for row in rows:
        found[row["entrant"]] = found.get(row["entrant"], 0) + 1
    return found


def test_means_are_over_the_tasks_that_everybody_has_run() -> None:
    rows = run("twin", 9) + run("pi", 3) + run("constant", 3) + run("rl", 7)
    assert count(share_tasks(rows)) == {"twin": 3, "pi": 3, "constant": 3, "rl": 3}


def test_one_who_has_just_begun_takes_no_task_from_the_others() -> None:
    rows = run("twin", 9) + run("pi", 6) + run("constant", 6) + run("new", 1)
    assert count(share_tasks(rows)) == {"twin": 6, "pi": 6, "constant": 6, "new": 1}


def test_those_who_have_run_more_are_compared_on_what_they_all_have_run() -> None:
    rows = run("twin", 9) + run("pi", 3) + run("constant", 3) + run("rl", 7)
    assert count(share_further(rows)) == {"twin": 7, "rl": 7}
    rows += run("ilc", 3) + run("fno", 3) + run("rl@1", 7) + run("oracle", 4)
    assert count(share_further(rows)) == {"twin": 7, "rl": 7, "rl@1": 7}
    assert share_further(run("twin", 3) + run("pi", 3)) == []
    assert share_tasks([]) == share_further([]) == []


def test_only_tasks_of_those_who_are_named_count() -> None:
    rows = run("twin", 5, 2) + run("pi", 3) + run("rl", 1)
    assert {row["task"] for row in keep_common(rows, ["twin", "pi"])} == {"raster-304-off-v1:30002"}
