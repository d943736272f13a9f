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

from laserloop.versions import find_versions

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
    (RESULTS / "scaling.json").write_text(
        json.dumps(content | {"versions": find_versions()}, indent=1) + "\n"
    )
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
    whole = [_sum(stages) for stages in (one, two)]
    lines = [
        "# How a reproduction shrinks with workers",
        "",
        "Made by `python benchmarks/scaling.py` (measured with version 0.1.0 on two cores); each stage's times are in `docs/results/scaling.json`.",
        f"`laserloop reproduce --quick` took {whole[0]:.0f} s with one worker and {whole[1]:.0f} s with two (shortest time of each stage).",
        "",
    ]
    if "full" in content:
        lines += _write_estimate(content["full"])
    return "\n".join(lines)


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
        "The full size, estimated from its stages' times with two workers:",
        "",
        format_rows(("workers", "trainings, min", "all else, min", "together, min"), rows),
        f"The longest training is one chain of epochs on one core and takes {full['longest_training_s'] / 60:.0f} min, so no number of workers makes",
        "the whole shorter than that.",
        "",
    ]


if __name__ == "__main__":
    main()
