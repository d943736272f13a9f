"""Written files on the plant: layer after layer on one plate."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from laserloop.bad_input import BadInput
from laserloop.paths.files import ScanFile
from laserloop.planning.job import Job
from laserloop.planning.scores import LayerResult, score_layers
from laserloop.planning.verify import simulate_job
from laserloop.process import Process

HATCH = "$$HATCHES/1,2,-0.3,0,0.3,0,0.3,0.1,-0.3,0.1\n"
HEAD = "$$HEADERSTART\n$$UNITS/1\n$$HEADEREND\n$$GEOMETRYSTART\n$$POWER/11\n"


def make_job(folder: Path, *, recoating: float, head: str = HEAD) -> Job:
    file = folder / "part.cli"
    file.write_text(f"{head}$$LAYER/0.04\n{HATCH}$$LAYER/0.08\n{HATCH}$$GEOMETRYEND\n")
    return Job(file=ScanFile.open(str(file), None, 20.0), process=Process(), recoating=recoating)


def test_a_layer_begins_in_the_heat_that_the_one_before_has_left(tmp_path: Path) -> None:
    soon, late = (simulate_job(make_job(tmp_path, recoating=pause)) for pause in (0.005, 20.0))
    assert np.array_equal(soon[0].temperature, late[0].temperature)
    warmer = soon[1].temperature - late[1].temperature
    assert warmer.min() > 1.0
    cold = late[1].temperature - late[0].temperature
    assert np.abs(cold[late[0].below]).max() < 1.0  # 20 s later the plate has forgotten


def test_a_simulation_that_was_stopped_goes_on_where_it_was(tmp_path: Path) -> None:
    job = replace(make_job(tmp_path, recoating=0.01), folder=tmp_path / "kept")
    whole = simulate_job(replace(job, folder=None))
    ticks = list[int]()

    def stop(_: str, done: int, total: int) -> None:
        ticks.append(done)
        if len(ticks) == total // 2 + 3:  # in the second layer
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        simulate_job(job, progress=stop)
    count = len(ticks)
    again = simulate_job(job, progress=lambda _, done, total: ticks.append(done))
    assert len(ticks) - count == len(whole[1].temperature)  # the first layer is not simulated again
    for found, expected in zip(again, whole, strict=True):
        assert np.array_equal(found.temperature, expected.temperature)
    assert [file for file in (tmp_path / "kept").iterdir() if file.is_dir()] == []


def test_a_broken_keepsake_is_named(tmp_path: Path) -> None:
    job = replace(make_job(tmp_path, recoating=0.01), folder=tmp_path / "kept")
    simulate_job(job)
    (plate,) = (tmp_path / "kept").glob("*plate.npz")
    plate.write_bytes(b"broken")
    with pytest.raises(BadInput, match=r"plate.npz and the layers beside it must be of this job"):
        simulate_job(job)


def test_scores_count_all_layers_above_from_the_first_lit_tick_and_below_once_it_could_be_reached() -> None:
    layers = [
        LayerResult(np.array([700.0, 770.0]), np.array([True, True]), np.array([False, True])),
        LayerResult(np.array([750.0, 801.0]), np.array([True, True]), np.array([True, True])),
    ]
    found = score_layers(layers, (760.0, 800.0))
    assert (found["t_min_k"], found["t_max_k"], found["n_over"]) == (750.0, 801.0, 1)
    assert found["below_fraction"] == pytest.approx(1 / 3)


def test_a_file_without_powers_is_not_simulated(tmp_path: Path) -> None:
    head = HEAD.replace("$$POWER/11\n", "")
    with pytest.raises(BadInput, match="must command powers to be simulated"):
        simulate_job(make_job(tmp_path, recoating=1.0, head=head))
