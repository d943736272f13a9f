"""Checkpoints: a simulation that is killed goes on to the same bytes."""

from pathlib import Path

import numpy as np
import pytest

from laserloop.bad_input import BadInput
from laserloop.data.episode import FILE, Checkpoint, Episode, simulate
from laserloop.paths import ScanPath
from laserloop.plant import PLANTS, Plant, make_plant
from laserloop.process import Process

HOP = 0.304 * 1.25e-4  # m, of a tick
SMALL = (6e-3, 4e-3, 1e-3)  # m
TICKS = 60


@pytest.fixture
def path() -> ScanPath:
    """Long enough for a fine box to move, with a dark stretch."""
    x = -1.2e-3 + HOP * np.arange(TICKS + 1)
    lit = (np.arange(TICKS) < 35) | (np.arange(TICKS) >= 40)
    return ScanPath(name="line", positions=np.column_stack((x, np.zeros(TICKS + 1))), lit=lit)


def make_power(seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).uniform(10.0, 16.0, TICKS)


def end_at(tick: int):  # type: ignore[no-untyped-def]
    def progress(done: int, _: int) -> None:
        if done == tick:
            raise KeyboardInterrupt

    return progress


def same(one: Episode, other: Episode) -> bool:
    arrays = ("t_max", "t_peak", "peak_positions", "power", "ahead")
    return (
        all(np.array_equal(getattr(one, name), getattr(other, name)) for name in arrays)
        and np.array_equal(one.hottest.temperature, other.hottest.temperature)
        and one.books == other.books
    )


def make(name: str = "graded") -> Plant:
    return make_plant(name, Process(plate=SMALL))


@pytest.mark.parametrize("name", PLANTS)
def test_a_killed_simulation_goes_on_to_the_same_bytes(
    name: str, path: ScanPath, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = simulate(make(name), path, make_power(), sampling="nearest")
    calls = iter(range(10_000))
    monkeypatch.setattr(Checkpoint, "is_due", lambda _: next(calls) % 7 == 6)
    for tick in (17, 38, 50):
        with pytest.raises(KeyboardInterrupt):
            simulate(
                make(name), path, make_power(), sampling="nearest", folder=tmp_path, progress=end_at(tick)
            )
    seen = []
    resumed = simulate(
        make(name),
        path,
        make_power(),
        sampling="nearest",
        folder=tmp_path,
        progress=lambda done, _: seen.append(done),
    )
    assert 30 < seen[0] <= 50  # not from the start
    assert same(whole, resumed)
    again = simulate(make(name), path, make_power(), sampling="nearest", folder=tmp_path)
    assert same(whole, again)


def test_the_folder_of_another_simulation_is_refused(path: ScanPath, tmp_path: Path) -> None:
    plant = make()
    simulate(plant, path.truncated(3), make_power()[:3], folder=tmp_path)
    with pytest.raises(BadInput, match="another path, power, process, plant or start"):
        simulate(plant, path.truncated(3), make_power(1)[:3], folder=tmp_path)
    with pytest.raises(BadInput, match="another path, power"):
        simulate(plant, path.truncated(3), make_power()[:3], sampling="nearest", folder=tmp_path)


def test_a_broken_checkpoint_is_told_from_none(path: ScanPath, tmp_path: Path) -> None:
    (tmp_path / FILE).write_bytes(b"no archive")
    with pytest.raises(BadInput, match="must be a checkpoint, but it cannot be read; delete it"):
        simulate(make(), path, make_power(), folder=tmp_path)


def test_a_simulation_from_another_start_is_another_simulation(path: ScanPath, tmp_path: Path) -> None:
    plant = make()
    power, cold = make_power(), plant.reset()
    for k in range(3):
        plant.step(20.0, path.spot(k))
    warm = plant.snapshot()
    first = simulate(plant, path.truncated(5), power[:5], start=warm, folder=tmp_path / "a")
    assert first.t_peak[0] > cold.peak.temperature + 50
    again = simulate(plant, path.truncated(5), power[:5], start=warm, folder=tmp_path / "a")
    assert np.array_equal(again.t_peak, first.t_peak)
    with pytest.raises(BadInput, match="plant or start"):
        simulate(plant, path.truncated(5), power[:5], folder=tmp_path / "a")
