"""A written file on the plant: what was planned against what happens."""

from dataclasses import replace
from typing import Any

import numpy as np

from laserloop.bad_input import BadInput
from laserloop.data.episode import Episode, simulate
from laserloop.plan.job import Job
from laserloop.plan.plan import Progress
from laserloop.plan.route import Route
from laserloop.plant import make_plant
from laserloop.process import Process


def simulate_job(job: Job, *, progress: Progress | None = None) -> list[Episode]:
    """Drive the graded plant with the powers of a job's own file; every layer begins with a plate at rest."""
    return [simulate_route(job.lay(track), job.process, progress=progress) for track in job.read()]


def simulate_route(route: Route, process: Process, *, progress: Progress | None = None) -> Episode:
    """Drive the graded plant, from rest, with the powers that a route's own file commands."""
    path = route.path
    if path.power is None:
        raise BadInput(f"{path.name} must command powers to be simulated, but does not; plan it first.")
    say = None if progress is None else lambda done, total: progress("simulating", done, total)
    episode = simulate(make_plant("graded", path, process), path, path.power, progress=say)
    return replace(episode, settled=route.counted)


def score_episodes(episodes: list[Episode], window: tuple[float, float]) -> dict[str, Any]:
    """T_max against a window over all ticks that count."""
    T = np.concatenate([episode.temperature[episode.settled] for episode in episodes])
    return {
        "plant": "graded",
        "ticks": sum(len(episode) for episode in episodes),
        "t_max_k": float(T.max()),
        "t_min_k": float(T.min()),
        "below_fraction": float(np.mean(window[0] > T)),
        "n_over": int(np.count_nonzero(window[1] < T)),
        "rms_k": float(np.sqrt(np.mean((T - 0.5 * sum(window)) ** 2))),
    }
