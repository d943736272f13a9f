"""A process is found again in readings of a plant that nobody was told of."""

from dataclasses import replace
from functools import cache

import numpy as np
import pytest

from laserloop.bad_input import BadInput
from laserloop.identification import Fit, FitSettings, identify
from laserloop.identification.experiment import set_up
from laserloop.identification.fit import Search
from laserloop.identification.parameters import apply, check_names
from laserloop.logs import Recording
from laserloop.logs.csv_log import from_ticks
from laserloop.paths import ScanPath, find_path
from laserloop.plant import Camera, make_plant
from laserloop.predict.twin.rollout import roll_out
from laserloop.process import CameraSettings, Process
from laserloop.process.process import mismatch

TICKS = 90
HIDDEN = 0.85  # absorptivity


@cache
def recorded() -> Recording:
    """A shaken run on a plant that absorbs less and conducts faster, seen late and with noise."""
    path = find_path("polyline:2", ticks=TICKS)
    power = 12.0 + 3.0 * np.repeat(np.random.default_rng(1).uniform(-1, 1, TICKS // 9), 9)
    plant = make_plant("graded", mismatch(Process(), {"heat-capacity": 1 / 1.08}), absorbed=HIDDEN)
    camera = Camera(CameraSettings(noise=5.0, delay=2, subgrid=True, sampling="smooth"))
    camera.see(plant.reset())
    seen = [camera.see(plant.step(p, path.spot(k))).peak.temperature for k, p in enumerate(power)]
    peaks = np.array(seen)
    peaks[40] = np.nan
    peaks[50] += 300.0
    return from_ticks("hidden", path.times[1:], path.positions[1:], power, peaks, np.ones(TICKS, np.bool_))


@cache
def found() -> Fit:
    names = ("absorptivity", "diffusivity", "delay")
    return identify(recorded(), Process(), FitSettings(names=names, sensor="camera"))


def test_what_was_hidden_lies_inside_its_interval_and_the_interval_is_narrow() -> None:
    told = found().to_json()
    for name, true, width in (
        ("absorptivity", HIDDEN, 0.03),
        ("diffusivity_factor", 1.08, 0.12),
        ("delay_ticks", 2.0, 0.3),
    ):
        assert told[name]["low"] < true < told[name]["high"], name
        assert told[name]["high"] - told[name]["low"] < width, name
    assert found().converged


def test_noise_is_found_and_outliers_do_not_count() -> None:
    assert found().noise == pytest.approx(5.0, rel=0.3)
    assert found().residual_rms < 6.0
    assert found().tally["nan"] == 1
    assert found().readings.max() < 1200.0


def test_the_process_found_reads_back_and_says_where_it_comes_from() -> None:
    from laserloop.process.process import write_process

    process = found().process
    assert process.camera.delay == 2
    assert process.speed == Process().speed
    assert "fitted to hidden" in process.material.source
    assert "fitted" in write_process(process)
    assert Process.from_json(process.to_json()) == process


def test_a_gain_is_not_told_from_absorptivity() -> None:
    both = identify(recorded(), Process(), FitSettings(names=("absorptivity", "gain", "delay"), steps=2))
    assert any("absorptivity and gain" in sentence for sentence in both.not_separable)
    alone, wide = (fit.half[fit.names.index("absorptivity")] for fit in (found(), both))
    assert wide > 5 * alone


@pytest.mark.parametrize("seed", range(4))
def test_a_long_delay_is_not_believed_where_heat_came_too_early_for_it(seed: int) -> None:
    path = find_path("arc:283760718", ticks=120)
    true, power = apply(Process(), {"absorptivity": 0.83}), np.full(120, 12.0)
    for _ in range(20):  # towards a peak that stays the same, which tells nothing of a delay but its start
        hot = roll_out(true, path, power).peaks
        power = np.clip(power * (480.0 / (hot - 300.0)) ** 0.7, 0.0, 20.0)
    late = np.concatenate(([300.0, 300.0], hot[:-2])) + np.random.default_rng(seed).normal(0.0, 5.0, 120)
    log = from_ticks("arc", path.times[1:], path.positions[1:], power, late, np.ones(120, np.bool_))
    search = Search((set_up(log, Process(), 120),), FitSettings())
    search.start()
    assert search.values[search.names.index("delay")] == 2.0


def test_time_stamps_of_the_log_are_the_delay() -> None:
    plain = recorded()
    stamped = replace(plain, readings=replace(plain.readings, taken=plain.readings.arrived - 2.5e-4))
    fit = identify(stamped, Process(), FitSettings(names=("absorptivity", "delay"), steps=1))
    assert fit.names == ("absorptivity",)
    assert fit.to_json()["delay_ticks"]["value"] == pytest.approx(2.0)


def test_more_than_all_power_is_less_conductivity() -> None:
    path, power = find_path("diagonal", ticks=30), np.full(30, 9.0)
    more = apply(Process(), {"absorptivity": 1.25, "diffusivity": 0.9})
    assert more.beam.absorptivity == 1.0
    told = apply(Process().change(absorptivity=0.5), {"absorptivity": 1.25, "diffusivity": 0.9})
    assert told.beam.absorptivity == pytest.approx(0.625)
    expected = roll_out(told, path, 2.0 * power).peaks
    assert roll_out(more, path, power).peaks == pytest.approx(expected, rel=1e-6)


def test_what_cannot_be_fitted_is_a_sentence() -> None:
    with pytest.raises(BadInput, match="some of absorptivity"):
        check_names(("albedo",))
    with pytest.raises(BadInput, match="at least one"):
        check_names(("delay",))
    short = replace(
        recorded(), readings=replace(recorded().readings, peak=np.full(TICKS, np.nan)), name="broken"
    )
    with pytest.raises(BadInput, match="30 usable readings, but broken has 0"):
        identify(short, Process())


def test_only_the_first_ticks_are_simulated_and_a_note_says_so() -> None:
    fit = identify(recorded(), Process(), FitSettings(names=("absorptivity",), ticks=50, steps=1))
    assert "first 50 of 90" in fit.notes[0]
    assert fit.time.max() <= 50 * 1.25e-4


def test_a_beam_that_was_dark_tells_nothing() -> None:
    dark = ScanPath(name="dark", positions=np.zeros((61, 2)))
    recording = from_ticks(
        "dark", dark.times[1:], 1e-4 * np.arange(120.0).reshape(60, 2), np.zeros(60), 300 + np.arange(60.0),
        np.ones(60, np.bool_),
    )  # fmt: skip
    with pytest.raises(BadInput, match="under the laser"):
        identify(recording, Process())
