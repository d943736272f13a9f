"""What a plan is worth: simulated by default, refined until it holds, marked where that is not certain."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from laserloop.bad_input import BadInput
from laserloop.paths import Placement, ScanFile
from laserloop.planning import plan as plan_module
from laserloop.planning import verify
from laserloop.planning.commands import PlanSettings
from laserloop.planning.job import Job, describe_levels, find_rises, plan_job
from laserloop.planning.scores import LayerResult, judge_plan, measure_miss, score_layers
from laserloop.planning.verify import Checking, plan_refined, simulate_plan
from laserloop.process import Process, find_process, heat_table

HAIRPIN = b"x_mm,y_mm\n-0.8,0\n0.8,0\n0.8,0.15\n-0.8,0.15\n"
LINES = (
    "$$HEADERSTART\n$$UNITS/1\n$$HEADEREND\n$$GEOMETRYSTART\n"
    "$$LAYER/{0}\n$$HATCHES/1,1,-0.5,0,0.5,0\n$$LAYER/{1}\n$$HATCHES/1,1,-0.5,0,0.5,0\n$$GEOMETRYEND\n"
)


def make_result(*temperature: float, counted: int = 0) -> LayerResult:
    T = np.array(temperature)
    lit = np.ones(len(T), np.bool_)
    return LayerResult(T, lit, np.arange(len(T)) >= counted)


def judge(*layers: LayerResult) -> bool | None:
    return judge_plan(Process(), PlanSettings(), layers, layers).holds


def make_layers(first: float, second: float) -> Job:
    return Job(
        file=ScanFile("a.cli", LINES.format(first, second).encode()), process=Process(), recoating=0.02
    )


def test_a_plan_holds_up_to_two_per_cent_of_the_rise_above_and_one_per_cent_of_its_ticks_outside() -> None:
    inside = [780.0] * 199
    assert judge(make_result(*inside, 809.9))  # 2 % of 500 K
    assert not judge(make_result(*inside, 810.1))
    assert judge(make_result(*inside, 700.0))
    assert not judge(make_result(*inside[2:], 700.0, 700.0, 700.0))


def test_the_first_lit_tick_counts_above_but_not_below() -> None:
    assert judge(make_result(400.0, 500.0, *[780.0] * 200, counted=2))
    assert not judge(make_result(830.0, 500.0, *[780.0] * 200, counted=2))
    scores = score_layers([make_result(830.0, 500.0, 780.0, counted=2)], (760.0, 800.0))
    assert (scores["t_max_k"], scores["t_min_k"], scores["n_over"]) == (830.0, 780.0, 1)
    assert scores["starts"] == {"over_k": 30.0, "ticks_to_floor": 1}


def test_a_plan_that_does_not_hold_is_refined_until_it_does() -> None:
    process = find_process("ti64").change(window_k=(1215, 1225))
    job = Job(file=ScanFile("a.csv", HAIRPIN), process=process)
    first = simulate_plan(plan_job(job))
    assert first.verdict.holds is False
    planned = plan_refined(job)
    assert planned.verdict.holds
    assert 1 <= planned.refined <= 5
    assert planned.verdict.mark == ""
    assert (
        planned.tell()["verified"]["outside_fraction"] <= 0.01 < first.tell()["verified"]["outside_fraction"]
    )


def test_commands_that_cannot_hold_are_not_refined_but_told() -> None:
    job = Job(file=ScanFile("a.csv", HAIRPIN), process=Process(), settings=PlanSettings(by="vector"))
    planned = plan_refined(job)
    assert planned.refined == 0
    assert planned.verdict.holds is False
    assert "the plan does not hold: " in planned.tell()["notes"][-1]
    assert "try --by point" in planned.tell()["notes"][-1]
    assert planned.write().startswith(b"# laserloop plan: DOES NOT HOLD: simulated T_max is ")


def test_a_plan_that_was_not_simulated_says_so_in_file_and_account() -> None:
    planned = plan_refined(Job(file=ScanFile("a.csv", HAIRPIN), process=Process()), Checking(simulate=False))
    told = planned.tell()
    assert told["holds"] is None
    assert "verified" not in told
    assert any("was not simulated" in note for note in told["notes"])
    assert planned.write().startswith(b"# laserloop plan: NOT SIMULATED")
    again = plan_refined(Job(file=ScanFile("a.csv", planned.write()), process=Process()))
    assert again.verdict.holds
    head = [line for line in again.write().splitlines() if line.startswith(b"#")]
    assert head == [
        b"# laserloop plan: powers are absorbed power, absorptivity 1"
    ]  # and nothing of the old head


def test_what_is_beyond_the_bound_is_named_as_not_verified() -> None:
    planned = plan_refined(make_layers(0.04, 0.08), Checking(ticks=40))
    first, second = (len(layer.route.path) for layer in planned.layers)
    assert [len(found.temperature) for found in planned.results or ()] == [first, 40 - first]
    told = planned.tell()
    assert told["holds"]
    assert ["verified" in layer for layer in told["layers"]] == [True, True]
    mark = f"only the first 40 of {first + second} ticks are simulated, all of 1 of 2 layers"
    assert mark in planned.verdict.mark
    assert any(mark in note and "NOT VERIFIED" in note for note in told["notes"])


def test_layers_that_were_not_chosen_are_named_as_not_verified() -> None:
    lines = "".join(f"G0 X-0.5 Y0 Z{z}\nG1 X0.5 F18240 S10\n" for z in (0.04, 0.08))
    job = Job(file=ScanFile("a.gcode", f"G21\nG90\n{lines}".encode()), process=Process())
    planned = plan_job(replace(job, placement=Placement(layer=2)))
    left = "only layer 2 of 2 is planned, the others are as they were and NOT VERIFIED"
    assert any(left in note for note in planned.tell()["notes"])
    assert left[1:].encode() in planned.write()
    assert not any("as they were" in note for note in plan_job(job).tell()["notes"])
    assert b"as they were" not in plan_job(job).write()


def test_one_calibration_and_one_heat_table_serve_all_rounds(monkeypatch: pytest.MonkeyPatch) -> None:
    process = Process()
    process = replace(process, material=replace(process.material, name="304 again"))
    calls = list[str]()
    for module, name in ((plan_module, "calibrate_gain"), (heat_table, "_check_cells")):
        monkeypatch.setattr(module, name, _count(getattr(module, name), name, calls))
    planned = plan_refined(Job(file=ScanFile("a.csv", HAIRPIN), process=process), Checking(refine=1))
    assert planned.refined == 1
    assert sorted(calls) == ["_check_cells", "calibrate_gain"]


def _count(function: Callable[..., object], name: str, calls: list[str]) -> Callable[..., object]:
    def counted(*values: object, **options: object) -> object:
        calls.append(name)
        return function(*values, **options)

    return counted


def test_a_file_is_read_from_disk_once(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_text("Mode X Y Z Power Param\n1 -0.0005 0 0 0 0\n0 0.0005 0 0 11 0.304\n")
    job = Job(file=ScanFile.open(str(path), None, 20.0), process=Process())
    path.unlink()
    assert plan_refined(job).verdict.holds


def test_a_platform_that_is_lowered_raises_the_surface_all_the_same() -> None:
    rising, falling, mixed = (
        make_layers(*levels).read() for levels in ((0.04, 0.08), (0, -0.04), (0.08, 0.04))
    )
    assert find_rises(rising) == pytest.approx([0, 4e-5])
    assert find_rises(falling) == pytest.approx([0, 4e-5])
    assert describe_levels(rising, "a") == ()
    assert "platform that is lowered" in describe_levels(falling, "a")[0]
    assert "layer 3 lies below" in describe_levels([*rising, mixed[1]], "a")[0]


def test_strokes_that_are_too_short_for_any_speed_are_planned() -> None:
    strokes = "x_mm,y_mm,lit\n0,0,0\n" + "".join(f"0,{y},0\n0.1,{y},1\n" for y in (0.1, 0.2, 0.3))
    job = Job(
        file=ScanFile("a.csv", strokes.encode()), process=Process(), settings=PlanSettings(speeds=(0.15, 0.6))
    )
    told = plan_job(job).tell()
    assert told["vectors"] == 3
    assert told["t_max_k"] < 800


def test_a_plan_that_makes_the_plant_boil_is_written_and_marked(monkeypatch: pytest.MonkeyPatch) -> None:
    def boil(*_: object, **__: object) -> None:
        raise BadInput("after 3 ms the surface is above the boiling point: lower the power")

    monkeypatch.setattr(verify, "simulate_job", boil)
    planned = plan_refined(Job(file=ScanFile("a.csv", HAIRPIN), process=Process()))
    told = planned.tell()
    assert told["holds"] is False
    assert "could not be simulated (after 3 ms the surface is above the boiling point" in told["notes"][-1]
    assert planned.write().startswith(b"# laserloop plan: DOES NOT HOLD: it could not be simulated")


def test_a_miss_of_one_is_just_held() -> None:
    scores = {"t_max_k": 810.0, "outside_fraction": 0.005}
    assert measure_miss(scores, Process()) == pytest.approx(1.0)
