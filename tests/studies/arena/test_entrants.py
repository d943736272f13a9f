"""Every entrant: what it declares is what it gets."""

import warnings
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from tests.pinned import read_pin, write_pins

from laserloop.bad_input import BadInput
from laserloop.control.controller import Controller
from laserloop.loop.record import COMPLETED
from laserloop.studies.arena.benchmark import make_case, run_entrant
from laserloop.studies.arena.entrant import Cost, Entrant, OpenLoopController, TaskContext
from laserloop.studies.arena.entrants import ENTRANTS, align, find_entrant
from laserloop.studies.arena.scores import score_record
from laserloop.studies.arena.tasks import Task

PINS = Path(__file__).parent / "pins.json"  # python tests/studies/arena/test_entrants.py writes them anew
CLOSE = 1e-4  # W; another processor rounds otherwise
SHORT = Task(family="raster", level="nominal", seed=10_000, ticks=14)


@pytest.mark.parametrize("entrant", ENTRANTS, ids=lambda entrant: entrant.name)
def test_every_entrant_runs_a_task_to_its_end(entrant: Entrant) -> None:
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "temperatures of .*")
        record = run_entrant(SHORT, entrant)
    assert record["ending"] == COMPLETED
    assert (record["entrant"], record["task"]) == (entrant.name, SHORT.name)
    seen = [T is not None for T in record["series"]["t_measured_k"]]
    assert any(seen) == entrant.camera
    row = score_record(record)
    early = np.array(record["series"]["t_true_k"][:3])  # full power needs them to reach the window
    assert row["ticks"] == 11 + np.sum(early > record["window_k"][1])  # what lies above counts at once
    assert row["refused"] == 0
    assert np.isfinite(row["rms_k"])
    assert record["series"]["power_w"] == pytest.approx(read_pin(PINS, entrant.name), abs=CLOSE)


def test_names_are_unique_and_sentences_end() -> None:
    assert len({entrant.name for entrant in ENTRANTS}) == len(ENTRANTS)
    assert all(entrant.about.endswith(".") for entrant in ENTRANTS)


def look(**declared: object) -> tuple[TaskContext, Entrant]:
    """What a seat holds for what was declared."""
    given: list[TaskContext] = []

    def make(seat: TaskContext) -> Controller:
        given.append(seat)
        return OpenLoopController(np.full(14, 5.0))

    entrant = Entrant(name="any", about="Any.", make=make, **declared)  # type: ignore[arg-type]
    run_entrant(SHORT, entrant)
    return given[0], entrant


def test_a_seat_holds_no_more_than_was_declared() -> None:
    seat, _ = look(foresight="none")
    assert (seat.path, seat.trial_pass, seat.plant) == (None, None, None)
    seat, _ = look(passes=1)
    assert seat.path is not None
    assert seat.plant is None
    assert seat.trial_pass is not None
    assert len(seat.trial_pass(np.full(14, 5.0))) == 14
    with pytest.raises(BadInput, match="no pass is left"):
        seat.trial_pass(np.full(14, 5.0))
    seat, _ = look(bound=True)
    assert seat.plant is not None


def test_nobody_is_told_how_the_plant_differs() -> None:
    seat, _ = look()
    told = replace(seat.process, camera=SHORT.find_process().camera)
    assert told == SHORT.find_process()


def test_practice_has_other_noise_than_the_run_that_counts() -> None:
    passes: list[np.ndarray[tuple[int, ...], np.dtype[np.float64]]] = []

    def make(seat: TaskContext) -> Controller:
        assert seat.trial_pass is not None
        passes.extend(seat.trial_pass(np.full(14, 5.0)) for _ in range(2))
        return OpenLoopController(np.full(14, 5.0))

    record = run_entrant(SHORT, Entrant(name="any", about="Any.", make=make, passes=2))
    counted = np.array(record["series"]["t_measured_k"], dtype=float)
    for one, other in ((passes[0], passes[1]), (passes[0], counted)):
        known = np.isfinite(one) & np.isfinite(other)
        assert known.sum() > 5
        assert (one[known] != other[known]).any()


def test_what_an_entrant_may_not_see_is_part_of_its_case() -> None:
    assert make_case(SHORT, find_entrant("pi")).preview_ticks == 0
    assert make_case(SHORT, find_entrant("twin")).preview_ticks is None
    (blind,) = make_case(SHORT, find_entrant("twin-without-camera")).faults
    assert blind.kind == "drop"


def test_iterative_learning_takes_late_peaks_back_to_their_ticks() -> None:
    seen = np.array([np.nan, 300.0, 310.0, np.nan, 330.0])
    lit = np.ones(5, dtype=bool)
    np.testing.assert_allclose(align(seen, 1, lit), [300.0, 310.0, 320.0, 330.0, 330.0])


def test_passes_bring_iterative_learning_nearer_to_the_middle_than_the_plan_it_begins_with() -> None:
    task, planned = Task(family="zigzag", seed=10_000, ticks=40), "twin-without-camera"
    rms = {name: score_record(run_entrant(task, find_entrant(name)))["rms_k"] for name in ("ilc", planned)}
    assert rms["ilc"] < 0.5 * rms[planned]


def test_the_cost_of_a_training_lies_beside_its_model(tmp_path: Path) -> None:
    Cost(core_minutes=1.5, plant_steps=320).write(tmp_path)
    entrant = Entrant(name="any", about="Any.", settings={"controller": "sqp"}, learns=True, model=tmp_path)
    assert entrant.cost == Cost(core_minutes=1.5, plant_steps=320)
    with pytest.raises(BadInput, match="train it again"):
        Cost.read(tmp_path / "nowhere")


def test_an_entrant_with_another_file_has_other_runs(tmp_path: Path) -> None:
    file = tmp_path / "weights"
    file.write_text("1")
    entrant = Entrant(name="any", about="Any.", settings={"controller": "pi"}, sources=(file,))
    before = entrant.identity()
    file.write_text("2")
    assert entrant.identity() != before


def test_an_unknown_entrant_is_refused() -> None:
    with pytest.raises(BadInput, match="must be one of"):
        find_entrant("nobody")


if __name__ == "__main__":
    write_pins(PINS, {entrant.name: run_entrant(SHORT, entrant)["series"]["power_w"] for entrant in ENTRANTS})
