"""Libraries that came with the package: a platform wheel carries them for machines without a compiler.

They are named by their sources, so that one of an older source is never taken, and by the instructions that a
processor must have. `make platform-wheel` builds them.
"""

import hashlib
import platform
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

FOLDER = Path(__file__).parent / "libraries"  # not there in a pure wheel
LEVELS = {  # name → what a processor must be able to do, by the names of /proc/cpuinfo; the better first
    "x86-64-v3": ("avx2", "bmi1", "bmi2", "f16c", "fma", "movbe"),
    "x86-64": (),
}


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
    texts = [part for name in sorted(sources) for part in (name, sources[name])]
    key = "\0".join((unit, *texts, *defines))
    return f"{hashlib.sha256(key.encode()).hexdigest()[:24]}-{level}.so"


def _read_features() -> set[str]:
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return set()
    return set(next((line.partition(":")[2].split() for line in lines if line.startswith("flags")), []))
