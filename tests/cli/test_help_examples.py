"""Every example of every `--help` is typed into bash; what would take long has a short stand-in here."""

import re
from importlib import import_module
from pathlib import Path

import pytest
from tests.pages import ROOT, Shell

from laserloop.cli import VERBS, app, bench, completion

FILES = {  # that the examples name
    "part.gcode": "G21 G90\nM3 S11\nG0 X-0.2 Y0\nG1 X0.2 F18240\nM5\n",
    "layer.cli": "$$HEADERSTART\n$$ASCII\n$$UNITS/0.001\n$$HEADEREND\n$$GEOMETRYSTART\n$$LAYER/40\n"
    "$$HATCHES/1,2,-200,0,200,0,200,100,-200,100\n$$GEOMETRYEND\n",
}
COPY_MODEL = f"mkdir models; cp -r {ROOT}/src/laserloop/predict/models/paper-corner models/mine"
EPISODES = "laserloop ensemble corner --runs 1 --workers 1 --out data/corner"
RECORD = (
    "laserloop init --out mine.yaml; laserloop control star:1 --ticks 34 --json run.json --table build.csv"
)
BEFORE = {  # what a verb's examples need besides
    "check": "laserloop init --out process.yaml",
    "plan": "laserloop init --out mine.yaml; cp part.gcode third.gcode; "
    "cp layer.cli left.cli; cp layer.cli right.cli",
    "identify": RECORD,
    "replay": RECORD,
    "train": EPISODES,
    "evaluate": COPY_MODEL,
    "calibrate": f"{EPISODES}; "
    "laserloop train ms-deeponet --data data/corner --out models/mine --max-epochs 1",
    "export": COPY_MODEL,
    "completion": "mkdir -p ~/.zfunc ~/.config/fish/completions",
}
HELP = "--help"
STAND_INS = {  # a smaller command in its place, or options that are added
    "laserloop simulate spiral --plant graded --power-w 11": "--ticks 20",
    "laserloop simulate diagonal --power-w 14 --ticks 320 --json diagonal.json": (
        "laserloop simulate diagonal --power-w 14 --ticks 20 --json diagonal.json"
    ),
    "laserloop control diagonal --plot run.png": "--ticks 20",
    "laserloop control diagonal --json run.json --plot run.png": "--ticks 20",
    "laserloop control spiral --plant paper --controller ipopt --model paper-base --delta-k 0": "--ticks 2",
    "laserloop control part.gcode --plant graded --process ti64 --controller pi": (  # tuning takes minutes
        "laserloop control part.gcode --plant graded --process 304 --controller pi"
    ),
    "laserloop plan left.cli right.cli third.gcode --workers 2 --out planned": (
        "laserloop plan left.cli right.cli third.gcode --workers 1 --out planned"
    ),
    "laserloop ensemble corner --out data/corner": "--runs 1 --workers 1",
    "laserloop ensemble base --runs 40 --workers 2 --out data/small": (
        "laserloop ensemble base --runs 1 --workers 1 --out data/small"
    ),
    "laserloop train ms-deeponet --data data/corner --out models/corner": "--max-epochs 1",
    "laserloop train lstm --data data/corner --out models/lstm --max-epochs 300": (
        "laserloop train lstm --data data/corner --out models/lstm --max-epochs 1"
    ),
    "laserloop evaluate paper-corner --path diagonal": "--realisations 1 --excitation persistent",
    "laserloop evaluate models/mine --path spiral --excitation bang-bang --json scores.json": (
        "--realisations 1"
    ),
    "laserloop calibrate --process ti64 --noise-k 5 --out margins.json": "--runs 19 --ticks 20 --workers 1",
    "laserloop view out/demo --open": "mkdir -p out/demo; laserloop view out/demo --open",
    **dict.fromkeys(
        ("laserloop demo", "laserloop demo --out out/demo"), HELP
    ),  # `make demo` of the README runs it
    **dict.fromkeys(  # docs/how-to/arena.md runs one path of it
        (
            "laserloop arena --quick --out out/arena",
            "laserloop arena --quick --controller mine.py:MyController --out out/arena",
            "laserloop arena --paths 20 --levels off --entrants twin --entrants pi --out out/arena",
        ),
        HELP,
    ),
    **dict.fromkeys(  # tests/studies run their stages in small
        (
            "laserloop reproduce --quick --out out/quick",
            "laserloop reproduce --workers 8 --out out/paper",
            "laserloop report out/paper",
            "laserloop report out/paper --json claims.json",
        ),
        HELP,
    ),
    **dict.fromkeys(  # tests/bench run them in small
        (
            "laserloop bench plant --reference-steps 20",
            "laserloop bench mpc --problems 100 --json out/bench_mpc.json",
            "laserloop bench plant --json out/bench_plant.json",
            "laserloop bench train --json out/bench_train.json",
            "laserloop bench mpc --json out/bench_mpc.json",
        ),
        HELP,
    ),
}
EXAMPLE = re.compile(r"^\s{4,}((?:laserloop|source) .+)$", re.MULTILINE)


def read_examples() -> dict[str, list[str]]:
    """By verb."""
    texts = {"": str(app.help), "bench": str(bench.help), "completion": str(completion.__doc__)}
    for file, verbs in VERBS.items():
        room = import_module(f"laserloop.cli.{file}")
        texts |= {verb: getattr(room, verb.replace(" ", "_")).__doc__ for verb in verbs}
    return {verb: EXAMPLE.findall(text) for verb, text in texts.items()}


EXAMPLES = read_examples()


@pytest.mark.parametrize("verb", EXAMPLES)
def test_every_example_of_help_runs_when_typed(
    verb: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if verb == "completion":
        monkeypatch.setenv("HOME", str(tmp_path))
    for name, text in FILES.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    assert EXAMPLES[verb]
    with Shell(tmp_path) as shell:
        shell.run(BEFORE.get(verb, ""), f"before {verb}")
        for example in EXAMPLES[verb]:
            found = STAND_INS.get(example, "")
            shell.run(f"{example} {found}" if found.startswith("-") else found or example, f"{verb} --help")


def test_stand_ins_are_of_examples_that_are_there() -> None:
    assert STAND_INS.keys() <= {example for examples in EXAMPLES.values() for example in examples}
