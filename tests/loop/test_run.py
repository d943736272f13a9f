"""The closed loop: order of events, the record, and endings that are sentences."""

import weakref
from dataclasses import replace

import numpy as np
import pytest

from laserloop import BadInput
from laserloop.control.controller import Action, Status
from laserloop.control.simple import ConstantController
from laserloop.data.episode import simulate
from laserloop.loop.disturbances import Fault
from laserloop.loop.record import COMPLETED, score
from laserloop.loop.run import Tick, bound, run_closed_loop
from laserloop.paths import ScanPath, find_path
from laserloop.paths.path import Preview
from laserloop.plant import Camera, Image, Plant, Surface, make_plant
from laserloop.predict.twin import find_excused
from laserloop.process import CameraSettings, Process


class Watcher:
    """Gives scripted powers and keeps what it saw."""

    name = "watcher"
    horizon = 4
    memory = 10

    def __init__(self, powers: list[float]) -> None:
        self.powers = powers
        self.seen: list[tuple[Image | None, Preview]] = []

    def reset(self) -> None:
        self.seen.clear()

    def act(self, image: Image | None, preview: Preview) -> Action:
        self.seen.append((image, preview))
        power = self.powers[len(self.seen) - 1]
        return Action(power=power, status=Status.SOLVED, predicted=np.array([700.0 + len(self.seen)]))


@pytest.fixture(scope="module")
def path() -> ScanPath:
    return find_path("diagonal", ticks=15)


@pytest.fixture(scope="module")
def plant(path: ScanPath) -> Plant:
    return make_plant("paper")


def test_constant_power_in_the_loop_is_the_open_loop_episode(plant: Plant, path: ScanPath) -> None:
    run = run_closed_loop(plant, Camera(), ConstantController(14.0), path)
    episode = simulate(plant, path, np.full(len(path), 14.0))
    assert np.array_equal(run.t_max, episode.t_max)
    assert np.array_equal(run.t_peak, episode.t_peak)
    assert np.array_equal(run.positions, episode.positions)
    assert np.array_equal(run.t, episode.t)
    assert run.ending == COMPLETED


def test_the_controller_sees_the_surface_before_the_tick_it_decides(plant: Plant, path: ScanPath) -> None:
    watcher = Watcher([14.0, 10.0, 12.0] * 5)
    run = run_closed_loop(plant, Camera(), watcher, path)
    images = [image for image, _ in watcher.seen]
    assert images[0] is not None
    assert images[0].peak.temperature == pytest.approx(300.0)
    measured = [image.peak.temperature for image in images[1:] if image is not None]
    assert np.allclose(measured, run.t_max[:-1])
    assert np.allclose(run.predicted, 701.0 + np.arange(15))


def test_measured_is_the_reading_that_came_at_the_end_of_a_tick_however_old(
    plant: Plant, path: ScanPath
) -> None:
    run = run_closed_loop(plant, Camera(CameraSettings(delay=2, every=3)), ConstantController(14.0), path)
    came = np.flatnonzero(np.isfinite(run.measured))
    assert came.tolist() == [2, 5, 8, 11]  # looked at before ticks 3, 6, 9 and 12
    assert run.measured[came] == pytest.approx(run.t_node[came - 2])
    assert run.measured_at is not None
    assert np.flatnonzero(np.isfinite(run.measured_at[:, 0])).tolist() == came.tolist()
    behind = np.linalg.norm(run.measured_at[came] - run.positions[came - 2], axis=1)
    assert behind.max() < 150e-6  # of the beam when the picture was taken


def test_the_preview_knows_the_way_and_the_powers_given(plant: Plant, path: ScanPath) -> None:
    watcher = Watcher([float(k) for k in range(15)])
    run_closed_loop(plant, Camera(), watcher, path)
    _, last = watcher.seen[12]
    assert np.array_equal(last.ahead[0], path.positions[12])
    assert np.array_equal(last.powers, np.arange(2.0, 12.0))
    assert np.array_equal(last.positions[0], path.positions[2])
    assert last.ahead.shape == (5, 2)


def test_the_preview_tells_which_ticks_are_and_were_lit(plant: Plant, path: ScanPath) -> None:
    watcher = Watcher([14.0] * 15)
    lit = np.arange(15) % 4 != 2
    run_closed_loop(plant, Camera(), watcher, replace(path, lit=lit))
    for k, (_, preview) in enumerate(watcher.seen):
        assert preview.was_lit.tolist() == lit[max(0, k - 10) : k].tolist()
        assert preview.lit[: 15 - k].tolist() == lit[k : k + 4].tolist()


def test_a_preview_without_foresight_goes_straight_on_from_where_the_beam_is(
    plant: Plant, path: ScanPath
) -> None:
    lit = np.arange(15) % 4 != 2
    bent = replace(path, lit=lit, positions=path.positions + np.outer(np.arange(16) ** 2, [0.0, 1e-6]))
    for known in (0, 2):
        watcher = Watcher([14.0] * 15)
        run_closed_loop(plant, Camera(), watcher, bent, preview_ticks=known)
        for k, (_, preview) in enumerate(watcher.seen[:11]):
            last = k + known
            np.testing.assert_array_equal(preview.ahead[: known + 1], bent.positions[k : last + 1])
            np.testing.assert_array_equal(preview.positions[:-5], bent.positions[max(0, k - 10) : k])
            hop = bent.positions[last] - bent.positions[last - 1] if last else np.zeros(2)
            expected = bent.positions[last] + np.outer(np.arange(1, 5 - known), hop)
            np.testing.assert_allclose(preview.ahead[known + 1 :], expected, atol=1e-15)
            told = max(known, 1)
            assert preview.lit.tolist() == [*lit[k : k + told], *[lit[k + told - 1]] * (4 - told)]


def test_foresight_beyond_the_horizon_is_the_whole_preview(plant: Plant, path: ScanPath) -> None:
    seen = []
    for known in (None, 4, 9):
        watcher = Watcher([14.0] * 15)
        run_closed_loop(plant, Camera(), watcher, path, preview_ticks=known)
        seen.append(np.array([preview.ahead for _, preview in watcher.seen]))
    assert np.array_equal(seen[0], seen[1])
    assert np.array_equal(seen[0], seen[2])


def test_powers_that_the_laser_cannot_give_are_counted(plant: Plant, path: ScanPath) -> None:
    lit = np.arange(15) >= 2
    asked = [99.0, 5.0, 99.0, -1.0, 20.0, 0.0, 1e6] + [5.0] * 8
    run = run_closed_loop(plant, Camera(), Watcher(asked), replace(path, lit=lit))
    assert run.clipped == 3
    assert score(run)["clipped"] == 3


def test_what_reaching_a_controller_costs_is_not_its_time(plant: Plant, path: ScanPath) -> None:
    watcher = Watcher([14.0] * 15)
    watcher.overhead_s = 1e9  # type: ignore[attr-defined]
    assert run_closed_loop(plant, Camera(), watcher, path).wall_s.tolist() == [0.0] * 15


def test_a_dark_tick_gets_no_power_whatever_a_controller_says(plant: Plant, path: ScanPath) -> None:
    lit = np.arange(15) >= 3
    run = run_closed_loop(plant, Camera(), ConstantController(14.0), replace(path, lit=lit))
    assert run.power.tolist() == [0.0] * 3 + [14.0] * 12
    assert run.statuses[:3] == (Status.DARK,) * 3
    assert run.t_max[:3] == pytest.approx(300.0)
    assert run.settled.tolist() == [False] * 13 + [True] * 2
    assert [side.tolist() for side in run.counted] == [run.settled.tolist()] * 2  # on the paper's plant


def test_on_the_graded_plant_lit_ticks_count_from_the_first_on(path: ScanPath) -> None:
    dark = replace(path, lit=np.arange(15) >= 3)
    plant = make_plant("graded")
    run = run_closed_loop(plant, Camera(), ConstantController(14.0), dark)
    np.testing.assert_array_equal(run.counted.above, dark.lit)
    np.testing.assert_array_equal(
        run.counted.below, dark.lit & ~find_excused(plant.settings.process, dark, run.power)
    )
    assert run.counted.below.sum() == 9


def test_no_surface_outlives_its_tick(plant: Plant, path: ScanPath) -> None:
    alive: list[weakref.ref[Surface]] = []
    most = 0

    def watch(k: int, tick: Tick) -> None:
        nonlocal most
        alive.append(weakref.ref(tick.surface))
        most = max(most, sum(surface() is not None for surface in alive))

    run = run_closed_loop(plant, Camera(), ConstantController(14.0), path, watch=watch)
    assert len(run) == len(alive) == 15
    assert most <= 3  # that of the tick, the one before it, and what a camera keeps
    assert run.t_peak[-1] > 700.0


def test_power_that_drifts_away_heats_less_and_is_recorded_as_commanded(plant: Plant, path: ScanPath) -> None:
    told = ConstantController(14.0)
    run = run_closed_loop(plant, Camera(), told, path, faults=[Fault(kind="absorbed", first=7, factor=0.5)])
    powers = np.where(np.arange(15) > 6, 7.0, 14.0)
    assert np.array_equal(run.t_max, simulate(plant, path, powers).t_max)
    assert run.power.tolist() == [14.0] * 15


class Own:
    """A user's own, with `act` alone, that answers one thing at its third tick and 5 W otherwise."""

    def __init__(self, answer: object) -> None:
        self.answer = answer
        self.asked = 0

    def act(self, image: Image | None, preview: Preview) -> object:
        self.asked += 1
        if self.asked != 3:
            return Action(power=5.0, status=Status.SOLVED)
        if isinstance(self.answer, Exception):
            raise self.answer
        return self.answer


@pytest.mark.parametrize(
    ("answer", "status", "power"),
    [
        (ValueError("no idea"), Status.RAISED, 0.0),
        (7.5, Status.BARE, 7.5),
        (np.float64(7.5), Status.BARE, 7.5),
        (99, Status.BARE, 20.0),
        (float("nan"), Status.NOT_FINITE, 0.0),
        (Action(power=float("inf"), status=Status.SOLVED), Status.NOT_FINITE, 0.0),
        (None, Status.NO_ACTION, 0.0),
        ("much", Status.NO_ACTION, 0.0),
        (True, Status.NO_ACTION, 0.0),
        (Action(power="much", status=Status.SOLVED), Status.NO_ACTION, 0.0),  # type: ignore[arg-type]
        (Action(power=6.0, status=Status.SOLVED, predicted="hot"), Status.SOLVED, 6.0),  # type: ignore[arg-type]
    ],
    ids=str,
)
def test_whatever_an_own_controller_answers_the_run_goes_on_and_says_so(
    answer: object, status: Status, power: float, plant: Plant, path: ScanPath
) -> None:
    run = run_closed_loop(plant, Camera(), Own(answer), path)  # type: ignore[arg-type]
    assert (run.ending, run.controller) == (COMPLETED, "Own")
    assert run.statuses[2] is status
    assert run.power.tolist() == [5.0, 5.0, power] + [5.0] * 12
    assert np.isnan(run.predicted).all()
    raised = [note for note in run.notes if "raised at tick 2: ValueError: no idea" in note]
    assert bool(raised) == (status is Status.RAISED)


def test_a_controller_that_cannot_be_reset_ends_the_run_before_it_begins(
    plant: Plant, path: ScanPath
) -> None:
    class Stubborn(Watcher):
        def reset(self) -> None:
            raise RuntimeError("not again")

    run = run_closed_loop(plant, Camera(), Stubborn([]), path)
    assert len(run) == 0
    assert run.ending == "the controller's reset raised RuntimeError: not again"
    assert score(run)["t_max_k"] is None


def test_the_least_power_of_a_laser_that_cannot_give_none_is_kept(plant: Plant, path: ScanPath) -> None:
    run = run_closed_loop(plant, Camera(), Own(None), path, power_bounds=(2.0, 20.0))  # type: ignore[arg-type]
    assert run.power[2] == 2.0


@pytest.mark.parametrize(("wanted", "given"), [(25.0, 20.0), (-3.0, 0.0), (np.nan, 0.0), (np.inf, 0.0)])
def test_the_laser_keeps_its_own_limits(wanted: float, given: float) -> None:
    assert bound(wanted, (0.0, 20.0)) == given


def test_a_plant_that_fails_ends_the_run_with_a_sentence(
    path: ScanPath, monkeypatch: pytest.MonkeyPatch
) -> None:
    plant = make_plant("paper")
    step = plant.step

    def fail(power: float, spot: np.ndarray) -> object:
        if plant.time > 5.5 * path.tick:
            raise BadInput("the heat balance did not close")
        return step(power, spot)

    monkeypatch.setattr(plant, "step", fail)
    run = run_closed_loop(plant, Camera(), ConstantController(14.0), path)
    assert len(run) == 6
    assert "heat balance" in run.ending


def test_a_run_carries_the_notes_of_its_path(plant: Plant, path: ScanPath) -> None:
    told = replace(path, notes=("the unit is assumed to be mm",))
    assert run_closed_loop(plant, Camera(), ConstantController(14.0), told).notes == told.notes


def test_a_path_of_one_tick_is_a_run(plant: Plant) -> None:
    run = run_closed_loop(plant, Camera(), ConstantController(14.0), find_path("spiral", ticks=1))
    assert len(run) == 1


def test_answers_that_are_no_power_have_a_status_and_a_note(plant: Plant, path: ScanPath) -> None:
    powers = [14.0] * 3 + [float("nan")] * 2 + [14.0] * 10
    lit = np.arange(15) != 4
    run = run_closed_loop(plant, Camera(), Watcher(powers), replace(path, lit=lit))
    assert run.statuses[3] is Status.NOT_FINITE
    assert run.statuses[4] is Status.DARK
    note = "the controller answered no finite power in 1 of 14 lit ticks, first at tick 3; the least power"
    assert any(note in told for told in run.notes)
    assert not any(
        "finite" in told for told in run_closed_loop(plant, Camera(), Watcher([9.0] * 15), path).notes
    )


def test_a_path_of_another_tick_or_beside_the_plate_is_refused_before_it_begins(plant: Plant) -> None:
    slow = find_path("diagonal", Process(tick=1e-3), ticks=2)
    with pytest.raises(BadInput, match="plant and path must share one tick"):
        run_closed_loop(plant, Camera(), ConstantController(14.0), slow)
    away = ScanPath(name="away", positions=np.array([[0.0, 0.0], [0.0, 6e-3]]))
    with pytest.raises(BadInput, match="away, tick 1: every point must lie on the 15 × 10 mm plate"):
        run_closed_loop(plant, Camera(), ConstantController(14.0), away)
