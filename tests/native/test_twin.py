"""The twin in C against its readable NumPy: the same field, the same gain, the same powers."""

import ctypes
from dataclasses import replace

import numpy as np
import pytest
from numpy.typing import NDArray

from laserloop.control.controller import Action, Controller, Status
from laserloop.control.mpc import MpcController
from laserloop.control.problem import MpcProblem, make_twin_problem
from laserloop.control.sqp import SqpSolver
from laserloop.loop.run import look_ahead
from laserloop.native import build
from laserloop.native.layout import address
from laserloop.native.twin import QPS, TwinController, make_twin
from laserloop.paths import ScanPath
from laserloop.paths.path import Preview
from laserloop.plant.camera import Image
from laserloop.plant.surface import Hottest
from laserloop.predict.twin import TwinPredictor, TwinSettings
from laserloop.process import Process

FloatArray = NDArray[np.float64]
DTYPES = ("float32", "float64")
PROBLEM = make_twin_problem(MpcProblem())
PLATES = {
    "thick": ((15.0, 10.0, 2.0), (-1e-3, 0.0)),
    "thin": ((15.0, 10.0, 0.2), (-1e-3, 0.0)),
    "edge": ((15.0, 10.0, 2.0), (-1e-3, 4.7e-3)),
    "corner": ((15.0, 10.0, 2.0), (7.2e-3, -4.8e-3)),
    "small": ((1.2, 1.0, 2.0), (-0.1e-3, 0.2e-3)),
    "small and thin": ((1.2, 1.0, 0.3), (-0.1e-3, 0.2e-3)),
}


def preview(way: FloatArray, powers: FloatArray, lit: NDArray[np.bool_], k: int, memory: int) -> Preview:
    past = min(k, memory)
    return Preview(
        time=k * 1.25e-4,
        tick=1.25e-4,
        positions=way[k - past : k + 6],
        powers=powers[k - past : k],
        lit=lit[k : k + 5],
        was_lit=lit[k - past : k],
    )


def wander(
    start: tuple[float, float], ticks: int, seed: int, plate: tuple[float, ...] = (15.0, 10.0)
) -> tuple[FloatArray, NDArray[np.bool_]]:
    """A way that turns at random inside the plate, with a dark jump in it."""
    rng = np.random.default_rng(seed)
    heading = np.cumsum(rng.normal(0.0, 0.3, ticks + 6))
    hops = 38e-6 * np.stack((np.cos(heading), np.sin(heading)), axis=-1)
    way = np.array(start) + np.concatenate((np.zeros((1, 2)), np.cumsum(hops, axis=0)))[: ticks + 6]
    lit = np.ones(ticks + 6, np.bool_)
    lit[ticks // 2 : ticks // 2 + 6] = False
    way[ticks // 2 + 4 :] += (-4e-4, 2e-4)
    most = 0.5e-3 * np.array(plate[:2]) - 5e-5
    return np.clip(way, -most, most), lit


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("plate", PLATES)
def test_the_field_is_that_of_numpy_on_any_history(compilers: list[str], plate: str, dtype: str) -> None:
    size, start = PLATES[plate]
    twin = TwinPredictor(Process().change(plate_mm=size))
    compiled = TwinController(TwinPredictor(twin.process), PROBLEM, dtype=dtype)
    rng = np.random.default_rng(5)
    way, lit = wander(start, 120, 7, size)
    powers = np.where(lit, rng.uniform(0.0, 20.0, len(lit)), 0.0)
    for k in range(1, 121):
        seen = preview(way, powers, lit, k, twin.memory)
        compiled.act(None, seen)
        twin.observe(None, seen)
        if k % 17:
            continue
        heat = twin.sum_heat(twin.ends, np.array([twin.memory])).powered(twin.watts)
        points = way[k] + 1e-4 * rng.normal(0.0, 1.5, (6, 2))
        expected = heat.at(points[:, np.newaxis])
        found = [find_field(compiled, *point) for point in points]
        assert found == pytest.approx(
            np.ravel(expected), abs=2e-5 * np.max(expected) + 0.3 * twin.merge_tolerance
        )


def hatch(ticks: int) -> FloatArray:
    """Short lines beside one another, there and back, towards a corner of the plate."""
    along = np.abs((np.arange(ticks) + 60) % 120 - 60)
    return np.array([4.2e-3, -4.6e-3]) + 38e-6 * np.stack((along, np.arange(ticks) / 25), axis=-1)


def test_old_heat_as_a_polynomial_costs_a_millikelvin(compilers: list[str]) -> None:
    """700 ticks of a hatch kept apart: as a polynomial, summed in C, and in NumPy; and merged."""
    process, ticks = Process(), 700
    way, powers = hatch(ticks + 6), np.where(np.arange(ticks + 6) % 7, 11.0, 5.0)
    apart = TwinSettings(budget=1e-12)
    told, summed, merged = (
        TwinController(TwinPredictor(process, settings), PROBLEM) for settings in (apart, apart, None)
    )
    summed._kept[0]["smooth"] = 1e9  # no heat is ever so wide
    readable = TwinPredictor(process, apart)
    for k in range(ticks):
        seen = preview(way, powers, np.ones(ticks + 6, np.bool_), k, readable.memory)
        first, second = told.act(None, seen), summed.act(None, seen)
        assert first.power == pytest.approx(second.power, abs=3e-5)  # W: 44 K each
        merged.act(None, seen)
        readable.observe(None, seen)
    assert told.gaussians == readable.gaussians == ticks - 1
    heat = readable.sum_heat(readable.ends, np.array([readable.memory])).powered(readable.watts)
    points = way[ticks - 1] + 1e-4 * np.random.default_rng(1).normal(0.0, 0.7, (20, 2))
    conductivity = float(process.material.conductivity(780.0))
    exact = np.ravel(heat.at(points[:, np.newaxis])) / conductivity
    found = [np.array([find_field(c, *at) for at in points]) / conductivity for c in (told, summed, merged)]
    assert found[0] == pytest.approx(found[1], abs=0.002)  # K
    assert not np.array_equal(found[0], found[1])
    assert found[0] == pytest.approx(exact, abs=0.02)  # single precision, and what is too far to be felt
    assert found[2] == pytest.approx(exact, abs=0.2)  # the budget


def test_a_polynomial_of_heat_that_merges_counts_nothing_twice(compilers: list[str]) -> None:
    way, powers, lit = hatch(3006), np.where(np.arange(3006) % 7, 11.0, 5.0), np.ones(3006, np.bool_)
    told, summed = (TwinController(TwinPredictor(Process()), PROBLEM) for _ in range(2))
    summed._kept[0]["smooth"] = 1e9
    for k in range(3000):
        seen = preview(way, powers, lit, k, told.memory)
        first, second = told.act(None, seen), summed.act(None, seen)
        assert first.power == pytest.approx(second.power, abs=1e-3)  # a polynomial hears of a merge later
    assert told.gaussians == summed.gaussians < 300


def find_field(controller: TwinController, x: float, y: float) -> float:
    """u at a place, W/m, as C has it."""
    field = controller.library.laserloop_field
    field.restype = ctypes.c_double
    field.argtypes = (ctypes.c_void_p, ctypes.c_void_p, ctypes.c_double, ctypes.c_double)
    laid, state = (address(array).value for array in (controller._kept[0], controller.state))
    return float(field(laid, state, float(x), float(y)))


class Plate:
    """The twin as the truth, with less absorbed than the controllers believe, seen by a camera with noise."""

    def __init__(self, process: Process) -> None:
        beam = replace(process.beam, absorptivity=0.93 * process.beam.absorptivity)
        self._twin = TwinPredictor(replace(process, beam=beam))
        self._rng = np.random.default_rng(2)

    def see(self, now: Preview) -> Image:
        twin, camera = self._twin, self._twin.process.camera
        twin.observe(None, now)
        width = camera.pixel or 5e-5
        middle = np.round(now.ahead[0] / width)
        x, y = (width * (middle[axis] + np.arange(-6, 7)) for axis in (0, 1))
        heat = twin.sum_heat(twin.ends, np.array([twin.memory])).powered(twin.watts)
        u = heat.at(np.stack(np.meshgrid(x, y), axis=-1).reshape(-1, 1, 2)).reshape(13, 13)
        T = twin.table.temperature_of(u) + self._rng.normal(0.0, camera.noise + 1e-6, u.shape)
        return Image(time=now.time, x=x, y=y, temperature=T, peak=Hottest(float(T.max()), 0.0, 0.0))


def close(controller: Controller, process: Process, ticks: int, broken: range = range(0)) -> list[Action]:
    """The actions of a loop on the plate, images late as the camera is, in some the hottest pixel broken."""
    way, lit = wander((-1e-3, 0.5e-3), ticks, 3)
    plate, delay = Plate(process), process.camera.delay
    powers, images = np.zeros(len(lit)), list[Image]()
    actions: list[Action] = []
    controller.reset()
    for k in range(ticks):
        images.append(plate.see(preview(way, powers, lit, k, 30)))
        if k in broken:
            T = images[-1].temperature.copy()
            T.flat[T.argmax()] = 65535.0
            images[-1] = replace(images[-1], temperature=T, peak=Hottest(65535.0, 0.0, 0.0))
        actions.append(
            controller.act(images[max(0, k - delay)], preview(way, powers, lit, k, controller.memory))
        )
        powers[k] = actions[-1].power if lit[k] else 0.0
    return actions


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize(
    ("changes", "watts"),
    [
        ({}, 1e-3),
        ({"noise_k": 5.0, "delay_ticks": 2}, 1e-3),
        ({"pixel_um": 80.0, "lag_us": 150.0}, 0.02),  # the laser still glows while the beam jumps
    ],
    ids=["plain", "noise and delay", "pixels and lag"],
)
def test_a_closed_loop_is_that_of_numpy(
    compilers: list[str], changes: dict[str, float], watts: float, dtype: str
) -> None:
    process = Process().change(**changes)
    twin = TwinPredictor(process)
    solver = SqpSolver(PROBLEM, max_iterations=QPS, halvings=0)
    readable = MpcController(twin, solver, PROBLEM, resume=True, until_dark=True, name="twin")
    compiled = TwinController(TwinPredictor(process), PROBLEM, dtype=dtype)
    there, here = close(readable, process, 50), close(compiled, process, 50)
    assert [a.power for a in here] == pytest.approx([a.power for a in there], abs=watts)
    for k in (*range(25), *range(35, 50)):  # what is predicted of a dark tick counts for nothing
        assert here[k].predicted[0] == pytest.approx(there[k].predicted[0], abs=0.2 if watts > 1e-3 else 0.02)
    assert compiled.gain == pytest.approx(twin.gain, abs=1e-4)
    assert compiled.innovation == pytest.approx(twin.innovation, abs=0.1)
    assert {a.status for a in here} == {a.status for a in there}


def test_a_broken_pixel_at_the_peak_changes_neither_gain_nor_power(compilers: list[str]) -> None:
    process, broken = Process(), range(12, 20)
    solver = SqpSolver(PROBLEM, max_iterations=QPS, halvings=0)
    readable = MpcController(TwinPredictor(process), solver, PROBLEM, resume=True, until_dark=True)
    compiled = TwinController(TwinPredictor(process), PROBLEM)
    whole, here, there = (
        close(controller, process, 22, which)
        for controller, which in ((compiled, range(0)), (compiled, broken), (readable, broken))
    )
    assert {a.status for a in here[12:20]} == {a.status for a in there[12:20]} == {Status.MENDED}
    assert [a.power for a in here] == pytest.approx([a.power for a in there], abs=1e-3)
    assert [a.power for a in here] == pytest.approx([a.power for a in whole], abs=0.05)


def test_nothing_is_heated_for_a_line_that_comes_after_the_dark(compilers: list[str]) -> None:
    """Three dark ticks, then a line that the laser cannot bring to the middle in its first tick."""
    process, weak = Process(), replace(PROBLEM, power=(0.0, 14.0))
    x = np.concatenate((np.arange(0, 21), 20.5 + np.arange(3), 24 + np.arange(20)))[:40]
    way, lit = np.stack((38e-6 * x, 0.0 * x), axis=-1), np.ones(39, np.bool_)
    lit[20:23] = False
    solver = SqpSolver(weak, max_iterations=QPS, halvings=0)
    twin = TwinPredictor(process)
    for controller in (
        TwinController(TwinPredictor(process), weak),
        MpcController(twin, solver, weak, resume=True, until_dark=True),
    ):
        powers, predicted = np.zeros(len(lit)), []
        for k in range(26):
            action = controller.act(None, preview(way, powers, lit, k, controller.memory))
            powers[k] = action.power if lit[k] else 0.0
            predicted.append(action.predicted[0])
        assert predicted[10:20] == pytest.approx([780.0] * 10, abs=0.5)


def test_a_bad_image_is_noticed_and_a_broken_pixel_mended(compilers: list[str]) -> None:
    process = Process()
    twin = TwinController(TwinPredictor(process), PROBLEM)
    way, lit = wander((-1e-3, 0.5e-3), 20, 3)
    plate, powers = Plate(process), np.zeros(len(lit))
    statuses, images = list[Status](), list[Image]()
    for k in range(12):
        image = plate.see(preview(way, powers, lit, k, 30))
        T = image.temperature.copy()
        if k == 4:
            T[:] = 0.0
        elif k == 6:
            T[6, 6] = np.nan
        elif k == 8:
            T = images[-1].temperature
        peak = Hottest(float(T.max()), 0.0, 0.0)
        images.append(replace(image, temperature=T, peak=images[-1].peak if k == 8 else peak))
        action = twin.act(None if k == 10 else images[-1], preview(way, powers, lit, k, twin.memory))
        statuses.append(action.status)
        powers[k] = action.power
    assert statuses[4] == statuses[8] == statuses[10] == Status.BLIND
    assert statuses[6] == Status.MENDED
    assert statuses[5] == statuses[7] == statuses[9] == Status.SOLVED


def test_without_a_compiler_the_twin_plans_in_numpy_and_says_so(
    monkeypatch: pytest.MonkeyPatch, tmp_path: object
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setenv("CC", "no-such-compiler")
    build.find_compiler.cache_clear()
    try:
        slow = make_twin(PROBLEM, Process())
    finally:
        build.find_compiler.cache_clear()
    assert isinstance(slow, MpcController)
    assert "plans in NumPy" in slow.notes[0]


def test_a_reset_leaves_nothing_behind(compilers: list[str]) -> None:
    process = Process()
    twin = TwinController(TwinPredictor(process), PROBLEM)
    first = [a.power for a in close(twin, process, 15)]
    assert [a.power for a in close(twin, process, 15)] == first


def test_a_long_horizon_forgets_no_coming_heat() -> None:
    twin = TwinPredictor(Process(), TwinSettings(horizon=12))
    way, plan = np.outer(np.arange(40), [38e-6, 0.0]), np.full(12, 10.0)
    told = twin.observe(None, Preview(time=0.0, tick=1.25e-4, positions=way[:13], powers=plan[:0]))
    expected = told.predict(plan)[-1]
    for k in range(1, 12):
        now = Preview(time=k * 1.25e-4, tick=1.25e-4, positions=way[: k + 13], powers=plan[:k])
        told = twin.observe(None, now)
    assert told.predict(plan)[0] == pytest.approx(expected, abs=0.05)


def test_the_first_image_surprises_by_what_nobody_knew(compilers: list[str]) -> None:
    """The plate takes 7 % less than the process says: about 7 % of the rise, until that is learned."""
    process = Process()
    compiled, plate = TwinController(TwinPredictor(process), PROBLEM), Plate(process)
    way, lit = wander((-1e-3, 0.5e-3), 20, 3)
    lit[:] = True
    powers, innovations = np.zeros(len(lit)), []
    for k in range(20):
        image = plate.see(preview(way, powers, lit, k, 30)) if k >= 10 else None
        powers[k] = compiled.act(image, preview(way, powers, lit, k, compiled.memory)).power
        innovations.append(compiled.innovation)
    assert np.isnan(innovations[:10]).all()
    assert -45.0 < innovations[10] < -20.0  # T is not proportional to the heat
    assert abs(innovations[19]) < 2.0


def test_margins_bind_from_the_next_tick_on(compilers: list[str]) -> None:
    """With a target above the ceiling that margins leave, the plan stays under that ceiling."""
    hot = replace(PROBLEM, window=(740.0, 800.0))
    compiled = TwinController(TwinPredictor(Process()), hot)
    way, lit = wander((-1e-3, 0.0), 60, 3)
    lit[:] = True
    powers = np.full(len(lit), 9.0)
    predicted = []
    for above, k in ((0.0, 50), (35.0, 51), (0.0, 52)):
        compiled.set_margins(above, 0.0)
        predicted.append(compiled.act(None, preview(way, powers, lit, k, compiled.memory)).predicted[-1])
    assert predicted[1] < 765.1
    assert predicted[0] > 768.0
    assert predicted[2] > 768.0


def test_margins_that_only_the_widened_window_has_room_for_are_kept(compilers: list[str]) -> None:
    compiled = TwinController(TwinPredictor(Process()), PROBLEM)
    compiled.set_window(600.0, 900.0)
    compiled.set_margins(100.0, 90.0)
    assert (compiled.problem.floor, compiled.problem.ceiling) == (690.0, 800.0)
    compiled.set_window(760.0, 800.0)
    assert 760.0 < compiled.problem.floor < compiled.problem.ceiling < 800.0
    compiled.set_window(600.0, 900.0)
    assert (compiled.problem.floor, compiled.problem.ceiling) == (690.0, 800.0)


def test_a_longer_horizon_and_long_hops_have_room_in_c(compilers: list[str]) -> None:
    process = Process().change(speed_mm_s=2e4)
    built = make_twin(replace(PROBLEM, horizon=10), process, TwinSettings(horizon=10))
    assert isinstance(built, TwinController)
    path = ScanPath(name="long", positions=np.outer(np.linspace(-1.0, 1.0, 12), [5e-3, 0.0]))
    answer = built.act(None, look_ahead(path, 0, [], 10, built.memory))
    assert np.isfinite(answer.predicted).all()
    assert len(answer.plan) == 10
