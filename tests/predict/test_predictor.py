"""A new predictor is one file: it runs in the loop, on the command line and in the scores."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from laserloop.bad_input import BadInput
from laserloop.cli import main
from laserloop.control.controller import Status
from laserloop.loop.record import score
from laserloop.loop.scenario import Scenario, prepare
from laserloop.paths import find_path

AFFINE = '''
import numpy as np
from laserloop.predict.predictor import AffineForecast

class Rise:
    """33 K for each watt, at once and for one tick."""

    name, horizon, memory, affine = "rise", 4, 0, True

    def __init__(self, process):
        self.ambient = process.ambient

    def reset(self):
        pass

    def observe(self, image, preview):
        base, slopes = np.full(4, self.ambient), 33.0 * np.eye(4)
        return AffineForecast(base=base, slopes=slopes, previous=preview.power, committed=np.empty(0))
'''
CURVED = """
import numpy as np

class Forecast:
    committed = np.empty(0)

    def __init__(self, previous):
        self.previous = previous

    def predict(self, plan):
        return 300.0 + 20.0 * plan + 0.9 * plan**2

    def linearise(self, plan):
        return self.predict(plan), np.diag(20.0 + 1.8 * plan)

class Curved:
    name, horizon, memory, affine = "curved", 4, 0, False

    def __init__(self, process):
        pass

    def reset(self):
        pass

    def observe(self, image, preview):
        return Forecast(preview.power)

class Liar(Curved):
    affine = True

class Silent(Curved):
    def observe(self, image, preview):
        return None

class Lost(Curved):
    def observe(self, image, preview):
        return Broken(preview.power)

class Broken(Forecast):
    def predict(self, plan):
        return np.full(4, np.nan)
"""


@pytest.fixture
def rise(tmp_path: Path) -> str:
    (tmp_path / "rise.py").write_text(AFFINE)
    return f"{tmp_path / 'rise.py'}:Rise"


@pytest.fixture
def curved(tmp_path: Path) -> str:
    (tmp_path / "curved.py").write_text(CURVED)
    return f"{tmp_path / 'curved.py'}:"


def drive(model: str, **changes: Any) -> Scenario:
    return Scenario(path="diagonal", model=model, ticks=14, **changes)


def test_an_affine_predictor_of_ones_own_gets_exactly_one_qp_a_tick(rise: str) -> None:
    run = prepare(drive(rise)).run()
    assert set(run.statuses) == {Status.SOLVED}
    assert run.iterations.tolist() == [1] * 14
    assert run.predicted == pytest.approx(300.0 + 33.0 * run.power)
    assert run.predicted[-1] == pytest.approx(780.0, abs=0.1)  # the middle of the window, as in the arena
    found = score(run)
    assert found["controller"] == "rise"
    assert found["residual_rms_k"] == pytest.approx(
        float(np.sqrt(np.mean((run.predicted - run.t_max)[run.settled] ** 2)))
    )


def test_it_runs_on_the_command_line(rise: str, tmp_path: Path) -> None:
    file = tmp_path / "run.json"
    assert main(["control", "spiral", "--model", rise, "--ticks", "12", "--json", str(file)]) == 0
    found = json.loads(file.read_text())
    assert (found["controller"], found["model"]) == ("rise", rise)
    assert found["statuses"] == {"solved": 12}
    assert found["iterations"] == {"mean": 1.0, "max": 1}
    assert found["series"]["t_predicted_k"][-1] == pytest.approx(780.0, abs=0.1)


def test_it_is_benched(rise: str, tmp_path: Path) -> None:
    file = tmp_path / "bench.json"
    assert main(["bench", "mpc", "--model", rise, "--problems", "12", "--json", str(file)]) == 0
    found = json.loads(file.read_text())
    assert found["statuses"] == {"solved": 12}
    assert 0.0 < found["own"]["median_us"] <= found["own"]["p99_us"]


def test_a_price_of_the_middle_and_a_window_reach_a_predictor_of_ones_own(rise: str) -> None:
    untracked = prepare(drive(rise, tracking=0.0)).run()  # the least move that reaches the floor
    assert untracked.predicted[-1] == pytest.approx(760.0, abs=0.1)
    process = drive(rise).process.change(window_k=[600.0, 700.0])
    assert prepare(drive(rise, process=process)).run().predicted[-1] == pytest.approx(650.0, abs=0.1)


def test_in_dark_ticks_nothing_is_given_and_coming_back_is_no_move(rise: str) -> None:
    lit = np.array([True] * 5 + [False] * 4 + [True] * 5)
    path = replace(find_path("diagonal", ticks=14), lit=lit)
    run = prepare(replace(drive(rise), path=path)).run()
    assert not run.power[~lit].any()
    assert run.predicted[lit][5:] == pytest.approx(780.0, abs=0.1)


def test_a_curved_predictor_gets_more_qps_until_its_line_agrees(curved: str) -> None:
    run = prepare(drive(f"{curved}Curved")).run()
    assert set(run.statuses) == {Status.SOLVED}
    assert run.iterations[0] > 1
    assert run.predicted[-1] == pytest.approx(780.0, abs=0.1)


def test_one_that_only_says_it_is_affine_gets_one_qp_and_is_told_of(curved: str) -> None:
    run = prepare(drive(f"{curved}Liar")).run()
    assert run.iterations.max() == 1
    assert Status.STOPPED in run.statuses


@pytest.mark.parametrize("name", ["Silent", "Lost"])
def test_without_a_prediction_the_laser_stays_off(name: str, curved: str) -> None:
    run = prepare(drive(f"{curved}{name}")).run()
    assert not run.power.any()
    assert set(run.statuses) == {Status.EXHAUSTED}


@pytest.mark.parametrize(
    ("model", "controller", "words"),
    [
        ("nowhere.py:A", None, "'nowhere.py' is not there"),
        ("{rise}x", None, "no class or function"),
        ("{rise}", "realtime", "plans with networks only"),
        ("{file}:AffineForecast", None, "cannot be built: TypeError"),
        ("{file}:dict", None, "must have a class or function 'dict'"),
    ],
)
def test_a_file_that_does_not_do_is_refused_in_one_sentence(
    model: str, controller: str | None, words: str, rise: str
) -> None:
    name = model.format(rise=rise, file=rise.rpartition(":")[0])
    with pytest.raises(BadInput) as refused:
        prepare(drive(name, controller=controller)).run()
    assert words.replace("no class", "must have a class") in str(refused.value)
    assert "\n" not in str(refused.value)
