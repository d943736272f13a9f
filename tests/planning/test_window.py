"""Windows: which can be aimed at, what is not known of them, and advice that somebody could follow."""

import re
from dataclasses import replace

import pytest

from laserloop.bad_input import BadInput
from laserloop.paths import find_path
from laserloop.planning.check import FREEDOM, check_path, check_process
from laserloop.planning.window import check_window, judge_window, note_melting
from laserloop.predict.twin.rollout import needed_power
from laserloop.process import Process

PAPER = Process()


def judge(process: Process) -> str:
    return next(finding.text for finding in check_process(process) if finding.about == "straight lines")


def aim(low: float, high: float) -> Process:
    return replace(PAPER, window=(low, high))


@pytest.mark.parametrize(("low", "high", "why"), [(200, 250, "only heats"), (3100, 3200, "304 boils at")])
def test_a_window_that_nobody_can_aim_at_is_refused_and_not_advised_upon(
    low: float, high: float, why: str
) -> None:
    process = aim(low, high)
    with pytest.raises(BadInput, match=f"{low} – {high} K is out of reach, since .*{why}"):
        check_window(process)
    told = " ".join(finding.text for finding in check_process(process))
    assert why in told
    assert " W" not in told
    assert check_path(process, find_path("diagonal", ticks=30)) == ([], {"ticks": 30})


def test_a_window_around_ambient_may_begin_below_it() -> None:
    assert judge_window(aim(280, 330)) is None
    assert judge_window(aim(280, 320)) is not None


def test_melting_is_told_from_the_solidus_on() -> None:
    solidus = 1670
    assert note_melting(aim(solidus - 60, solidus)) == ()
    (reaching,) = note_melting(aim(solidus - 60, solidus + 1))
    assert "1610 – 1671 K reaches above the solidus of 304, 1670 K" in reaching
    (beyond,) = note_melting(aim(solidus, 2500))
    assert "lies above the solidus" in beyond
    assert "docs/limits.md" in beyond


def test_a_slower_beam_is_advised_where_somebody_could_go_so_slowly() -> None:
    weak = PAPER.change(power_w=(0, 9))
    speed = float(re.findall(r"slow down to ([\d.]+) mm/s", judge(weak))[0]) / 1e3
    assert needed_power(weak, speed) == pytest.approx(9.0, rel=0.02)
    told = judge(aim(1800, 2500))
    assert "no practicable speed" in told
    assert "slow down" not in told
    assert f"{needed_power(aim(1800, 2500), PAPER.speed / FREEDOM):.3g} W at 30.4 mm/s" in told


def test_a_faster_beam_is_advised_where_somebody_could_go_so_fast() -> None:
    strong = PAPER.change(power_w=(15, 20))
    speed = float(re.findall(r"go at ([\d.]+) mm/s or faster", judge(strong))[0]) / 1e3
    assert needed_power(strong, speed) == pytest.approx(15.0, rel=0.02)
    told = judge(PAPER.change(power_w=(1500, 2000)))
    assert "no practicable speed" in told
    assert "go at" not in told


def test_no_speed_is_promised_that_nobody_drives() -> None:
    assert "up to 3040 mm/s and more" in judge(PAPER.change(power_w=(0, 100)))
    assert "up to 1140 mm/s" in judge(PAPER)
