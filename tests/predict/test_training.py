"""Training: the schedule, when it stops, what it finds in its folder, what a model remembers of its data."""

import csv
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from laserloop.bad_input import BadInput
from laserloop.bench.train import multiply_adds, run_train_bench
from laserloop.data import COLUMNS, EnsembleSettings, create_store, data_hash, write_episode
from laserloop.data.windows import Windows
from laserloop.evaluation import measure_blind
from laserloop.predict.model import load_model
from laserloop.predict.networks import MsDeepONet
from laserloop.predict.training import STATE_FILE, FitSettings, Progress, fit, train
from laserloop.process import Process

torch = pytest.importorskip("torch")

NET = MsDeepONet(width=16, basis=10)
QUICK = FitSettings(max_epochs=3, batch=64)


def test_the_schedule_is_pytorchs_plateau_schedule() -> None:
    from laserloop.predict.training import note_epoch

    parameter = torch.zeros(1)
    adam = torch.optim.Adam([parameter], lr=1e-3)
    theirs = torch.optim.lr_scheduler.ReduceLROnPlateau(adam, factor=0.5, patience=4)
    ours, settings = Progress(), FitSettings(halve_after=4)
    rng = np.random.default_rng(0)
    for loss in np.repeat(np.linspace(1, 0.9, 6), 12) * (1 + 1e-4 * rng.normal(size=72)):
        note_epoch(ours, 0.0, float(loss), settings)
        theirs.step(loss)
        assert ours.learning_rate == adam.param_groups[0]["lr"]
    assert ours.learning_rate < 1e-3
    assert ours.best_loss == min(ours.validation_losses)


def test_the_rate_that_decays_is_pytorchs_cosine_and_ends_at_nothing() -> None:
    from laserloop.predict.training import note_epoch

    adam = torch.optim.Adam([torch.zeros(1)], lr=1e-3)
    theirs = torch.optim.lr_scheduler.CosineAnnealingLR(adam, T_max=7)
    ours, settings = Progress(), FitSettings(schedule="cosine", max_epochs=7, halve_after=1)
    for _ in range(7):
        note_epoch(ours, 0.0, 1.0, settings)
        adam.step()
        theirs.step()
        assert ours.learning_rate == pytest.approx(adam.param_groups[0]["lr"], rel=1e-9, abs=1e-18)
    assert ours.learning_rate < 1e-15


def test_training_ends_when_patience_does(windows: Windows) -> None:
    settings = FitSettings(learning_rate=0.0, patience=3, batch=64)
    metrics = fit(windows, NET, settings).provenance["metrics"]
    assert (metrics["epochs"], metrics["best_epoch"]) == (4, 1)


def test_the_best_weights_are_kept_not_the_last(windows: Windows) -> None:
    settings = FitSettings(learning_rate=0.05, max_epochs=20, batch=8)  # so large that the loss jumps about
    metrics = fit(windows, NET, settings).provenance["metrics"]
    shorter = fit(windows, NET, replace(settings, max_epochs=metrics["best_epoch"])).provenance["metrics"]
    assert metrics["best_epoch"] < metrics["epochs"]
    assert metrics["validation_rmse_k"] == shorter["validation_rmse_k"]


def test_the_validation_rmse_is_the_loss_in_kelvin(windows: Windows) -> None:
    model = fit(windows, NET, QUICK)
    metrics, std = model.provenance["metrics"], model.scalers.target.std
    assert metrics["validation_rmse_k"] == pytest.approx(
        np.sqrt(metrics["validation_loss"]) * std.mean(), rel=0.05
    )


def test_scalers_are_fitted_on_the_training_part_only(windows: Windows) -> None:
    from laserloop.data.windows import split_windows

    model = fit(windows, NET, replace(QUICK, split="episode"))
    train, held = split_windows(windows, seed=0, by="episode", share=0.2)
    np.testing.assert_allclose(model.scalers.target.mean, windows.target[train].mean(axis=0))
    assert not set(windows.episode[train]) & set(windows.episode[held])


def test_a_finished_training_is_loaded_and_its_history_kept(windows: Windows, tmp_path: Path) -> None:
    first = fit(windows, NET, QUICK, out=tmp_path)
    seen: list[int] = []
    again = fit(windows, NET, QUICK, out=tmp_path, report=lambda progress: seen.append(progress.epoch))
    assert not seen
    assert again.provenance == first.provenance
    rows = list(csv.DictReader((tmp_path / "history.csv").read_text().splitlines()))
    assert [row["epoch"] for row in rows] == ["1", "2", "3"]
    assert not (tmp_path / STATE_FILE).exists()


def test_a_folder_holds_one_training_only(windows: Windows, tmp_path: Path) -> None:
    fit(windows, NET, QUICK, out=tmp_path)
    before = (tmp_path / "model.json").read_bytes()
    with pytest.raises(BadInput, match="choose another folder"):
        fit(windows, NET, replace(QUICK, seed=1), out=tmp_path)
    assert (tmp_path / "model.json").read_bytes() == before


class Killed(Exception):
    """Stands for SIGKILL."""


def leave_state(windows: Windows, folder: Path) -> Path:
    def kill(progress: Progress) -> None:
        raise Killed

    with pytest.raises(Killed):
        fit(windows, NET, QUICK, out=folder, report=kill, keep_every=0)
    return folder / STATE_FILE


def test_a_state_of_other_data_is_refused_and_kept(windows: Windows, tmp_path: Path) -> None:
    state = leave_state(windows, tmp_path).read_bytes()
    with pytest.raises(BadInput, match="other data or settings"):
        fit(windows.take(slice(0, 150)), NET, QUICK, out=tmp_path)
    assert (tmp_path / STATE_FILE).read_bytes() == state


@pytest.mark.parametrize("size", [0, 5, 100, 1000])
def test_a_truncated_state_is_refused_and_kept(windows: Windows, tmp_path: Path, size: int) -> None:
    state = leave_state(windows, tmp_path)
    state.write_bytes(state.read_bytes()[:size])
    with pytest.raises(BadInput, match="remove it to start again"):
        fit(windows, NET, QUICK, out=tmp_path)
    assert state.stat().st_size == size


def test_windows_of_another_horizon_and_damaged_ones_are_refused(windows: Windows) -> None:
    with pytest.raises(BadInput, match="horizon"):
        fit(windows, MsDeepONet(horizon=3), QUICK)
    with pytest.raises(BadInput, match="finite"):
        fit(replace(windows, temps=np.full_like(windows.temps, np.nan)), NET, QUICK)


def test_a_diverging_training_says_so(windows: Windows, monkeypatch: pytest.MonkeyPatch) -> None:
    hot = {name: np.full(shape, 1e20, np.float32) for name, shape in NET.shapes().items()}
    monkeypatch.setattr(MsDeepONet, "draw_weights", lambda net, rng: hot)
    with pytest.raises(BadInput, match="lower the learning rate"):
        fit(windows, NET, QUICK)


@pytest.mark.parametrize(
    "wrong",
    [
        {"learning_rate": -1.0},
        {"learning_rate": float("nan")},
        {"batch": 0},
        {"seed": -1},
        {"split": "day"},
        {"held_out": 1.0},
        {"patience": True},
    ],
)
def test_settings_that_make_no_sense_are_refused(wrong: dict[str, object]) -> None:
    with pytest.raises(BadInput):
        FitSettings(**wrong)  # type: ignore[arg-type]


pytest.importorskip("torch")
pytest.importorskip("zarr")


def test_a_model_remembers_its_ensemble_and_reads_temperatures_as_it_was_taught(tmp_path: Path) -> None:
    ensemble = EnsembleSettings(kind="base", runs=3, states=30)
    store = create_store(tmp_path / "store", ensemble)
    rng = np.random.default_rng(0)
    records = rng.normal(700.0, 50.0, (3, 30, len(COLUMNS)))
    for index, values in enumerate(records):
        write_episode(store, index, values)
    settings = FitSettings(max_epochs=2, batch=32)
    net = MsDeepONet(horizon=3, width=8, basis=4)
    train(tmp_path / "store", net, settings, tmp_path / "model", reading="peak", sampling="smooth")
    model = load_model(tmp_path / "model")
    data = model.provenance["data"]
    assert (model.reading, model.sampling, data["windows"]) == ("peak", "smooth", 3 * 26)
    assert (data["ensemble"], data["ensemble_hash"]) == (ensemble.to_json(), data_hash(store))

    blind = records.copy()
    unread = [
        i for i, name in enumerate(COLUMNS) if any(word in name for word in ("node", "bilinear", "nearest"))
    ]
    blind[:, :, unread] = 0.0
    one, other = (measure_blind(model, list(values)).residual for values in (records, blind))
    np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize(("plant", "own"), [("paper", ("node", "nearest")), ("graded", ("peak", "smooth"))])
def test_a_model_is_made_for_its_plant_process_and_data_and_reads_as_that_plant(
    plant: str, own: tuple[str, str], tmp_path: Path
) -> None:
    process = Process().change(material="ti64")
    ensemble = EnsembleSettings(kind="base", runs=2, states=20, plant=plant, process=process)
    store = create_store(tmp_path / "store", ensemble)
    records = np.random.default_rng(0).normal(700.0, 50.0, (2, 20, len(COLUMNS)))
    x, node, peak = (COLUMNS.index(name) for name in ("x_m", "t_node_k", "t_peak_k"))
    records[:, :, x] = np.linspace(-1e-3, 2e-3, 40).reshape(2, 20)
    for index, values in enumerate(records):
        write_episode(store, index, values)
    settings, net = FitSettings(max_epochs=1, batch=32), MsDeepONet(horizon=3, width=4, basis=2)
    made_for = train(tmp_path / "store", net, settings, tmp_path / "model").trained_for
    assert made_for is not None
    assert (made_for.process, made_for.plant) == (process, plant)
    assert (made_for.reading, made_for.sampling) == own
    assert -1e-3 <= made_for.area[0] < -0.8e-3
    assert 1.5e-3 < made_for.area[1] <= 2e-3
    hottest = records[:, :, peak if plant == "graded" else node].max()
    assert hottest - 60.0 < made_for.temperatures[1] <= hottest


def test_a_training_needs_a_store(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="store"):
        train(tmp_path / "nowhere", MsDeepONet(), FitSettings(), tmp_path / "model")
    assert not (tmp_path / "model").exists()


def test_the_bench_counts_every_weight_of_the_papers_network_once() -> None:
    assert multiply_adds(MsDeepONet()) == 25 * 128 + 128**2 + 128 * 500 + 6 * 128 + 128**2 + 12800 + 500


def test_the_bench_prints_its_row() -> None:
    row = run_train_bench(windows=2048, rounds=1)
    assert {"windows_per_s", "gemm_peak_gflops", "share_of_peak", "ratio_dataloader"} <= set(row)
    assert all(np.isfinite(value) and value > 0 for value in row.values())
    with pytest.raises(BadInput, match="2048 windows"):
        run_train_bench(windows=1)
