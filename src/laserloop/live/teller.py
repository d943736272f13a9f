"""The teller: turns the ticks of a run into messages, forty a second, each with a thermal image."""

from collections.abc import Callable
from dataclasses import dataclass, field
from time import monotonic
from typing import Any

import numpy as np
from numpy.typing import NDArray

from laserloop.control.controller import Action, Status
from laserloop.live.message import Arrays, pack
from laserloop.loop.run import Steering, Tick, read_prediction
from laserloop.loop.scenario import Prepared
from laserloop.plant.sampling import lattice, smooth
from laserloop.predict.twin import Starts

COLUMNS = (
    *("t_k", "predicted_k", "margin_above_k", "margin_below_k", "power_w", "tick_ms"),
    *("window_low_k", "window_high_k", "status", "measured_k", "absorbed", "below"),
)
STATUSES = tuple(Status)
PERIOD = 1.0 / 40.0  # s, between two messages as they are planned; each waits for a tick to end
SIZE = 97  # pixels along a side of the thermal image
REACH = 16.0  # beam widths σ along a side
HEADROOM = 0.25  # of the rise to the window's top, up to which the image tells temperatures apart

Send = Callable[[bytes], object]


@dataclass(slots=True, eq=False)
class Teller:
    """Collects ticks and sends them when it is time."""

    send: Send
    ready: Prepared
    steering: Steering
    subgrid: bool  # does this plant's T_max lie between the nodes?
    rows: list[tuple[float, ...]] = field(default_factory=list)
    _first: int = 0  # of the rows that are not sent yet
    _last: tuple[int, Tick] | None = None
    _due: float = 0.0  # s of the clock, when the next message is planned
    _peak: float = 0.0  # K, the highest yet
    _starts: Starts | None = None  # which ticks count below the window; on the paper's plant settled ones

    def begin(self) -> None:
        """What a page needs before the first tick."""
        path, process = self.ready.path, self.ready.case.process
        ambient, top = process.ambient, process.window[1]
        if self.ready.case.plant != "paper":
            self._starts = Starts(process, path)
        self._peak = top + HEADROOM * (top - ambient)
        words: dict[str, Any] = {
            "kind": "began",
            "path": path.name,
            "ticks": len(path),
            "tick_s": path.tick,
            "plant": self.ready.case.plant,
            "process": process.to_json(),
            "window_k": list(process.window),
            "power_w": list(process.laser.power),
            "ambient_k": ambient,
            "sigma_mm": 1e3 * process.beam.sigma,
            "columns": list(COLUMNS),
            "statuses": [str(status) for status in STATUSES],
            "notes": list(self.ready.notes),
        }
        arrays: Arrays = {
            "x_mm": (1e3 * path.positions[1:, 0]).astype(np.float32),
            "y_mm": (1e3 * path.positions[1:, 1]).astype(np.float32),
            "lit": path.lit.astype(np.uint8),
            "above": (path.counted if self._starts is None else path.lit).astype(np.uint8),
        }
        self.send(pack(words, arrays))

    def add(self, k: int, tick: Tick) -> None:
        """One more tick; sent at once, or soon with others."""
        self.rows.append(self._read(k, tick))
        self._last = k, tick
        if monotonic() >= self._due:
            self.flush()

    def flush(self) -> None:
        """Send what was not sent yet."""
        if self._last is None:
            return
        k, tick = self._last
        now, image = monotonic(), self._see(tick, k)
        words = {"kind": "ticks", "first": self._first, "k": k}
        words |= {"low_k": self.ready.case.process.ambient, "high_k": self._peak, "reach": REACH}
        fan = np.ravel(tick.action.predicted).astype(np.float32)
        rows = np.array(self.rows, dtype=np.float32)
        self.send(pack(words, {"rows": rows, "image": image, "fan": fan}))
        self._first += len(self.rows)
        self.rows.clear()
        self._last, self._due = None, max(self._due + PERIOD, now)  # late by a tick: the next one sooner

    def _read(self, k: int, tick: Tick) -> tuple[float, ...]:
        """The row of a tick, in the order of COLUMNS."""
        hottest = tick.surface.peak if self.subgrid else tick.surface.node
        status = tick.action.status if self.ready.path.lit[k] else Status.DARK
        window = tick.action.window or self.steering.window
        return (
            hottest.temperature,
            read_prediction(tick.action),
            *self._read_margins(tick.action),
            tick.power,
            1e3 * tick.wall_s,
            *window,
            float(STATUSES.index(status)),
            tick.seen,
            self.steering.absorbed,
            float(self._counts_below(k, tick.power, window[0])),
        )

    def _counts_below(self, k: int, power: float, floor: float) -> bool:
        """Does a tick count below the window?"""
        path = self.ready.path
        if self._starts is None:
            return bool(path.counted[k])
        return not self._starts.excuses(power, floor) and bool(path.lit[k])

    def _read_margins(self, action: Action) -> tuple[float, float]:
        """Above and below, K, that the plan kept; 0 for who plans nothing."""
        if action.margins is not None:
            return action.margins
        problem = getattr(getattr(self.steering.controller, "inner", None), "problem", None)
        return (0.0, 0.0) if problem is None else (problem.margin_above, problem.margin_below)

    def _see(self, tick: Tick, k: int) -> NDArray[np.uint8]:
        """The surface around the beam, 0 at ambient temperature, 255 at the scale's end; north is up."""
        surface, process = tick.surface, self.ready.case.process
        spacing = REACH * process.beam.sigma / (SIZE - 1)
        places = lattice(self.ready.path.positions[k + 1].copy(), 0.0, SIZE, spacing)
        T = smooth(surface.x, surface.y, surface.temperature, places).reshape(SIZE, SIZE)
        low = process.ambient
        self._peak = max(self._peak, float(T.max()))
        scaled = 255.0 * (T - low) / (self._peak - low)
        image: NDArray[np.uint8] = np.clip(np.rint(scaled), 0.0, 255.0).astype(np.uint8)[::-1]
        return image
