"""Feed-forward: the path alone decides."""

from dataclasses import replace

import numpy as np

from laserloop.control.simple import FeedforwardController, FeedforwardGains
from laserloop.paths import ScanPath, sample_polyline
from laserloop.paths.path import Preview

GAINS = FeedforwardGains(power=14.0, relief=0.3, memory=3e-3, reach=2e-4)


def drive(path: ScanPath) -> np.ndarray[tuple[int, ...], np.dtype[np.float64]]:
    controller = FeedforwardController(GAINS, (0.0, 20.0))
    powers = []
    for k in range(len(path)):
        preview = Preview(
            time=k * path.tick,
            tick=path.tick,
            positions=path.preview(k, 1),
            powers=np.empty(0),
            lit=path.preview_lit(k, 1),
        )
        powers.append(controller.act(None, preview).power)
    return np.array(powers)


def test_a_straight_line_needs_the_constant_power() -> None:
    line = sample_polyline(np.array([[-1e-3, 0.0], [1.5e-3, 0.0]]), name="line")
    assert np.allclose(drive(line), 14.0)


def test_turning_back_takes_power_away_and_gives_it_back_later() -> None:
    there = np.array([[-1e-3, 0.0], [1e-3, 0.0], [-1e-3, 1e-5]])
    powers = drive(sample_polyline(there, name="hairpin"))
    turn = int(2e-3 / 0.304 / 1.25e-4)
    assert powers[turn + 3] < 12.0
    assert powers[turn + 3] < powers[-1] < 14.0


def test_a_way_back_over_what_was_never_lit_takes_no_power_away() -> None:
    there = np.array([[-1e-3, 0.0], [1e-3, 0.0], [-1e-3, 1e-5]])
    hairpin = sample_polyline(there, name="hairpin")
    turn = int(2e-3 / 0.304 / 1.25e-4) + 1
    powers = drive(replace(hairpin, lit=np.arange(len(hairpin)) >= turn))
    assert np.allclose(powers[turn:], 14.0, rtol=1e-3)
