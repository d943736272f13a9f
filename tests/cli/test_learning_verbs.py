"""The verbs of the learning half, as a user types them."""

import json
from pathlib import Path

import pytest

from laserloop.cli import main

SETTINGS = "kind: corner\nruns: 5\nstates: 20\nseed: 3\n"


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A very small ensemble."""
    folder = tmp_path_factory.mktemp("learning")
    (folder / "tiny.yaml").write_text(SETTINGS)
    assert main(["ensemble", str(folder / "tiny.yaml"), "--out", str(folder / "data"), "--workers", "1"]) == 0
    return folder / "data"


def test_an_ensemble_becomes_a_model_becomes_a_score(data: Path, tmp_path: Path) -> None:
    model, scores = tmp_path / "model", tmp_path / "scores.json"
    command = [
        "train",
        "ms-deeponet",
        "--data",
        str(data),
        "--out",
        str(model),
        "--width",
        "8",
        "--basis",
        "4",
    ]
    assert main([*command, "--max-epochs", "3", "--json", str(tmp_path / "training.json")]) == 0
    assert json.loads((tmp_path / "training.json").read_text())["epochs"] == 3
    asked = ["--path", "spiral", "--excitation", "persistent", "--realisations", "1", "--json", str(scores)]
    assert main(["evaluate", str(model), *asked]) == 0
    found = json.loads(scores.read_text())
    assert set(found) >= {
        "path",
        "model",
        "rmse_k",
        "rmse_mean_k",
        "max_error_k",
        "rmse_per_step_k",
        "realisations",
    }
    assert found["rmse_k"] == {"persistent": found["rmse_mean_k"]}
    assert len(found["rmse_per_step_k"]) == 5
    assert 0 < found["rmse_mean_k"] <= found["max_error_k"]


def test_a_shipped_model_is_scored_by_its_name(capsys: pytest.CaptureFixture[str]) -> None:
    asked = ["--path", "vertical", "--excitation", "hf-random", "--realisations", "1", "--json", "-"]
    assert main(["evaluate", "paper-corner", *asked]) == 0
    found = json.loads(capsys.readouterr().out)
    assert 3.0 < found["rmse_k"]["hf-random"] < 8.0  # the paper: 5.4 K
    steps = found["rmse_per_step_k"]
    assert max(steps) < 2.0 * min(steps)  # one shot: no error that grows along the horizon


@pytest.mark.parametrize(
    ("command", "says"),
    [
        (["train", "ms-deeponet", "--data", "nowhere", "--out", "m"], "must exist"),
        (["train", "perceptron", "--data", "nowhere", "--out", "m"], "perceptron"),
        (
            ["train", "lstm", "--trunk", "loc", "--data", "nowhere", "--out", "m"],
            "--trunk belongs to ms-deeponet",
        ),
        (["evaluate", "paper-corner", "--path", "nowhere"], "a path must be one of"),
        (["evaluate", "nowhere"], "nowhere"),
        (["evaluate", "paper-corner", "--excitation", "gentle"], "gentle"),
        (["evaluate", "paper-corner", "--noise-k", "-1"], "--noise-k must be a number from 0"),
        (["ensemble", "base", "--runs", "0", "--out", "x"], "--runs must be"),
        (["ensemble", "missing.yaml", "--out", "x"], "missing.yaml"),
    ],
)
def test_bad_input_gets_one_sentence(
    command: list[str],
    says: str,
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(command) == 2
    error = capsys.readouterr().err
    assert error.startswith("laserloop: ")
    assert error.count("\n") == 1
    assert says in error
    assert list(tmp_path.iterdir()) == []
