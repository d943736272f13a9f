"""Parts: several files, each on a plate of its own, planned side by side by the processes of a cluster.

A part travels with the content of its file, so that a worker needs nothing of this machine's disks.
"""

from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from laserloop.bad_input import BadInput
from laserloop.cluster import check_workers, open_cluster, share_out
from laserloop.plan.job import Job
from laserloop.plan.refine import plan_refined
from laserloop.plan.verify import verify


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """A file to be planned."""

    path: str  # as people call it
    job: Job
    content: bytes  # of the job's file
    verified: bool = False  # whether it is to be simulated


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
    name = Path(part.job.file.name).name
    with TemporaryDirectory() as folder:
        file, written = Path(folder) / name, Path(folder) / "planned" / name
        try:
            file.write_bytes(part.content)
            job = replace(part.job, file=replace(part.job.file, name=str(file)))
            planned = plan_refined(job)
            content, record = planned.write(), planned.tell()
            if part.verified:
                written.parent.mkdir()
                written.write_bytes(content)
                verify(planned.job.again(str(written)), record)
        except BadInput as problem:
            return PlannedPart(path=part.path, problem=_rename(str(problem), (written, file), part.path))
        notes = [_rename(note, (written, file), part.path) for note in record["notes"]]
    return PlannedPart(path=part.path, content=content, record=record | {"path": part.path, "notes": notes})


def _rename(sentence: str, files: tuple[Path, ...], path: str) -> str:
    """A sentence with the name that people use."""
    for file in files:
        sentence = sentence.replace(str(file), path)
    return sentence
