"""The verbs that take a log, as a user types them."""

import json
from pathlib import Path

import pytest

from laserloop.cli import main
from laserloop.process import read_process


@pytest.fixture(scope="module")
def log(tmp_path_factory: pytest.TempPathFactory) -> Path:
    file = tmp_path_factory.mktemp("log") / "run.json"
    options = ["--ticks", "60", "--noise-k", "5", "--delay", "2", "--mismatch", "absorptivity=0.83"]
    assert main(["control", "polyline:7", *options, "--json", str(file)]) == 0
    return file


def test_identify_writes_values_intervals_a_figure_and_a_process_that_reads_back(
    log: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out, found, plot = (tmp_path / name for name in ("fitted.yaml", "fit.json", "fit.png"))
    options = ["--fit", "absorptivity,delay", "--process", "paper"]
    written = ["--out", str(out), "--json", str(found), "--plot", str(plot)]
    assert main(["identify", str(log), *options, *written]) == 0
    told = json.loads(found.read_text())
    for name, true, near in (("absorptivity", 0.83, 0.02), ("delay_ticks", 2.0, 0.25)):
        assert set(told[name]) == {"value", "low", "high"}
        assert told[name]["low"] < told[name]["value"] < told[name]["high"]
        assert told[name]["value"] == pytest.approx(true, abs=near)
    assert told["residual_rms_k"] < 8.0
    process = read_process(out)
    assert process.beam.absorptivity == pytest.approx(told["absorptivity"]["value"])
    assert process.camera.delay == 2
    assert plot.stat().st_size > 1000
    assert "Not told apart" in capsys.readouterr().out


def test_identify_says_how_far_images_lie_off_and_the_lasers_lag(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    log, out, found = (tmp_path / name for name in ("run.json", "fitted.yaml", "fit.json"))
    options = ["--ticks", "100", "--noise-k", "5", "--mismatch", "laser-lag-us=125"]
    assert main(["control", "zigzag:5", *options, "--json", str(log)]) == 0
    series = json.loads(log.read_text())["series"]
    page = {"series": series | {"x_measured_mm": [x and x + 0.05 for x in series["x_measured_mm"]]}}
    log.write_text(json.dumps(page))
    capsys.readouterr()
    assert main(["identify", str(log), "--process", "paper", "--out", str(out), "--json", str(found)]) == 0
    told = json.loads(found.read_text())
    for name, true, near in (
        ("offset_x_um", 50.0, 4.0),
        ("offset_y_um", 0.0, 4.0),
        ("laser_lag_us", 125.0, 40.0),
    ):
        assert set(told[name]) == {"value", "low", "high", "std_error", "told"}
        assert told[name]["told"]
        assert told[name]["value"] == pytest.approx(true, abs=near), name
    assert read_process(out).laser.lag == pytest.approx(1e-6 * told["laser_lag_us"]["value"])
    text = " ".join(capsys.readouterr().out.split())
    assert "images' offset in x, µm" in text
    for sentence in told["sentences"]:
        assert f"{sentence[0].upper()}{sentence[1:]}." in text


def test_a_fit_that_does_not_hold_is_not_written(
    log: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    page, drifting, out = json.loads(log.read_text()), tmp_path / "drifting.json", tmp_path / "fitted.yaml"
    seen = page["series"]["t_measured_k"]
    page["series"]["t_measured_k"] = [value and value + 1.5 * k for k, value in enumerate(seen)]
    drifting.write_text(json.dumps(page))
    fit = ["identify", str(drifting), "--process", "paper", "--fit", "absorptivity", "--out", str(out)]
    assert main(fit) == 3
    assert "Verdict: the fit does not hold: " in capsys.readouterr().out
    assert not out.exists()
    assert main([*fit, "--force"]) == 3
    assert out.exists()


def test_a_log_without_a_process_says_whose_is_taken(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    log = tmp_path / "build.csv"
    rows = "\n".join(f"{125 * i},{0.04 * i:g},0,12,{500 + i}" for i in range(9))
    log.write_text(
        f"build_time_us,cmd_laser_pos_x_mm,cmd_laser_pos_y_mm,cmd_laser_power_W,measured_peak_k\n{rows}"
    )
    assert main(["replay", str(log), "--controller", "constant"]) == 0
    assert "the default one is taken, 304 steel" in " ".join(capsys.readouterr().err.split())


@pytest.mark.parametrize("text", ["absorptivity", "absorptivity=0.35", "albedo=1±2", "sigma=100±0"])
def test_a_prior_that_says_nothing_is_a_sentence(
    log: Path, text: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["identify", str(log), "--prior", text]) == 2
    assert capsys.readouterr().err.startswith("laserloop: ")


def test_replay_says_what_would_have_been_commanded(log: Path, tmp_path: Path) -> None:
    file = tmp_path / "replay.json"
    assert main(["replay", str(log), "--controller", "twin", "--json", str(file)]) == 0
    told = json.loads(file.read_text())
    assert told["ticks"] == 60
    assert told["process"]["camera"]["delay_ticks"] == 2  # that inside the log
    assert len(told["series"]["commanded_w"]) == 60
    assert set(told["frames"]) == {"readings", "lost", "late", "nan", "saturated", "frozen"}


@pytest.mark.parametrize("verb", ["identify", "replay"])
@pytest.mark.parametrize("name", ["none.csv", "none.json", "none.h5", "none.xyz", "."])
def test_a_log_that_is_none_is_one_sentence(
    verb: str, name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main([verb, name]) == 2
    told = capsys.readouterr().err
    assert told.startswith("laserloop: ")
    assert told.count("\n") == 1


def test_what_cannot_be_fitted_is_said_before_the_work(log: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["identify", str(log), "--fit", "albedo"]) == 2
    assert "must be some of absorptivity" in capsys.readouterr().err
    assert main(["identify", str(log), "--plot", "fit.xyz"]) == 2
