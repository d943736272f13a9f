"""Plans of files: what the twin promises, and what the plate then does."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from laserloop.bad_input import BadInput
from laserloop.paths import Placement, ScanFile
from laserloop.planning.commands import PlanSettings
from laserloop.planning.job import Job, plan_job
from laserloop.planning.plan import LayerPlan, Planner
from laserloop.planning.scores import score_layers
from laserloop.planning.verify import simulate_job
from laserloop.process import Process

EXAMPLES = Path(__file__).parent.parent.parent / "examples"
HAIRPIN = "x_mm,y_mm\n-0.8,0\n0.8,0\n0.8,0.15\n-0.8,0.15\n"
LAYERS = (
    "$$HEADERSTART\n$$UNITS/1\n$$HEADEREND\n$$GEOMETRYSTART\n"
    "$$LAYER/0.04\n$$HATCHES/1,2,-0.8,0,0.8,0,0.8,0.1,-0.8,0.1\n"
    "$$LAYER/0.08\n$$HATCHES/1,2,-0.8,0,0.8,0,0.8,0.1,-0.8,0.1\n$$GEOMETRYEND\n"
)


def make_job(folder: Path, name: str, text: str, process: Process | None = None, **settings: object) -> Job:
    file = folder / name
    file.write_text(text)
    return Job(
        file=ScanFile.open(str(file), None, 20.0),
        process=process or Process(),
        settings=PlanSettings(**settings),  # type: ignore[arg-type]
    )


def test_a_planned_file_keeps_the_plate_near_the_middle(tmp_path: Path) -> None:
    job = make_job(tmp_path, "a.csv", HAIRPIN)
    planned = plan_job(job)
    told = planned.tell()
    assert 779 < told["t_min_k"] < told["t_max_k"] < 781
    found = score_layers(simulate_job(job.again(planned.content)), (760.0, 800.0))
    assert found["t_min_k"] > 772
    assert found["t_max_k"] < 788
    assert found["n_over"] == 0


def test_what_was_planned_is_what_the_written_file_commands(tmp_path: Path) -> None:
    job = make_job(tmp_path, "a.csv", HAIRPIN)
    planned = plan_job(job)
    again = job.again(planned.content)
    power = again.lay(again.read()[0]).path.power
    assert power is not None
    assert power == pytest.approx(planned.layers[0].course.power, abs=0.35)  # slivers of a tick
    assert np.mean(np.abs(power - planned.layers[0].course.power)) < 0.02


def test_by_vector_the_file_keeps_its_rows_and_the_top_of_the_window(tmp_path: Path) -> None:
    planned = plan_job(make_job(tmp_path, "a.csv", HAIRPIN, by="vector"))
    rows = planned.content.decode().splitlines()
    assert [row.split(",")[:2] for row in rows] == [row.split(",") for row in HAIRPIN.splitlines()]
    told = planned.tell()
    assert told["commands"] == told["vectors"] == 3
    assert told["t_max_k"] <= 799


def test_smaller_pieces_hold_the_middle_better(tmp_path: Path) -> None:
    widths = []
    for settings in ({"by": "vector"}, {"by": "segment", "segment": 2e-4}, {"by": "point"}):
        told = plan_job(make_job(tmp_path, "a.csv", HAIRPIN, **settings)).tell()
        widths.append(told["t_max_k"] - told["t_min_k"])
    assert widths[0] > 1.3 * widths[1] > 1.3 * widths[2]


def test_powers_are_whole_steps_within_the_lasers_limits(tmp_path: Path) -> None:
    process = Process().change(power_w=(9.0, 12.0))
    powers = np.array(plan_job(make_job(tmp_path, "a.csv", HAIRPIN, process, step=0.25)).tell()["power_w"])
    assert powers.min() >= 9
    assert powers.max() <= 12
    assert np.allclose(4 * powers, np.round(4 * powers))


def test_a_coarse_step_is_made_up_for_by_the_next_command(tmp_path: Path) -> None:
    course = plan_job(make_job(tmp_path, "a.csv", HAIRPIN, step=0.5)).layers[0]
    T = course.result.temperature[course.result.below]
    assert abs(T.mean() - 780) < 3
    assert np.abs(T - 780).max() < 15


def test_heat_of_the_layer_before_is_known(tmp_path: Path) -> None:
    job = make_job(tmp_path, "a.cli", LAYERS)
    cold, warm = (
        plan_job(Job(file=job.file, process=job.process, recoating=pause)).layers[1] for pause in (1e3, 0.02)
    )
    first = plan_job(job).layers[0]
    assert cold.course.power == pytest.approx(first.course.power, abs=0.02)
    assert warm.course.power.mean() < 0.98 * cold.course.power.mean()
    assert warm.course.temperature[warm.route.path.settled()] == pytest.approx(780, abs=2)


@pytest.mark.parametrize(("recoating", "coldest"), [(1e3, 770.0), (0.0, 700.0)])
def test_no_layer_begins_too_hot(tmp_path: Path, recoating: float, coldest: float) -> None:
    """1,416 K after a pause, 860 K at once, where the twin begins with the heat left behind."""
    layers = LAYERS.replace("0.8,0.1,-0.8,0.1", "-0.8,0.1,0.8,0.1")
    strong = Process().change(power_w=[0, 60])
    job = replace(make_job(tmp_path, "a.cli", layers, strong), recoating=recoating)
    planned = plan_job(job)
    again = job.again(planned.write())
    for layer in simulate_job(again):
        assert coldest < layer.temperature[0] < 800.0
        assert layer.temperature.max() < 800.0


def test_free_speed_saves_time_and_stays_in_the_window(tmp_path: Path) -> None:
    job = make_job(tmp_path, "a.csv", HAIRPIN, speeds=(0.1, 2.0))
    planned = plan_job(job)
    told = planned.tell()
    speeds = np.array([command.speed for command in planned.schedule.values()])
    assert told["time_saved_s"] > 0.4 * (told["time_s"] + told["time_saved_s"])
    assert told["t_min_k"] > 772
    assert max(told["power_w"]) <= 20
    assert ((speeds >= 0.1) & (speeds <= 2.0)).all()
    assert speeds.min() < 2.0
    again = job.again(planned.content)
    assert again.lay(again.read()[0]).time == pytest.approx(told["time_s"], rel=1e-5)


@pytest.mark.parametrize("speeds", [None, (0.2, 0.6)])
def test_a_job_that_was_stopped_goes_on_with_the_heat_of_the_layers_that_are_done(
    tmp_path: Path, speeds: tuple[float, float] | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    job = replace(
        make_job(tmp_path, "a.cli", LAYERS, speeds=speeds), folder=tmp_path / "done", recoating=0.02
    )
    whole = plan_job(job)
    first, second = sorted((tmp_path / "done").iterdir())
    second.unlink()
    planned = list[int]()
    monkeypatch.setattr(Planner, "plan", _count(Planner.plan, planned))
    again = plan_job(job)
    assert planned == [1]
    assert again.write() == whole.write()
    assert again.tell()["t_min_k"] == whole.tell()["t_min_k"]
    assert first.exists()


def _count(plan: Callable[..., LayerPlan], calls: list[int]) -> Callable[..., LayerPlan]:
    def counted(*parts: object, **options: object) -> LayerPlan:
        calls.append(1)
        return plan(*parts, **options)

    return counted


def test_a_short_vector_is_not_so_fast_that_it_never_gets_hot(tmp_path: Path) -> None:
    hatches = "x_mm,y_mm,lit\n" + "".join(f"-0.5,{y},0\n0.5,{y},1\n" for y in (0.0, 0.1, 0.2))
    planned = plan_job(make_job(tmp_path, "a.csv", hatches, speeds=(0.1, 4.0)))
    assert max(command.speed for command in planned.schedule.values()) < 2.0
    assert planned.layers[0].result.below.sum() >= 3
    assert planned.tell()["t_min_k"] > 772


def test_a_layer_that_is_not_there_is_refused(tmp_path: Path) -> None:
    job = make_job(tmp_path, "a.cli", LAYERS)
    with pytest.raises(BadInput, match="the layer must be 1 to 2, but is 3"):
        Job(file=job.file, process=job.process, placement=Placement(layer=3)).read()


@pytest.mark.parametrize(
    "changes", [{"step": 0.0}, {"rate": -1.0}, {"speeds": (0.3, 0.2)}, {"tolerance": float("nan")}]
)
def test_settings_are_checked(changes: dict[str, object]) -> None:
    with pytest.raises(BadInput):
        PlanSettings(**changes)  # type: ignore[arg-type]
