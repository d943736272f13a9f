"""What learned models say, how they begin and what they learn from stays as it was.

`python tests/predict/test_pins.py` writes the pins anew, after a change that is meant.
"""

import json
from collections.abc import Iterator, Mapping
from dataclasses import replace
from hashlib import sha256
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from safetensors.numpy import save_file

import laserloop
from laserloop.control.policy import INPUTS, Policy
from laserloop.data import (
    COLUMNS,
    EnsembleSettings,
    Windows,
    create_store,
    cut_episode,
    data_hash,
    missing,
    plan_episode,
    record_episode,
    write_episode,
)
from laserloop.data.ensemble import Excitation, draw_power
from laserloop.loop.run import look_ahead
from laserloop.paths import find_path
from laserloop.plant import make_plant
from laserloop.plant.camera import develop
from laserloop.predict.correction import FEATURES as HEAT_FEATURES
from laserloop.predict.correction import load_correction
from laserloop.predict.koopman import KoopmanPredictor, load_koopman
from laserloop.predict.model import Model, find_model, load_model, shipped_models
from laserloop.predict.networks import (
    AffineNet,
    Fno,
    Lstm,
    MsDeepONet,
    SequenceNetwork,
    SsAr,
    SsArLoc,
    Tide,
    TideQuantile,
)
from laserloop.predict.predictor import Predictor
from laserloop.predict.sequence import SequencePredictor, read_record
from laserloop.predict.training import FitSettings, fit
from laserloop.predict.twin import TwinPredictor
from laserloop.predict.twin.rollout import needed_power, roll_out
from laserloop.predict.window import WindowPredictor
from laserloop.process import Process

FloatArray = NDArray[np.float64]

PINS = Path(__file__).parent / "pins.json"
MODELS = Path(laserloop.__file__).parent / "studies" / "arena" / "models"
NETWORKS = (*shipped_models(), "graded-lstm", "graded-ms-deeponet", "graded-ss-ar")
SEQUENCES = ("affine-history", "tide", "tide-quantile", "fno")
POLICIES = ("distilled", "rl")
FRESH = 2**32  # the stream of first weights
ARCHITECTURES = (
    MsDeepONet(),
    MsDeepONet(trunk="both", width=32, basis=20, horizon=3),
    MsDeepONet(trunk="loc", width=8, basis=5),
    SsAr(),
    SsArLoc(),
    Lstm(),
    Lstm(hidden=16, horizon=3),
)
NETS: tuple[SequenceNetwork, ...] = (AffineNet(), Tide(), TideQuantile(), Fno(), Fno(channels=2, modes=1))
ENSEMBLES = {
    "base": EnsembleSettings(kind="base", runs=6, states=12, seed=3),
    "corner": EnsembleSettings(kind="corner", runs=6, states=12, seed=4),
    "random": EnsembleSettings(kind="corner", runs=6, states=12, seed=5, geometry="random"),
    "custom": EnsembleSettings(
        kind="custom", runs=6, states=12, shares=(1.0, 0.0, 0.0, 2.0), plant="graded", hatch_mm=0.4
    ),
}
CLOSE = {"networks": 1e-6, "sequences": 1e-6, "koopman": 1e-6, "correction": 1e-9, "policies": 1e-6}
CLOSE |= {"records": 1e-6, "windows": 1e-9, "paths": 1e-12, "loops": 1e-5, "twin": 1e-6}  # K, W, m


def hash_bytes(*arrays: Any) -> str:
    """The first 16 hex digits of the hash of shapes and bytes."""
    digest = sha256()
    for array in arrays:
        digest.update(f"{array.shape} {array.dtype}".encode() + np.ascontiguousarray(array).tobytes())
    return digest.hexdigest()[:16]


def find_network(name: str) -> Model:
    return find_model(name) if name in shipped_models() else load_model(MODELS / name)


def draw_windows(horizon: int, n: int = 6) -> tuple[FloatArray, FloatArray, FloatArray]:
    rng = np.random.default_rng(11)
    branch = rng.normal(0, 1, (n, horizon, 5)) * [4.0, 1e-3, 1e-3, 0.2, 0.2] + [14.0, 0, 0, 0, 0]
    return branch, rng.normal(780.0, 20.0, (n, 1 + horizon)), rng.normal(0.0, 1e-3, (n, 2))


def predict_network(name: str) -> FloatArray:
    model = find_network(name)
    return model.predict(*draw_windows(model.architecture.horizon))


def draw_record(rng: np.random.Generator, states: int) -> FloatArray:
    """Numbers of a record's size and kind, which no plant has to make."""
    values = rng.normal(780.0, 20.0, (states, len(COLUMNS)))
    values[:, 0] = rng.uniform(5.0, 15.0, states)
    values[:, 1:3] = np.cumsum(rng.normal(0.0, 3e-5, (states, 2)), axis=0)
    values[:, 3:5] = rng.normal(0.0, 0.2, (states, 2))
    for column in ("node_x_m", "node_y_m", "peak_x_m", "peak_y_m"):
        values[:, COLUMNS.index(column)] *= 1e-6
    return values


def predict_sequence(name: str) -> FloatArray:
    table = read_record(draw_record(np.random.default_rng(5), 30), 1e-4)
    return load_model(MODELS / name).evaluate(table.plans[:6], table.features[:6])


def roll_koopman() -> FloatArray:
    model = load_koopman(MODELS / "koopman")
    rng = np.random.default_rng(6)
    state = rng.normal(0.9, 0.1, model.lift.size)
    return np.stack([np.vstack(model.roll(state, rng.normal(0.0, 1.0, 5), rng.uniform(0.5, 1.5, 5)))])


def correct_heat() -> FloatArray:
    correction, _ = load_correction(MODELS / "twin-corrected")
    return correction.log_factors(np.random.default_rng(7).normal(0.3, 0.3, (6, HEAT_FEATURES)))


def decide(name: str) -> list[float]:
    policy = Policy.load(next((MODELS / name).glob("*.safetensors")))
    rng = np.random.default_rng(8)
    return [policy.decide(rng.normal(0.0, 0.5, INPUTS)) for _ in range(4)]


def make_predictors() -> Iterator[tuple[str, Predictor]]:
    """Every kind of predictor, and a twin under an image that is late and noisy."""
    told = Process()
    yield "twin", TwinPredictor(told)
    correction, _ = load_correction(MODELS / "twin-corrected")
    yield "corrected", TwinPredictor(told, correction=correction)
    noisy = replace(told, camera=replace(told.camera, noise=2.0))
    yield "twin-noisy", TwinPredictor(noisy)
    yield "koopman", KoopmanPredictor(load_koopman(MODELS / "koopman"), told)
    for name in SEQUENCES:
        yield f"sequence-{name}", SequencePredictor(load_model(MODELS / name), told)
    for name in ("paper-base", "graded-lstm"):
        yield f"network-{name}", WindowPredictor(find_network(name))


def follow(predictor: Predictor, every: int) -> FloatArray:
    """Forecasts and slopes around a turn, by images of the plant that come so often."""
    plant = make_plant("graded", Process())
    path = find_path("polyline:3", ticks=40)
    rng = np.random.default_rng(9)
    powers: list[float] = []
    predictor.reset()
    surface = plant.reset()
    said = []
    for k in range(18):
        image = develop(surface, sampling="smooth", subgrid=True) if k % every == 0 else None
        forecast = predictor.observe(image, look_ahead(path, k, powers, predictor.horizon, predictor.memory))
        if k % 3 == 2 and forecast is not None:
            plan = np.full(predictor.horizon, 9.0)
            plan[: len(forecast.committed)] = forecast.committed
            T, slopes = forecast.linearise(plan)
            said.append(np.concatenate((forecast.predict(plan + 0.5), T, slopes[-1])))
        powers.append(float(rng.uniform(6.0, 12.0)))
        surface = plant.step(powers[-1], path.spot(k))
    return np.stack(said)


def show_windows() -> dict[str, str]:
    values = draw_record(np.random.default_rng(10), 25)
    shown = {}
    for reading, sampling in (("node", "nearest"), ("node", "bilinear"), ("peak", "smooth")):
        windows = cut_episode(values, reading=reading, sampling=sampling)  # type: ignore[arg-type]
        parts = [getattr(windows, name) for name in Windows.__dataclass_fields__]
        shown[f"{reading} {sampling}"] = hash_bytes(*parts)
    spread = cut_episode(values, horizon=3, stride=4)
    shown["stride"] = hash_bytes(spread.branch, spread.temps, spread.target, spread.tick)
    table = read_record(values, 1e-4, episode=2, stride=2)
    shown["sequences"] = hash_bytes(table.plans, table.target, table.episode)
    return shown


def fill_store(settings: EnsembleSettings, folder: Path) -> str:
    """The hash of an ensemble of drawn records: of what is told of it, and of the episodes' bytes."""
    store = create_store(folder / "store", settings)
    rng = np.random.default_rng(settings.seed)
    for index in range(settings.runs):
        write_episode(store, index, draw_record(rng, settings.states))
    assert missing(store) == []
    return data_hash(store)


def show_ensembles() -> dict[str, str]:
    with TemporaryDirectory() as folder:
        return {name: fill_store(settings, Path(folder) / name) for name, settings in ENSEMBLES.items()}


def name_trainings() -> dict[str, str]:
    """Identities of trainings: of those that are going on elsewhere, too."""
    from laserloop.predict.training import hash_windows, identify, identify_sequences

    windows = cut_episode(draw_record(np.random.default_rng(10), 25))
    settings = FitSettings(max_epochs=7, split="episode")
    named = {repr(a): identify(a, settings, hash_windows(windows)) for a in ARCHITECTURES}
    table = read_record(draw_record(np.random.default_rng(10), 25), 1e-4)
    return named | {repr(net): identify_sequences(table, net, settings) for net in NETS}


def draw_first() -> dict[str, str]:
    rngs = iter(lambda: np.random.default_rng((0, FRESH)), None)
    drawn: dict[str, Mapping[str, Any]] = {
        repr(a): a.draw_weights(rng) for a, rng in zip(ARCHITECTURES, rngs, strict=False)
    }
    drawn |= {repr(net): net.draw_weights(rng) for net, rng in zip(NETS, rngs, strict=False)}
    return {name: " ".join(weights) + " " + hash_bytes(*weights.values()) for name, weights in drawn.items()}


def show_exactly() -> dict[str, Any]:
    """What must be the same to the last bit."""
    return {
        "first weights": draw_first(),
        "trainings": name_trainings(),
        "ensembles": show_ensembles(),
        "windows": show_windows(),
        "powers": {
            str(kind): hash_bytes(draw_power(kind, 60, np.random.default_rng(12), power_max=17.0))
            for kind in Excitation
        },
        "planned powers": {
            name: hash_bytes(*(plan_episode(settings, k).power for k in range(settings.runs)))
            for name, settings in ENSEMBLES.items()
        },
    }


def show_closely() -> dict[str, dict[str, Any]]:
    """What may differ by rounding, by the tolerance that it is held to."""
    path = find_path("spiral", ticks=40)
    rollout = roll_out(Process(), path, np.linspace(5.0, 15.0, 40), np.array([[1e-4, 0.0]]))
    return {
        "networks": {name: predict_network(name) for name in NETWORKS},
        "sequences": {name: predict_sequence(name) for name in SEQUENCES},
        "koopman": {"rolled": roll_koopman()},
        "correction": {"factors": correct_heat()},
        "policies": {name: decide(name) for name in POLICIES},
        "loops": {
            f"{name} every {every}": follow(predictor, every)
            for name, predictor in make_predictors()
            for every in (1, 2)
        },
        "twin": {
            "peaks": rollout.peaks,
            "shapes": rollout.shapes.ravel(),
            "needed": [needed_power(Process(), speed) for speed in (0.1, 0.304, 1.0)],
        },
        "paths": {
            name: np.concatenate([plan_episode(s, k).path.positions[-3:] for k in range(s.runs)])
            for name, s in ENSEMBLES.items()
        },
        "records": {
            name: np.stack([record_episode(replace(settings, states=8), k)[-1, :60:4] for k in (0, 5)])
            for name, settings in ENSEMBLES.items()
        },
    }


@pytest.fixture(scope="module")
def pins() -> dict[str, Any]:
    kept: dict[str, Any] = json.loads(PINS.read_text(encoding="utf-8"))
    return kept


def test_first_weights_identities_windows_and_stores_are_the_same_bits(pins: dict[str, Any]) -> None:
    assert show_exactly() == pins["exactly"]


def test_predictions_records_and_paths_are_the_same_numbers(pins: dict[str, Any]) -> None:
    shown, kept = show_closely(), pins["closely"]
    assert {kind: set(entries) for kind, entries in shown.items()} == {k: set(v) for k, v in kept.items()}
    for kind, entries in shown.items():
        for name, values in entries.items():
            np.testing.assert_allclose(
                values, kept[kind][name], rtol=0, atol=CLOSE[kind], err_msg=f"{kind}: {name}"
            )


def test_a_training_that_was_kept_before_goes_on(tmp_path: Path) -> None:
    """The file of an interrupted training, as it was written when these pins were."""
    pytest.importorskip("torch")
    from laserloop.predict.training import hash_windows, identify

    windows, net = cut_episode(draw_record(np.random.default_rng(10), 25)), SsAr(width=3, basis=2)
    settings = FitSettings(max_epochs=2)
    size = sum(int(np.prod(shape)) for shape in net.shapes().values())
    best = np.random.default_rng(1).normal(0.0, 0.1, size).astype(np.float32)
    flat = {"weights": np.zeros_like(best), "best": best, "mean": best, "square": best**2}
    progress = {
        **{"epoch": 2, "learning_rate": 1e-3, "plateau_loss": 0.5, "plateau_age": 1, "best_loss": 0.5},
        **{"best_epoch": 1, "seconds": 1.0, "training_losses": [0.7, 0.6]},
        **{"validation_losses": [0.5, 0.55], "learning_rates": [1e-3, 1e-3]},
    }
    identity = identify(net, settings, hash_windows(windows))
    metadata = {"identity": identity, "progress": json.dumps(progress)}
    save_file(flat, tmp_path / "training.safetensors", metadata)
    model = fit(windows, net, settings, out=tmp_path)
    assert np.array_equal(np.concatenate([w.ravel() for w in model.weights.values()]), best)
    assert load_model(tmp_path).provenance["identity"] == identity
    assert [file.name for file in sorted(tmp_path.iterdir())] == [
        "history.csv",
        "model.json",
        "weights.safetensors",
    ]


if __name__ == "__main__":
    closely = {
        kind: {
            name: np.round(np.asarray(values, np.float64), 15 if CLOSE[kind] < 1e-9 else 9).tolist()
            for name, values in entries.items()
        }
        for kind, entries in show_closely().items()
    }
    PINS.write_text(
        json.dumps({"exactly": show_exactly(), "closely": closely}, indent=0, ensure_ascii=False) + "\n",
        encoding="utf-8",
    )
