"""Faults: each does what its name says, in its span only."""

import numpy as np
import pytest

from laserloop.bad_input import BadInput
from laserloop.loop.disturbances import (
    Fault,
    Span,
    blank,
    disturb_by,
    drift_by,
    drop,
    freeze,
    saturate,
    slow_down,
    weaken,
)
from laserloop.plant import Hottest, Image


def see(k: int) -> Image:
    x = np.linspace(0.0, 5e-4, 6)
    frame = np.full((6, 6), 300.0 + k)
    frame[2, 3] = 700.0 + k
    return Image(time=float(k), x=x, y=x, temperature=frame, peak=Hottest(700.0 + k, 3e-4, 2e-4))


def test_dropped_images_do_not_arrive() -> None:
    fault = drop(Span(3, 2))
    assert [fault(k, see(k)) is None for k in range(6)] == [False, False, False, True, True, False]


def test_blank_images_hold_no_number() -> None:
    arrived = blank(Span(1))(1, see(1))
    assert arrived is not None
    assert np.isnan(arrived.temperature).all()


def test_a_saturated_pixel_is_the_hottest_one() -> None:
    arrived = saturate(Span(1))(1, see(1))
    assert arrived is not None
    assert arrived.temperature[2, 3] == 65535.0
    assert np.count_nonzero(arrived.temperature != see(1).temperature) == 1


def test_a_frozen_camera_repeats_its_picture_with_new_times() -> None:
    fault = freeze(Span(2, 3))
    arrived = [fault(k, see(k)) for k in range(6)]
    assert [image.time for image in arrived if image is not None] == [0.0, 1.0, 2.0, 3.0, 4.0, 5.0]
    peaks = [image.temperature.max() for image in arrived if image is not None]
    assert peaks == [700.0, 701.0, 702.0, 702.0, 702.0, 705.0]


@pytest.mark.parametrize("every", [1, 4])
def test_a_slow_camera_gives_one_image_in_so_many_ticks(every: int) -> None:
    fault = slow_down(every)
    assert [k for k in range(9) if fault(k, see(k)) is not None] == list(range(0, 9, every))


def test_weakened_power_arrives_in_part_and_only_in_its_span() -> None:
    drift = weaken(Span(2, 2), 0.9)
    assert [drift(k, 10.0) for k in range(5)] == [10.0, 10.0, 9.0, 9.0, 10.0]


@pytest.mark.parametrize("kind", ["drop", "blank", "saturate", "freeze", "absorbed"])
def test_a_fault_by_name_is_of_images_or_of_power(kind: str) -> None:
    fault = Fault(kind=kind, first=3, ticks=2, factor=0.5)
    assert (fault.disturb is None) == (fault.drift is not None) == (kind == "absorbed")


def test_a_fault_by_name_lasts_for_its_ticks() -> None:
    disturb = Fault(kind="drop", first=3, ticks=2).disturb
    assert disturb is not None
    assert [disturb(k, see(k)) is None for k in range(6)] == [False, False, False, True, True, False]


def test_a_fault_that_nobody_knows_is_refused() -> None:
    with pytest.raises(BadInput, match="saturate"):
        Fault(kind="fire")


def test_a_share_of_the_ticks_is_hit_the_same_for_the_same_seed() -> None:
    hit = [k in Span(0, 1000, share=0.1, seed=3) for k in range(1000)]
    assert 70 <= sum(hit) <= 130
    assert hit == [k in Span(0, 1000, share=0.1, seed=3) for k in range(1000)]
    assert hit != [k in Span(0, 1000, share=0.1, seed=4) for k in range(1000)]
    assert not any(k in Span(0, 1000, share=0.0) for k in range(1000))


def test_a_share_beyond_all_is_refused() -> None:
    with pytest.raises(BadInput, match="between 0 and 1"):
        Fault(kind="drop", share=1.5)


def test_several_faults_act_one_after_another() -> None:
    disturb = disturb_by((Fault(kind="drop", first=1, ticks=1), Fault(kind="saturate", first=0, ticks=2)))
    assert disturb is not None
    arrived = [disturb(k, see(k)) for k in range(3)]
    assert arrived[1] is None
    assert [image.temperature.max() for image in arrived if image is not None] == [65535.0, 702.0]
    drift = drift_by((Fault(kind="absorbed", factor=0.5), Fault(kind="absorbed", first=1, factor=0.1)))
    assert drift is not None
    assert [drift(k, 10.0) for k in range(2)] == pytest.approx([5.0, 0.5])


def test_no_fault_does_nothing() -> None:
    assert disturb_by(()) is None
    assert drift_by((Fault(kind="drop"),)) is None
    assert disturb_by((Fault(kind="absorbed"),)) is None
