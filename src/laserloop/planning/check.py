"""Is a process plausible, is its window reachable, and what would it take to simulate and plan with it?"""

from dataclasses import dataclass
from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from laserloop.bad_input import plain
from laserloop.data.episode import find_turns
from laserloop.paths import ScanPath, sample_polyline
from laserloop.planning.powers import HORIZON, Course, calibrate_gain, make_player, plan_ticks
from laserloop.planning.scores import count_ticks
from laserloop.planning.window import judge_tick, judge_window, note_leap, show_window
from laserloop.plant import make_plant
from laserloop.plant.nested import CELLS
from laserloop.predict.twin.rollout import find_speed, needed_power
from laserloop.process import Process

STEPS = 4  # of the plant that are timed, after the first
EPISODES, EPISODE_TICKS = 320, 400  # of a training set like the paper's
NEAR = 5  # ticks around a turn
NARROW = 1.5  # widths of a plate over its thickness, from which on the twin knows the heat that fills it
FREEDOM = 10.0  # times slower or faster than the process that a speed is practicable


@dataclass(frozen=True, slots=True)
class Finding:
    """One line for a person."""

    about: str  # a word or two
    text: str
    fine: bool = True


def check_process(process: Process) -> list[Finding]:
    """The window on straight lines, what resolves the beam, and what is implausible."""
    return [_judge_reach(process), _judge_tick(process), *_list_doubts(process)]


def _judge_reach(process: Process) -> Finding:
    window = show_window(process)
    if (judged := judge_window(process)) is not None:
        return Finding("straight lines", judged, False)
    needed, (low, high) = needed_power(process, process.speed), process.laser.power
    slow, fast = process.speed / FREEDOM, process.speed * FREEDOM
    at_slow, at_fast = needed_power(process, slow), needed_power(process, fast)
    text = f"{window} at {_show_speed(process.speed)} takes {plain(needed)} W of {low:g} – {high:g} W"
    if needed > high:
        text += (
            f"; slow down to {_show_speed(find_speed(process, high))} or take a lower window"
            if at_slow <= high
            else f", and still {plain(at_slow)} W at {_show_speed(slow)}: no practicable speed does it; take "
            "a lower window, a narrower beam or a stronger laser"
        )
    elif needed < low:
        text += (
            f"; go at {_show_speed(find_speed(process, low))} or faster, or take a higher window"
            if at_fast >= low
            else f", and only {plain(at_fast)} W at {_show_speed(fast)}: no practicable speed does it; take "
            "a higher window or a wider beam"
        )
    else:
        most = find_speed(process, high) if at_fast > high else fast
        text += f"; the laser could hold it up to {_show_speed(most)}{'' if at_fast > high else ' and more'}"
    return Finding("straight lines", text, low <= needed <= high)


def _show_speed(speed: float) -> str:
    """To three digits, without an exponent."""
    return f"{plain(1e3 * speed)} mm/s"


def _judge_tick(process: Process) -> Finding:
    sigma, tick = process.beam.sigma, process.tick
    hop = process.speed * tick / sigma
    text = f"σ = {1e6 * sigma:g} µm is resolved by cells of {1e6 * sigma / CELLS:g} µm"
    if leap := note_leap(process, process.speed):
        return Finding("beam", f"{text}; {leap[0]}", False)
    text += f"; the beam moves {plain(hop, 2)} σ in a tick of {1e6 * tick:g} µs"
    judged = judge_tick(process)
    return Finding("beam", text if judged is None else f"{text}, {judged}", judged is None)


def _list_doubts(process: Process) -> list[Finding]:
    """What is allowed but hardly meant."""
    sigma, plate, (foot, top) = process.beam.sigma, process.plate, process.window
    high, lag = process.laser.power[1], process.laser.lag
    absorbs_all = process.beam.absorptivity == 1.0 and high > 100.0
    much = high > 10 * needed_power(process, process.speed) > 0
    outside = process.material.outside(process.ambient, top)
    small = "the plate is smaller than 20 σ"
    if NARROW * min(plate[:2]) < plate[2]:
        small += " and narrower than thick: without a camera its own heat soon makes it too hot"
    doubts = (
        (foot <= process.ambient, "the window begins below the plate's own temperature"),
        (outside is not None, outside or ""),
        (top - foot < 10, f"the window is only {top - foot:g} K wide; 20 K and more are kept well"),
        (absorbs_all, f"an absorptivity of 1 with a laser of {high:g} W; bare metal takes 0.3 to 0.6"),
        (much, f"the laser gives {high:g} W, over ten times what is needed: check beam and speed"),
        (
            plate[2] < 5 * sigma,
            f"the plate is only {plain(plate[2] / sigma, 2)} σ thick; 5 σ and more suit the twin",
        ),
        (min(plate[:2]) < 20 * sigma, small),
        (lag > 2 * process.tick, f"the laser's lag of {1e6 * lag:g} µs is longer than two ticks"),
        ((process.camera.pixel or 0.0) > sigma, "a pixel of the camera is wider than the beam's σ"),
    )
    return [Finding("implausible", text, False) for holds, text in doubts if holds]


def check_path(process: Process, path: ScanPath) -> tuple[list[Finding], dict[str, Any]]:
    """What the twin expects along a path: the power it takes, the sharpest turn, and how long things take."""
    if judge_window(process) is not None:  # which is told already
        return [], {"ticks": len(path)}
    usual = path.median_speed or process.speed
    fastest = float(path.lit_speeds.max()) or usual
    began = perf_counter()
    player = make_player(process, horizon=HORIZON, speed=fastest, gain=calibrate_gain(process, usual))
    course = plan_ticks(player, path)
    planning = perf_counter() - began
    above, below = count_ticks(process, path, course.power)
    coldest, hottest = float(course.temperature[below].min()), float(course.temperature[above].max())
    power = course.power[above]
    inside = process.window[0] <= coldest and hottest <= process.window[1]
    text = f"T_max {coldest:.0f} – {hottest:.0f} K with {plain(power.min())} – {plain(power.max())} W"
    findings = [Finding("along the path", text if inside else f"{text}: not all of it in the window", inside)]
    numbers: dict[str, Any] = {
        "ticks": len(path),
        "t_min_k": coldest,
        "t_max_k": hottest,
        "power_min_w": float(power.min()),
        "power_max_w": float(power.max()),
        "planning_s": planning,
    }
    return [*findings, *_judge_turn(process, path, course, below)], numbers


def _judge_turn(
    process: Process, path: ScanPath, course: Course, counted: NDArray[np.bool_]
) -> list[Finding]:
    """The turn at which the beam changes its heading most."""
    lit, T, power = path.lit, course.temperature, course.power
    turns = [k for k in find_turns(path.positions) if counted[k] and lit[k : k + 3].all()]
    if not turns:
        return [Finding("sharpest turn", "there is no sharp turn with the laser on")]
    heading = path.headings

    def angle(k: int) -> float:
        change = heading[min(k + 2, len(heading) - 1)] - heading[max(k - 2, 0)]
        return float(abs((change + np.pi) % (2 * np.pi) - np.pi))

    sharpest = max(turns, key=angle)
    near = slice(max(0, sharpest - NEAR), sharpest + 3 * NEAR)
    x_mm, y_mm = 1e3 * path.positions[sharpest]
    own = counted[near]
    least, coldest, hottest = power[near][own].min(), T[near][own].min(), T[near][own].max()
    fine = bool(process.window[0] <= coldest and hottest <= process.window[1])
    text = (
        f"{np.degrees(angle(sharpest)):.0f}° near ({x_mm:.2f}, {y_mm:.2f}) mm: T_max {coldest:.0f} – "
        f"{hottest:.0f} K, down to {plain(least)} W"
    )
    return [Finding("sharpest turn", text if fine else f"{text}: the window cannot be held there", fine)]


def time_plant(process: Process, path: ScanPath | None) -> tuple[str, float]:
    """How fine the graded plant is, and how long a step takes, s; without a path of a straight line."""
    if path is None:
        most = 0.9 * process.plate[0]
        length = min(max(20 * process.beam.sigma, 8 * process.speed * process.tick), most)
        ends = np.array([[-0.5, 0.0], [0.5, 0.0]]) * length
        speed = min(process.speed, most / (8 * process.tick))  # of a leap over the plate one is told
        path = sample_polyline(ends, name="line", speed=speed, tick=process.tick)
    plant = make_plant("graded", process)
    plant.check_path(path)
    plant.reset()
    usable = judge_window(process) is None
    watts = min(needed_power(process, process.speed), 0.5 * sum(process.laser.power)) if usable else 0.0
    laps = list[float]()
    for k in np.flatnonzero(path.lit)[: STEPS + 1].tolist():  # dark moves may leave the plate
        began = perf_counter()
        plant.step(watts, path.spot(k))
        laps.append(perf_counter() - began)
    return plant.describe(), float(np.median(laps[1:] or laps))


def describe_times(step: float, ticks: int | None, planning: float | None) -> Finding:
    """How long simulating, planning and training would take here."""
    parts = [] if ticks is None else [f"simulating these {ticks} ticks {_show_time(step * ticks)}"]
    parts += [] if planning is None else [f"planning them {_show_time(planning)}"]
    parts.append(f"an ensemble to train on {_show_time(step * EPISODES * EPISODE_TICKS)}")
    return Finding("time, one core", f"{plain(1e3 * step, 2)} ms a step; {', '.join(parts)}")


def _show_time(seconds: float) -> str:
    """About."""
    for unit, size in (("h", 3600.0), ("min", 60.0)):
        if seconds >= 1.5 * size:
            return f"{plain(seconds / size, 2)} {unit}"
    return f"{plain(seconds, 2)} s"
