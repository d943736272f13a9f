"""A new user's first minutes, from a wheel in an empty environment: every command, how long it took, what it said.

    make wheel
    python benchmarks/first_ten_minutes.py out/dist/laserloop-0.2.0-py3-none-any.whl

Takes about ten minutes. Writes docs/results/first_ten_minutes.json and .md.
"""

import argparse
import json
import os
import platform
import shutil
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from time import monotonic, sleep
from typing import Any
from urllib.request import urlopen

ROOT = Path(__file__).parent.parent
RESULTS = ROOT / "docs" / "results"
WORTH = 6  # lines of a command's end that the page shows
PORT = "8471"


@dataclass(frozen=True, slots=True)
class Step:
    """One thing that a newcomer types, and why."""

    why: str
    command: str
    page: str = ""  # where the site tells of it


STEPS = (
    Step("install", "pip install --quiet --quiet {wheel}", "index.md"),
    Step("does it work here?", "laserloop doctor", "index.md"),
    Step("the main job", "laserloop demo", "index.md"),
    Step("look at it in a browser", "laserloop view laserloop-demo --port " + PORT, "how-to/look-at-runs.md"),
    Step(
        "my alloy, beam and window",
        "laserloop init --material in625 --sigma-um 80 --window-k 860,900 --out mine.yaml",
        "tutorial-your-own-part.md",
    ),
    Step("can that work on my file?", "laserloop check mine.yaml part.gcode", "tutorial-your-own-part.md"),
    Step(
        "my file with better powers",
        "laserloop plan part.gcode --process mine.yaml --out planned.gcode",
        "tutorial-your-own-part.md",
    ),
    Step(
        "with a camera that is noisy and late",
        "laserloop control part.gcode --process mine.yaml --noise-k 5 --delay 1 --plot run.png",
        "tutorial.md",
    ),
    Step(
        "for the machine",
        "laserloop export --process mine.yaml --out firmware",
        "how-to/deploy-the-controller.md",
    ),
    Step("the same in Python, from the gallery", "python own_controller.py", "gallery.md"),
    Step("a slip of the hand", "laserloop control part.gcod", ""),
)
WRONG = {STEPS[-1].command}  # must be refused, in one sentence
FILES = {
    "part.gcode": ROOT / "examples" / "hatch.gcode",
    "own_controller.py": ROOT / "examples" / "own_controller.py",
}


def walk(wheel: Path, python: str) -> dict[str, Any]:
    """Take all steps in an empty folder."""
    with TemporaryDirectory() as home:
        folder = Path(home) / "work"
        folder.mkdir()
        for name, source in FILES.items():
            shutil.copy(source, folder / name)
        began = monotonic()
        subprocess.run([python, "-m", "venv", f"{home}/venv"], check=True)
        taken = [
            {
                "command": "python -m venv venv",
                "why": "an empty environment",
                "s": round(monotonic() - began, 1),
            }
        ]
        left_out = ("PYTHONPATH", "VIRTUAL_ENV", "NUMBA_CACHE_DIR")
        environment = {name: value for name, value in os.environ.items() if name not in left_out}
        environment |= {
            "PATH": f"{home}/venv/bin{os.pathsep}{os.environ['PATH']}",
            "XDG_CACHE_HOME": f"{home}/cache",
        }
        for step in STEPS:
            taken.append(take(step, wheel, folder, environment))
            print(f"{taken[-1]['s']:6.1f} s  {step.command}", flush=True)
    version = subprocess.run([python, "--version"], capture_output=True, text=True, check=True).stdout.strip()
    return {"wheel": wheel.name, "python": version, "cpu": find_cpu(), "steps": taken}


def take(step: Step, wheel: Path, folder: Path, environment: dict[str, str]) -> dict[str, Any]:
    """One command: seconds, exit code, and the end of what it said."""
    words = [str(wheel) if word == "{wheel}" else word for word in step.command.split()]
    began = monotonic()
    if words[1] == "view":
        said, code = look(words, folder, environment)
    else:
        done = subprocess.run(words, cwd=folder, env=environment, capture_output=True, text=True, check=False)
        said, code = done.stdout or done.stderr, done.returncode
    if (code != 0) != (step.command in WRONG):
        raise SystemExit(f"{step.command} ended with {code}:\n{said}")
    lines = [line.rstrip().replace(str(folder.parent), "~") for line in said.strip().splitlines()]
    return {
        "command": step.command.format(wheel=wheel.name),
        "why": step.why,
        "page": step.page,
        "s": round(monotonic() - began, 1),
        "code": code,
        "said": [line for line in lines if line][-WORTH:],
    }


def look(words: Sequence[str], folder: Path, environment: dict[str, str]) -> tuple[str, int]:
    """Open the page once it is served, as a browser would, and end the server."""
    server = subprocess.Popen(
        words, cwd=folder, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    )
    page = ""
    for _ in range(600):
        try:
            with urlopen(f"http://127.0.0.1:{PORT}/", timeout=5) as answer:
                page = answer.read().decode()
            break
        except OSError:
            sleep(0.1)
    server.terminate()
    said = server.communicate(timeout=30)[0]
    return f"{said.strip()}\n(page of {len(page) / 1e3:.0f} kB)", 0 if "<html" in page.lower() else 1


def find_cpu() -> str:
    """Its name, where the system tells."""
    lines = (
        Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
        if Path("/proc/cpuinfo").exists()
        else []
    )
    named = next(
        (line.partition(":")[2].strip() for line in lines if line.startswith("model name")),
        platform.machine(),
    )
    return f"{named}, {os.cpu_count()} cores"


def write_page(found: dict[str, Any]) -> str:
    """Every step with its time and the end of what it said."""
    steps = found["steps"]
    total = sum(step["s"] for step in steps)
    rows = [f"| {step['why']} | `{step['command']}` | {step['s']:.0f} s |" for step in steps]
    parts = [
        "# A new user's first minutes, as tried\n",
        f"Made by `python benchmarks/first_ten_minutes.py WHEEL` with `{found['wheel']}` and {found['python']} on {found['cpu']}, "
        "shared with other work, in an empty environment with empty caches; packages came from an index nearby. "
        f"`part.gcode` is `examples/hatch.gcode`. All steps together: **{total / 60:.1f} minutes** of waiting.\n",
        "| why | command | took |\n|---|---|---|\n" + "\n".join(rows) + "\n",
        WORDS,
        "## What was said\n",
    ]
    for step in steps[1:]:
        lines = step["said"] or ["(nothing)"]
        where = f" ([page](../{step['page']}))" if step["page"] else ""
        parts.append(
            f"### {step['why'].capitalize()}\n\n`{step['command']}`{where}, {step['s']:.0f} s; its last lines:\n"
        )
        parts.append("```text\n" + "\n".join(lines) + "\n```\n")
    return "\n".join(parts)


WORDS = """Most of the time goes into the download and into the first simulations, which compile their kernels once: `doctor` and `demo` pay for that
here, so that the self-test of `doctor`, which takes seconds later on, takes most of a minute the first time. After that every command
takes seconds. The last step is a slip on purpose: it must be refused with one sentence, and is.
"""


def main() -> None:
    """Walk, then write; or write again."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("wheel", type=Path, nargs="?", help="none: write the page again from what was found")
    parser.add_argument("--python", default=sys.executable, help="that makes the environment")
    options = parser.parse_args()
    file = RESULTS / "first_ten_minutes.json"
    if options.wheel is not None:
        found = walk(options.wheel.resolve(), options.python)
        file.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
    file.with_suffix(".md").write_text(
        write_page(json.loads(file.read_text(encoding="utf-8"))), encoding="utf-8"
    )


if __name__ == "__main__":
    main()
