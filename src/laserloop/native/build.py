"""A C compiler of this machine, and libraries built with it once.

A library is written beside its final place and moved there, so that a build that was killed, or one at the
same time in another process, leaves nothing broken. Where nothing can be built, a library that came with the
package does: a platform wheel (`make platform-wheel`) carries them for machines without a compiler, named by
their sources, so that one of an older source is never taken, and by what a processor must be able to do.
"""

import ctypes
import hashlib
import os
import platform
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import suppress
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

# FMA and √ without errno change no meaning of NaN; sums keep their order
FLAGS = (
    *("-std=c99", "-O3", "-march=native", "-funroll-loops"),
    *("-ffp-contract=fast", "-fno-math-errno", "-fno-trapping-math"),
)
SECONDS = 300  # that a build may take
FOLDER = Path(__file__).parent / "libraries"  # not there in a pure wheel
LEVELS = {  # name → what a processor must be able to do, by the names of /proc/cpuinfo; the better first
    "x86-64-v3": ("avx2", "bmi1", "bmi2", "f16c", "fma", "movbe"),
    "x86-64": (),
}


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
    return (Path(root) if root else Path.home() / ".cache") / "laserloop" / "native"


def load_library(sources: Mapping[str, str], unit: str, *, defines: tuple[str, ...] = ()) -> ctypes.CDLL:
    """The library of `unit`, one of the source files: built here for this processor, or else as it came."""
    try:
        return _load_built(sources, unit, defines)
    except NoCompiler:
        for shipped in find_prebuilt(sources, unit, defines):
            with suppress(OSError):  # of another system
                return ctypes.CDLL(str(shipped))
        raise


def build_library(sources: Mapping[str, str], unit: str, flags: tuple[str, ...], target: Path) -> None:
    """Compile `unit` into `target`, with flags of one's own; it is there completely or not at all."""
    _build(find_compiler(), (*flags, "-fPIC", "-shared"), sources, unit, target)


def find_prebuilt(
    sources: Mapping[str, str], unit: str, defines: tuple[str, ...], folder: Path = FOLDER
) -> Iterator[Path]:
    """Those of just these sources that this processor can run, the fastest first."""
    if sys.platform != "linux" or platform.machine() != "x86_64" or not folder.is_dir():
        return
    able = _read_features()
    for level, needs in LEVELS.items():
        file = folder / name_prebuilt(sources, unit, defines, level)
        if able.issuperset(needs) and file.is_file():
            yield file


def name_prebuilt(sources: Mapping[str, str], unit: str, defines: tuple[str, ...], level: str) -> str:
    """The file of a library."""
    return f"{_hash(sources, unit, *defines)}-{level}.so"


def _hash(sources: Mapping[str, str], unit: str, *more: str) -> str:
    """The name of a library of just these sources and of what more it depends on."""
    texts = [part for name in sorted(sources) for part in (name, sources[name])]
    return hashlib.sha256("\0".join((unit, *texts, *more)).encode()).hexdigest()[:24]


def _load_built(sources: Mapping[str, str], unit: str, defines: tuple[str, ...]) -> ctypes.CDLL:
    """Compiled if it is not in the cache or does not load."""
    compiler = find_compiler()
    flags = (*FLAGS, "-fPIC", "-shared", *defines)
    target = find_cache() / f"{_hash(sources, unit, *flags, _identify(compiler), _describe_cpu())}.so"
    try:
        if not target.exists():
            _build(compiler, flags, sources, unit, target)
        try:
            return ctypes.CDLL(str(target))
        except OSError:  # cut short by a full disk, or of another machine
            _build(compiler, flags, sources, unit, target)
            return ctypes.CDLL(str(target))
    except OSError as error:
        raise NoCompiler(f"no library could be kept in and loaded from {target.parent}: {error}") from error


def _build(
    compiler: str, flags: tuple[str, ...], sources: Mapping[str, str], unit: str, target: Path
) -> None:
    """Compile in a folder beside the target and move the library there."""
    target.parent.mkdir(parents=True, exist_ok=True)
    with TemporaryDirectory(dir=target.parent) as folder:
        for name, text in sources.items():
            (Path(folder) / name).write_text(text, encoding="utf-8")
        built = Path(folder) / "library.so"
        command = [compiler, *flags, "-o", str(built), str(Path(folder) / unit), "-lm"]
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
    told = [line for line in _read_cpu() if line.startswith(("model name", "flags", "Features", "CPU part"))]
    return "\n".join((platform.machine(), platform.processor(), *sorted(set(told))))


def _read_features() -> set[str]:
    """What this processor can do."""
    return set(next((line.partition(":")[2].split() for line in _read_cpu() if line.startswith("flags")), []))


def _read_cpu() -> list[str]:
    try:
        return Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return []
