"""Replay: a controller is shown a recording, tick by tick, and what it would have commanded is written down.

Its answers are never acted upon: in every tick the powers of the past are those of the recording, which
heated the plate that was measured.
"""

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from laserloop.bad_input import BadInput
from laserloop.control.controller import Guarded, Status, read_prediction
from laserloop.logs.recording import CREDIBLE, FaultCounts, Recording, count_faults, fit_camera
from laserloop.loop.controllers import needs
from laserloop.loop.record import spread
from laserloop.loop.run import Progress, bound, look_ahead
from laserloop.loop.scenario import Scenario, prepare
from laserloop.paths import ScanPath
from laserloop.paths.path import check_on_plate
from laserloop.plant import Hottest, Image, Surface
from laserloop.plant.camera import develop
from laserloop.predict.twin.rollout import roll_out
from laserloop.process import Process
from laserloop.process.heat_table import tabulate

FloatArray = NDArray[np.float64]
Show = Callable[[int], Image]  # the picture of a reading

CENTRE = ", or give --centre"
SIDE = 7  # pixels of a picture that is painted around a peak
SPACING = 0.25  # σ between them


@dataclass(frozen=True, slots=True, eq=False)
class Answer:
    """One tick: what came, and what would have been commanded."""

    power: float  # W, within the laser's limits
    outside: bool  # was something outside of them asked for?
    reading: float  # K; NaN if none came
    predicted: float  # K
    status: Status
    wall_s: float
    failure: str


def replay(scenario: Scenario, recording: Recording, progress: Progress | None = None) -> dict[str, Any]:
    """The record of a replay: faults of the recording, commands, and how each was reached."""
    path = recording.path(scenario.process.tick)
    check_on_plate(
        path.name, path.positions, path.lit, scenario.process.plate[:2], cure=CENTRE, units=("µm", "mm")
    )
    setup = prepare(replace(scenario, path=path, ticks=len(path)))
    if needs(setup.scenario.controller, "network") and recording.readings.frame is None:
        raise BadInput(
            f"the controller {setup.scenario.controller} reads whole pictures, but {recording.name} has "
            "peaks only; choose twin or pi, or give frames"
        )
    process = fit_camera(setup.scenario.process, recording.readings)
    if recording.readings.frame is None:  # pictures that are painted have points, not pixels
        process = replace(process, camera=replace(process.camera, pixel=None, exposure=1))
    setup = replace(setup, scenario=replace(setup.scenario, process=process))
    controller = Guarded(setup.make_controller(None, progress))
    tally = count_faults(recording.readings)
    shown = _show_readings(recording, tally, path, process)
    answers = list(_ask(controller, path, shown, process.laser.power, progress))
    notes = (*recording.notes, *setup.notes, *getattr(controller.inner, "notes", ()))
    name = scenario.choose().controller or ""
    return _describe(recording, tally, path, process, name, answers, notes)


def _ask(
    controller: Guarded,
    path: ScanPath,
    shown: "Iterator[tuple[Image | None, float]]",
    bounds: tuple[float, float],
    progress: Progress | None,
) -> Iterator[Answer]:
    """What a controller answers in each tick."""
    if failure := controller.reset():
        raise BadInput(f"the controller's reset raised {failure}; correct it")
    assert path.power is not None
    powers = path.power.tolist()
    for k, (image, reading) in enumerate(shown):
        preview = look_ahead(path, k, powers, controller.horizon, controller.memory)
        action, failure, wall = controller.decide(image, preview)
        lit = bool(path.lit[k])
        yield Answer(
            power=bound(action.power, bounds) if lit else 0.0,
            outside=lit and not bounds[0] - 1e-6 <= action.power <= bounds[1] + 1e-6,
            reading=reading,
            predicted=read_prediction(action),
            status=action.status if lit else Status.DARK,
            wall_s=wall,
            failure=failure,
        )
        if progress is not None:
            progress(k + 1, len(path))


def _show_readings(
    recording: Recording, tally: FaultCounts, path: ScanPath, process: Process
) -> Iterator[tuple[Image | None, float]]:
    """The newest reading that had come before each tick, as a picture; None if there was none since.

    One taken before the last that was shown is not shown. A peak that is frozen says nothing new; a frozen
    picture is shown, for the controller to find out.
    """
    readings, tick = recording.readings, path.tick
    taken = np.where(
        np.isfinite(readings.taken), readings.taken, readings.arrived - process.camera.delay * tick
    )
    paint = _make_painter(recording, path, process, taken)
    last, due = -np.inf, 0
    for k in range(len(path)):
        first, due = due, int(np.searchsorted(readings.arrived, (k + 0.25) * tick, side="right"))
        new = [
            i
            for i in range(first, due)
            if taken[i] > last and not (readings.frame is None and tally.stale[i])
        ]
        if not new:
            yield None, float("nan")
            continue
        i = new[-1]
        last = float(taken[i])
        yield paint(i, max(round(last / tick), 0)), float(readings.peak[i])


def _make_painter(
    recording: Recording, path: ScanPath, process: Process, taken: FloatArray
) -> Callable[[int, int], Image]:
    """What shows reading i, taken at the end of so many ticks: its frame, or the twin's shape around it.

    A frame that looks along the beam shows the plate where the beam was when it was taken, s, not where it is
    when the frame arrives.
    """
    readings, tick = recording.readings, path.tick
    if readings.frame is not None:
        read = readings.frame
        back = recording.places_at(np.maximum(taken, 0.0)) - recording.places_at(readings.arrived)
        back = np.zeros_like(back) if readings.coaxial is None else np.where(readings.coaxial, back, 0.0)

        def show(i: int, k: int) -> Image:
            frame = read(i)
            x, y = frame.x + back[i, 0], frame.y + back[i, 1]
            return develop(Surface(x, y, frame.temperature, k * tick), sampling="smooth", subgrid=True)

        return show
    line = SPACING * process.beam.sigma * (np.arange(SIDE) - SIDE // 2)
    offsets = np.stack(np.meshgrid(line, line), axis=-1).reshape(-1, 2)
    expected = roll_out(process, path, path.power, offsets) if path.power is not None else None
    table = tabulate(process.material, process.ambient)
    assert expected is not None

    def paint(i: int, k: int) -> Image:
        peak, now = float(readings.peak[i]), max(k - 1, 0)
        x, y = expected.places[now] if k else path.positions[0]
        fine = CREDIBLE[0] <= peak <= CREDIBLE[1]
        top = peak if fine else float(expected.peaks[now])
        u = float(table.theta_of(np.array([max(top, process.ambient)]))[0])
        picture = table.temperature_of(u * expected.shapes[now].astype(np.float64)).reshape(SIDE, SIDE)
        if not fine:
            picture[...] = peak if np.isnan(peak) else picture
            picture[SIDE // 2, SIDE // 2] = peak
        hottest = Hottest(peak, float(x), float(y))
        return Image(
            time=k * tick,
            x=x + line,
            y=y + line,
            temperature=picture,
            peak=hottest,
            sampling="smooth",
            subgrid=True,
        )

    return paint


def _describe(
    recording: Recording,
    tally: FaultCounts,
    path: ScanPath,
    process: Process,
    controller: str,
    answers: list[Answer],
    notes: tuple[str, ...],
) -> dict[str, Any]:
    """A replay as plain numbers."""
    commanded = np.array([answer.power for answer in answers])
    failures = [answer.failure for answer in answers if answer.failure]
    raised = [f"the controller raised {len(failures)} times, first {failures[0]}"] if failures else []
    assert path.power is not None
    return {
        "log": recording.name,
        "controller": controller,
        "ticks": len(path),
        "frames": tally.to_json(),
        "power_limits_w": list(process.laser.power),
        "commanded_min_w": float(commanded[path.lit].min()) if path.lit.any() else 0.0,
        "commanded_max_w": float(commanded[path.lit].max()) if path.lit.any() else 0.0,
        "asked_outside_limits": sum(answer.outside for answer in answers),
        "statuses": {str(name): n for name, n in Counter(answer.status for answer in answers).items()},
        "tick_ms": spread(1e3 * np.array([answer.wall_s for answer in answers])),
        "process": process.to_json(),
        "notes": list(dict.fromkeys([*notes, *raised])),
        "series": {
            "t_s": path.times[1:].tolist(),
            "x_mm": (1e3 * path.positions[1:, 0]).tolist(),
            "y_mm": (1e3 * path.positions[1:, 1]).tolist(),
            "lit": path.lit.tolist(),
            "power_w": path.power.tolist(),
            "commanded_w": commanded.tolist(),
            "t_shown_k": [_number(answer.reading) for answer in answers],
            "t_predicted_k": [_number(answer.predicted) for answer in answers],
            "status": [str(answer.status) for answer in answers],
        },
    }


def _number(value: float) -> float | None:
    return value if np.isfinite(value) else None
