"""Faults: each does what its name says, in its span only."""

import numpy as np
import pytest

from laserloop.bad_input import BadInput
from laserloop.loop.disturbances import Fault, Faults
from laserloop.plant import Hottest, Image


def see(k: int) -> Image:
    x = np.linspace(0.0, 5e-4, 6)
    frame = np.full((6, 6), 300.0 + k)
    frame[2, 3] = 700.0 + k
    return Image(time=float(k), x=x, y=x, temperature=frame, peak=Hottest(700.0 + k, 3e-4, 2e-4))


def test_dropped_images_do_not_arrive() -> None:
    faults = Faults(Fault(kind="drop", first=3, ticks=2))
    assert [faults.see(k, see(k)) is None for k in range(6)] == [False, False, False, True, True, False]


def test_blank_images_hold_no_number() -> None:
    arrived = Faults(Fault(kind="blank", first=1)).see(1, see(1))
    assert arrived is not None
    assert np.isnan(arrived.temperature).all()


def test_a_saturated_pixel_is_the_hottest_one() -> None:
    arrived = Faults(Fault(kind="saturate", first=1)).see(1, see(1))
    assert arrived is not None
    assert arrived.temperature[2, 3] == 65535.0
    assert np.count_nonzero(arrived.temperature != see(1).temperature) == 1


def test_a_frozen_camera_repeats_its_picture_with_new_times() -> None:
    faults = Faults(Fault(kind="freeze", first=2, ticks=3))
    arrived = [faults.see(k, see(k)) for k in range(6)]
    assert [image.time for image in arrived if image is not None] == [0.0, 1.0, 2.0, 3.0, 4.0, 5.0]
    peaks = [image.temperature.max() for image in arrived if image is not None]
    assert peaks == [700.0, 701.0, 702.0, 702.0, 702.0, 705.0]


def test_weakened_power_arrives_in_part_and_only_in_its_span() -> None:
    faults = Faults(Fault(kind="absorbed", first=2, ticks=2, factor=0.9))
    assert [faults.weaken(k, 10.0) for k in range(5)] == [10.0, 10.0, 9.0, 9.0, 10.0]


@pytest.mark.parametrize("kind", ["drop", "blank", "saturate", "freeze", "absorbed"])
def test_a_fault_by_name_is_of_images_or_of_power(kind: str) -> None:
    faults, image = Faults(Fault(kind=kind, first=3, ticks=2, factor=0.5)), see(4)
    assert (faults.weaken(4, 10.0) == 5.0) == (kind == "absorbed")
    faults.see(3, see(3))
    assert (faults.see(4, image) is image) == (kind == "absorbed")


def test_a_frozen_picture_is_forgotten_before_the_next_loop() -> None:
    faults = Faults(Fault(kind="freeze"))
    faults.see(0, see(0))
    faults.reset()
    arrived = faults.see(0, see(5))
    assert arrived is not None
    assert arrived.temperature.max() == 705.0


def test_a_fault_that_nobody_knows_is_refused() -> None:
    with pytest.raises(BadInput, match="saturate"):
        Fault(kind="fire")


def test_a_share_of_the_ticks_is_hit_the_same_for_the_same_seed() -> None:
    hit = [k in Fault(kind="drop", share=0.1, seed=3) for k in range(1000)]
    assert 70 <= sum(hit) <= 130
    assert hit == [k in Fault(kind="drop", share=0.1, seed=3) for k in range(1000)]
    assert hit != [k in Fault(kind="drop", share=0.1, seed=4) for k in range(1000)]
    assert not any(k in Fault(kind="drop", share=0.0, seed=0) for k in range(1000))


def test_a_share_beyond_all_is_refused() -> None:
    with pytest.raises(BadInput, match="between 0 and 1"):
        Fault(kind="drop", share=1.5)


def test_several_faults_act_one_after_another() -> None:
    faults = Faults(Fault(kind="drop", first=1, ticks=1), Fault(kind="saturate", first=0, ticks=2))
    arrived = [faults.see(k, see(k)) for k in range(3)]
    assert arrived[1] is None
    assert [image.temperature.max() for image in arrived if image is not None] == [65535.0, 702.0]
    faults = Faults(Fault(kind="absorbed", factor=0.5), Fault(kind="absorbed", first=1, factor=0.1))
    assert [faults.weaken(k, 10.0) for k in range(2)] == pytest.approx([5.0, 0.5])


def test_no_fault_does_nothing() -> None:
    image = see(0)
    assert Faults().see(0, image) is image
    assert Faults(Fault(kind="drop")).weaken(0, 10.0) == 10.0
    assert Faults(Fault(kind="absorbed", factor=0.5)).see(0, image) is image
