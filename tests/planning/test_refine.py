"""Refined plans: what a simulation taught the twin about a path."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from laserloop.paths.files import ScanFile
from laserloop.planning.commands import PlanSettings
from laserloop.planning.job import FilePlan, Job, plan_job
from laserloop.planning.powers import PlanCorrection
from laserloop.planning.verify import Checking, learn, plan_refined, simulate_plan
from laserloop.process import Process, find_process
from laserloop.process.heat_table import tabulate

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
        file=ScanFile.open(str(file), None, 20.0),
        process=process,
        settings=PlanSettings(**settings),  # type: ignore[arg-type]
        recoating=0.02,
    )


def refine(job: Job, rounds: int) -> FilePlan:
    """So many rounds, simulated."""
    return plan_refined(job, Checking(refine=rounds))


def find_worst(planned: FilePlan) -> float:
    """The largest distance from the window's middle on the plant where it could be reached, K."""
    middle = 0.5 * sum(planned.job.process.window)
    assert planned.results is not None
    return max(
        float(np.abs(found.temperature - middle)[layer.route.path.settled()].max())
        for layer, found in zip(planned.layers, planned.results, strict=True)
    )


def test_a_twin_that_has_learned_expects_what_happened() -> None:
    expected, found = np.array([900.0, 1210.0, 1230.0, 400.0]), np.array([880.0, 1225.0, 1222.0, 600.0])
    lit = np.array([True, True, True, False])
    before = PlanCorrection(find_process("ti64"), np.ones(4))
    after = before.improve(expected, found, lit)
    assert after.apply(expected, 0)[:3] == pytest.approx(found[:3], abs=0.01)
    assert after.apply(expected[1:3], 1) == pytest.approx(found[1:3], abs=0.01)
    assert after.factor[3] == 1.0
    again = after.improve(after.apply(expected, 0), found, lit)
    assert again.factor == pytest.approx(after.factor, rel=1e-4)


def test_a_plate_that_answers_more_than_the_twin_expects_is_learned_from_both_sides() -> None:
    """As where it melts: a tenth more power makes it a fourth hotter, and each full step overshoots."""
    process, lit = find_process("ti64"), np.array([True])
    wanted, correction = np.array([1220.0]), PlanCorrection(find_process("ti64"), np.ones(1))
    heat = tabulate(process.material, process.ambient)
    misses = list[float]()
    for _ in range(6):
        power = 1.0 / correction.factor  # of what the twin took for right at first
        found = heat.temperature_of(heat.theta_of(wanted) * 0.9 * power**2.3)
        misses.append(abs(float(found[0]) - 1220.0))
        correction = correction.improve(wanted, found, lit)
    assert misses[0] > 50.0
    assert misses[-1] < 1.0


@pytest.mark.filterwarnings("ignore:temperatures of")
def test_rounds_bring_a_thin_molten_wall_near_its_window() -> None:
    """Heat piles up in a wall of 1 mm, and a plate that melts and freezes answers each watt anew."""
    wall = "$$HEADERSTART\n$$UNITS/1\n$$HEADEREND\n$$GEOMETRYSTART\n" + "".join(
        f"$$LAYER/{0.3 * k}\n$$HATCHES/1,1,-6,0,6,0\n" for k in (1, 2, 3)
    )
    process = find_process("316").change(
        plate_mm=(30, 1, 10),
        sigma_um=500,
        power_w=(0, 400),
        speed_mm_s=10,
        window_k=(2030, 2070),
        tick_us=20_000,
    )
    file = ScanFile("wall.cli", f"{wall}$$GEOMETRYEND\n".encode(), None, 400.0)
    planned = plan_refined(Job(file=file, process=process))
    scores = planned.verdict.scores
    assert scores is not None
    assert scores["t_max_k"] < 2070 + 0.02 * 1770  # 2131 K at first
    assert scores["outside_fraction"] < 0.02  # 74 % at first, 6 % if each round took the whole miss up


def test_one_simulation_takes_most_of_what_the_twin_misses_of_an_alloy_whose_diffusivity_varies(
    tmp_path: Path,
) -> None:
    job = make_job(tmp_path, "a.csv", HAIRPIN, find_process("ti64"))
    worst = [find_worst(refine(job, rounds)) for rounds in (0, 1)]
    assert worst[0] > 7.0
    assert worst[1] < 0.3 * worst[0]


def test_layers_are_refined_each_with_its_own_lesson(tmp_path: Path) -> None:
    job = make_job(tmp_path, "a.cli", LAYERS, Process())
    assert find_worst(refine(job, 1)) < 0.3 * find_worst(refine(job, 0))


def test_a_vector_stays_below_the_top_that_the_plate_knows(tmp_path: Path) -> None:
    job = make_job(tmp_path, "a.csv", HAIRPIN, find_process("ti64"), by="vector")
    tops = []
    for rounds in (0, 1):
        scores = refine(job, rounds).verdict.scores
        assert scores is not None
        tops.append(scores["t_max_k"])
    assert tops[1] <= 1240.0
    assert abs(tops[1] - 1238.0) < abs(tops[0] - 1238.0)


def test_free_speeds_are_those_that_were_simulated(tmp_path: Path) -> None:
    job = make_job(tmp_path, "a.csv", HAIRPIN, Process(), speeds=(0.1, 0.8))
    first, second = (plan_refined(job, Checking(refine=rounds, simulate=False)) for rounds in (0, 1))
    assert [c.speed for c in first.schedule.values()] == [c.speed for c in second.schedule.values()]
    assert first.write() != second.write()


def test_a_refinement_that_was_stopped_goes_on_with_what_is_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    job, once = make_job(tmp_path, "a.cli", LAYERS, Process()), Checking(refine=1, simulate=False)
    whole = plan_refined(job, once).write()
    job = replace(job, folder=tmp_path / "kept")
    simulate_plan(plan_job(job), 50_000)  # here it was stopped
    monkeypatch.setattr(
        "laserloop.planning.verify._simulate_layer", lambda *_: pytest.fail("simulated again")
    )
    assert plan_refined(job, once).write() == whole


def test_a_written_file_may_be_a_tick_longer_or_shorter(tmp_path: Path) -> None:
    planned = simulate_plan(plan_job(make_job(tmp_path, "a.csv", HAIRPIN, Process())))
    (found,) = planned.results or ()
    (whole,) = learn(planned.layers, [found])
    for temperature in (found.temperature[:-1], np.append(found.temperature, 500.0)):
        (other,) = learn(planned.layers, [replace(found, temperature=temperature)])
        assert other.correction.factor[:-1] == pytest.approx(whole.correction.factor[:-1])
        assert len(other.correction.factor) == len(whole.correction.factor)
