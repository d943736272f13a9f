"""What the tests of the pages use: blocks run by bash, and what is printed compared with what is shown."""

import os
import re
import signal
import subprocess
import sys
import tomllib
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import chdir, redirect_stderr, redirect_stdout
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from time import sleep
from typing import Any
from urllib.request import urlopen

from markdown_it import MarkdownIt
from tests.conftest import need

from laserloop.cli import main

ROOT = Path(__file__).parent.parent
SHELL = re.compile(r"[|<>&;$`]")
NUMBER = re.compile(r"(?<![\w.])-?\d+(?:\.\d+)?(?: ± \d+(?:\.\d+)?)?")
# Stands in a script for a program, hands its words to the process of the test and shows what comes back.
PROXY = """#!/bin/sh
call=$(mktemp -d "{door}/XXXXXX")
mkfifo "$call/status"
printf '%s\\0' "${{0##*/}}" "$PWD" "$@" > "$call/words"
echo "$call" > "{door}/calls"
read -r status < "$call/status"
cat "$call/out"
cat "$call/err" >&2
exit "$status"
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Block:
    """Of a page: its code, and where it stands."""

    language: str
    text: str
    line: int
    end: int


def read_blocks(text: str) -> Iterator[Block]:
    """All that is set as code."""
    for token in MarkdownIt().parse(text):
        if token.type in ("fence", "code_block"):
            first, end = token.map or (0, 0)
            yield Block(language=token.info.split(" ")[0], text=token.content, line=first + 1, end=end)


def run_page(page: Path, folder: Path, shorter: Mapping[str, str]) -> None:
    """Every block, in order, in the same folder; what a text block after it shows must be printed."""
    names: dict[str, object] = {"__name__": "page"}
    before, printed = 0, ""
    with Shell(folder, shorter) as shell, chdir(folder):
        for block in read_blocks(page.read_text(encoding="utf-8")):
            where = f"{page.name}, line {block.line}"
            match block.language:
                case "python":
                    with (folder / ".printed").open("w+", encoding="utf-8") as out, redirect_stdout(out):
                        exec(compile(block.text, where, "exec"), names)
                    printed = (folder / ".printed").read_text(encoding="utf-8")
                case "bash":
                    printed = shell.run(block.text, where)
                case "c":
                    compile_and_run(block.text, where)
                case "text" if printed and block.line <= before + 2:  # nothing stands between them
                    check_output(block.text, printed, where)
                    printed = ""
                case _:
                    printed = ""
            before = block.end


def check_output(shown: str, printed: str, where: str) -> None:
    """Shown are lines of what is printed, their numbers to the last digit or within the ± beside them."""
    lines = iter(printed.splitlines())
    for line in shown.splitlines():
        words, numbers = take_apart(line)
        found = next((other for other in lines if take_apart(other)[0] == words), None)
        assert found is not None, f"{where}: {line!r} is not what is printed:\n{printed}"
        for number, other in zip(numbers, take_apart(found)[1], strict=True):
            assert agree(number, other), f"{where}: {number} is {other} in {found!r}"


def take_apart(line: str) -> tuple[str, list[str]]:
    """Its words, with # for numbers; its numbers, as they are written."""
    return " ".join(NUMBER.sub("#", line).split()), NUMBER.findall(line)


def agree(shown: str, printed: str) -> bool:
    """Is what is printed the number that is shown, rounded to its digits or within its ±?"""
    value, _, tolerance = shown.partition(" ± ")
    digits = len(value.partition(".")[2])
    allowed = float(tolerance) if tolerance else 0.5 * 10.0**-digits
    return abs(float(printed) - float(value)) <= allowed * (1 + 1e-9)


@dataclass(slots=True)
class Shell:
    """A bash in a folder, in which `laserloop` is this process, where everything is loaded and compiled."""

    folder: Path
    shorter: Mapping[str, str] = field(default_factory=dict)  # options that are added to a command
    _held: TemporaryDirectory[str] | None = None

    def __enter__(self) -> "Shell":
        need("bash")
        self._held = TemporaryDirectory(prefix="door")
        door = Path(self._held.name)
        os.mkfifo(door / "calls")
        clone_tools = self.folder / ".venv" / "bin"  # what make has made, where the page is typed in a clone
        for place in (door / "bin", *([clone_tools] if clone_tools.exists() else [])):
            place.mkdir(exist_ok=True)
            for program in PROGRAMS:
                (place / program).write_text(PROXY.format(door=door))
                (place / program).chmod(0o755)
        return self

    def __exit__(self, *_: object) -> None:
        assert self._held is not None
        self._held.cleanup()

    def run(self, script: str, where: str) -> str:
        """What bash prints; no command in it may fail, but for those whose comment tells an exit status."""
        assert self._held is not None
        door = Path(self._held.name)
        path = os.pathsep.join((str(door / "bin"), str(Path(sys.executable).parent), os.environ["PATH"]))
        script = expect_statuses(shorten(script, self.shorter))
        (door / "script").write_text(f"set -eu\n{script}", encoding="utf-8")
        watched = f'bash "{door}/script"; echo "done $?" > "{door}/calls"'
        problems: list[BaseException] = []
        with (
            (door / "printed").open("wb") as out,
            os.fdopen(os.open(door / "calls", os.O_RDWR), "r") as calls,
            subprocess.Popen(
                ["bash", "-c", watched],
                cwd=self.folder,
                env={**os.environ, "PATH": path},
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=subprocess.STDOUT,
            ),
        ):
            while not (call := calls.readline().strip()).startswith("done "):
                try:
                    answer(Path(call))
                except BaseException as problem:  # bash must end before this one can tell it
                    problems.append(problem)
                    (Path(call) / "status").write_text("70\n")
        printed = (door / "printed").read_text(encoding="utf-8")
        if problems:
            raise problems[0]
        assert call == "done 0", f"{where}: exit status {call.split()[1]}\n{printed}"
        return printed


def shorten(script: str, shorter: Mapping[str, str]) -> str:
    """Options are added to commands that would take minutes."""
    for command, options in shorter.items():
        whole = re.compile(rf"^{re.escape(command)}(?=\s*(#|$))", re.MULTILINE)
        script = whole.sub(f"{command} {options}", script)
    return script


def expect_statuses(script: str) -> str:
    """A command whose comment says `exit status 3` must end so."""
    told = re.compile(r"^(.+?)\s+# exit status (\d+)$", re.MULTILINE)
    return told.sub(r"{ \1; } && exit 99 || [ $? = \2 ]", script)


def answer(call: Path) -> None:
    """What a script asked for, in its folder."""
    program, folder, *words = (call / "words").read_text(encoding="utf-8").split("\0")[:-1]
    with (
        (call / "out").open("w", encoding="utf-8", buffering=1) as out,
        (call / "err").open("w", encoding="utf-8") as err,
        chdir(folder),
        redirect_stdout(out),
        redirect_stderr(err),
    ):
        status = PROGRAMS[program](words, call / "out")
    (call / "status").write_text(f"{status}\n")


def run_laserloop(words: Sequence[str], out: Path) -> int:
    """A verb, here; `view` in a process of its own: a browser in this one has a loop of events already."""
    return visit(words, out) if words[:1] == ["view"] and "--help" not in words else main(words)


def visit(words: Sequence[str], out: Path) -> int:
    """The page that is served, left with Ctrl-C; --open shows it to a browser that only leaves a trace."""
    trace = out.with_name("opened")
    command = [sys.executable, "-m", "laserloop", *words, "--port", "0"]
    browser = {**os.environ, "BROWSER": f"sh -c 'touch {trace}' %s"}
    with (
        out.open("a", encoding="utf-8") as printed,
        out.with_name("err").open("a", encoding="utf-8") as refused,
        subprocess.Popen(command, stdout=printed, stderr=refused, env=browser) as process,
    ):
        try:
            while not (address := re.search(r"http://\S+", out.read_text(encoding="utf-8"))):
                if process.poll() is not None:
                    return process.returncode
                sleep(0.02)
            with urlopen(address[0], timeout=60) as page:
                assert page.status == 200
                assert b"laserloop" in page.read().lower()
            while "--open" in words and not trace.exists():
                sleep(0.02)
            process.send_signal(signal.SIGINT)
            status = process.wait(60)
        finally:
            process.kill()
    assert trace.exists() == ("--open" in words)
    return status


def run_pip(words: Sequence[str], _: Path) -> int:
    """Nothing is installed: is it this project, with extras that it has?"""
    requirement = words[-1]
    found = re.fullmatch(r"(?:laserloop|\.)(?:\[([\w,]+)\])?", requirement)
    assert found, requirement
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert set((found[1] or "data").split(",")) <= set(project["optional-dependencies"]), requirement
    return 0


PROGRAMS: dict[str, Callable[[Sequence[str], Path], int]] = {"laserloop": run_laserloop, "pip": run_pip}


def compile_and_run(text: str, where: str) -> None:
    """Beside the exported controller, a twin or a network."""
    need("cc")
    unit = Path("twin/twin.c" if "laserloop_twin.h" in text else "firmware/laserloop.c")
    Path("block.c").write_text(text, encoding="utf-8")
    strict = ("-std=c99", "-O1", "-Wall", "-Wextra", "-Werror")
    command = ["cc", *strict, f"-I{unit.parent}", "block.c", str(unit), "-o", "block", "-lm"]
    subprocess.run(command, check=True)
    assert subprocess.run([Path.cwd() / "block"], check=False).returncode == 0, where


def make_clone(folder: Path) -> None:
    """What is typed in a clone of the project: its files, and the environment that make has made."""
    need("make")
    for name in ("Makefile", "pyproject.toml", "constraints.txt", "examples"):
        (folder / name).symlink_to(ROOT / name)
    tools = folder / ".venv" / "bin"
    tools.mkdir(parents=True)
    (tools / "activate").write_text(f'PATH="{tools}:$PATH"\n')
    for stamp in (".core", ".ready"):
        (tools.parent / stamp).touch()


def judge_results(found: Mapping[str, Any], page: str, present: Collection[str]) -> str:
    """What a page fails to say of a results file that it shows; empty if it says it all.

    The file names the version it was measured with (`versions.laserloop`). Unless it was measured by the code
    that is here now (`code`), the page says "version" and that number. It names the command that makes it.
    """
    version = found.get("versions", {}).get("laserloop")
    if version is None:
        return "the file must say with which version it was measured, under versions.laserloop"
    if not re.search(r"`(python benchmarks/|python examples/|make |laserloop )", page):
        return "the page must name the command that makes it"
    if found.get("code") not in present and not re.search(rf"version\s+{re.escape(version)}\b", page):
        return f"the code is another by now: the page must say that it was measured with version {version}"
    return ""
