"""How a reproduction shrinks with workers: the quick one with one and with two, and an estimate beyond.

    python benchmarks/scaling.py --out DIR              # twenty minutes on two idle cores
    python benchmarks/scaling.py --out DIR --full DIR   # and the estimate for a full one, from its trainings

Runs `laserloop reproduce --quick` with two workers and with one, in turn, because a machine has faster and slower
minutes; of each stage the shortest time counts. A run that is there is not repeated. Writes
docs/results/scaling.{md,json}.
"""

import argparse
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

from page import format_rows

RESULTS = Path(__file__).parent.parent / "docs" / "results"
ALONE = ("timing", "report")  # stages that keep to one process
CREWS = (1, 2, 4, 8, 16)
ROUNDS = 2  # of both crews


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--full", type=Path, help="a finished full run")
    options = parser.parse_args()
    runs: dict[int, list[list[dict[str, Any]]]] = {1: [], 2: []}
    for number in range(ROUNDS):
        for workers in (2, 1):
            runs[workers].append(run_quick(options.out / f"workers-{workers}-round-{number}", workers))
    content: dict[str, Any] = {
        "quick": {str(workers): choose(found) for workers, found in runs.items()},
        "runs": {str(workers): [_sum(stages) for stages in found] for workers, found in runs.items()},
    }
    if options.full is not None:
        content["full"] = estimate(options.full)
    (RESULTS / "scaling.json").write_text(json.dumps(content, indent=1) + "\n")
    page = write_page(content)
    (RESULTS / "scaling.md").write_text(page)
    print(page)


def run_quick(out: Path, workers: int) -> list[dict[str, Any]]:
    if not (out / "report" / "index.html").exists():
        command = [sys.executable, "-m", "laserloop", "reproduce", "--quick", "--out", str(out)]
        subprocess.run([*command, "--workers", str(workers)], check=True, stdout=subprocess.DEVNULL)
    return read_stages(out)


def choose(runs: list[list[dict[str, Any]]]) -> list[dict[str, Any]]:
    """Of each stage the shortest run."""
    return [min(same, key=lambda stage: float(stage["seconds"])) for same in zip(*runs, strict=True)]


def _sum(stages: list[dict[str, Any]]) -> float:
    return sum(float(stage["seconds"]) for stage in stages)


def read_stages(out: Path) -> list[dict[str, Any]]:
    stages: list[dict[str, Any]] = json.loads((out / "results" / "clock" / "stages.json").read_text())[
        "stages"
    ]
    return stages


def estimate(full: Path) -> dict[str, Any]:
    """Seconds with more workers: the trainings by their own lengths, other stages by an even share."""
    trainings = json.loads((full / "results" / "clock" / "trainings.json").read_text())
    lengths = sorted((one["seconds"] for one in trainings.values()), reverse=True)
    stages = {stage["name"]: stage for stage in read_stages(full)}
    rows = {}
    for workers in CREWS:
        shared = sum(
            2.0 * stage["seconds"] / min(workers, stage["tasks"])
            for name, stage in stages.items()
            if name not in (*ALONE, "trainings")
        )
        alone = sum(stages[name]["seconds"] for name in ALONE if name in stages)
        rows[str(workers)] = {"trainings": pack(lengths, workers), "others": shared + alone}
    return {"longest_training_s": lengths[0], "trainings_s": sum(lengths), "workers": rows}


def pack(lengths: list[float], workers: int) -> float:
    """When the last worker is done, each taking the longest training that is left."""
    busy = [0.0] * workers
    for length in lengths:
        busy[busy.index(min(busy))] += length
    return max(busy)


def write_page(content: dict[str, Any]) -> str:
    one, two = content["quick"]["1"], content["quick"]["2"]
    rows = [
        (a["title"], str(a["tasks"]), f"{a['seconds']:.0f}", f"{b['seconds']:.0f}", _ratio(a, b))
        for a, b in zip(one, two, strict=True)
    ]
    whole = [_sum(stages) for stages in (one, two)]
    spread = {
        workers: " and ".join(f"{seconds:.0f}" for seconds in found)
        for workers, found in content["runs"].items()
    }
    rows.append(("**together**", "", f"{whole[0]:.0f}", f"{whole[1]:.0f}", f"{whole[0] / whole[1]:.2f}"))
    lines = [
        "# How a reproduction shrinks with workers",
        "",
        "Made by `python benchmarks/scaling.py`. `laserloop reproduce --quick` with one worker and with two, in turn, on",
        "a machine of two cores; of each stage the shortest time. Timing and report keep to one process on purpose.",
        f"The whole took {spread['1']} s with one worker, {spread['2']} s with two: the machine was not equally fast.",
        "",
        format_rows(("stage", "tasks", "1 worker, s", "2 workers, s", "ratio"), rows),
    ]
    if "full" in content:
        lines += _write_estimate(content["full"])
    return "\n".join(lines)


def _ratio(a: dict[str, Any], b: dict[str, Any]) -> str:
    return f"{a['seconds'] / b['seconds']:.2f}" if a["name"] not in ALONE else "–"


def _write_estimate(full: dict[str, Any]) -> list[str]:
    rows = [
        (
            workers,
            f"{row['trainings'] / 60:.0f}",
            f"{row['others'] / 60:.0f}",
            f"{(row['trainings'] + row['others']) / 60:.0f}",
        )
        for workers, row in full["workers"].items()
    ]
    return [
        "## The full size: an estimate, not a measurement",
        "",
        format_rows(("workers", "trainings, min", "all else, min", "together, min"), rows),
        "Trainings are packed by the seconds that each took; the other stages are shared out evenly, from what they",
        "took with two workers. The longest training is one chain of epochs on one core and takes",
        f"{full['longest_training_s'] / 60:.0f} min: no number of workers makes the whole shorter than that. Workers on",
        "cores that share a memory bus gain less than these figures say; not measured here.",
        "",
    ]


if __name__ == "__main__":
    main()
