"""Kill a reproduction at random moments, resume it, and compare it with an unbroken one, byte by byte.

    python benchmarks/kill_reproduce.py --out DIR              # a quarter of an hour on two cores
    python benchmarks/kill_reproduce.py --out DIR --whole DIR  # with an unbroken quick run that is there

Runs `laserloop reproduce --quick` once as it is and once with SIGKILL at random moments. Everything under
results/ and report/ is compared but what a clock wrote. Writes docs/results/kills.{md,json}.
"""

import argparse
import json
import random
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from page import format_rows

RESULTS = Path(__file__).parent.parent / "docs" / "results"
CLOCKED = ("results/clock/", "report/timing.md", "report/stages.md", "report/README.md", "report/index.html")
LATEST = 0.75  # of an unbroken run: a machine has faster minutes, and what is over cannot be killed
CLOCKED_FIGURES = ("ladder", "decisions")  # how long answers took


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--whole", type=Path, help="a finished quick run")
    parser.add_argument("--kills", type=int, default=3)
    parser.add_argument("--seed", type=int, default=None, help="of the moments; by default another each time")
    options = parser.parse_args()
    whole, broken = options.whole or options.out / "whole", options.out / "broken"
    if options.whole is None:
        begin(whole).wait()
    length = sum(read_stages(whole).values())
    rng = random.Random(options.seed)
    moments = sorted(rng.uniform(5.0, LATEST * length) for _ in range(options.kills))
    kills = [kill_at(broken, moment) for moment in moments]
    end = begin(broken).wait()
    same, different = compare(whole, broken)
    content: dict[str, Any] = {
        "seconds_unbroken": length,
        "kills": kills,
        "exit_code": end,
        "identical": same,
        "different": different,
    }
    (RESULTS / "kills.json").write_text(json.dumps(content, indent=1) + "\n")
    page = write_page(content)
    (RESULTS / "kills.md").write_text(page)
    print(page)
    sys.exit(bool(different) or end != 0)


def begin(out: Path) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-m", "laserloop", "reproduce", "--quick", "--out", str(out)]
    return subprocess.Popen(command, stdout=subprocess.DEVNULL)


def kill_at(out: Path, moment: float) -> dict[str, Any]:
    """Begin, and kill when the stages have taken `moment` seconds over all sessions, or it is over."""
    process = begin(out)
    while process.poll() is None and sum(read_stages(out).values()) < moment:
        time.sleep(0.1)
    over = process.poll() is not None
    process.send_signal(signal.SIGKILL)
    process.wait()
    stages = list(read_stages(out))
    return {"moment_s": moment, "stage": "over" if over else stages[-1] if stages else "start"}


def read_stages(out: Path) -> dict[str, float]:
    """Seconds that each stage has taken so far, in their order of beginning."""
    try:
        kept = json.loads((out / "results" / "clock" / "stages.json").read_text())
    except (OSError, ValueError):
        return {}
    return {stage["name"]: stage["seconds"] for stage in kept.get("stages", [])}


def compare(whole: Path, broken: Path) -> tuple[list[str], list[str]]:
    """Files that are the same in both, and those that are not or are in one only; clocked ones left out."""
    names = {
        str(file.relative_to(root))
        for root in (whole, broken)
        for folder in ("results", "report")
        for file in (root / folder).rglob("*")
        if file.is_file()
    }
    names = {n for n in names if not n.startswith(CLOCKED) and Path(n).stem not in CLOCKED_FIGURES}
    same: list[str] = []
    different: list[str] = []
    for name in sorted(names):
        both = [(root / name).read_bytes() if (root / name).exists() else None for root in (whole, broken)]
        (same if both[0] == both[1] else different).append(name)
    return same, different


def write_page(content: dict[str, Any]) -> str:
    kills = [(f"{kill['moment_s']:.0f}", kill["stage"]) for kill in content["kills"]]
    return "\n".join(
        [
            "# Killed and resumed",
            "",
            "Made by `python benchmarks/kill_reproduce.py`: `laserloop reproduce --quick` once as it is "
            f"({content['seconds_unbroken']:.0f} s) and once with SIGKILL at random moments, then resumed.",
            "",
            format_rows(("killed after s", "in stage"), kills),
            f"{len(content['identical'])} files of results/ and report/ are the same byte by byte, "
            f"{len(content['different'])} differ{': ' * bool(content['different'])}"
            f"{', '.join(content['different'])}. Left out: what a clock wrote "
            "(results/clock, timing.md, stages.md, the index and the page that include them).",
            "",
        ]
    )


if __name__ == "__main__":
    main()
