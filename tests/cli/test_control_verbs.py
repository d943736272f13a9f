"""The verbs of the control half, as a user types them."""

import json
from pathlib import Path

import pytest

from laserloop.cli import main
from laserloop.control.controller import Status
from laserloop.predict.model import load_model

PROMISED = {
    *("path", "controller", "model", "plant", "ticks", "settled_from", "delta_k", "t_max_k", "overshoot_k"),
    *("n_over", "over_ms", "below_fraction", "deepest_below_k", "residual_rms_k", "residual_max_k"),
    *("residual_mean_k", "power_mean_w", "power_step_mean_w", "solve_ms", "iterations", "statuses"),
    *("series", "peak", "node", "process", "version", "notes", "t_min_k"),
}
SCORES = {
    "t_max_k",
    "overshoot_k",
    "n_over",
    "over_ms",
    "below_fraction",
    "deepest_below_k",
    "residual_rms_k",
}


OTHER = ("--model", "paper-corner-bilinear", "--sampling", "nearest")


def close(tmp_path: Path, *options: str) -> dict[str, object]:
    file = tmp_path / "run.json"
    assert main(["control", *options, "--json", str(file)]) == 0
    found = json.loads(file.read_text())
    assert isinstance(found, dict)
    return found


def test_a_run_has_all_that_was_promised(tmp_path: Path) -> None:
    found = close(tmp_path, "diagonal", "--plant", "paper", "--controller", "ipopt", "--ticks", "14")
    assert set(found) >= PROMISED
    peak, series = found["peak"], found["series"]
    assert isinstance(peak, dict)
    assert isinstance(series, dict)
    assert set(peak) >= SCORES
    assert {
        len(series[name]) for name in ("t_s", "x_mm", "y_mm", "lit", "power_w", "t_true_k", "t_predicted_k")
    } == {14}
    assert found["statuses"] == {"solved": 14}
    assert found["model"] == "paper-corner"


def test_a_window_above_the_solidus_is_told_once_before_the_run(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    found = close(tmp_path, "diagonal", "--ticks", "12", "--window-k", "1800,2500")
    words = "lies above the solidus of 304, 1670 K"
    assert capsys.readouterr().err.count(words) == 1
    notes = found["notes"]
    assert isinstance(notes, list)
    assert sum(words in note for note in notes) == 1


def test_a_window_below_ambient_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["control", "diagonal", "--window-k", "200,250"]) == 2
    assert "200 – 250 K is out of reach" in capsys.readouterr().err


@pytest.mark.parametrize(("delta", "told"), [("20", False), ("30", True)])
def test_a_margin_that_takes_the_middle_of_the_window_is_told(
    delta: str, told: bool, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    close(tmp_path, "diagonal", "--ticks", "12", "--delta-k", delta)
    assert ("leaves 10 of the window's 40 K: plans keep to 760 – 770 K" in capsys.readouterr().err) is told


def test_without_the_option_the_margin_is_the_models_own(tmp_path: Path) -> None:
    assert close(tmp_path, "spiral", "--plant", "paper", "--controller", "ipopt", "--ticks", "1")[
        "delta_k"
    ] == pytest.approx(11.999, abs=1e-3)
    options = ("spiral", "--plant", "paper", "--controller", "ipopt", "--ticks", "1", "--delta-k", "0")
    assert close(tmp_path, *options)["delta_k"] == 0.0


def test_a_path_of_ones_own_is_controlled_to_its_end(tmp_path: Path) -> None:
    (tmp_path / "my.csv").write_text("x_mm,y_mm\n0,0\n0.3,0\n0,0.05\n")
    found = close(tmp_path, str(tmp_path / "my.csv"), "--controller", "pi", "--power-max-w", "20")
    assert found["ticks"] == int((0.3 + (0.3**2 + 0.05**2) ** 0.5) / 0.038)
    assert found["model"] is None


def test_figures_are_drawn_where_they_are_asked_for(tmp_path: Path) -> None:
    plot, residuals = tmp_path / "run.png", tmp_path / "map.svg"
    close(
        tmp_path,
        "diagonal",
        "--plant",
        "paper",
        "--controller",
        "ipopt",
        "--ticks",
        "12",
        "--plot",
        str(plot),
        "--map",
        str(residuals),
    )
    assert plot.stat().st_size > 10_000
    assert "<svg" in residuals.read_text()


@pytest.mark.parametrize(
    ("options", "word"),
    [
        (["spiral", "--controller", "pi", "--model", "paper-base"], "--model"),
        (["spiral", "--model", "nobody"], "nobody"),
        (["spiral", "--sampling", "nearest"], "--sampling belongs to controllers that plan with a network"),
        (["spiral", "--sampling", "cubic"], "--sampling"),
        (["spiral", "--window-k", "800,760"], "--window-k"),
        (["spiral", "--delta-k", "50"], "margins"),
        (["spiral", "--plant", "paper", "--controller", "ipopt", "--tick-us", "100"], "tick_us is another"),
        (
            ["spiral", "--plant", "paper", "--controller", "ipopt", "--material", "ti64"],
            "material is another",
        ),
        (
            ["diagonal", "--plant", "paper", "--controller", "ipopt", "--speed-mm-s", "600"],
            "the path runs at 600 mm/s",
        ),
        (
            ["spiral", "--plant", "paper", "--controller", "ipopt", "--power-max-w", "200"],
            "the laser may give 200 W",
        ),
        (
            ["spiral", "--plant", "paper", "--controller", "ipopt", "--window-k", "1500,1700"],
            "the window is 1500 to 1700 K",
        ),
        (["spiral", "--plant", "paper", "--controller", "ipopt", "--pixel-um", "100"], "a pixel of 100"),
        (["spiral", "--model", "paper-corner"], "--plant paper"),
        (["spiral", "--controller", "magic"], "controller"),
        (["nowhere.csv"], "nowhere.csv"),
    ],
)
def test_a_bad_wish_is_refused_in_one_sentence(
    options: list[str], word: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["control", *options, "--ticks", "2"]) == 2
    said = capsys.readouterr().err
    assert word in said
    assert said.count("\n") == 1
    assert "Traceback" not in said


def test_a_camera_may_be_late_slow_noisy_and_coarse(tmp_path: Path) -> None:
    options = ("--delay", "1", "--every", "2", "--noise-k", "3", "--pixel-um", "50", "--seed", "7")
    found = close(
        tmp_path, "vertical", "--plant", "paper", "--controller", "ipopt", "--ticks", "14", *options
    )
    process = found["process"]
    assert isinstance(process, dict)
    assert process["camera"] == {
        "pixel_um": 50.0,
        "noise_k": 3.0,
        "exposure_ticks": 1,
        "delay_ticks": 1,
        "every_ticks": 2,
        "heat_ratio": [0.5, 5.0],
    }
    assert (found["ticks"], found["seed"]) == (14, 7)


@pytest.mark.parametrize(
    "options",
    [
        ("--delay", "1"),
        ("--every", "2"),
        ("--noise-k", "3"),
        ("--pixel-um", "50"),
        ("--tracking", "30"),
        OTHER,
    ],
    ids=str,
)
def test_every_wish_changes_the_run(options: tuple[str, ...], tmp_path: Path) -> None:
    runs = [
        close(tmp_path, "diagonal", "--plant", "paper", "--controller", "ipopt", "--ticks", "12", *wish)[
            "series"
        ]
        for wish in ((), options)
    ]
    powers = [run["power_w"] for run in runs if isinstance(run, dict)]
    assert max(abs(one - other) for one, other in zip(*powers, strict=True)) > 0.05


def test_the_model_that_ships_for_a_sampling_is_taken_and_another_one_is_told_that_it_learned_otherwise(
    tmp_path: Path,
) -> None:
    usual = ("spiral", "--plant", "paper", "--ticks", "3", "--sampling")
    bilinear = close(tmp_path, *usual, "bilinear")
    assert (bilinear["model"], bilinear["notes"]) == ("paper-corner-bilinear", [])
    other = close(tmp_path, *usual, "nearest", "--model", "paper-corner-bilinear", "--delta-k", "0")
    sentence = "temperatures ahead are read by nearest sampling; the model learned from bilinear"
    assert other["notes"] == [sentence]


def test_a_margin_is_calibrated_and_kept_with_the_model(tmp_path: Path) -> None:
    (tmp_path / "tiny.yaml").write_text("kind: corner\nruns: 5\nstates: 20\nseed: 3\n")
    data, model = str(tmp_path / "data"), str(tmp_path / "model")
    assert main(["ensemble", str(tmp_path / "tiny.yaml"), "--out", data, "--workers", "1"]) == 0
    size = ["--width", "8", "--basis", "4", "--max-epochs", "2"]
    assert main(["train", "ms-deeponet", "--data", data, "--out", model, *size]) == 0
    file = tmp_path / "margin.json"
    assert main(["calibrate", model, "--data", data, "--keep", "--json", str(file)]) == 0
    found = json.loads(file.read_text())
    assert set(found) >= {"delta_one_sided_k", "delta_symmetric_k", "windows", "quantile"}
    assert found["windows"] == round(0.2 * 5 * 14)
    assert 0 <= found["delta_one_sided_k"] <= found["delta_symmetric_k"]
    assert load_model(model).provenance["calibration"]["delta_one_sided_k"] == found["delta_one_sided_k"]


def test_a_shipped_model_keeps_its_own_margin(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    assert main(["calibrate", "paper-corner", "--data", str(tmp_path), "--keep"]) == 2
    assert "shipped" in capsys.readouterr().err


def test_who_insists_gets_the_run_and_a_note_on_both_ways_out(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    insisting = (
        "spiral",
        "--plant",
        "paper",
        "--controller",
        "ipopt",
        "--ticks",
        "2",
        "--material",
        "ti64",
        "--force",
    )
    found = close(tmp_path, *insisting)
    assert "paper-corner was not made for this: material is another" in capsys.readouterr().err
    assert isinstance(found["notes"], list)
    assert any("material is another" in note for note in found["notes"])
    fitting = close(
        tmp_path, "spiral", "--plant", "paper", "--controller", "ipopt", "--ticks", "2", "--speed-mm-s", "310"
    )
    assert fitting["notes"] == []
    assert "not made for" not in capsys.readouterr().err


def test_a_controller_of_ones_own_runs_beside_the_shipped_ones(tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text(
        "class Mine:\n"
        "    def __init__(self, problem):\n"
        "        self.power = problem.power[1]\n"
        "    def act(self, image, preview):\n"
        "        if preview.time > 5e-4:\n"
        "            raise ValueError('tired')\n"
        "        return self.power / 2\n"
    )
    found = close(tmp_path, "spiral", "--controller", f"{tmp_path / 'mine.py'}:Mine", "--ticks", "12")
    assert found["controller"] == "Mine"
    assert found["statuses"] == {str(Status.BARE): 5, str(Status.RAISED): 7}
    assert found["notes"] == ["the controller raised at tick 5: ValueError: tired"]
    assert isinstance(found["series"], dict)
    assert found["series"]["power_w"] == [10.0] * 5 + [0.0] * 7
