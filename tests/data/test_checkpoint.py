"""Checkpoints: a simulation that is killed goes on to the same bytes."""

from pathlib import Path

import numpy as np
import pytest

from laserloop.bad_input import BadInput
from laserloop.data.checkpoint import FILE, Checkpoint
from laserloop.data.episode import Episode, simulate
from laserloop.paths import ScanPath
from laserloop.plant import Plant, graded_settings, moving_settings

HOP = 0.304 * 1.25e-4  # m, of a tick
SMALL = (6e-3, 4e-3, 1e-3)  # m
TICKS = 60


@pytest.fixture
def path() -> ScanPath:
    """Long enough for a grid to move, with a dark stretch."""
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
    arrays = ("t_max", "t_peak", "peak_positions", "power")
    return (
        all(np.array_equal(getattr(one, name), getattr(other, name)) for name in arrays)
        and np.array_equal(one.hottest.temperature, other.hottest.temperature)
        and one.books == other.books
    )


@pytest.mark.parametrize("kind", ["moving", "fixed"])
def test_a_killed_simulation_goes_on_to_the_same_bytes(
    kind: str, path: ScanPath, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def make() -> Plant:
        region = (-1.2e-3, 1.2e-3, 0.0, 1e-9)
        return Plant(
            moving_settings(plate=SMALL) if kind == "moving" else graded_settings(plate=SMALL, region=region)
        )

    whole = simulate(make(), path, make_power())
    calls = iter(range(10_000))
    monkeypatch.setattr(Checkpoint, "is_due", lambda _: next(calls) % 7 == 6)
    for tick in (17, 38, 50):
        with pytest.raises(KeyboardInterrupt):
            simulate(make(), path, make_power(), folder=tmp_path, progress=end_at(tick))
    seen = []
    resumed = simulate(
        make(), path, make_power(), folder=tmp_path, progress=lambda done, _: seen.append(done)
    )
    assert 30 < seen[0] <= 50  # not from the start
    assert same(whole, resumed)
    again = simulate(make(), path, make_power(), folder=tmp_path)  # nothing is left to do
    assert same(whole, again)


def test_the_folder_of_another_simulation_is_refused(path: ScanPath, tmp_path: Path) -> None:
    plant = Plant(moving_settings(plate=SMALL))
    simulate(plant, path.truncated(3), make_power()[:3], folder=tmp_path)
    with pytest.raises(BadInput, match="another path, power, process or plant; take another folder"):
        simulate(plant, path.truncated(3), make_power(1)[:3], folder=tmp_path)


def test_a_broken_checkpoint_is_told_from_none(path: ScanPath, tmp_path: Path) -> None:
    (tmp_path / FILE).write_bytes(b"no archive")
    with pytest.raises(BadInput, match="must be a checkpoint, but it cannot be read; delete it"):
        simulate(Plant(moving_settings(plate=SMALL)), path, make_power(), folder=tmp_path)
