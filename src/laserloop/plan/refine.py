"""Refinement: simulate a plan, learn where the twin is wrong along this very path, plan again.

Iterative learning with the plant `graded` as the machine. Offline there is time for it, and a plan that was
simulated knows what no gain of a straight line can tell: turns, starts, and alloys whose diffusivity varies.
"""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from laserloop.plan.job import FilePlan, Job, Learned, plan_job
from laserloop.plan.plan import LayerPlan, Progress
from laserloop.plan.plates import Simulated
from laserloop.plan.verify import simulate_job


def plan_refined(job: Job, *, progress: Progress | None = None) -> FilePlan:
    """Plan all layers of a file, then simulate what would be written and plan again, as often as it says."""
    planned = plan_job(job, progress=progress)
    for _ in range(job.refine):
        planned = plan_again(planned, simulate_plan(planned, progress=progress), progress=progress)
    return planned


def plan_again(
    planned: FilePlan, found: Sequence[Simulated], *, progress: Progress | None = None
) -> FilePlan:
    """The plan of the same file by a twin that knows what the plant did with the last one."""
    learned = tuple(learn(*pair) for pair in zip(planned.layers, found, strict=True))
    return plan_job(replace(planned.job, learned=learned), progress=progress)


def simulate_plan(planned: FilePlan, *, progress: Progress | None = None) -> list[Simulated]:
    """Drive the plant with a plan as it would be written."""
    with TemporaryDirectory() as folder:
        file = Path(folder) / Path(planned.job.file.name).name
        file.write_bytes(planned.write())
        return simulate_job(planned.job.again(str(file)), progress=progress)


def learn(planned: LayerPlan, found: Simulated) -> Learned:
    """What one layer teaches; the written file may be a tick longer or shorter than the plan."""
    path, expected = planned.route.path, planned.course.temperature
    n = min(len(path), len(found.temperature))
    seen = np.concatenate((found.temperature[:n], expected[n:]))
    return Learned(planned.correction.improve(expected, seen, path.lit), planned.kept.speeds)
