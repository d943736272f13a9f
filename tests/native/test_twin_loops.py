"""Many twins as plants: each loop is the readable twin's, and what is seen is what the observer sees."""

from dataclasses import dataclass, replace
from types import SimpleNamespace
from typing import cast

import numpy as np
import pytest
from numpy.typing import NDArray

from laserloop import BadInput
from laserloop.control.policy import PARTS, SIZE, SPOTS, Observer
from laserloop.loop.run import look_ahead
from laserloop.native.twin_loops import TwinLoops
from laserloop.paths import ScanPath, find_path
from laserloop.plant import Image
from laserloop.predict.twin import TwinPredictor, TwinSettings
from laserloop.predict.twin.heat import find_peak, guess_peak
from laserloop.process import Process
from laserloop.process.process import mismatch

FloatArray = NDArray[np.float64]
TICKS = 60
CAMERAS = ({"delay_ticks": 2, "every_ticks": 2}, {"delay_ticks": 6})  # the second looks far ahead


class TwinPlate:
    """The readable twin as a plant: peaks, and temperatures anywhere."""

    def __init__(self, process: Process, path: ScanPath, gain: float) -> None:
        self.twin = TwinPredictor(process, TwinSettings(horizon=1))
        self.twin.ends[:] = path.positions[0]
        self.gain, self.emitted = gain, 0.0

    def step(self, power: float, spot: FloatArray) -> "Picture":
        twin = self.twin
        mean, self.emitted = twin.process.laser.follow(self.emitted, power, twin.process.tick)
        twin.absorb(mean, spot)
        heat = twin.sum_heat(twin.ends, np.array([twin.memory])).powered(twin.watts)
        guess = guess_peak(spot[None, 1], spot[None, 0], twin.body.sigma)
        top = float(np.ravel(heat.at(find_peak(heat, guess, spot[None, 1], twin.body.sigma, 6)[0]))[0])

        def sample(points: FloatArray) -> FloatArray:
            u = np.ravel(heat.at(points))
            return twin.table.temperature_of(
                self.gain * (1.0 - twin.diffusivity_correction * (1.0 - np.minimum(u / top, 1.0))) * u
            )

        return Picture(float(twin.table.temperature_of(np.array([self.gain * top]))[0]), sample)


@dataclass
class Picture:
    """As much of an image as an observer looks at."""

    hottest: float
    look: object
    time: float = 0.0

    @property
    def peak(self) -> SimpleNamespace:
        return SimpleNamespace(temperature=self.hottest)

    @property
    def temperature(self) -> FloatArray:
        return np.array([[300.0, self.hottest]])

    def sample(self, points: FloatArray) -> FloatArray:
        return self.look(points)  # type: ignore[operator, no-any-return]


@pytest.fixture(scope="module")
def paths() -> list[ScanPath]:
    return [find_path(name, ticks=TICKS) for name in ("hairpin:3", "stroke:5", "diagonal")]


def follow_readable(
    process: Process, truth: Process, path: ScanPath, gain: float, powers: FloatArray
) -> tuple[FloatArray, NDArray[np.float32]]:
    """T_max after each tick, and what an observer sees before the first and after each."""
    plate, observer = TwinPlate(truth, path, gain), Observer(process)
    pictures = [Picture(process.ambient, lambda points: np.full(len(points), process.ambient))]
    seen = []
    given: list[float] = []
    camera = process.camera
    for k in range(TICKS + 1):
        image = pictures[max(k - camera.delay, 0)] if k % camera.every == 0 else None
        preview = look_ahead(path, k, given, observer.horizon, observer.memory)
        seen.append(observer.observe(cast(Image | None, image), preview))
        if k < TICKS:
            given.append(float(powers[k]) if path.lit[k] else 0.0)
            pictures.append(replace(plate.step(given[-1], path.spot(k)), time=(k + 1) * path.tick))
    return np.array([picture.hottest for picture in pictures[1:]]), np.array(seen)


@pytest.mark.parametrize("camera", CAMERAS)
def test_every_loop_is_the_readable_twin_and_sees_what_the_observer_sees(
    camera: dict[str, int], paths: list[ScanPath]
) -> None:
    process = Process().change(**camera)
    truths = [process, mismatch(process, {"conductivity": 1.1, "laser-lag-us": 90.0})]
    gain = np.array([1.0, 0.9, 1.1])
    loops = TwinLoops(process, truths, paths, 3)
    powers = np.random.default_rng(4).uniform(6.0, 14.0, (TICKS, 3))
    seen = [loops.begin(np.arange(3), np.arange(3), np.array([0, 1, 1]), gain)]
    T = []
    quiet, all_come = np.zeros((3, 1 + len(SPOTS)), np.float32), np.zeros(3, np.bool_)
    for k in range(TICKS):
        T.append(loops.step(powers[k], quiet, all_come))
        seen.append(loops.seen)
    for i, path in enumerate(paths):
        truth = truths[0 if i == 0 else 1]
        expected, vectors = follow_readable(process, truth, path, gain[i], powers[:, i])
        lit = path.lit
        assert np.abs(np.array(T)[lit, i] - expected[lit]).max() < 0.3
        mine = np.array(seen)[:, i]
        assert mine.shape == (TICKS + 1, SIZE)
        dark = np.concatenate(([True], ~lit))
        followed = ~np.convolve(dark, np.ones(9))[: TICKS + 1].astype(bool)  # the peak of a dark tick is lost
        assert followed.sum() > 20
        for name, part in PARTS.items():
            off = np.abs(mine[followed, part] - vectors[followed, part]).max()
            assert off < {"error": 0.02, "slow": 0.01}.get(name, 2e-3), name


def test_noise_and_lost_images_change_what_is_seen_and_not_what_is_true(paths: list[ScanPath]) -> None:
    noise, nothing = np.full((2, 1 + len(SPOTS)), 5.0, np.float32), np.zeros(2, np.bool_)
    runs = []
    for added, lost in ((0.0 * noise, nothing), (noise, nothing), (noise, ~nothing)):
        loops = TwinLoops(Process(), [Process()], paths, 2)
        loops.begin(np.arange(2), np.array([0, 2]), np.zeros(2, np.intp), np.ones(2))
        T = [loops.step(np.full(2, 10.0), added, lost) for _ in range(30)]
        runs.append((np.stack(T), loops.seen))
    quiet, noisy, blind = runs
    assert np.array_equal(quiet[0], noisy[0])
    assert np.array_equal(quiet[0], blind[0])
    error, age = PARTS["error"].start, PARTS["age"].start
    assert noisy[1][:, error] == pytest.approx(quiet[1][:, error] + 5.0 / 20.0, abs=1e-4)
    assert quiet[1][:, age].tolist() == [0.0, 0.0]
    assert blind[1][:, age] == pytest.approx([3.0, 3.0])
    assert blind[1][:, error].tolist() == [-10.0, -10.0]


def test_a_camera_too_late_for_a_batch_is_refused(paths: list[ScanPath]) -> None:
    with pytest.raises(BadInput, match="ticks old"):
        TwinLoops(Process().change(delay_ticks=20), [Process()], paths, 1)
