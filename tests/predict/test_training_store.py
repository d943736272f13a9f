"""Training from a store: what the model remembers of where it comes from, and how it is judged."""

from pathlib import Path

import numpy as np
import pytest

from laserloop.bad_input import BadInput
from laserloop.bench.train import multiply_adds, run_train_bench
from laserloop.data import COLUMNS, EnsembleSettings, create_store, data_hash, write_episode
from laserloop.evaluation import measure_blind
from laserloop.predict.model import load_model
from laserloop.predict.networks import MsDeepONet
from laserloop.predict.training import FitSettings, train
from laserloop.process import Process

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
