import json
from dataclasses import replace

import numpy as np
import pytest

import laserloop as ll
from laserloop.bad_input import BadInput
from laserloop.data import COLUMNS, record_path
from laserloop.data import episode as episode_module
from laserloop.data.episode import Episode, find_turns, simulate
from laserloop.paths import ScanPath, find_path
from laserloop.plant import Plant, make_plant
from laserloop.process import Process
from laserloop.process.process import Sampling

TICKS = 14


@pytest.fixture(scope="module")
def path() -> ScanPath:
    return find_path("diagonal", ticks=TICKS)


@pytest.fixture(scope="module")
def plant(path: ScanPath) -> Plant:
    return make_plant("paper")


@pytest.fixture(scope="module")
def episode(plant: Plant, path: ScanPath) -> Episode:
    return simulate(plant, path, np.full(TICKS, 14.0))


def with_temperature(episode: Episode, t_max: list[float]) -> Episode:
    n = len(t_max)
    return replace(episode, t=episode.t[:n].copy(), t_max=np.array(t_max), t_peak=np.array(t_max) + 1.0)


def test_an_entry_is_taken_at_the_end_of_its_tick(episode: Episode, path: ScanPath) -> None:
    assert episode.t == pytest.approx(path.tick * np.arange(1, TICKS + 1))
    assert (episode.positions == path.positions[1:]).all()
    assert (episode.start == path.positions[0]).all()


def test_power_heats_the_tick_it_belongs_to(plant: Plant, path: ScanPath) -> None:
    result = simulate(plant, path, np.array([0.0, 14.0] + [0.0] * (TICKS - 2)))
    assert result.t_max[0] == pytest.approx(300.0)
    assert result.t_max[1] == result.t_max.max() > 400.0


def test_the_peak_between_nodes_is_at_least_as_hot_as_the_hottest_node(episode: Episode) -> None:
    assert (episode.t_peak >= episode.t_max).all()
    assert np.hypot(*(episode.peak_positions - episode.positions).T).max() < 3e-4


def test_each_plant_is_judged_by_its_own_t_max(episode: Episode, path: ScanPath) -> None:
    graded = simulate(make_plant("graded"), path, np.full(TICKS, 14.0))
    assert episode.temperature is episode.t_max
    assert graded.temperature is graded.t_peak


def test_the_hottest_surface_is_that_of_the_hottest_tick(episode: Episode) -> None:
    assert episode.hottest.time == pytest.approx(episode.t[episode.hottest_tick])
    assert episode.hottest.node.temperature == episode.t_max.max()


def test_a_cooling_plate_keeps_its_first_surface_as_the_hottest(plant: Plant, path: ScanPath) -> None:
    result = simulate(plant, path, np.array([14.0] + [0.0] * (TICKS - 1)))
    assert result.hottest_tick == 0
    assert result.hottest.time == pytest.approx(path.tick)


def test_the_books_hold_all_the_energy_of_the_laser(episode: Episode, path: ScanPath) -> None:
    assert episode.books["absorbed"] == pytest.approx(14.0 * TICKS * path.tick, rel=1e-9)


def test_absorptivity_takes_its_share_of_the_power(path: ScanPath) -> None:
    half = simulate(make_plant("paper", Process().change(absorptivity=0.5)), path, np.full(TICKS, 14.0))
    assert half.books["absorbed"] == pytest.approx(7.0 * TICKS * path.tick, rel=1e-9)


def test_the_same_plant_repeats_an_episode_exactly(episode: Episode, plant: Plant, path: ScanPath) -> None:
    again = simulate(plant, path, np.full(TICKS, 14.0))
    assert again.t_peak == pytest.approx(episode.t_peak, abs=1e-3)


def test_an_episode_cannot_be_changed(episode: Episode) -> None:
    with pytest.raises(ValueError, match="read-only"):
        episode.t_max[0] = 0.0


def test_progress_counts_every_tick(plant: Plant, path: ScanPath) -> None:
    seen: list[tuple[int, int]] = []
    simulate(plant, path, np.zeros(TICKS), progress=lambda done, total: seen.append((done, total)))
    assert seen == [(k, TICKS) for k in range(1, TICKS + 1)]


@pytest.mark.parametrize(("ticks", "expected_ms"), [(1, 9000.0), (3, 2000.0)])
def test_the_first_step_is_timed_only_when_alone(
    plant: Plant, path: ScanPath, ticks: int, expected_ms: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = iter([0.0, 9.0, 10.0, 11.0, 20.0, 23.0])  # steps of 9, 1 and 3 s
    monkeypatch.setattr(episode_module, "perf_counter", lambda: next(clock))
    result = simulate(plant, path.truncated(ticks), np.zeros(ticks))
    assert result.ms_per_step == pytest.approx(expected_ms)


def test_json_has_the_promised_fields_in_the_promised_units(episode: Episode) -> None:
    data = json.loads(json.dumps(episode.to_json(), allow_nan=False))
    lists = [data[name] for name in ("t_s", "x_mm", "y_mm", "power_w", "t_max_k", "t_peak_k")]
    assert {len(values) for values in lists} == {TICKS}
    assert data["t_s"][0] == pytest.approx(1.25e-4)
    assert (data["x_mm"][0], data["y_mm"][0]) == pytest.approx((-1.5, -0.038))
    assert data["t_max_k"] == episode.t_max.tolist()
    assert data["ms_per_step"] > 0
    assert (data["path"], data["plant"], data["ticks"]) == ("diagonal", "paper", TICKS)
    assert data["lit"] == [True] * TICKS
    assert Process.from_json(data["process"]) == episode.settings.process
    assert (data["version"], data["notes"]) == (ll.__version__, [])


@pytest.mark.parametrize("sampling", ["nearest", "bilinear"])
def test_what_lies_ahead_is_told_as_a_camera_would_read_it(
    sampling: Sampling, episode: Episode, plant: Plant, path: ScanPath
) -> None:
    told = simulate(plant, path, episode.power, sampling=sampling).to_json()["t_ahead_k"]
    seen = record_path(plant, path, episode.power)[1:, COLUMNS.index(f"preview_{sampling}_1_k")]
    assert told == seen.tolist()
    assert "t_ahead_k" not in episode.to_json()


def test_on_the_papers_plant_the_first_ten_ticks_do_not_count(episode: Episode) -> None:
    summary = with_temperature(episode, [300.0] * 10 + [759.0, 780.0, 801.0, 802.0]).summarise()
    assert (summary.ticks_below, summary.ticks_above, summary.below, summary.above) == (4, 4, 1, 2)
    assert (summary.lowest, summary.highest, summary.swing) == (759.0, 802.0, 43.0)


def test_in_a_short_episode_every_tick_counts(episode: Episode) -> None:
    path = find_path("diagonal", ticks=3)
    assert simulate(make_plant("paper"), path, np.full(3, 14.0)).summarise().ticks_below == 3


def test_dark_ticks_get_no_power_and_do_not_count(episode: Episode, path: ScanPath) -> None:
    lit = np.array([True] * 11 + [False, True, True])
    dark = simulate(make_plant("paper"), replace(path, lit=lit), np.full(TICKS, 14.0))
    assert np.flatnonzero(dark.power == 0).tolist() == [11]
    assert dark.t_max[:11] == pytest.approx(episode.t_max[:11], abs=0)
    assert (dark.t_max[11:] < episode.t_max[11:] - 10).all()
    assert dark.books["absorbed"] == pytest.approx(episode.books["absorbed"] - 14.0 * path.tick)
    assert np.flatnonzero(dark.counts_above).tolist() == [10]
    assert dark.summarise().ticks_below == 1


def test_elsewhere_every_lit_tick_counts_above(episode: Episode) -> None:
    path = find_path("diagonal", ticks=3)
    lit = replace(path, lit=np.array([True, False, True]))
    graded = simulate(make_plant("graded"), lit, np.full(3, 40.0))
    assert graded.counts_above.tolist() == [True, False, True]
    assert graded.summarise().above == 2


def test_the_edges_of_the_window_belong_to_it(episode: Episode) -> None:
    summary = with_temperature(episode, [300.0] * 10 + [760.0, 800.0, 760.0, 800.0]).summarise()
    assert (summary.above, summary.below) == (0, 0)


def test_the_window_is_that_of_the_process_unless_another_is_given(episode: Episode) -> None:
    process = episode.settings.process.change(window_k=[310, 320])
    other = replace(episode, settings=replace(episode.settings, process=process))
    assert (other.summarise().above, other.summarise().below) == (4, 0)
    assert other.summarise((760.0, 800.0)) == episode.summarise()


def test_an_unknown_plant_is_refused_with_the_known_ones() -> None:
    with pytest.raises(BadInput, match=r"paper, graded, but got 'coarse'"):
        make_plant("coarse")


def test_a_grid_too_large_for_memory_is_refused() -> None:
    with pytest.raises(BadInput, match="at most 20000000 nodes"):
        make_plant("paper", Process(plate=(1.0, 1.0, 0.1)))


def test_power_must_have_one_value_for_each_tick(plant: Plant, path: ScanPath) -> None:
    with pytest.raises(BadInput, match=r"14 ticks of diagonal, but has shape \(3,\)"):
        simulate(plant, path, [1.0, 2.0, 3.0])


def test_negative_power_is_refused(plant: Plant, path: ScanPath) -> None:
    with pytest.raises(BadInput, match="power"):
        simulate(plant, path, np.full(TICKS, -1.0))


def test_a_tick_that_is_mostly_a_jump_heats_where_the_grid_is_fine() -> None:
    """Even if the jump leads away from everything that is lit."""
    along = np.column_stack((3.8e-5 * np.arange(5.0), np.zeros(5)))
    path = ScanPath(
        name="a",
        positions=np.vstack((along, along[-1] + [0.0, 4e-4], along[-1] + [0.0, 8e-4])),
        lit=np.array([True] * 4 + [False] * 2),
        shares=np.array([1.0] * 4 + [0.3, 0.0]),
    )
    found = simulate(make_plant("graded"), path, np.full(6, 10.0))
    assert found.power.tolist() == [10.0] * 4 + [3.0, 0.0]


def test_plant_and_path_must_share_a_tick(plant: Plant) -> None:
    with pytest.raises(BadInput, match=r"one tick, but have 0\.000125 s and 0\.0001 s; sample"):
        simulate(plant, find_path("diagonal", Process(tick=1e-4), ticks=2), np.zeros(2))


def test_a_path_that_is_lit_beside_the_plate_is_refused_before_it_begins(plant: Plant) -> None:
    away = ScanPath(name="away", positions=np.array([[0.0, 0.0], [1e-3, 0.0], [8e-3, 0.0]]))
    with pytest.raises(BadInput, match=r"away, tick 2: every point must lie on the 15 × 10 mm plate"):
        simulate(plant, away, np.ones(2))
    simulate(plant, replace(away, lit=np.array([True, False])), np.ones(2))  # in the dark it may go there


def test_the_diagonal_turns_sharply_at_its_corners() -> None:
    path = find_path("diagonal", ticks=320)
    corners = np.array([[-1.5e-3, -1.5e-3], [1.5e-3, 1.5e-3], [1.5e-3, -1.5e-3]])
    turns = find_turns(path.positions)
    assert len(turns) == 3
    assert np.abs(path.positions[turns + 1] - corners).max() < 4e-5  # one hop is 38 µm


def test_a_raster_turns_twice_per_line() -> None:
    assert len(find_turns(find_path("vertical", ticks=200).positions)) == 4


def test_going_straight_on_is_no_turn() -> None:
    assert find_turns(np.column_stack((np.arange(9.0), np.zeros(9)))).size == 0


def test_going_back_is_one_turn_wherever_it_happens_within_a_hop() -> None:
    for corner in (5.0, 5.3, 5.5):
        along = np.arange(11.0)
        x = np.where(along <= corner, along, 2 * corner - along)
        assert find_turns(np.column_stack((x, np.zeros(11)))).size == 1


def test_a_path_of_one_hop_has_no_turns() -> None:
    assert find_turns(np.array([[0.0, 0.0], [1.0, 0.0]])).size == 0


def test_a_tick_that_is_partly_dark_gets_its_lit_share_of_the_energy(plant: Plant, path: ScanPath) -> None:
    shares = np.where(np.arange(TICKS) % 3 == 0, 0.3, 1.0)
    partly = replace(path, lit=shares >= 0.5, shares=shares)
    result = simulate(plant, partly, np.full(TICKS, 14.0))
    assert result.power == pytest.approx(14.0 * shares)
    assert result.books["absorbed"] == pytest.approx(14.0 * shares.sum() * path.tick, rel=1e-6)
