"""Parts: several files, each on a plate of its own, planned side by side by the processes of a cluster.

A part travels with the content of its file, so that a worker needs nothing of this machine's disks.
"""

from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from typing import Any

from laserloop.bad_input import BadInput
from laserloop.cluster import check_workers, open_cluster, share_out
from laserloop.planning.job import Job
from laserloop.planning.refine import Checking, plan_refined


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """A file to be planned."""

    path: str  # as people call it
    job: Job
    checking: Checking = field(default_factory=Checking)


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedPart:
    """What came of a part: a file and its account, or a sentence why there is none."""

    path: str
    content: bytes = b""
    record: dict[str, Any] | None = None
    problem: str = ""


def plan_parts(
    parts: Sequence[Part], *, workers: int | None = None, scheduler: str | None = None
) -> Iterator[PlannedPart]:
    """Plan parts that do not heat each other, as they get done; one that cannot be planned stops no other."""
    count = min(check_workers(workers, scheduler), len(parts))
    if scheduler is None and count == 1:
        yield from map(plan_part, parts)
        return
    lost = {part.path for part in parts}
    with ExitStack() as stack:
        client = stack.enter_context(open_cluster(count, scheduler))
        for done in share_out(client, plan_part, [(part,) for part in parts]):
            lost.discard(done.path)
            yield done
    for path in sorted(lost):
        yield PlannedPart(path=path, problem=f"{path}: its worker died again and again; plan it alone.")


def plan_part(part: Part) -> PlannedPart:
    """Plan one part, and simulate it if that is wanted; runs on a worker."""
    try:
        planned = plan_refined(part.job, part.checking)
        content, record = planned.write(), planned.tell()
    except BadInput as problem:
        return PlannedPart(path=part.path, problem=str(problem))
    return PlannedPart(path=part.path, content=content, record=record | {"path": part.path})
