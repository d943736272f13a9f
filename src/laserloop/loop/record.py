"""The record of a closed loop: what is kept of each tick, and the numbers it is judged by.

Scores are taken against the plant's own temperature.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.metadata import version
from typing import Any

import numpy as np
from numpy.typing import NDArray

from laserloop.bad_input import check_kind
from laserloop.control.controller import Status
from laserloop.control.problem import MpcProblem
from laserloop.paths.path import SETTLING_TICKS, mark_settled
from laserloop.predict.twin import Counted, score_starts
from laserloop.process import Process

FloatArray = NDArray[np.float64]

COMPLETED = "path completed"
MARGINS = ("margin_above_k", "margin_below_k")  # of each tick, in a series
WINDOWS = ("window_low_k", "window_high_k")  # likewise


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Entry:
    """What a run keeps of a tick: numbers, neither the surface nor the plan."""

    t_node: float  # K
    t_peak: float  # K
    power: float  # W
    wall_s: float
    seen: float  # K
    seen_at: tuple[float, float]  # m
    predicted: float  # K
    margins: tuple[float, float] | None
    window: tuple[float, float] | None
    status: Status
    iterations: int
    solve_s: float
    clipped: bool
    failure: str


# No slots: arrays are frozen after birth.
@dataclass(frozen=True, kw_only=True, eq=False)
class Run:
    """A closed loop's record; entry k belongs to t = (k+1)Δt and to the power of the tick that ends then."""

    path: str
    controller: str
    plant: str
    process: Process
    subgrid: bool  # is this plant's T_max the peak between the nodes, or the hottest node?
    t: FloatArray  # (n,), s
    positions: FloatArray  # (n, 2), m, of the beam
    lit: NDArray[np.bool_]  # (n,), may the laser be on?
    counted: Counted  # which ticks count above and below the window
    power: FloatArray  # (n,), W
    clipped: int = 0  # lit ticks in which more or less was asked for than the laser can give
    t_node: FloatArray  # (n,), K, of the hottest node
    t_peak: FloatArray  # (n,), K, between the nodes
    measured: FloatArray  # (n,), K, peak of the image that came then, however old; NaN where none did
    measured_at: FloatArray | None = None  # (n, 2), m, where in the image that peak lay
    predicted: FloatArray  # (n,), K, one tick before; NaN where nothing was predicted
    margins: FloatArray | None = None  # (n, 2), K, above and below, where they may change from tick to tick
    windows: FloatArray | None = None  # (n, 2), K, low and high, where they may change likewise
    statuses: tuple[Status, ...]
    iterations: NDArray[np.intp]  # (n,)
    solve_s: FloatArray  # (n,), inside the solver
    wall_s: FloatArray  # (n,), the whole decision
    ending: str = COMPLETED  # why the run ended; a sentence
    notes: tuple[str, ...] = ()  # what a reader should know; sentences without their full stop
    problem: MpcProblem | None = None  # what the controller was asked for, if it plans
    model: str | None = None  # that it planned with, by name

    def __repr__(self) -> str:
        low, high = self.t_max[self.counted.below], self.t_max[self.counted.above]
        known = f"{low.min():.1f}–{high.max():.1f} K" if len(low) and len(high) else "no tick that counts"
        end = "" if self.ending == COMPLETED else f", {self.ending}"
        return f"Run({self.path!r}: {self.controller} on {self.plant}, {len(self)} ticks, {known}{end})"

    def __len__(self) -> int:
        return len(self.t)

    def table(self) -> dict[str, list[Any]]:
        """The run tick by tick, a list for each quantity with its unit in the name; for pandas.DataFrame."""
        return {name: list(values) for name, values in series_of(self).items()}

    def to_json(self) -> dict[str, Any]:
        """Plain numbers: what it was of, its scores, then the series they were taken from."""
        problem = self.problem or MpcProblem(window=self.process.window, power=self.process.laser.power)
        return {
            **score(self, problem.window),
            "model": self.model,
            "delta_k": problem.margin_above,
            "delta_below_k": problem.margin_below,
            "window_k": list(problem.window),
            "process": self.process.to_json(),
            "seed": self.process.camera.seed,
            "version": version("laserloop"),
            "notes": list(self.notes),
            "series": series_of(self),
        }

    @property
    def tick(self) -> float:
        """The control period, s."""
        return self.process.tick

    @property
    def t_max(self) -> FloatArray:
        """What this plant calls T_max: between the nodes, or at the hottest node as in the paper, K."""
        return self.t_peak if self.subgrid else self.t_node

    @property
    def settled(self) -> NDArray[np.bool_]:
        """Lit ticks long after a start: gains are tuned and margins calibrated for these, not scored."""
        return mark_settled(self.lit)


def settled_from(run: Run) -> int:
    """The lit ticks after each dark stretch that count on neither side: some on the paper's plant, else 0."""
    return SETTLING_TICKS if (run.lit & ~run.counted.above).any() else 0


def _score_temperature(run: Run, truth: FloatArray, window: tuple[float, float]) -> dict[str, Any]:
    """Against one reading of the truth: bounds kept or not, and the error of the one-tick prediction, K.

    The residual is prediction minus truth, in the ticks that count above; without predictions its scores are
    None. `t_max_k` is the highest of the ticks that count above, `t_min_k` the lowest of those below.
    """
    above, below = run.counted
    low, high = _list_window(run, window).T
    over, short = (truth - high)[above], (low - truth)[below]
    residual = (run.predicted - truth)[above]
    residual = residual[np.isfinite(residual)]
    n_over = int(np.count_nonzero(over > 0.0))
    return {
        "t_max_k": _number(truth[above].max(initial=-np.inf)),
        "t_min_k": _number(truth[below].min(initial=np.inf)),
        "overshoot_k": _number(over.max(initial=0.0)) if len(over) else None,
        "n_over": n_over,
        "over_ms": n_over * run.tick * 1e3,
        "below_fraction": float(np.mean(short > 0.0)) if len(short) else 0.0,
        "deepest_below_k": _number(short.max(initial=0.0)) if len(short) else None,
        "starts": score_starts(truth, run.lit, below, low, high),
        "residual_rms_k": _number(np.sqrt(np.mean(residual**2))) if len(residual) else None,
        "residual_max_k": _number(np.abs(residual).max()) if len(residual) else None,
        "residual_mean_k": _number(residual.mean()) if len(residual) else None,
    }


def _list_window(run: Run, window: tuple[float, float]) -> FloatArray:
    """(n, 2): low and high, K, as they were in each tick."""
    pairs = np.broadcast_to(window, (len(run), 2))
    return pairs if run.windows is None else np.where(np.isnan(run.windows), pairs, run.windows)


def score(run: Run, window: tuple[float, float] | None = None) -> dict[str, Any]:
    """All scores of a run against a window, that of its process unless given.

    Taken on the plant's own T_max; under `node` and `peak` on the hottest node and between the nodes.
    """
    check_kind(run, Run, "what is scored", "take what close_loop returns")
    window = window or run.process.window
    above = run.counted.above
    power, steps = run.power[above], np.abs(np.diff(run.power))[above[1:]]
    return {
        "path": run.path,
        "controller": run.controller,
        "plant": run.plant,
        "reading": "peak" if run.subgrid else "node",
        "ticks": len(run),
        "settled_from": settled_from(run),
        **_score_temperature(run, run.t_max, window),
        "node": _score_temperature(run, run.t_node, window),
        "peak": _score_temperature(run, run.t_peak, window),
        "power_mean_w": float(power.mean()) if len(power) else None,
        "power_step_mean_w": float(steps.mean()) if len(steps) else 0.0,
        "clipped": run.clipped,
        "solve_ms": spread(1e3 * run.solve_s),
        "tick_ms": spread(1e3 * run.wall_s),
        "iterations": {
            "mean": float(run.iterations.mean()) if len(run) else 0.0,
            "max": int(run.iterations.max(initial=0)),
        },
        "statuses": {str(status): count for status, count in Counter(run.statuses).items()},
        "ending": run.ending,
        "worst_residual": _find_worst(run),
    }


def _find_worst(run: Run) -> dict[str, float] | None:
    """The largest residual, where and when."""
    residual = np.where(run.counted.above, run.predicted - run.t_max, np.nan)
    if not np.isfinite(residual).any():
        return None
    k = int(np.nanargmax(np.abs(residual)))
    x, y = 1e3 * run.positions[k]
    return {
        "residual_k": float(residual[k]),
        "t_ms": float(1e3 * run.t[k]),
        "x_mm": float(x),
        "y_mm": float(y),
    }


def series_of(run: Run) -> dict[str, Sequence[float | None]]:
    """The run tick by tick; what was not predicted is None. t_true_k is the plant's own T_max."""
    predicted = [_number(value) for value in run.predicted]
    margins = {} if run.margins is None else dict(zip(MARGINS, run.margins.T, strict=True))
    if run.windows is not None:
        margins |= dict(zip(WINDOWS, run.windows.T, strict=True))
    return {
        "t_s": run.t.tolist(),
        "x_mm": (1e3 * run.positions[:, 0]).tolist(),
        "y_mm": (1e3 * run.positions[:, 1]).tolist(),
        "lit": run.lit.tolist(),
        "counts_above": run.counted.above.tolist(),
        "counts_below": run.counted.below.tolist(),
        "power_w": run.power.tolist(),
        "t_true_k": run.t_max.tolist(),
        "t_node_k": run.t_node.tolist(),
        "t_peak_k": run.t_peak.tolist(),
        "t_measured_k": [_number(value) for value in run.measured],
        **_list_places(run),
        "t_predicted_k": predicted,
        **{name: [_number(value) for value in values] for name, values in margins.items()},
        "solve_ms": (1e3 * run.solve_s).tolist(),
        "tick_ms": (1e3 * run.wall_s).tolist(),
        "iterations": run.iterations.tolist(),
    }


def _list_places(run: Run) -> dict[str, list[float | None]]:
    """Where the peaks of the images lay, mm, if the run knows."""
    if run.measured_at is None:
        return {}
    axes = zip(("x_measured_mm", "y_measured_mm"), 1e3 * run.measured_at.T, strict=True)
    return {name: [_number(value) for value in values] for name, values in axes}


def spread(values: FloatArray) -> dict[str, float]:
    """Median, mean and tail of some times."""
    if not len(values):
        return dict.fromkeys(("median", "mean", "p95", "p99", "max"), 0.0)
    median, p95, p99 = np.percentile(values, (50, 95, 99))
    return {
        "median": float(median),
        "mean": float(values.mean()),
        "p95": float(p95),
        "p99": float(p99),
        "max": float(values.max()),
    }


def _number(value: float | np.floating[Any]) -> float | None:
    return float(value) if np.isfinite(value) else None
