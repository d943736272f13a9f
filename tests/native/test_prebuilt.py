"""Libraries that came with the package: taken where nothing can be built, and only if of this source."""

import base64
import hashlib
import runpy
import zipfile
from functools import partial
from pathlib import Path

import pytest

from laserloop.control.problem import MpcProblem, make_twin_problem
from laserloop.native import build
from laserloop.native.build import LEVELS, find_prebuilt, name_prebuilt
from laserloop.native.network import CEngine
from laserloop.native.twin import make_twin
from laserloop.planning.powers import HORIZON, make_player
from laserloop.predict.model import find_model
from laserloop.process import Process

SCRIPT = runpy.run_path(str(Path(__file__).parents[2] / ".ci" / "platform_wheel.py"))


def answer(number: int) -> dict[str, str]:
    return {"one.c": f"int answer(void);\nint answer(void) {{ return {number}; }}\n"}


@pytest.fixture
def folder(compilers: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A package with one library, built for any processor, on a machine without a compiler."""
    name = name_prebuilt(answer(3), "one.c", (), "x86-64")
    build.build_library(answer(3), "one.c", ("-O1",), tmp_path / name)
    monkeypatch.setattr(build, "find_prebuilt", partial(find_prebuilt, folder=tmp_path))
    monkeypatch.setattr(build, "find_compiler", refuse)
    return tmp_path


def refuse() -> str:
    raise build.NoCompiler("no C compiler was found")


def test_without_a_compiler_the_library_of_the_package_answers(folder: Path) -> None:
    assert build.load_library(answer(3), "one.c").answer() == 3


def test_a_library_of_another_source_is_not_taken(folder: Path) -> None:
    with pytest.raises(build.NoCompiler, match="no C compiler"):
        build.load_library(answer(4), "one.c")


def test_a_broken_library_is_not_taken(folder: Path) -> None:
    (library,) = folder.iterdir()
    library.write_bytes(b"not a library")
    with pytest.raises(build.NoCompiler, match="no C compiler"):
        build.load_library(answer(3), "one.c")


def test_the_faster_library_is_for_processors_that_can_run_it(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (plain,) = folder.iterdir()
    faster = folder / name_prebuilt(answer(3), "one.c", (), "x86-64-v3")
    faster.write_bytes(b"")
    asked = answer(3), "one.c", ()
    monkeypatch.setattr(build, "_read_features", lambda: set(LEVELS["x86-64-v3"]))
    assert list(find_prebuilt(*asked, folder=folder)) == [faster, plain]
    monkeypatch.setattr(build, "_read_features", lambda: {"sse2", "avx2"})
    assert list(find_prebuilt(*asked, folder=folder)) == [plain]


def test_a_platform_wheel_carries_what_the_defaults_load(
    compilers: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = set()

    def note(sources: dict[str, str], unit: str, defines: tuple[str, ...]) -> list[Path]:
        asked.add(name_prebuilt(sources, unit, defines, "x86-64"))
        return []

    monkeypatch.setattr(build, "find_prebuilt", note)
    monkeypatch.setattr(build, "find_compiler", refuse)
    process, problem = Process(), MpcProblem()
    assert make_twin(make_twin_problem(problem), process).name == "twin"  # in NumPy, after it has asked
    for horizon in (HORIZON, 1):
        with pytest.raises(Exception, match="no C compiler"):
            make_player(process, horizon=horizon, speed=process.speed, gain=1.0)
    for name in ("paper-base", "paper-corner"):
        with pytest.raises(build.NoCompiler):
            CEngine(find_model(name), problem)
    carried = {
        name_prebuilt(sources, unit, ("-DLASERLOOP_ENGINE",), "x86-64")
        for sources, unit in SCRIPT["list_libraries"]()
    }
    assert asked == carried


def test_a_platform_wheel_is_a_wheel(tmp_path: Path) -> None:
    pure, library = tmp_path / "laserloop-9.9-py3-none-any.whl", tmp_path / "a.so"
    library.write_bytes(b"\x7fELF GLIBC_2.2.5 GLIBC_2.29 GLIBC_2.3")
    with zipfile.ZipFile(pure, "w") as packed:
        packed.writestr("laserloop/__init__.py", "")
        packed.writestr("laserloop-9.9.dist-info/WHEEL", "Root-Is-Purelib: true\nTag: py3-none-any\n")
        packed.writestr("laserloop-9.9.dist-info/RECORD", "")
    wheel = SCRIPT["repack"](pure, [library])
    assert wheel.name == "laserloop-9.9-py3-none-manylinux_2_29_x86_64.whl"
    with zipfile.ZipFile(wheel) as packed:
        content = {name: packed.read(name) for name in packed.namelist()}
    assert content["laserloop/native/libraries/a.so"] == library.read_bytes()
    assert b"Tag: py3-none-manylinux_2_29_x86_64" in content["laserloop-9.9.dist-info/WHEEL"]
    record = content.pop("laserloop-9.9.dist-info/RECORD").decode().splitlines()
    told = dict(line.rsplit(",", 2)[:2] for line in record)
    for name, data in content.items():
        digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
        assert told[name] == f"sha256={digest}"
