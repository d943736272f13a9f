"""What the places of peaks tell: where images lie, the laser's lag, a late scanner; and where they cannot."""

from dataclasses import replace
from functools import cache

import numpy as np
import pytest

from laserloop.bad_input import BadInput
from laserloop.identification import FitSettings, identify
from laserloop.identification.experiment import START, find_settled, set_up
from laserloop.identification.fit import Search
from laserloop.identification.parameters import DEFAULTS, LAG, OFFSETS, SCANNER, WITH_PLACES, check_names
from laserloop.logs import Recording
from laserloop.logs.csv_log import from_ticks
from laserloop.paths import ScanPath, find_path
from laserloop.plant import Camera, make_plant
from laserloop.predict.twin.rollout import roll_out
from laserloop.predict.twin.twin import delay
from laserloop.process import CameraSettings, Process

SHIFT = np.array([50e-6, -20e-6])  # m, of the images
LAG_S = 125e-6  # of the laser
LATE = 0.5  # ticks, of the scanner
STRAIGHT = 75  # ticks of `vertical` before its first turn


@cache
def recorded(name: str, ticks: int, *, shaken: bool = True, late: float = LATE) -> Recording:
    """A run on a machine that is off, with its commands, and where the camera saw the peaks."""
    path = find_path(name, ticks=ticks)
    steps = np.repeat(np.random.default_rng(1).uniform(-1, 1, ticks // 8 + 1), 8)[:ticks]
    power = 11.0 + 2.5 * shaken * steps
    process = Process()
    plant = make_plant("graded", replace(process, laser=replace(process.laser, lag=LAG_S)))
    camera = Camera(CameraSettings(noise=5.0, delay=2, subgrid=True, sampling="smooth"))
    camera.see(plant.reset())
    places = delay(path.positions, late)
    seen = [camera.see(plant.step(float(p), places[k : k + 2])).peak for k, p in enumerate(power)]
    peaks = np.array([peak.temperature for peak in seen])
    at = np.array([(peak.x, peak.y) for peak in seen]) + SHIFT
    came = np.ones(ticks, np.bool_)
    return from_ticks("off", path.times[1:], path.positions[1:], power, peaks, came, at)


def look_along(recording: Recording) -> Recording:
    """The same by a camera that looks along the beam, whose scanner is not late."""
    readings = recording.readings
    assert readings.place is not None
    beam = [
        np.interp(readings.arrived - 2 * 1.25e-4, recording.times, line) for line in recording.positions.T
    ]
    place = readings.place - np.stack(beam, axis=1)
    return replace(recording, readings=replace(readings, place=place, coaxial=np.ones(place.shape, np.bool_)))


def test_offset_lag_and_a_late_scanner_are_found_together() -> None:
    fit = identify(recorded("zigzag:5", 120), Process())
    told = fit.to_json()
    assert fit.names == WITH_PLACES
    for name, true, near in (
        ("offset_x_um", 50.0, 3.0),
        ("offset_y_um", -20.0, 3.0),
        ("laser_lag_us", 125.0, 40.0),
        ("scanner_late_ticks", LATE, 0.4),
        ("delay_ticks", 2.0, 0.4),
        ("absorptivity", 1.0, 0.06),
    ):
        assert told[name]["value"] == pytest.approx(true, abs=near), name
        assert told[name]["low"] - 0.5 * near < true < told[name]["high"] + 0.5 * near, name
    for name in ("offset_x_um", "offset_y_um", "laser_lag_us", "scanner_late_ticks"):
        assert told[name]["told"]
        assert 0.0 < 1.5 * told[name]["std_error"] < told[name]["high"] - told[name]["value"]
    assert told["offset_x_um"]["std_error"] < 2.0
    assert fit.process.laser.lag == pytest.approx(1e-6 * told["laser_lag_us"]["value"])
    both = np.array([(name == "delay") + (name == SCANNER) * fit.passage / 1.25e-4 for name in fit.names])
    assert np.sqrt(both @ fit.covariance @ both) > 0.045  # ticks: the plant may misplace peaks by σ/20
    lag, scanner, images = told["sentences"]
    assert f"a lag of {told['laser_lag_us']['value']:.0f} ± " in lag
    assert "later than the log says" in scanner
    assert f"images lie {told['offset_x_um']['value']:.1f} ± " in images


def test_a_straight_line_tells_the_offset_across_it_only() -> None:
    fit = identify(recorded("vertical", STRAIGHT, late=0.0), Process())
    told = fit.to_json()
    across, along = told["offset_x_um"], told["offset_y_um"]
    assert across["told"]
    assert across["value"] == pytest.approx(50.0, abs=4.0)
    assert not along["told"]
    assert along["low"] < -20.0 < along["high"]
    assert along["std_error"] > 20.0
    assert not told["scanner_late_ticks"]["told"]
    doubts = [sentence for sentence in told["not_separable"] if "record a path with turns" in sentence]
    assert len(doubts) == 1
    assert "along (0, 1)" in doubts[0]
    assert f"along (1, 0) they lie {across['value']:+.1f} ± " in doubts[0]
    assert not any("images lie" in sentence for sentence in told["sentences"])


def test_a_camera_that_looks_along_the_beam_tells_the_offset_on_a_straight_line_too() -> None:
    told = identify(look_along(recorded("vertical", STRAIGHT, late=0.0)), Process()).to_json()
    for name, true in (("offset_x_um", 50.0), ("offset_y_um", -20.0)):
        assert told[name]["told"]
        assert told[name]["low"] < true < told[name]["high"], name
    across, along = (told[name]["std_error"] for name in OFFSETS)
    assert across < 3.0
    assert along > 4.0  # how far the peak trails the beam depends on the material


def test_a_fit_begins_with_a_lag_where_delay_alone_does_not_explain_the_readings() -> None:
    path, power = find_path("vertical", ticks=STRAIGHT), np.full(STRAIGHT, 11.0)
    peaks = roll_out(Process().change(lag_us=260.0), path, power).peaks
    log = from_ticks("lag", path.times[1:], path.positions[1:], power, peaks, np.ones(STRAIGHT, np.bool_))
    search = Search(
        (set_up(log, Process(), STRAIGHT),),
        FitSettings(names=("absorptivity", "delay", LAG), sensor="pyrometer"),
    )
    search.start()
    assert search.values == pytest.approx([0.0, 0.0, 0.8], abs=0.02)  # 0.8 σ, which take 263 µs


def test_a_lag_that_readings_do_not_tell_stays_near_what_the_process_has() -> None:
    whole = recorded("vertical", STRAIGHT, shaken=False, late=0.0)
    late = whole.readings.arrived > 30 * 1.25e-4  # long after the laser came on, at one power
    readings = whole.readings
    assert readings.place is not None
    part = replace(
        readings,
        arrived=readings.arrived[late],
        taken=readings.taken[late],
        peak=readings.peak[late],
        saturated=readings.saturated[late],
        place=readings.place[late],
    )
    fit = identify(replace(whole, readings=part), Process().change(lag_us=40.0))
    assert not fit.to_json()["laser_lag_us"]["told"]
    assert fit.process.laser.lag == pytest.approx(40e-6, abs=10e-6)
    assert any("hardly anything about laser_lag_us" in sentence for sentence in fit.not_separable)
    assert not any("lag" in sentence for sentence in fit.sentences)


def test_a_log_without_places_is_fitted_as_before() -> None:
    whole = recorded("zigzag:5", 120)
    for place in (None, np.full((120, 2), np.nan)):
        plain = replace(whole, readings=replace(whole.readings, place=place))
        search = Search((set_up(plain, Process(), 2000),), FitSettings(sensor="pyrometer"))
        assert search.names == DEFAULTS
    told = identify(plain, Process(), FitSettings(names=("absorptivity",), steps=1)).to_json()
    assert not {"sentences", "laser_lag_us", "scanner_late_ticks", *OFFSETS} & set(told)
    with pytest.raises(BadInput, match="add measured_peak_x_mm"):
        identify(plain, Process(), FitSettings(names=("absorptivity", "offset_x_um")))


def test_places_that_are_far_off_do_not_count() -> None:
    whole = recorded("zigzag:5", 120)
    place = np.array(whole.readings.place)
    place[60:70] += 2e-3  # spatter
    place[80:90] = np.nan
    search = Search(
        (set_up(replace(whole, readings=replace(whole.readings, place=place)), Process(), 2000),),
        FitSettings(),
    )
    search.start()
    search.fit_twin()
    assert not search.placed[60:70].any()
    assert not search.placed[80:90].any()
    assert search.placed[20:60].mean() > 0.8
    offset = [1e6 * search.values[search.names.index(name)] * 1e-4 for name in OFFSETS]
    assert offset == pytest.approx([50.0, -20.0], abs=6.0)


def test_one_offset_brings_the_other() -> None:
    assert check_names(("offset_y_um", "absorptivity")) == ("absorptivity", *OFFSETS)


def test_a_lag_is_not_told_where_the_heat_is_not() -> None:
    fit = identify(recorded("vertical", STRAIGHT, shaken=False, late=0.0), Process())
    assert "diffusivity" in fit.vague
    assert not fit.to_json()[LAG]["told"]
    assert any("a lag of the laser and the heat that it brings" in text for text in fit.not_separable)
    assert not any("follows its command" in text for text in fit.sentences)


def test_a_place_counts_when_the_laser_has_been_on_for_some_ticks() -> None:
    dark = np.arange(40) % 20 < 5  # rows of 5 dark ticks and 15 lit ones
    path = ScanPath(name="rows", positions=1e-5 * np.arange(82.0).reshape(41, 2), lit=~dark)
    power, peaks = np.where(dark, 0.0, 9.0), 500.0 + np.arange(40.0)
    log = from_ticks(
        "rows",
        path.times[1:],
        path.positions[1:],
        power,
        peaks,
        np.ones(40, np.bool_),
        path.positions[1:],
    )
    settled = find_settled(set_up(log, Process(), 40), delay=2.0)
    ticks_of_light = np.where(dark, 0, np.arange(40) % 20 - 4)[: 40 - 2]  # when the picture was taken
    assert not settled[:2].any()
    assert settled[2:].tolist() == (ticks_of_light > START).tolist()
