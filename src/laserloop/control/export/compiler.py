"""A C compiler of this machine, and libraries built with it once."""

import hashlib
import os
import platform
import shutil
import subprocess
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

# FMA and √ without errno change no meaning of NaN; sums keep their order
FLAGS = (
    *("-std=c99", "-O3", "-march=native", "-funroll-loops"),
    *("-ffp-contract=fast", "-fno-math-errno", "-fno-trapping-math"),
)
SECONDS = 300  # that a build may take


class NoCompiler(Exception):
    """Nothing can be built here; says why."""


@cache
def find_compiler() -> str:
    """$CC, cc, gcc or clang, whichever is there first."""
    for name in (os.environ.get("CC"), "cc", "gcc", "clang"):
        found = shutil.which(name) if name else None
        if found:
            return found
    raise NoCompiler("no C compiler was found: neither $CC nor cc, gcc or clang")


def find_cache() -> Path:
    """Where libraries are kept: $XDG_CACHE_HOME or ~/.cache."""
    root = os.environ.get("XDG_CACHE_HOME")
    return (Path(root) if root else Path.home() / ".cache") / "laserloop" / "engines"


def build_library(source: str, *, defines: tuple[str, ...] = ()) -> Path:
    """The shared library of a source, from the cache if the same one was built on this machine before."""
    compiler = find_compiler()
    flags = (*FLAGS, "-fPIC", "-shared", *defines)
    key = "\n".join((source, *flags, _identify(compiler), _describe_cpu()))
    target = find_cache() / f"{hashlib.sha256(key.encode()).hexdigest()[:24]}.so"
    try:
        if not target.exists():
            target.parent.mkdir(parents=True, exist_ok=True)
            _build(compiler, flags, source, target)
    except OSError as error:
        raise NoCompiler(f"the library could not be kept in {target.parent}: {error}") from error
    return target


def _build(compiler: str, flags: tuple[str, ...], source: str, target: Path) -> None:
    """Compile beside the target and move there: two processes may build at the same time."""
    with TemporaryDirectory(dir=target.parent) as folder:
        text, built = Path(folder) / "engine.c", Path(folder) / "engine.so"
        text.write_text(source, encoding="utf-8")
        command = [compiler, *flags, "-o", str(built), str(text), "-lm"]
        try:
            done = subprocess.run(command, capture_output=True, text=True, timeout=SECONDS, check=False)
        except subprocess.TimeoutExpired as error:
            raise NoCompiler(f"{compiler} took more than {SECONDS} s") from error
        if done.returncode:
            raise NoCompiler(f"{compiler} failed: {done.stderr.strip()[:500]}")
        built.replace(target)


@cache
def _identify(compiler: str) -> str:
    """What the compiler says it is."""
    try:
        done = subprocess.run(
            [compiler, "--version"], capture_output=True, text=True, timeout=30, check=False
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise NoCompiler(f"{compiler} does not run: {error}") from error
    return done.stdout


@cache
def _describe_cpu() -> str:
    """What -march=native depends on: a cache may be shared by unlike machines."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        lines = []
    told = [line for line in lines if line.startswith(("model name", "flags", "Features", "CPU part"))]
    return "\n".join((platform.machine(), platform.processor(), *sorted(set(told))))
