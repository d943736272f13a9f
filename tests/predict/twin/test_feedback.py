"""What the twin makes of images: of long exposures, and of a plate that cools with the laser off."""

import numpy as np
import pytest

from laserloop.loop.disturbances import Fault
from laserloop.loop.scenario import Scenario, prepare
from laserloop.predict.twin import TwinPredictor
from laserloop.predict.twin.twin import delay
from laserloop.process import Process


def test_an_exposure_of_several_ticks_is_expected_as_the_camera_reads_it() -> None:
    process = Process().change(exposure_ticks=4)
    run = prepare(
        Scenario(path="diagonal", controller="twin", plant="graded", ticks=40, process=process)
    ).run()
    counted = run.t_peak[run.settled]
    assert counted.min() > 775.0
    assert counted.max() < 785.0


def test_a_saturated_hottest_pixel_is_done_without() -> None:
    fault = Fault(kind="saturate", first=15, ticks=20)
    run = prepare(
        Scenario(path="polyline:3", controller="twin", plant="graded", ticks=50, faults=(fault,))
    ).run()
    counted = run.t_peak[run.settled]
    assert counted.min() > 775.0
    assert counted.max() < 785.0


def test_a_lag_that_nobody_knows_of_is_not_taken_for_a_plate_that_absorbs_less() -> None:
    """The first image is of a laser that has just come on; the next one comes four ticks later."""
    process = Process().change(delay_ticks=2, every_ticks=4)
    lag = (("laser-lag-us", 100.0),)
    run = prepare(
        Scenario(path="diagonal", controller="twin", plant="graded", ticks=16, process=process, mismatch=lag)
    ).run()
    assert run.t_peak.max() < 800.0  # 890 K if it were


@pytest.mark.parametrize("noise", [0.0, 5.0])
@pytest.mark.parametrize("absorbed", [1.1, 1.3])
def test_a_start_that_is_too_hot_is_believed_at_once(absorbed: float, noise: float) -> None:
    """No lag makes a plate hotter than it is expected to be."""
    process = Process().change(noise_k=noise)
    more = (("absorptivity", absorbed),)
    run = prepare(
        Scenario(path="diagonal", controller="twin", plant="graded", ticks=16, process=process, mismatch=more)
    ).run()
    assert run.t_peak[2:].max() < 810.0  # 886 K if it were taken for a lag
    assert run.t_peak[4:].max() < 790.0


def test_a_line_after_a_dark_move_is_heated_as_exactly_as_the_first() -> None:
    process = Process().change(power_w=[0, 60])
    run = prepare(
        Scenario(path="stroke:4", controller="twin", plant="graded", ticks=60, process=process)
    ).run()
    begins = [k for k in range(1, len(run)) if run.lit[k] and not run.lit[k - 1]]
    assert begins
    assert run.t_peak[[0, *begins]] == pytest.approx(780.0, abs=8.0)


def test_before_its_first_tick_the_beam_was_where_that_began() -> None:
    twin = TwinPredictor(Process())
    twin.absorb(10.0, np.array([[1e-3, -2e-3], [1.04e-3, -2e-3]]))
    assert np.array_equal(twin.ends[:-1], np.tile([1e-3, -2e-3], (len(twin.ends) - 1, 1)))


def test_a_spot_that_runs_a_little_ahead_of_the_twins_is_no_hotter_one() -> None:
    """Where diffusivity varies the peak lies 2 µm before the twin's; after a turn images look young."""
    run = prepare(Scenario(path="diagonal", controller="twin", plant="graded", ticks=100)).run()
    missed = run.t_peak[70:] - run.predicted[70:]
    assert abs(missed.mean()) < 0.5  # 1.6 K if the newest tick's way is cut short


def test_what_an_image_shows_early_lies_straight_on() -> None:
    ends = np.array([[0.0, 0.0], [1.0, 0.0], [1.0, 2.0]])
    assert delay(ends, -0.5) == pytest.approx(np.array([[0.5, 0.0], [1.0, 1.0], [1.0, 3.0]]))
    assert delay(np.array([1.0, 3.0]), -0.5) == pytest.approx(
        np.array([2.0, 3.0])
    )  # but no power beyond the last
