"""Laps: how long calls took, and which of them the machine left alone."""

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from time import perf_counter
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]
Answer = TypeVar("Answer")


@dataclass(frozen=True, slots=True, eq=False)
class Laps:
    """Times of one solver, s."""

    seconds: list[float] = field(default_factory=list)
    quiet: list[bool] = field(default_factory=list)  # no context switch during the lap

    def run(self, call: Callable[[], Answer]) -> Answer:
        """Time one call; switches are counted outside the timed span."""
        before = count_switches()
        began = perf_counter()
        answer = call()
        self.seconds.append(perf_counter() - began)
        self.quiet.append(count_switches() == before)
        return answer

    def describe(self) -> dict[str, float]:
        """Percentiles, µs, over all laps and over the quiet ones."""
        seconds = np.array(self.seconds)
        median, p99, p999 = 1e6 * np.percentile(seconds, (50, 99, 99.9))
        return {
            "median_us": float(median),
            "p99_us": float(p99),
            "p999_us": float(p999),
            "p99_quiet_us": float(1e6 * np.percentile(self._pick_quiet(), 99)),
            "worst_us": float(1e6 * seconds.max()),
            "worst_quiet_us": float(1e6 * self._pick_quiet().max()),
            "switched_fraction": float(1.0 - np.mean(self.quiet)),
        }

    def share_over(self, limit: float, *, quiet: bool = False) -> float:
        """Which share of the laps took longer than `limit`, s."""
        return float(np.mean((self._pick_quiet() if quiet else np.array(self.seconds)) > limit))

    def _pick_quiet(self) -> FloatArray:
        """The quiet laps; all of them if none was."""
        seconds, quiet = np.array(self.seconds), np.array(self.quiet)
        return seconds[quiet] if quiet.any() else seconds


def count_switches() -> int:
    """Context switches of this thread so far, wanted and not; 0 where nobody counts them, as on Windows."""
    try:
        import resource
    except ImportError:
        return 0
    usage = resource.getrusage(getattr(resource, "RUSAGE_THREAD", resource.RUSAGE_SELF))
    return usage.ru_nvcsw + usage.ru_nivcsw


@contextmanager
def one_core() -> Iterator[None]:
    """Keep this process on one core, where the system can."""
    if not hasattr(os, "sched_setaffinity"):
        yield
        return
    allowed = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {max(allowed)})
    try:
        yield
    finally:
        os.sched_setaffinity(0, allowed)
