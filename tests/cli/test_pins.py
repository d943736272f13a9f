"""What the command line says: help of every verb, refusals, and the keys of what it writes as JSON.

`PYTHONPATH=src python tests/cli/test_pins.py` writes them anew.
"""

import contextlib
import io
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

PINS = Path(__file__).with_name("pins.json")
VERBS = (
    *("", "demo", "init", "check", "plan", "simulate", "control", "ensemble", "train", "evaluate"),
    *("calibrate", "identify", "replay", "export", "arena", "reproduce", "report", "view", "doctor"),
    *("bench", "bench plant", "bench train", "bench mpc", "completion"),
)
MORE = "=== next verb ==="
BAD = """
frobnicate
simulat diagonal
simulate
simulate nowhere
simulate diagonal extra
simulate diagonal --bogus 1
simulate diagonal --power-w
simulate diagonal --power-w 1_4
simulate diagonal --power-w nan
simulate diagonal --ticks 1.5
simulate diagonal --ticks 0
simulate diagonal --speed-mm-s -3
simulate diagonal --tick-us 0
simulate diagonal --sigma-um inf
simulate diagonal --sigma-um 0.1
simulate diagonal --absorptivity 35
simulate diagonal --plate-mm 1,2
simulate diagonal --plate-mm 15,10,nan
simulate diagonal --offset-mm 3
simulate diagonal --plant x
simulate diagonal --ambient-k 20
simulate diagonal --json
simulate diagonal --json --plot
simulate diagonal --plot a.jpeg
simulate diagonal --table a.xls
simulate diagonal --field a.x
simulate diagonal --seed 3
simulate diagonal --power-w 3 --excitation bang-bang
simulate diagonal --power-w file
simulate diagonal --json a.json --table a.json
simulate line.csv --layer 0
simulate line.csv --jump-mm-s 0
simulate line.csv --s-max x
control diagonal --window-k 800,760
control diagonal --window-k 500,600,700
control diagonal --window-k 5,6
control diagonal --delay 1.5
control diagonal --delta-k 41
control diagonal --mismatch absorptivity
control diagonal --mismatch colour=2
control diagonal --controller nobody
control diagonal --margins adaptive --delta-k 3
control diagonal --margins no.json
control diagonal --power-max-w 0
plan line.csv
plan line.csv --out line.csv
plan line.csv --out a.gcode
plan line.csv --out b.csv --speed-mm-s 600,150
plan line.csv --out b.csv --centre --offset-mm 1,1
plan line.csv --out b.csv --workers 2
plan line.csv line.csv --out b
plan diagonal --out b.csv --layer 2
plan line.csv --out b.csv --step-w 0
init --out a.json
init --power-w 30,20 --out a.yaml
ensemble corner
ensemble corner --out d --runs 0
ensemble no.yaml --out d
train lstm --trunk loc --data d --out m
train lstm --data d --out m --width 0
evaluate nobody
evaluate paper-base --noise-k -1
calibrate --keep
calibrate paper-base
calibrate --level 0.2
calibrate --spread absorptivity
identify no.csv
identify no.csv --ticks 3
replay no.csv
export nobody --out d
export --out d --tracking x
arena --paths 0
arena --levels windy
bench mpc --problems 1
bench everything
view . --port 70000
""".strip().splitlines()
RUNS = {  # each in the folder that those before it have left
    "simulate": "simulate diagonal --ticks 3 --plant paper --sampling nearest",
    "simulate graded": "simulate line.csv --ticks 3 --excitation bang-bang",
    "control": "control diagonal --ticks 40 --noise-k 3",
    "control pi": "control diagonal --ticks 12 --plant paper --controller pi",
    "check": "check paper diagonal --ticks 20",
    "plan": "plan line.csv --out planned.csv",
    "plan --no-verify": "plan line.csv --out planned.csv --no-verify --by vector",
    "plan, two files": "plan line.csv other.csv --out planned --no-verify --workers 1",
    "replay": "replay control.json --controller pi",
    "identify": "identify control.json --fit absorptivity --ticks 30",
    "ensemble": "ensemble tiny.yaml --out data --workers 1",
    "evaluate": "evaluate paper-base --realisations 1 --excitation bang-bang",
    "calibrate": "calibrate paper-base --data data",
}
FREE = {"statuses", "process"}  # keys that are sentences, and those that have a test of their own


def list_helps() -> dict[str, list[str]]:
    """Help of every verb at 96 columns; in a process of its own, which asks for the width once."""
    show = f"main([*verb.split(), '--help']); print({MORE!r})"
    code = f"from laserloop.cli import main\nfor verb in {VERBS}: {show}"
    environment = {**os.environ, "COLUMNS": "96"}
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, env=environment, check=True)
    pages = done.stdout.decode().split(MORE)
    return {
        verb: [line.rstrip() for line in page.splitlines()] for verb, page in zip(VERBS, pages, strict=False)
    }


def fill() -> None:
    """The files that commands here read."""
    Path("line.csv").write_text("x_mm,y_mm\n0,0\n0.38,0\n")
    Path("other.csv").write_text("x_mm,y_mm\n0,0\n0,0.38\n")
    Path("tiny.yaml").write_text("kind: corner\nruns: 5\nstates: 20\nseed: 3\n")


def refuse(command: str) -> str:
    """The exit code and the sentence of a command that is refused."""
    from laserloop.cli import main

    with contextlib.redirect_stderr(io.StringIO()) as err, contextlib.redirect_stdout(io.StringIO()):
        code = main(command.split())
    return f"{code}: {err.getvalue().strip()}"


def list_keys(value: Any) -> Any:
    """The keys of nested dictionaries; of a list those of its first entry."""
    if isinstance(value, dict):
        return {key: list_keys(part) if key not in FREE else "…" for key, part in value.items()}
    if isinstance(value, list):
        return [list_keys(value[0])] if value else []
    return (
        "number" if isinstance(value, int | float) and not isinstance(value, bool) else type(value).__name__
    )


def run(name: str) -> Any:
    """The keys of what a command writes; the file stays for those that read it."""
    from laserloop.cli import main

    with contextlib.redirect_stderr(io.StringIO()) as err, contextlib.redirect_stdout(io.StringIO()):
        code = main([*RUNS[name].split(), "--json", f"{name}.json"])
    assert code in (0, 3), err.getvalue()
    return list_keys(json.loads(Path(f"{name}.json").read_text()))


@pytest.fixture(scope="module")
def pins() -> dict[str, Any]:
    return dict(json.loads(PINS.read_text(encoding="utf-8")))


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("pins")


def test_every_verb_explains_itself_as_it_did(pins: dict[str, Any]) -> None:
    assert list_helps() == pins["help"]


@pytest.mark.parametrize("command", BAD)
def test_a_bad_command_is_refused_as_it_was(
    command: str, pins: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    fill()
    assert refuse(command) == pins["refused"][command]


@pytest.mark.parametrize("name", RUNS)
def test_results_keep_their_keys(
    name: str, pins: dict[str, Any], folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(folder)
    fill()
    assert run(name) == pins["keys"][name]


def write() -> None:
    """All of them, as they are now; in an empty folder."""
    fill()
    pins = {"help": list_helps(), "refused": {command: refuse(command) for command in BAD}}
    pins["keys"] = {name: run(name) for name in RUNS}
    PINS.write_text(json.dumps(pins, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


if __name__ == "__main__":
    from tempfile import TemporaryDirectory

    with TemporaryDirectory() as scratch, contextlib.chdir(scratch):
        write()
