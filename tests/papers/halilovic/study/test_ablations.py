"""The ablation study: computed once, beside the paper's figures, without what is not trained yet."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from laserloop.data.excitation import Excitation
from laserloop.data.windows import cut_episode
from laserloop.evaluation import Trajectories, evaluate
from laserloop.papers.halilovic.pages.ablations import (
    describe_missing,
    describe_schedule,
    tabulate_beside,
    tabulate_differences,
    tabulate_points,
    tabulate_seeds,
    tabulate_steps,
)
from laserloop.papers.halilovic.report.markdown import write_table
from laserloop.papers.halilovic.study.ablation_points import Difference, compare, measure_scales, place_points
from laserloop.papers.halilovic.study.ablations import NOISES, SEEN, UNSEEN, Row, run_ablations
from laserloop.papers.halilovic.study.recipes import RECIPES, SHORT
from laserloop.predict.model import Model
from laserloop.predict.networks import MsDeepONet
from laserloop.predict.train import FitSettings, select_features, standardise

TICKS = 17


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("study")


@pytest.fixture(scope="module")
def model(root: Path) -> Model:
    """A net with random weights: wrong, but wrong in a way that can be recomputed."""
    trajectories = Trajectories(folder=root / "trajectories", ticks=TICKS)
    windows = cut_episode(trajectories.get("spiral", Excitation.HF_RANDOM, 0), horizon=3)
    net = MsDeepONet(horizon=3, width=8, basis=5)
    scalers, _ = standardise(select_features(windows, net), np.arange(len(windows)))
    return Model(architecture=net, weights=net.draw_weights(np.random.default_rng(1)), scalers=scalers)


@pytest.fixture(scope="module")
def rows(model: Model, root: Path) -> list[Row]:
    models = {"corner-nh5-seed0": model, "corner-nh5-seed1": model}
    return run_ablations(models, root, noisy=["corner-nh5-seed0"], realisations=1, ticks=TICKS)


def pretend(name: str, seen: float, unseen: float) -> Row:
    """A row as the study would write it."""
    scores = {
        path: {"path": path, "rmse_mean_k": error, "rmse_per_step_k": [error] * 5}
        for path, error in (*((path, seen) for path in SEEN), (UNSEEN, unseen))
    }
    return {
        "model": name,
        "noise_k": 0.0,
        "noise_shared": False,
        "seen_k": seen,
        "seen_std_k": 0.0,
        "unseen_k": unseen,
        "seen_per_step_k": [seen] * 5,
        "unseen_per_step_k": [unseen] * 5,
        "scores": scores,
    }


def test_seen_is_the_mean_and_spread_of_three_paths_and_unseen_the_diagonal(
    rows: list[Row], model: Model, root: Path
) -> None:
    trajectories = Trajectories(folder=root / "trajectories", ticks=TICKS)
    alone = {
        path: evaluate(model, path, trajectories=trajectories, realisations=1) for path in (*SEEN, UNSEEN)
    }
    seen = [alone[path]["rmse_mean_k"] for path in SEEN]
    assert rows[0]["seen_k"] == pytest.approx(np.mean(seen))
    assert rows[0]["seen_std_k"] == pytest.approx(np.std(seen))
    assert rows[0]["unseen_k"] == alone[UNSEEN]["rmse_mean_k"]
    assert rows[0]["unseen_per_step_k"] == alone[UNSEEN]["rmse_per_step_k"]


def test_only_the_noisy_model_is_shown_noise_and_each_case_is_kept(rows: list[Row], root: Path) -> None:
    trials = [(row["model"][-1], row["noise_k"], row["noise_shared"]) for row in rows]
    loud = NOISES[1:]
    assert trials == [
        ("0", 0.0, False),
        *(("0", noise, False) for noise in loud),
        *(("0", noise, True) for noise in loud),
        ("1", 0.0, False),
    ]
    assert len(list((root / "cases").glob("*/result.json"))) == 4 * len(rows)


def test_a_study_run_again_computes_nothing(
    rows: list[Row], model: Model, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: Any, **__: Any) -> dict[str, Any]:
        raise AssertionError("computed again")

    monkeypatch.setattr("laserloop.papers.halilovic.study.ablations.evaluate", refuse)
    again = run_ablations({"corner-nh5-seed1": model}, root, realisations=1, ticks=TICKS)
    assert again == rows[-1:]
    with pytest.raises(AssertionError, match="computed again"):
        run_ablations({"corner-nh5-seed1": model}, root, realisations=2, ticks=TICKS)


def test_one_noise_on_all_temperatures_moves_a_model_of_differences_not_at_all(
    model: Model, root: Path
) -> None:
    scale = model.scalers.trunk.std
    first = model.weights["trunk.0.weight"].copy()
    first[:, 0] = -(first[:, 1:] / scale[1:]).sum(axis=1) * scale[0]
    blind = Model(
        architecture=model.architecture,
        weights={
            **model.weights,
            "trunk.0.weight": first,
            "trunk.2.weight": 100 * model.weights["trunk.2.weight"],
        },
        scalers=model.scalers,
    )
    trajectories = Trajectories(folder=root / "trajectories", ticks=TICKS)
    still, shared, own = (
        evaluate(blind, "spiral", trajectories=trajectories, realisations=1, noise=noise, shared=shared)
        for noise, shared in ((0.0, False), (50.0, True), (50.0, False))
    )
    assert shared["rmse_mean_k"] == pytest.approx(still["rmse_mean_k"], rel=1e-4)
    assert own["rmse_mean_k"] != pytest.approx(still["rmse_mean_k"], rel=1e-2)


def test_points_stand_beside_the_papers_and_absent_ones_are_left_out() -> None:
    points = place_points([pretend("corner-nh5-seed0", 5.0, 10.0), pretend("corner-loc", 9.0, 25.0)])
    assert {(point.axis, point.value) for point in points} == {
        ("horizon", "5"),
        ("trunk", "temps"),
        ("trunk", "loc"),
        ("basis", "100"),
        ("width", "128"),
        ("noise", "0"),
        ("shared noise", "0"),
        ("noise on loc", "0"),
        ("sampling", "nearest"),
        ("structure", "one-shot"),
    }
    table = write_table(tabulate_points(points))
    assert "| trunk | loc | 9.0 ± 0.0 (11.6) ▼ | 25.0 (53.0) ▼▼ |" in table
    assert "both" not in table
    steps = write_table(tabulate_steps(points))
    assert "| one-shot | unseen | 10.0 → 10.0 → 10.0 → 10.0 → 10.0 | ≈ 15, flat |" in steps


def test_only_differences_beyond_a_factor_of_one_and_a_half_matter() -> None:
    points = place_points([pretend("corner-nh5-seed0", 5.0, 10.0), pretend("corner-loc", 9.0, 25.0)])
    found = compare(points)
    assert [(one.axis, one.value, one.where) for one in found if one.matters] == [("trunk", "loc", "unseen")]
    assert len(found) == 4  # temps and loc, seen and unseen: the figures of one model count once
    table, told = (tabulate_differences(found, {}, why) for why in ({}, {"trunk loc unseen": "because"}))
    assert table is not None
    assert "| trunk loc unseen | 25.0 (53.0) | 0.47 | not explained |" in write_table(table)
    assert told is not None
    assert "because" in write_table(told)
    near = Difference(axis="a", value="b", where="seen", ours=8.0, paper=6.0)
    assert tabulate_differences([near], {}, {"a b seen": "because"}) is None


def test_a_difference_names_what_is_too_small_to_explain_it() -> None:
    rows = [pretend("a", 5.0, 10.0), pretend("b", 6.0, 12.0), pretend("full", 5.0, 40.0)]
    scales = measure_scales(rows, ["a", "b", "absent"], ("a", "full"))
    assert scales["unseen"] == {"the seed": pytest.approx(2**0.5), "the schedule": 30.0}
    assert scales["seen"]["the schedule"] == 0.0
    far = Difference(axis="x", value="y", where="unseen", ours=10.0, paper=20.2)
    table = tabulate_differences([far], scales)
    assert table is not None
    assert "not explained; less than half of it by the seed (1.4 K) |" in write_table(table)
    assert measure_scales(rows[:1], ["a", "b"], ("a", "full")) == {"seen": {}, "unseen": {}}


def test_the_spread_over_seeds_needs_two_of_them() -> None:
    families = {"base": ["b0", "b1"], "corner": ["c0", "c1"]}
    rows = [pretend("b0", 3.0, 9.0), pretend("b1", 5.0, 9.0), pretend("c0", 5.0, 10.0)]
    table = write_table(tabulate_seeds(rows, families))
    assert "| base | 2 | 4.00 ± 1.41 | 4.00 ± 1.41 | 4.00 ± 1.41 | 9.00 ± 0.00 | 4.00 ± 1.41 |" in table
    assert "corner" not in table


def test_models_beside_each_other_show_the_papers_row(rows: list[Row]) -> None:
    names = {"corner-nh5-seed0": "paper-corner", "corner-nh5-seed1": "", "absent": "paper-base"}
    table = write_table(tabulate_beside(rows, names))
    assert (
        table.count("corner-nh5-seed0") == table.count("corner-nh5-seed1") == 3
    )  # vertical, spiral, diagonal
    assert table.count("(8.8)") == 1
    assert "absent" not in table


def test_the_page_says_what_is_missing_and_how_short_the_schedule_is(model: Model) -> None:
    there = {recipe.name: model for recipe in RECIPES}
    assert describe_missing(RECIPES, there) == "All models of the study are trained."
    del there["corner-lstm"]
    assert describe_missing(RECIPES, there).endswith("left out: corner-lstm.")
    sentence = describe_schedule(SHORT)
    assert all(
        part in sentence for part in ("200 epochs, over which", "after 100 stagnant", "after 300 without")
    )
    sentence = describe_schedule(FitSettings(halve_after=20, patience=60, max_epochs=200))
    assert all(part in sentence for part in ("after 20 stagnant", "(100 in", "after 60 epochs", "after 200"))
