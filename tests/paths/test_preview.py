"""The preview: now, before and after."""

import numpy as np

from laserloop.paths.path import Preview


def make(past: int = 3, ahead: int = 5) -> Preview:
    x = np.arange(-past, ahead + 1) * 1e-5
    return Preview(
        time=past * 1e-4,
        tick=1e-4,
        positions=np.stack((x, np.zeros_like(x)), axis=1),
        powers=np.arange(1.0, past + 1),
    )


def test_the_way_ahead_starts_where_the_beam_is_now() -> None:
    assert np.allclose(make().ahead[:, 0], np.arange(6) * 1e-5)


def test_the_latest_power_is_that_of_the_tick_that_ends_now() -> None:
    assert make().power == 3.0
    assert make(past=0).power == 0.0


def test_a_rewound_preview_sees_the_same_way_from_earlier() -> None:
    then = make().rewound(2)
    assert np.allclose(then.ahead[0], [-2e-5, 0])
    assert then.power == 1.0
    assert np.isclose(then.time, 1e-4)


def test_an_images_age_is_counted_in_ticks() -> None:
    assert make().age(1e-4) == 2
    assert make().age(3e-4 + 1e-9) == 0


def test_kinematics_pair_each_position_with_the_velocity_that_leaves_it() -> None:
    rows = make().kinematics(4)
    assert rows.shape == (4, 4)
    assert np.allclose(rows[:, 0], np.arange(4) * 1e-5)
    assert np.allclose(rows[:, 2], 0.1)
    assert np.allclose(rows[:, 3], 0.0)
