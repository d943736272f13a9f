"""Mutation testing: break the code in small ways, run its tests, and tell which breaks nobody notices.

    python benchmarks/mutants.py                # a sample of each room, a third of an hour on two cores
    python benchmarks/mutants.py --sample all   # every mutant, many hours

mutmut makes the mutants, finds which tests reach which function, and runs them in a forked process each
([tool.mutmut] in pyproject.toml). Verdicts are kept in mutants/ and not asked for again while the function is as it
was; with --again the survivors are, for tests that came later. The breaks by hand and the reasons why survivors are
harmless are those of mutants.yaml. Writes docs/results/mutants.json and docs/development/mutants.md.
"""

import argparse
import ast
import difflib
import hashlib
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import yaml

from laserloop.versions import find_versions

ROOT = Path(__file__).parent.parent
RESULTS = ROOT / "docs" / "results"
SHELF = ROOT / "mutants"  # mutmut's own
BROKEN = ROOT / "out" / "mutants"  # a copy of the project to break by hand
TESTS = {  # of each room: those that its mutants meet
    "control": ("tests/control/", "tests/contracts/"),
    "loop": ("tests/loop/", "tests/contracts/"),
    "paths": ("tests/paths/",),
    "process": ("tests/process/",),
    "camera": ("tests/plant/",),
    "calibration": ("tests/evaluation/",),
}
SAMPLE = 60  # mutants of each room
KILLED, SURVIVED, TIMEOUT, UNTESTED, UNKNOWN = "killed", "survived", "timeout", "no test", "not run"
VERDICTS = {
    0: SURVIVED,
    5: UNTESTED,
    33: UNTESTED,
    36: TIMEOUT,
    24: TIMEOUT,
    -24: TIMEOUT,
    152: TIMEOUT,
    255: TIMEOUT,
}
BEGIN = "laserloop.plant.camera.x__is_whole__mutmut_1"  # mutmut makes all mutants before it runs any


@dataclass(frozen=True, slots=True)
class Mutant:
    """One small break of one function."""

    name: str  # mutmut's
    file: str
    function: str
    line: int
    change: str  # what is removed → what is added
    text: bool  # does it change only what people read?
    verdict: str = field(compare=False)

    @property
    def room(self) -> str:
        """A room of the package, or the file of the plant or of the evaluation that is looked at."""
        return find_room(self.name)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--sample", default=str(SAMPLE), help="mutants of each room, or all")
    parser.add_argument("--seed", default="0", help="of the sample")
    parser.add_argument("--again", action="store_true", help="run those that survived once more")
    options = parser.parse_args()
    wanted = sys.maxsize if options.sample == "all" else int(options.sample)
    known = yaml.safe_load(Path(__file__).with_suffix(".yaml").read_text(encoding="utf-8"))
    run_mutmut([BEGIN])
    narrow_tests()
    drawn = draw(read_mutants(), wanted, options.seed)
    due = [
        m.name for m in drawn if m.verdict == UNKNOWN or (options.again and m.verdict in (SURVIVED, UNTESTED))
    ]
    if due:
        run_mutmut(due)
    mutants = read_mutants()
    names = {mutant.name for mutant in drawn}
    content = {
        "sample": options.sample,
        "seed": options.seed,
        "rooms": count(mutants, names),
        "survivors": [
            explain(m, known["harmless"]) for m in mutants if m.name in names and not is_noticed(m)
        ],
        "by_hand": [break_by_hand(**entry) for entry in known["by_hand"]],
    }
    (RESULTS / "mutants.json").write_text(
        json.dumps(content | {"versions": find_versions()}, indent=1, ensure_ascii=False) + "\n",
        encoding="utf-8",
    )
    page = write_page(content)
    (RESULTS.parent / "development" / "mutants.md").write_text(page, encoding="utf-8")
    print(page)


def run_mutmut(names: list[str]) -> None:
    """Make the mutants anew where the code changed, and run those that are named."""
    tool = Path(sys.executable).with_name("mutmut")
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "src"), "OMP_NUM_THREADS": "1", "TERM": "dumb"}
    log = ROOT / "out" / "mutmut.log"
    log.parent.mkdir(exist_ok=True)
    with log.open("w", encoding="utf-8") as told:
        command = ["nice", "-n", "10", str(tool), "run", "--max-children", "1", *names]
        ended = subprocess.run(command, cwd=ROOT, env=environment, stdout=told, stderr=told, check=False)
    if ended.returncode != 0:
        sys.exit(f"mutmut must end well, got exit code {ended.returncode}: read {log}")


def find_room(name: str) -> str:
    """Of laserloop.ROOM.FILE.FUNCTION; a single file of another room is a room here."""
    _, room, file, *_ = name.split(".")
    return room if room in TESTS else file


def narrow_tests() -> None:
    """From all tests that reach a function, keep those of its own room, where there are any."""
    kept = SHELF / "mutmut-stats.json"
    stats = json.loads(kept.read_text(encoding="utf-8"))
    reached: dict[str, list[str]] = stats["tests_by_mangled_function_name"]
    for function, tests in reached.items():
        own = [test for test in tests if test.startswith(TESTS[find_room(function)])]
        reached[function] = own or tests
    kept.write_text(json.dumps(stats, indent=4), encoding="utf-8")


def read_mutants() -> list[Mutant]:
    """All that mutmut made, with the verdicts it has kept."""
    found = []
    for meta in sorted((SHELF / "src").rglob("*.py.meta")):
        verdicts: dict[str, int | None] = json.loads(meta.read_text(encoding="utf-8"))["exit_code_by_key"]
        if verdicts:
            found += list(read_file(meta.with_suffix(""), verdicts))
    return found


def read_file(mutated: Path, verdicts: dict[str, int | None]) -> Iterator[Mutant]:
    """The mutants of one file: each function stands in it as it was and once for each mutant."""
    source = mutated.read_text(encoding="utf-8")
    lines = source.splitlines()
    functions = {
        node.name: (cut(lines, node), erase(node))
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.FunctionDef) and "__mutmut_" in node.name
    }
    file = str(mutated.relative_to(SHELF))
    begin = find_functions((ROOT / file).read_text(encoding="utf-8"))
    for name, code in verdicts.items():
        key = name.rpartition(".")[2]
        stem = key.rpartition("__mutmut_")[0]
        function = stem.removeprefix("x_").removeprefix("xǁ").replace("ǁ", ".")
        (old, meant), (new, said) = functions[f"{stem}__mutmut_orig"], functions[key]
        line, change = compare(old, new)
        verdict = UNKNOWN if code is None else VERDICTS.get(code, KILLED)
        yield Mutant(name, file, function, begin[function] + line, change, meant == said, verdict)


def find_functions(source: str) -> dict[str, int]:
    """The line in which each function and method of a file begins."""
    tree = ast.parse(source)
    classes = ((f"{node.name}.", node.body) for node in tree.body if isinstance(node, ast.ClassDef))
    return {
        prefix + node.name: node.lineno
        for prefix, body in [("", tree.body), *classes]
        for node in body
        if isinstance(node, ast.FunctionDef)
    }


def cut(lines: list[str], node: ast.FunctionDef) -> list[str]:
    """The lines of a function under the name it shares with its mutants."""
    found = lines[node.lineno - 1 : node.end_lineno]
    return [found[0].replace(node.name, node.name.rpartition("__mutmut_")[0]), *found[1:]]


def compare(old: list[str], new: list[str]) -> tuple[int, str]:
    """The first line that differs, counted from that of `def`, and what became of which words."""
    removed: list[str] = []
    added: list[str] = []
    first = 0
    for tag, i, j, k, m in difflib.SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        if tag != "equal":
            first = first or i
            removed += old[i:j]
            added += new[k:m]
    return first, " → ".join(" ".join(line.strip() for line in lines) for lines in (removed, added))


class Eraser(ast.NodeTransformer):
    """Takes out what only people read: sentences, and all that an exception is made with."""

    def visit_Constant(self, node: ast.Constant) -> ast.AST:
        """A text with a space is a sentence; names and keys have none."""
        return ast.Constant("") if isinstance(node.value, str) and " " in node.value else node

    def visit_Call(self, node: ast.Call) -> ast.AST:
        """The words of an exception, wherever it is made."""
        if isinstance(node.func, ast.Name) and node.func.id.endswith(("BadInput", "Error")):
            return ast.Call(node.func, [], [])
        return self.generic_visit(node)


def erase(function: ast.FunctionDef) -> str:
    """A function without its sentences, to be compared."""
    erased = Eraser().visit(function)
    return ast.dump(erased.args) + "".join(ast.dump(part) for part in erased.body)


def draw(mutants: list[Mutant], wanted: int, seed: str) -> list[Mutant]:
    """So many of each room, at random but the same for the same seed and code."""
    drawn = []
    for room in TESTS:
        here = [mutant for mutant in mutants if mutant.room == room and not mutant.text]
        here.sort(key=lambda mutant: hashlib.sha256(f"{seed} {mutant.name}".encode()).digest())
        drawn += here[:wanted]
    return drawn


def is_noticed(mutant: Mutant) -> bool:
    """Did a test fail, or the mutant never end?"""
    return mutant.verdict in (KILLED, TIMEOUT)


def count(mutants: list[Mutant], names: set[str]) -> dict[str, dict[str, int]]:
    """By room: how many there are, how many are text, and what became of the sample."""
    rooms = {}
    for room in TESTS:
        here = [mutant for mutant in mutants if mutant.room == room]
        drawn = [mutant for mutant in here if mutant.name in names]
        rooms[room] = {
            "mutants": len(here),
            "text": sum(mutant.text for mutant in here),
            "sample": len(drawn),
            **{
                verdict: sum(m.verdict == verdict for m in drawn)
                for verdict in (KILLED, TIMEOUT, SURVIVED, UNTESTED)
            },
        }
    return rooms


def explain(mutant: Mutant, harmless: list[dict[str, str]]) -> dict[str, Any]:
    """A survivor with the reason why it does no harm, if there is one."""
    place = f"{mutant.file}:{mutant.function}"
    why = [
        entry["why"]
        for entry in harmless
        if re.search(entry.get("where", ""), place) and re.search(entry["change"], mutant.change)
    ]
    return {**asdict(mutant), "why": why[0] if why else None}


def break_by_hand(claim: str, file: str, old: str, new: str, test: str) -> dict[str, Any]:
    """Break one line in a copy of the project and run the test that should notice."""
    shutil.rmtree(BROKEN, ignore_errors=True)
    shutil.copytree(ROOT / "src", BROKEN / "src")
    for name in ("tests", "docs", "pyproject.toml", "README.md"):
        (BROKEN / name).symlink_to(ROOT / name)
    source = BROKEN / file
    text = source.read_text(encoding="utf-8")
    if text.count(old) != 1:
        sys.exit(
            f"a break by hand must find its line once, got {old!r} {text.count(old)} times in {file}: correct it"
        )
    source.write_text(text.replace(old, new), encoding="utf-8")
    command = [
        "nice",
        "-n",
        "10",
        sys.executable,
        "-m",
        "pytest",
        "-x",
        "-q",
        "-p",
        "no:cacheprovider",
        *shlex.split(test),
    ]
    environment = {**os.environ, "PYTHONPATH": str(BROKEN / "src")}
    ended = subprocess.run(command, cwd=BROKEN, env=environment, capture_output=True, text=True, check=False)
    if ended.returncode not in (0, 1):
        sys.exit(
            f"pytest must find its tests, got exit code {ended.returncode}:\n{ended.stdout}{ended.stderr}"
        )
    return {
        "claim": claim,
        "file": file,
        "old": old,
        "new": new,
        "test": test,
        "noticed": ended.returncode == 1,
    }


INTRODUCTION = """# Mutants

What do the tests notice? The code is broken in small ways, one at a time, and the tests that reach the broken function are run. A mutant that fails one of them, or hangs it, is noticed.

**{noticed} of {sample} are noticed** (aim: 85 %); {silent} are not, {unexplained} of them without a reason why that is harmless. Of breaks by hand that once passed the whole suite {by_hand} are noticed now. Seed 0 flatters: its survivors were looked at and tests were sharpened for them (before, 86 % were noticed). `python benchmarks/mutants.py --seed 1` takes a fresh sample.

Made by `make mutants SAMPLE={size}`: {drawn} (seed {seed}), run by mutmut against the tests of their own room. Left out are decorated functions, type hints, what stands outside functions, and texts for people. All figures, the survivors with their reasons and the breaks by hand: `docs/results/mutants.json`; rooms are named as in version 0.2.0, with which it was measured.
"""


def write_page(content: dict[str, Any]) -> str:
    """The page of the results."""
    rooms: dict[str, dict[str, int]] = content["rooms"]
    total = {key: sum(row[key] for row in rooms.values()) for key in rooms["control"]}
    size, survivors = content["sample"], content["survivors"]
    introduction = INTRODUCTION.format(
        noticed=share(total),
        sample=total["sample"],
        silent=len(survivors),
        unexplained=sum(entry["why"] is None for entry in survivors),
        size=size,
        drawn="every mutant" if size == "all" else f"up to {size} mutants of each room at random",
        seed=content["seed"],
        by_hand=f"{sum(entry['noticed'] for entry in content['by_hand'])} of {len(content['by_hand'])}",
    )
    head = ["room", "mutants", "in the sample", KILLED, TIMEOUT, SURVIVED, "noticed"]
    counts = [
        [room, row["mutants"], row["sample"], row[KILLED], row[TIMEOUT], row[SURVIVED], share(row)]
        for room, row in {**rooms, "**all**": total}.items()
    ]
    return "\n".join([introduction, *format_table(head, counts), ""])


def share(row: dict[str, int]) -> str:
    """How many of a sample are noticed."""
    return f"{(row[KILLED] + row[TIMEOUT]) / max(row['sample'], 1):.0%}"


def format_table(head: list[str], rows: list[list[Any]]) -> list[str]:
    """A table in Markdown."""
    lines = [head, ["---"] * len(head), *rows]
    return ["| " + " | ".join(str(cell).replace("|", "\\|") for cell in line) + " |" for line in lines]


if __name__ == "__main__":
    main()
