"""A learned policy as a controller: the network in NumPy, its file, and what it was made for."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from laserloop import BadInput
from laserloop.control.controller import Status
from laserloop.control.policy import (
    INPUTS,
    SIZE,
    Observer,
    Policy,
    PolicyController,
    find_policy,
    fingerprint,
)
from laserloop.loop.controllers import choose_camera
from laserloop.loop.disturbances import Fault
from laserloop.loop.run import run_closed_loop
from laserloop.paths import find_path
from laserloop.plant import Camera, make_plant
from laserloop.process import CameraSettings, Process


def draw_policy(seed: int = 0, bias: float = 0.1) -> Policy:
    rng = np.random.default_rng(seed)
    first = 0.01 * rng.standard_normal((4, INPUTS)).astype(np.float32), np.zeros(4, np.float32)
    last = 0.01 * rng.standard_normal((1, 4)).astype(np.float32), np.array([bias], np.float32)
    return Policy(layers=(first, last), about={"process": fingerprint(Process()), "seed": seed})


def test_a_policy_is_its_network(tmp_path: Path) -> None:
    policy = draw_policy()
    seen = np.random.default_rng(1).standard_normal(SIZE).astype(np.float32)
    (w0, b0), (w1, b1) = policy.layers
    wanted = float((w1 @ np.tanh(w0 @ seen[:INPUTS] + b0) + b1)[0])
    assert policy.decide(seen) == pytest.approx(wanted)
    policy.save(tmp_path / "304.safetensors")
    again = find_policy(tmp_path, Process())
    assert again.decide(seen) == policy.decide(seen)
    assert again.about == policy.about


def test_where_the_beam_is_on_the_plate_does_not_matter() -> None:
    policy, seen = draw_policy(), np.zeros(SIZE, np.float32)
    moved = seen.copy()
    moved[INPUTS:] = 1.0
    assert policy.decide(moved) == policy.decide(seen)


def test_a_policy_is_for_any_camera_and_speed_but_for_one_process(tmp_path: Path) -> None:
    draw_policy().save(tmp_path / "one.safetensors")
    other_camera = replace(Process(), speed=0.2, camera=CameraSettings(noise=5.0, delay=1))
    find_policy(tmp_path, other_camera)
    with pytest.raises(BadInput, match="train one"):
        find_policy(tmp_path, Process().change(window_k=(900.0, 940.0)))


def test_what_is_no_policy_is_refused(tmp_path: Path) -> None:
    (tmp_path / "bad.safetensors").write_bytes(b"nothing")
    with pytest.raises(BadInput, match="safetensors"):
        Policy.load(tmp_path / "bad.safetensors")
    with pytest.raises(BadInput, match="numbers to 1"):
        Policy(layers=((np.zeros((1, 3), np.float32), np.zeros(1, np.float32)),))


def test_in_the_loop_a_policy_gives_a_share_of_the_laser_and_says_when_it_was_blind() -> None:
    path = find_path("diagonal", ticks=12)
    plant = make_plant("graded")
    controller = PolicyController(draw_policy(bias=0.2), Process())
    run = run_closed_loop(
        plant,
        Camera(choose_camera(plant, None)),
        controller,
        path,
        faults=[Fault(kind="drop", first=4, ticks=2)],
    )
    assert run.power == pytest.approx(np.full(12, 12.0), abs=1.0)
    assert np.ptp(run.power) > 0.0
    assert [status is Status.BLIND for status in run.statuses].count(True) == 2
    wild = PolicyController(draw_policy(bias=np.inf), Process())
    assert run_closed_loop(plant, Camera(), wild, path).power.max() == 0.0


def test_an_observer_holds_what_it_saw_and_counts_its_age() -> None:
    path = find_path("diagonal", ticks=12)
    plant = make_plant("graded")
    observer, seen = Observer(Process()), []

    class Looker:
        name, horizon, memory = "looker", observer.horizon, observer.memory

        def act(self, image: object, preview: object) -> float:
            seen.append(observer.observe(image, preview))  # type: ignore[arg-type]
            return 10.0

    run_closed_loop(plant, Camera(), Looker(), path, faults=[Fault(kind="drop", first=6, ticks=3)])  # type: ignore[arg-type]
    ages = [round(float(10 * vector[17])) for vector in seen]
    assert ages == [0, 0, 0, 0, 0, 0, 1, 2, 3, 0, 0, 0]
    assert seen[8][0] == seen[5][0] != seen[9][0]
    assert seen[9][1] == seen[8][0]
    assert seen[9][8:11].tolist() == [0.0, 0.0, 0.0]  # 10 W of 0 to 20 W
    assert seen[0][8] == -1.0
