"""What the twin makes of images: of long exposures, and of a plate that cools with the laser off."""

import pytest

from laserloop.loop.case import LoopCase, run_case
from laserloop.loop.faults import Fault
from laserloop.process import Process


def test_an_exposure_of_several_ticks_is_expected_as_the_camera_reads_it() -> None:
    process = Process().change(exposure_ticks=4)
    run = run_case(LoopCase(path="diagonal", controller="twin", plant="graded", ticks=40, process=process))
    counted = run.t_peak[run.settled]
    assert counted.min() > 775.0
    assert counted.max() < 785.0


def test_a_saturated_hottest_pixel_is_done_without() -> None:
    fault = Fault(kind="saturate", first=15, ticks=20)
    run = run_case(LoopCase(path="polyline:3", controller="twin", plant="graded", ticks=50, faults=(fault,)))
    counted = run.t_peak[run.settled]
    assert counted.min() > 775.0
    assert counted.max() < 785.0


def test_a_lag_that_nobody_knows_of_is_not_taken_for_a_plate_that_absorbs_less() -> None:
    """The first image is of a laser that has just come on; the next one comes four ticks later."""
    process = Process().change(delay_ticks=2, every_ticks=4)
    lag = (("laser-lag-us", 100.0),)
    run = run_case(
        LoopCase(path="diagonal", controller="twin", plant="graded", ticks=16, process=process, mismatch=lag)
    )
    assert run.t_peak.max() < 800.0  # 890 K if it were


def test_a_line_after_a_dark_move_is_heated_as_exactly_as_the_first() -> None:
    process = Process().change(power_w=[0, 60])
    run = run_case(LoopCase(path="stroke:4", controller="twin", plant="graded", ticks=60, process=process))
    begins = [k for k in range(1, len(run)) if run.lit[k] and not run.lit[k - 1]]
    assert begins
    assert run.t_peak[[0, *begins]] == pytest.approx(780.0, abs=8.0)
