"""The referee's rules: nobody is scored on a fallback, time is charged, baselines have a fair start."""

from dataclasses import replace

import numpy as np
import pytest

from laserloop.control import Action, Preview, Status
from laserloop.loop import prepare
from laserloop.paths import ScanPath
from laserloop.plant import Hottest, Image
from laserloop.predict import AffineForecast
from laserloop.process import find_process
from laserloop.studies.arena.benchmark import HoldingController, close_loop
from laserloop.studies.arena.entrant import Entrant, OpenLoopController
from laserloop.studies.arena.entrants import find_entrant
from laserloop.studies.arena.feedforward import LAWS
from laserloop.studies.arena.gain import GainPredictor
from laserloop.studies.arena.machine import misplace
from laserloop.studies.arena.scores import measure_record
from laserloop.studies.arena.tasks import Misplacement, Task


def test_who_has_nothing_to_plan_with_holds_the_last_power() -> None:
    answers = iter(
        [Action(power=7.0, status=Status.SOLVED), *(2 * [Action(power=0.0, status=Status.EXHAUSTED)])]
    )

    class Lost(OpenLoopController):
        def act(self, image: Image | None, preview: Preview) -> Action:
            return next(answers)

    held = HoldingController(Lost(np.zeros(1)))
    preview = Preview(time=0.0, tick=1e-4, positions=np.zeros((2, 2)), powers=np.zeros(0))
    dark = replace(preview, lit=np.zeros(1, dtype=bool))
    given = [held.act(None, there) for there in (preview, preview, dark)]
    assert [action.power for action in given] == [7.0, 7.0, 0.0]


def test_a_decision_longer_than_the_tick_acts_late_and_the_first_one_is_made_in_advance() -> None:
    task = Task(family="raster", seed=10_000, ticks=8)
    powers = np.linspace(5.0, 12.0, 8)
    entrant = Entrant(name="slow", about="Slow.", make=lambda _: OpenLoopController(powers))
    free, late = (close_loop(task, entrant, charged)["series"]["power_w"] for charged in (0.0, 300.0))
    assert free == pytest.approx(powers)
    assert late == pytest.approx([powers[k] for k in (0, 0, 0, 1, 1, 1, 4, 4)])


def test_a_scanner_that_is_late_and_images_that_are_shifted_reach_the_loop() -> None:
    quiet = Task(family="raster", seed=10_000, ticks=12)
    error = Misplacement(image=(3e-5, 0.0), stamp=1, scanner=125e-6, texture=0.0)
    places, times = [], []
    for wrong in (None, error):
        testbed = (
            misplace(prepare(quiet.make_case(), lambda _: OpenLoopController(np.full(12, 9.0))), wrong)
            .loop()
            .testbed
        )
        surface = testbed.reset()
        for k in range(3):
            surface = testbed.apply(k, 9.0)
        image = testbed.measure(3, surface)
        assert image is not None
        places.append(image.peak.x)
        times.append(image.time)
    path = quiet.make_case().find_path()
    hop = path.positions[3] - path.positions[2]
    assert places[1] - places[0] == pytest.approx(3e-5 - hop[0], abs=1.5e-5)
    assert times == pytest.approx([3 * path.tick] * 2)  # no stamp is of the future


def test_the_informed_twin_is_told_all_but_noise() -> None:
    task = Task(family="zigzag", level="hard", seed=10_003, ticks=40)
    quiet = replace(task.make_case().process.camera, noise=0.0, delay=0, every=1)
    rms = {}
    for name in ("twin", "twin-informed"):
        entrant, case = find_entrant(name), task.make_case()
        own = replace(case, process=replace(case.process, camera=quiet), faults=())
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(Task, "make_case", lambda _, own=own: own)
            rms[name] = measure_record(close_loop(task, entrant))["rms_k"]
    assert rms["twin-informed"] < 0.7 * rms["twin"]


def test_a_gain_is_learned_from_what_was_foreseen() -> None:
    """A plate that takes 15 % more than the predictor knows; the scaled predictor finds that out."""

    class Linear:
        name, horizon, memory, affine = "linear", 5, 0, True

        def reset(self) -> None:
            pass

        def observe(self, image: Image | None, preview: Preview) -> AffineForecast:
            return AffineForecast(
                base=np.full(5, 300.0), slopes=40.0 * np.eye(5), previous=preview.power, committed=np.empty(0)
            )

    predictor, powers = GainPredictor(Linear(), 1.0), list[float]()
    for k in range(60):
        T = 300.0 + 46.0 * powers[-1] if powers else 300.0
        past = min(k, predictor.memory)
        preview = Preview(
            time=k * 1e-4, tick=1e-4, positions=np.zeros((past + 6, 2)), powers=np.array(powers[k - past :])
        )
        image = Image(
            time=k * 1e-4,
            x=np.arange(3.0),
            y=np.arange(3.0),
            temperature=np.full((3, 3), T),
            peak=Hottest(T, 0, 0),
        )
        forecast = predictor.observe(image, preview)
        assert forecast is not None
        powers.append(480.0 / 40.0 / predictor.gain)
    assert predictor.gain == pytest.approx(1.15, abs=0.01)
    assert forecast is not None
    assert forecast.predict(np.full(5, 10.0)) == pytest.approx(300.0 + 46.0 * 10.0, rel=0.01)


def test_feed_forward_gives_less_where_the_beam_comes_back() -> None:
    process = find_process("304")
    y = np.zeros(41)
    way = np.concatenate((np.arange(21), np.arange(19, -1, -1))) * process.speed * process.tick
    path = ScanPath(name="back", positions=np.stack((way, y), axis=1), lit=np.ones(40, dtype=bool))
    for law in LAWS.values():
        powers = law.powers(path, process, (0.0, 20.0))
        assert powers[0] > powers[15] > powers[24]
        assert powers[15] == pytest.approx(10.5, abs=1.5)  # W, what a line needs at 780 K
