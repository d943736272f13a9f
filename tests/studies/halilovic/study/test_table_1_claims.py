"""What Table 1 shows: the paper's own rows show it, and rows that do not are told apart."""

from typing import Any

import pytest

from laserloop.studies.halilovic.contexts import show_table_1
from laserloop.studies.halilovic.offline_claims import judge_table_1
from laserloop.studies.halilovic.published import EXCITATION_NAMES, TABLE_1
from laserloop.studies.halilovic.results import Results


def copy_paper() -> list[dict[str, Any]]:
    """The paper's rows in our form, with a flat error."""
    return [
        {
            "path": path,
            "model": model,
            "rmse_k": dict(zip(EXCITATION_NAMES, figures, strict=False)),
            "rmse_mean_k": figures[3],
            "max_error_k": figures[4],
            "rmse_per_step_of_k": {"persistent": [figures[3]] * 5},
            "rmse_std_k": dict.fromkeys(EXCITATION_NAMES, 1.0),
        }
        for (path, model), figures in TABLE_1.items()
    ]


def test_the_papers_own_rows_obey_and_have_the_ratio_one() -> None:
    claims = judge_table_1(copy_paper())
    assert len(claims) == 11
    assert all(claim.holds for claim in claims)
    context = show_table_1(gather(copy_paper()))
    assert [one.split()[-1] for one in context["means"]] == ["1.00"] * 6
    assert context["beyond"] == []


def gather(rows: list[dict[str, Any]]) -> Results:
    found = [{**row, "realisations": 3} for row in rows]
    return Results(settings={}, table_1={"rows": found, "excitations": []})


@pytest.mark.parametrize(
    ("row", "change", "sentence"),
    [
        (2, {"rmse_mean_k": 7.5}, "means of seen paths"),
        (4, {"rmse_mean_k": 8.0}, "unseen diagonal"),
        (1, {"rmse_mean_k": 3.71 / 1.02}, "corner data cost"),
        (0, {"rmse_k": {"persistent": 2.6, "hf-random": 5.4, "bang-bang": 5.3}}, "frequency"),
        (3, {"rmse_k": {"persistent": 8.3, "hf-random": 8.2, "bang-bang": 10.1}}, "frequency"),
        (0, {"rmse_per_step_of_k": {"persistent": [2.7, 3.0, 3.2, 3.4, 3.6]}}, "flat"),
        (0, {"rmse_std_k": {"persistent": 1.1}}, "run to run"),
        (3, {"max_error_k": 34.0}, "enlarge the worst"),
        (3, {"rmse_mean_k": 5.8}, "larger on the spiral"),
        (2, {"rmse_mean_k": 7.9}, "less than 1 %"),
        (5, {"rmse_mean_k": 15.1}, "cannot be told apart"),
        (5, {"max_error_k": 60.0}, "only modestly"),
    ],
)
def test_a_row_that_differs_breaks_its_claim(row: int, change: dict[str, Any], sentence: str) -> None:
    rows = copy_paper()
    rows[row] |= change
    broken = [claim.sentence for claim in judge_table_1(rows) if not claim.holds]
    assert any(sentence in text for text in broken)


def test_figures_far_from_the_papers_are_named() -> None:
    rows = copy_paper()
    rows[0]["max_error_k"] = 2 * 27.7
    assert show_table_1(gather(rows))["beyond"] == ["vertical paper-base worst 2.00"]


def test_one_model_alone_is_not_judged() -> None:
    assert judge_table_1([row for row in copy_paper() if row["model"] == "paper-base"]) == []
