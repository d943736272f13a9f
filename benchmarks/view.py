"""The live bench: what was tried against its server, and how fast it is.

    python benchmarks/view.py             # some minutes; needs chromium and the extras live and dev
    python benchmarks/view.py --only speed

Starts `laserloop view`, attacks it, measures its page in Chromium, and writes docs/results/view.json and
docs/development/attacks.md.
"""

import argparse
import json
import os
import platform
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any

import view_attacks as attacks
import view_speed as speed
from playwright.sync_api import sync_playwright
from view_pictures import CHROMIUM

from laserloop.live.app import MOST_SESSIONS
from laserloop.live.server import HEAD_S
from laserloop.versions import find_versions

WARM_S = 15.0  # until the server's workers are warm
RESULTS = Path(__file__).parent.parent / "docs" / "results"


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--only", choices=("attacks", "speed", "page"), help="page: only write it again")
    parser.add_argument("--repeats", type=int, default=5, help="starts of a run that are timed")
    options = parser.parse_args()
    file = RESULTS / "view.json"
    found: dict[str, Any] = json.loads(file.read_text()) if file.exists() else {}
    wanted = {None: ("attacks", "speed"), "page": ()}.get(options.only, (options.only,))
    if wanted:
        found["machine"] = {
            "cores": os.cpu_count(),
            "processor": platform.machine(),
            "system": platform.system(),
        }
    if "attacks" in wanted:
        found["attacks"] = attack()
    if "speed" in wanted:
        found["speed"] = measure(options.repeats)
    file.write_text(json.dumps(found | {"versions": find_versions()}, indent=1) + "\n")
    page = write_page(found)
    (RESULTS.parent / "development" / "attacks.md").write_text(page)
    print(page)
    sys.exit(any(row["passed"] for row in found.get("attacks", {}).get("rows", ())))


def attack() -> dict[str, Any]:
    """All attacks on one server, one after another, with a folder full of hostile files behind it."""
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place) / "runs"
        count = attacks.fill_hostile(folder, 3000)
        with subprocess.Popen(
            [sys.executable, "-m", "laserloop", "view", str(folder), "--port", "0"],
            stdout=subprocess.PIPE,
            text=True,
        ) as server:
            try:
                return attack_server(server, count)
            finally:
                server.kill()


def attack_server(server: "subprocess.Popen[str]", files: int) -> dict[str, Any]:
    assert server.stdout is not None
    port = int(server.stdout.readline().rpartition("127.0.0.1:")[2].partition("/")[0])
    attacks.bomb(port, 1)
    time.sleep(WARM_S)
    rows, before = [], attacks.read_memory(server.pid)
    steps: list[Callable[[], attacks.Outcome]] = [
        lambda: attacks.traverse(port),
        lambda: attacks.pretend(port),
        lambda: attacks.upload(port, 200_000_000),
        lambda: attacks.bomb(port, 1000),
        lambda: attacks.dawdle(port, 150, HEAD_S + 3.0),
        lambda: attacks.crowd(port, 200, MOST_SESSIONS),
        lambda: attacks.babble(port, 10_000),
        lambda: attacks.list_hostile(port, files),
    ]
    for step in steps:
        outcome = step()
        memory, took = attacks.read_memory(server.pid), attacks.answers(port)
        rows.append(asdict(outcome) | {"memory_mb": memory, "answer_s": took})
        print(rows[-1], flush=True)
    return {"memory_before_mb": before, "rows": rows}


def measure(repeats: int) -> dict[str, Any]:
    """All times."""
    load = os.getloadavg()[0] if hasattr(os, "getloadavg") else 0.0
    with tempfile.TemporaryDirectory() as place, sync_playwright() as playwright:
        folder = Path(place)
        speed.make_stored(folder)
        found: dict[str, Any] = {"load_before": load, "list": speed.measure_list(folder)}
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        with subprocess.Popen(
            [sys.executable, "-m", "laserloop", "view", str(folder), "--port", "0"],
            stdout=subprocess.PIPE,
            text=True,
        ) as server:
            assert server.stdout is not None
            try:
                address = "http" + server.stdout.readline().partition("http")[2].split()[0]
                time.sleep(WARM_S)
                found["pages"] = speed.measure_pages(browser, address)
                found["start"] = speed.measure_start(browser, address, repeats)
            finally:
                server.kill()
        browser.close()
    return found


def write_page(found: dict[str, Any]) -> str:
    lines = [
        "# The live bench, attacked and timed",
        "",
        f"Made by `python benchmarks/view.py` (measured with version 0.2.0) on {found['machine']['cores']} cores ({found['machine']['processor']}): "
        "`laserloop view`, Chromium without a window on the same machine, process `304`, plant `graded`; figures in `docs/results/view.json`.",
        "",
    ]
    if "attacks" in found:
        told = found["attacks"]
        lines += [
            "## Attacks",
            "",
            "All on one server, one after another. *Not refused* must be 0. Memory is of the server and its two waiting "
            f"workers, {told['memory_before_mb']:.0f} MB before; the last column is the time of an ordinary request afterwards.",
            "",
            "| attack | tried | not refused | | memory, MB | answer, s |",
            "|---|---|---|---|---|---|",
            *(
                f"| {row['name']} | {row['tried']:,} | {row['passed']} | {row['words']} | {row['memory_mb']:.0f} | {row['answer_s']:.2f} |"
                for row in told["rows"]
            ),
            "",
        ]
    if "speed" in found:
        told = found["speed"]
        lines += [
            "## Speed",
            "",
            f"Medians of {len(told['start']['first_image_s'])} runs where a run was started. The load of the machine "
            f"was {told['load_before']:.1f} on its {found['machine']['cores']} cores when this began.",
            "",
            "| | measured | wanted |",
            "|---|---|---|",
            *(f"| {' | '.join(row)} |" for row in speed.tell(told)),
            "",
        ]
    return "\n".join(lines)


if __name__ == "__main__":
    main()
