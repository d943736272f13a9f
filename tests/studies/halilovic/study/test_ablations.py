"""The ablation study: computed once, beside the paper's figures, without what is not trained yet."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from laserloop.data.ensemble import Excitation
from laserloop.data.windows import cut_episode
from laserloop.evaluation import Trajectories, evaluate
from laserloop.predict.model import Model
from laserloop.predict.networks import MsDeepONet
from laserloop.predict.training import select_features, standardise
from laserloop.studies.halilovic.cases import NOISES, SEEN, UNSEEN
from laserloop.studies.halilovic.contexts import explain_differences, list_families
from laserloop.studies.halilovic.measures import Row, run_ablations
from laserloop.studies.halilovic.results import compare, measure_scales, place_points

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

    monkeypatch.setattr("laserloop.studies.halilovic.measures.evaluate", refuse)
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


def test_only_differences_beyond_a_factor_of_one_and_a_half_matter() -> None:
    points = place_points([pretend("corner-nh5-seed0", 5.0, 10.0), pretend("corner-loc", 9.0, 25.0)])
    found = compare(points)
    assert [(one.axis, one.value, one.where) for one in found if one.matters] == [("trunk", "loc", "unseen")]
    assert len(found) == 4  # temps and loc, seen and unseen: the figures of one model count once


def test_seeds_and_the_schedule_give_the_scale_of_an_error() -> None:
    rows = [pretend("a", 5.0, 10.0), pretend("b", 6.0, 12.0), pretend("full", 5.0, 40.0)]
    scales = measure_scales(rows, ["a", "b", "absent"], ("a", "full"))
    assert scales["unseen"] == {"the seed": pytest.approx(2**0.5), "the schedule": 30.0}
    assert scales["seen"]["the schedule"] == 0.0
    assert measure_scales(rows[:1], ["a", "b"], ("a", "full")) == {"seen": {}, "unseen": {}}


def test_a_difference_names_what_is_too_small_to_explain_it() -> None:
    rows = [
        {**pretend(f"corner-nh5-seed{n}", 9.0, 10.0 + 2.0 * n), "model": f"corner-nh5-seed{n}"}
        for n in (0, 1)
    ]
    points = place_points([*rows, pretend("corner-loc", 9.0, 25.0)])
    (found,) = explain_differences(points, rows)
    assert (found["axis"], found["where"], round(found["ratio"], 2)) == ("trunk", "unseen", 0.47)
    assert found["excluded"] == ["the seed (1.4 K)"]


def test_the_spread_over_seeds_needs_two_of_them() -> None:
    families = {"base": ["b0", "b1"], "corner": ["c0", "c1"]}
    rows = {"b0": pretend("b0", 3.0, 9.0), "b1": pretend("b1", 5.0, 9.0), "c0": pretend("c0", 5.0, 10.0)}
    spread = "4.00 ± 1.41"
    assert list_families(rows, families) == [("base", 2, [spread, spread, spread, "9.00 ± 0.00", spread])]
