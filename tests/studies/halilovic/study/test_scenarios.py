"""Scenarios: what is charged is late, and what is known is compensated."""

from typing import Any

from laserloop.loop.scenario import Scenario, prepare
from laserloop.studies.halilovic.cases import list_scenarios


def find(label: str, slow: tuple[float, ...] = ()) -> Scenario:
    return next(one.case for one in list_scenarios(slow, ticks=30) if one.label == label)


def run(label: str, slow: tuple[float, ...] = ()) -> dict[str, Any]:
    return prepare(find(label, slow)).run().to_json()


def test_an_answer_that_takes_three_ticks_is_late_twice_of_three_times() -> None:
    found = run("IPOPT, charged, late plan shifted", slow=(3 * 125e-6,))
    assert found["statuses"] == {"deadline passed: previous plan shifted by one tick": 30}


def test_powers_of_a_plan_are_followed_between_questions() -> None:
    found = run("IPOPT, 3 powers of a plan")
    assert found["statuses"]["solved"] == 10
    assert found["statuses"]["no new plan was due: the last one followed"] == 20


def test_a_late_image_hurts_less_when_its_age_is_known() -> None:
    known, unknown = (run(f"image 2 ticks late{end}") for end in ("", ", not compensated"))
    assert known["residual_rms_k"] < unknown["residual_rms_k"]


def test_every_camera_and_deadline_reaches_its_case() -> None:
    cameras = [find(label).process.camera for label in ("image 1 tick late", "camera at 2 kHz")]
    assert [(camera.delay, camera.every) for camera in cameras] == [(1, 1), (0, 4)]
    charged = find("IPOPT, charged, plan from start", slow=(0.01,))
    assert (charged.solve_s, charged.policy, charged.controller) == ((0.01,), "late", "ipopt")
    assert len(list_scenarios()) == 14
