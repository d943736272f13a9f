"""Margins: what they cover, and on which windows."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from laserloop.bad_input import BadInput
from laserloop.data import COLUMNS, EnsembleSettings, create_store, open_store, write_episode
from laserloop.data.ensemble import EXCITATIONS
from laserloop.data.windows import cut_windows, split_windows
from laserloop.evaluation import calibrate, margins
from laserloop.predict.model import find_model


def test_the_one_sided_margin_covers_its_share_of_the_under_predictions() -> None:
    residual = np.random.default_rng(0).normal(1.0, 5.0, 20_000)
    delta = margins(residual, 0.95)
    assert np.mean(residual <= delta["delta_one_sided_k"]) == pytest.approx(0.95, abs=1e-3)
    assert np.mean(np.abs(residual) <= delta["delta_symmetric_k"]) == pytest.approx(0.95, abs=1e-3)


def test_a_model_that_never_under_predicts_needs_no_one_sided_margin() -> None:
    delta = margins(-np.arange(1.0, 101.0), 0.95)
    assert delta["delta_one_sided_k"] == 0.0
    assert delta["delta_symmetric_k"] > 90.0


@pytest.mark.parametrize(("name", "low", "high"), [("paper-corner", 10.0, 16.0), ("paper-base", 5.0, 8.0)])
def test_a_shipped_model_carries_its_margin(name: str, low: float, high: float) -> None:
    kept = find_model(name).provenance["calibration"]
    assert kept["windows"] == 25_280
    assert low < kept["delta_one_sided_k"] < high
    assert set(kept["per_excitation"]) == {"persistent", "hf-random", "bang-bang"}


@pytest.mark.parametrize(
    "training", [{"seed": 7, "split": "episode", "held_out": 0.3}, {"seed": 2, "split": "window"}, {}]
)
@pytest.mark.parametrize("reading", ["node", "peak"])
def test_a_margin_is_taken_on_the_windows_that_the_training_held_out(
    training: dict[str, object], reading: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("zarr")
    store = create_store(tmp_path, EnsembleSettings(kind="base", runs=6, states=30))
    records = np.random.default_rng(1).normal(700.0, 50.0, (6, 30, len(COLUMNS)))
    for index, values in enumerate(records):
        write_episode(store, index, values)
    shipped = find_model("paper-corner")
    assert shipped.trained_for is not None
    made_for = replace(shipped.trained_for, reading=reading)
    model = replace(shipped, trained_for=made_for, provenance={"training": training})
    windows = cut_windows(open_store(tmp_path), 5, reading=reading, sampling=shipped.sampling)
    split: Any = {"seed": 0, "split": "window", "held_out": 0.2} | training
    _, held = split_windows(windows, seed=split["seed"], by=split["split"], share=split["held_out"])
    kept = windows.take(held)
    residual = kept.target[:, 0] - model.predict(kept.branch, kept.temps, kept.location)[:, 0]
    monkeypatch.setattr("laserloop.evaluation.CHUNK", 7)
    found = calibrate(model, tmp_path, quantile=0.9)
    assert (found["windows"], found["quantile"]) == (len(held), 0.9)
    assert found["largest_under_prediction_k"] == pytest.approx(max(residual.max(), 0.0))
    for code, kind in enumerate(EXCITATIONS):
        mine = residual[kept.excitation == code]
        assert len(mine) == 0 or found["per_excitation"].pop(str(kind)) == pytest.approx(margins(mine, 0.9))
    assert not found["per_excitation"]
    assert found["delta_one_sided_k"] == pytest.approx(np.quantile(np.maximum(residual, 0.0), 0.9))
    assert found["delta_symmetric_k"] == pytest.approx(np.quantile(np.abs(residual), 0.9))
    with pytest.raises(BadInput, match="quantile"):
        calibrate(model, tmp_path, quantile=1.0)
