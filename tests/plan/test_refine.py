"""Refined plans: what a simulation taught the twin about a path."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from laserloop.paths.scan_file import ScanFile
from laserloop.plan.correction import Correction
from laserloop.plan.job import Job, plan_job
from laserloop.plan.refine import learn, plan_refined, simulate_plan
from laserloop.plan.settings import PlanSettings
from laserloop.process import Process, find_process

HAIRPIN = "x_mm,y_mm\n-0.8,0\n0.8,0\n0.8,0.15\n-0.8,0.15\n"
LAYERS = (
    "$$HEADERSTART\n$$UNITS/1\n$$HEADEREND\n$$GEOMETRYSTART\n"
    "$$LAYER/0.04\n$$HATCHES/1,2,-0.8,0,0.8,0,0.8,0.1,-0.8,0.1\n"
    "$$LAYER/0.08\n$$HATCHES/1,2,-0.8,0,0.8,0,0.8,0.1,-0.8,0.1\n$$GEOMETRYEND\n"
)


def make_job(folder: Path, name: str, text: str, process: Process, **settings: object) -> Job:
    file = folder / name
    file.write_text(text)
    return Job(
        file=ScanFile(str(file), None, 20.0),
        process=process,
        settings=PlanSettings(**settings),  # type: ignore[arg-type]
        recoating=0.02,
    )


def find_worst(job: Job) -> float:
    """The largest distance from the window's middle on the plant, K."""
    layers = simulate_plan(plan_refined(job))
    middle = 0.5 * sum(job.process.window)
    return max(float(np.abs(layer.temperature[layer.counted] - middle).max()) for layer in layers)


def test_a_twin_that_has_learned_expects_what_happened() -> None:
    expected, found = np.array([900.0, 1210.0, 1230.0, 400.0]), np.array([880.0, 1225.0, 1222.0, 600.0])
    lit = np.array([True, True, True, False])
    before = Correction(find_process("ti64"), np.ones(4))
    after = before.improve(expected, found, lit)
    assert after.apply(expected, 0)[:3] == pytest.approx(found[:3], abs=0.01)
    assert after.apply(expected[1:3], 1) == pytest.approx(found[1:3], abs=0.01)
    assert after.factor[3] == 1.0
    again = after.improve(after.apply(expected, 0), found, lit)
    assert again.factor == pytest.approx(after.factor, rel=1e-4)


def test_one_simulation_takes_most_of_what_the_twin_misses_of_an_alloy_whose_diffusivity_varies(
    tmp_path: Path,
) -> None:
    job = make_job(tmp_path, "a.csv", HAIRPIN, find_process("ti64"))
    worst = [find_worst(replace(job, refine=rounds)) for rounds in (0, 1)]
    assert worst[0] > 8.0
    assert worst[1] < 0.3 * worst[0]


def test_layers_are_refined_each_with_its_own_lesson(tmp_path: Path) -> None:
    job = replace(make_job(tmp_path, "a.cli", LAYERS, Process()), refine=1)
    assert find_worst(job) < 0.3 * find_worst(replace(job, refine=0))


def test_a_vector_stays_below_the_top_that_the_plate_knows(tmp_path: Path) -> None:
    job = make_job(tmp_path, "a.csv", HAIRPIN, find_process("ti64"), by="vector")
    tops = []
    for rounds in (0, 1):
        (layer,) = simulate_plan(plan_refined(replace(job, refine=rounds)))
        tops.append(layer.temperature[layer.counted].max())
    assert tops[1] <= 1240.0
    assert abs(tops[1] - 1238.0) < abs(tops[0] - 1238.0)


def test_free_speeds_are_those_that_were_simulated(tmp_path: Path) -> None:
    job = make_job(tmp_path, "a.csv", HAIRPIN, Process(), speeds=(0.1, 0.8))
    first, second = (plan_refined(replace(job, refine=rounds)) for rounds in (0, 1))
    assert np.array_equal(first.orders.speeds, second.orders.speeds)
    assert first.write() != second.write()


def test_a_refinement_that_was_stopped_goes_on_with_what_is_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    job = replace(make_job(tmp_path, "a.cli", LAYERS, Process()), refine=1)
    whole = plan_refined(job).write()
    job = replace(job, folder=tmp_path / "kept")
    planned = plan_job(replace(job))
    simulate_plan(planned)  # here it was stopped
    monkeypatch.setattr("laserloop.plan.verify._simulate_layer", lambda *_: pytest.fail("simulated again"))
    assert plan_refined(job).write() == whole


def test_a_written_file_may_be_a_tick_longer_or_shorter(tmp_path: Path) -> None:
    planned = plan_job(make_job(tmp_path, "a.csv", HAIRPIN, Process()))
    (found,), (layer,) = simulate_plan(planned), planned.layers
    whole = learn(layer, found).correction.factor
    for temperature in (found.temperature[:-1], np.append(found.temperature, 500.0)):
        other = learn(layer, replace(found, temperature=temperature)).correction.factor
        assert other[:-1] == pytest.approx(whole[:-1])
        assert len(other) == len(whole)
