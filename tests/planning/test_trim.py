"""The gain belongs to process and speed: the line that tells it is long enough in beam widths and in time."""

from dataclasses import replace

import numpy as np
import pytest

from laserloop.paths.files import ScanFile
from laserloop.planning.check import check_process
from laserloop.planning.job import Job, plan_job
from laserloop.planning.powers import SPREADS, WIDTHS, calibrate_gain, lay_line
from laserloop.planning.verify import simulate_plan
from laserloop.planning.window import choose_tick, find_longest_tick, fit_tick, judge_tick
from laserloop.predict.twin.twin import read_alpha
from laserloop.process import Process, find_process

HARDENING = Process().change(
    sigma_um=2500, speed_mm_s=20, window_k=(1403, 1443), power_w=(0, 2000), plate_mm=(150, 60, 20)
)
TICKS = (125.0, 500.0, 2e3, 5e3, 20e3)  # µs
LINE = b"x_mm,y_mm\n-15,0\n15,0\n"


def test_the_gain_does_not_depend_on_a_tick_that_is_fine_enough() -> None:
    gains = [calibrate_gain(HARDENING.change(tick_us=tick), 0.02) for tick in TICKS]
    assert np.ptp(gains) * (1423 - 300) < 3.0  # K


@pytest.mark.parametrize("tick", TICKS)
def test_the_line_lasts_for_beam_widths_and_for_the_spread_of_heat_at_a_bounded_cost(tick: float) -> None:
    process = HARDENING.change(tick_us=tick)
    line = lay_line(process, process.speed)
    assert line is not None
    assert 20 <= len(line) <= 240
    alpha = read_alpha(process.material, process.ambient, 1423.0)
    assert len(line) * line.tick * 0.02 > 0.98 * WIDTHS * 2.5e-3
    assert len(line) * line.tick > 0.98 * SPREADS * (2.5e-3) ** 2 / alpha
    assert round(line.tick / process.tick) == pytest.approx(line.tick / process.tick)


def test_the_line_of_a_process_with_a_usual_tick_is_in_its_own_ticks() -> None:
    for name in ("paper", "in625", "ti64"):
        process = find_process(name)
        line = lay_line(process, process.speed)
        assert line is not None
        assert line.tick == process.tick


def test_a_plate_without_room_for_a_line_has_no_gain() -> None:
    small = Process().change(plate_mm=(0.3, 10, 2), tick_us=1000)
    assert lay_line(small, small.speed) is None
    assert calibrate_gain(small, small.speed) == 1.0


def test_the_plant_confirms_what_is_planned_at_a_coarse_and_at_a_fine_tick() -> None:
    for tick in (20e3, 2e3):
        process = HARDENING.change(tick_us=tick)
        planned = simulate_plan(plan_job(Job(file=ScanFile("line.csv", LINE), process=process)))
        (found,), (layer,) = planned.results or (), planned.layers
        late = slice(len(found.temperature) // 2, None)
        assert layer.result.temperature[late] == pytest.approx(1423, abs=1)
        assert found.temperature[late].mean() == pytest.approx(1423, abs=3)


def test_a_tick_that_is_needlessly_fine_is_told_and_another_advised() -> None:
    told = next(found for found in check_process(HARDENING.change(tick_us=125)) if found.about == "beam")
    assert not told.fine
    assert "needlessly fine: 50000 µs do as well in 400 times fewer ticks" in told.text
    coarse = judge_tick(replace(Process(), tick=1e-3))
    assert coarse is not None
    assert "coarse: take at most" in coarse
    assert judge_tick(Process()) is None


@pytest.mark.parametrize("sigma", [20.0, 100.0, 730.0, 2500.0])
@pytest.mark.parametrize("speed", [3.0, 304.0, 2000.0])
def test_a_tick_that_is_chosen_is_round_and_suits(sigma: float, speed: float) -> None:
    process = Process().change(sigma_um=sigma, speed_mm_s=speed)
    tick = choose_tick(process)
    assert 0.3 * find_longest_tick(process, process.speed) < tick < find_longest_tick(process, process.speed)
    assert judge_tick(fit_tick(process)) is None
    assert float(f"{tick:.3g}") == pytest.approx(tick)


def test_a_tick_that_suits_is_kept() -> None:
    assert fit_tick(Process()).tick == Process().tick
