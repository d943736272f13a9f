"""Turns the pure wheel into one that carries the compiled controllers (make platform-wheel).

    python .ci/platform_wheel.py out/dist

Compiles the twin (horizons of `control` and `plan`) and the networks that ship, for any x86-64 processor and
for those with AVX2, and writes them beside the sources in a copy of the newest pure wheel. Its tag names the
oldest glibc that the libraries ask for.
"""

import base64
import hashlib
import re
import sys
import zipfile
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from laserloop.control.problem import MpcProblem
from laserloop.native import network, twin
from laserloop.native.build import FLAGS, LEVELS, build_library, name_prebuilt
from laserloop.native.layout import ENGINE
from laserloop.native.network import UNIT, pack_network
from laserloop.planning.powers import HORIZON
from laserloop.predict.model import find_model
from laserloop.predict.twin import TwinSettings

PLACE = "laserloop/native/libraries"
MODELS = ("paper-base", "paper-corner")
OLDEST_GLIBC = (2, 17)  # an older one has no name among wheels

Library = tuple[dict[str, str], str]  # sources, unit


def list_libraries() -> Iterator[Library]:
    """What `control`, `plan` and `demo` load with their defaults."""
    for horizon in sorted({TwinSettings().horizon, HORIZON, 1}):
        yield dict(twin.list_sources(twin.size_twin(horizon))), twin.UNIT[0]
    seen = set()
    for name in MODELS:
        model = find_model(name)
        problem = MpcProblem(horizon=model.architecture.horizon)
        sources = network.list_sources(pack_network(model, problem, np.float32))
        if (key := tuple(sources.values())) not in seen:
            seen.add(key)
            yield sources, UNIT[0]


def build_all(folder: Path) -> list[Path]:
    """Every library at every level."""
    for sources, unit in list_libraries():
        for level in LEVELS:
            flags = tuple(f"-march={level}" if flag == "-march=native" else flag for flag in FLAGS)
            target = folder / name_prebuilt(sources, unit, ENGINE, level)
            build_library(sources, unit, (*flags, *ENGINE), target)
    return sorted(folder.iterdir())


def find_tag(libraries: list[Path]) -> str:
    """The platform of a wheel with these libraries, which need nothing but libc and libm."""
    found = [
        (int(major), int(minor))
        for library in libraries
        for major, minor in re.findall(rb"GLIBC_(\d+)\.(\d+)", library.read_bytes())
    ]
    major, minor = max([OLDEST_GLIBC, *found])
    return f"py3-none-manylinux_{major}_{minor}_x86_64"


def repack(wheel: Path, libraries: list[Path]) -> Path:
    """A copy of a wheel with libraries in it, its tag and its list of files set right."""
    tag = find_tag(libraries)
    target = wheel.with_name(wheel.name.replace("py3-none-any", tag))
    with zipfile.ZipFile(wheel) as pure:
        content = {name: pure.read(name) for name in pure.namelist() if not name.endswith("/")}
    (info,) = {name.split("/")[0] for name in content if ".dist-info/" in name}
    told = content[f"{info}/WHEEL"].decode()
    told = told.replace("Root-Is-Purelib: true", "Root-Is-Purelib: false")
    content[f"{info}/WHEEL"] = told.replace("Tag: py3-none-any", f"Tag: {tag}").encode()
    content |= {f"{PLACE}/{library.name}": library.read_bytes() for library in libraries}
    record = f"{info}/RECORD"
    content[record] = write_record({name: data for name, data in content.items() if name != record}, record)
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as packed:
        for name, data in content.items():
            packed.writestr(zipfile.ZipInfo(name, (2020, 1, 1, 0, 0, 0)), data, zipfile.ZIP_DEFLATED)
    return target


def write_record(content: dict[str, bytes], own: str) -> bytes:
    """The list of files with their hashes, as the format of wheels has it."""
    lines = []
    for name, data in content.items():
        digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
        lines.append(f"{name},sha256={digest},{len(data)}")
    return "\n".join((*lines, f"{own},,", "")).encode()


def main() -> None:
    """Beside the pure wheel."""
    folder = Path(sys.argv[1])
    wheel = max(folder.glob("laserloop-*-py3-none-any.whl"), key=lambda file: file.stat().st_mtime)
    with TemporaryDirectory() as built:
        target = repack(wheel, build_all(Path(built)))
    print(f"{target}: {target.stat().st_size / 1e6:.1f} MB (pure: {wheel.stat().st_size / 1e6:.1f} MB)")


if __name__ == "__main__":
    main()
