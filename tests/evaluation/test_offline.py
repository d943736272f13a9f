"""Offline scores: what the numbers of a table are."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from laserloop.data.ensemble import Excitation
from laserloop.data.store import COLUMNS
from laserloop.data.windows import cut_episode
from laserloop.evaluation import Trajectories, evaluate, track
from laserloop.predict.model import Model, Scalers, TrainedFor
from laserloop.predict.networks import MsDeepONet
from laserloop.predict.training import select_features, standardise
from laserloop.process import Process
from laserloop.studies.halilovic.contexts import tabulate_accuracy
from laserloop.studies.halilovic.measures import figures_of, measure_excitations
from laserloop.studies.halilovic.published import TABLE_1

TICKS = 25


@pytest.fixture(scope="module")
def trajectories(tmp_path_factory: pytest.TempPathFactory) -> Trajectories:
    return Trajectories(folder=tmp_path_factory.mktemp("trajectories"), ticks=TICKS)


@pytest.fixture(scope="module")
def model(trajectories: Trajectories) -> Model:
    """A net with random weights: wrong, but wrong in a way that can be recomputed."""
    windows = cut_episode(trajectories.get("spiral", Excitation.HF_RANDOM, 0))
    net = MsDeepONet(width=8, basis=5)
    scalers, _ = standardise(select_features(windows, net), np.arange(len(windows)))
    assert isinstance(scalers, Scalers)
    return Model(architecture=net, weights=net.draw_weights(np.random.default_rng(1)), scalers=scalers)


def test_a_trajectory_is_recorded_once_and_is_the_same_without_a_folder(trajectories: Trajectories) -> None:
    kept = trajectories.get("spiral", Excitation.BANG_BANG, 1)
    assert kept.shape == (TICKS + 1, len(COLUMNS))
    assert np.array_equal(Trajectories(ticks=TICKS).get("spiral", Excitation.BANG_BANG, 1), kept)
    assert not np.array_equal(trajectories.get("spiral", Excitation.BANG_BANG, 2)[:, 0], kept[:, 0])
    assert trajectories.folder is not None
    assert len(list(trajectories.folder.glob("*bang-bang_1_*.npy"))) == 1


def test_a_trajectory_of_other_code_or_another_process_is_recorded_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    names = set()
    for code, process in (("a", Process()), ("b", Process()), ("b", Process().change(material="ti64"))):
        monkeypatch.setattr("laserloop.evaluation.hash_code", lambda code=code: code)
        kept = Trajectories(folder=tmp_path, process=process)
        names.add(kept.find_file("spiral", Excitation.PERSISTENT, 0))
    assert len(names) == 3


def test_truth_along_a_trajectory_is_read_as_the_model_learned(
    model: Model, trajectories: Trajectories
) -> None:
    taught = TrainedFor(
        process=Process(),
        plant="graded",
        reading="peak",
        area=(-1e-3, 1e-3, -1e-3, 1e-3),
        temperatures=(300.0, 900.0),
    )
    values = trajectories.get("spiral", Excitation.PERSISTENT, 0)
    for reading, made_for in (("node", None), ("peak", taught)):
        found = track(
            replace(model, trained_for=made_for), "spiral", Excitation.PERSISTENT, trajectories=trajectories
        )
        truth = values[found["tick"], COLUMNS.index(f"t_{reading}_k")]
        assert found["true_k"] == truth.tolist()


def test_the_scores_are_those_of_windows_that_do_not_overlap(
    model: Model, trajectories: Trajectories
) -> None:
    scores = evaluate(model, "spiral", trajectories=trajectories, realisations=2)
    by_hand, worst = [], 0.0
    for n in range(2):
        values = trajectories.get("spiral", Excitation.PERSISTENT, n)
        windows = cut_episode(values, stride=5)
        assert list(np.diff(windows.tick)) == [5] * (len(windows) - 1)
        residual = model.predict(windows.branch, windows.temps, windows.location) - windows.target
        by_hand.append(np.sqrt(np.mean(residual**2)))
        worst = max(worst, float(np.abs(residual).max()))
    assert scores["rmse_k"]["persistent"] == pytest.approx(np.mean(by_hand))
    assert scores["max_error_k"] >= worst
    assert scores["rmse_mean_k"] == pytest.approx(np.mean(list(scores["rmse_k"].values())))
    assert len(scores["rmse_per_step_k"]) == 5


def test_noise_on_the_inputs_changes_the_score_and_is_seeded(
    model: Model, trajectories: Trajectories
) -> None:
    scores = [
        evaluate(model, "spiral", trajectories=trajectories, realisations=1, noise=noise)["rmse_mean_k"]
        for noise in (0.0, 50.0, 50.0)
    ]
    assert scores[0] != scores[1] == scores[2]


def test_the_table_prints_the_papers_figures_beside_ours(model: Model, trajectories: Trajectories) -> None:
    row = {"model": "mine", **evaluate(model, "spiral", trajectories=trajectories, realisations=1)}
    table = tabulate_accuracy([row], {"mine": "paper-corner"})
    assert f"{figures_of(row)[0]:.1f} (8.0)" in table
    assert "(41.9)" in table
    assert all(len(figures) == 5 for figures in TABLE_1.values())


def test_a_file_with_a_short_path_is_scored_over_its_length(model: Model, tmp_path: Path) -> None:
    (tmp_path / "short.csv").write_text("x_mm,y_mm\n0,0\n0.7,0\n")
    quick = Trajectories(ticks=TICKS)
    scores = evaluate(
        model,
        str(tmp_path / "short.csv"),
        trajectories=quick,
        excitations=[Excitation.PERSISTENT],
        realisations=1,
    )
    assert set(scores["rmse_k"]) == {"persistent"}


def test_persistent_power_changes_least_from_tick_to_tick(tmp_path: Path) -> None:
    found = {row["excitation"]: row for row in measure_excitations(tmp_path, ticks=100)}
    assert set(found) == {"persistent", "hf-random", "bang-bang"}
    assert found["hf-random"]["power_change_w"] == pytest.approx(20 / 3, rel=0.1)  # of uniform draws
    assert found["bang-bang"]["power_change_w"] == pytest.approx(0.3 * 20, rel=0.2)  # of 30 % switches
    assert found["persistent"]["power_change_w"] < 1.0
    assert found["persistent"]["t_max_std_k"] > found["hf-random"]["t_max_std_k"]  # the plate averages
