"""What is shipped: a wheel with all data in it, a source archive that builds, pins that admit one another."""

import re
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from importlib.metadata import version
from pathlib import Path

import pytest
import yaml
from packaging.requirements import Requirement
from packaging.version import Version

import laserloop

ROOT = Path(__file__).parent.parent
SOURCE = ROOT / "src" / "laserloop"
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
BUILD_FILES = ("pyproject.toml", "README.md", "LICENSE")


def build(folder: Path, kind: str, out: Path) -> Path:
    """One archive of the project in `folder`; setuptools is taken from this environment."""
    hook = f"from setuptools.build_meta import build_{kind}; build_{kind}({str(out)!r})"
    subprocess.run([sys.executable, "-c", hook], cwd=folder, check=True, capture_output=True)
    return next(out.iterdir())


@pytest.fixture(scope="module")
def archive(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The source archive, built from links, so that nothing is written into the working tree."""
    folder = tmp_path_factory.mktemp("project")
    for name in BUILD_FILES:
        (folder / name).symlink_to(ROOT / name)
    (folder / "src").mkdir()
    (folder / "src" / "laserloop").symlink_to(SOURCE)
    return build(folder, "sdist", tmp_path_factory.mktemp("sdist"))


@pytest.fixture(scope="module")
def wheel(archive: Path, tmp_path_factory: pytest.TempPathFactory) -> set[str]:
    """What lies in the wheel that is built from the source archive alone."""
    folder = tmp_path_factory.mktemp("unpacked")
    with tarfile.open(archive) as packed:
        packed.extractall(folder, filter="data")
    built = build(next(folder.iterdir()), "wheel", tmp_path_factory.mktemp("wheel"))
    with zipfile.ZipFile(built) as packed:
        return set(packed.namelist())


def test_the_wheel_holds_every_file_of_the_package(wheel: set[str]) -> None:
    here = {f"laserloop/{file.relative_to(SOURCE)}" for file in SOURCE.rglob("*") if file.is_file()}
    wanted = {name for name in here if "__pycache__" not in name}
    assert wanted - wheel == set()


@pytest.mark.parametrize(
    "pattern",
    [
        r"predict/models/[\w-]+/weights\.safetensors",
        r"predict/models/[\w-]+/model\.json",
        r"native/c/laserloop\.c",
        r"control/gains/\w+\.json",
        r"process/alloys/\w+\.yaml",
        r"report/\w+\.html",
        r"py\.typed",
    ],
)
def test_the_wheel_holds_the_data_that_runs_need(pattern: str, wheel: set[str]) -> None:
    assert any(re.fullmatch(f"laserloop/{pattern}", name) for name in wheel)


def test_the_wheel_holds_nothing_else(wheel: set[str]) -> None:
    assert {name.split("/")[0].split("-")[0] for name in wheel} == {"laserloop"}


def test_the_version_is_said_in_one_place() -> None:
    assert PROJECT["version"] == version("laserloop") == getattr(laserloop, "__version__")  # noqa: B009
    said = [file for file in SOURCE.rglob("*.py") if f'"{PROJECT["version"]}"' in file.read_text("utf-8")]
    assert said == []


def test_changelog_and_citation_are_of_this_version() -> None:
    changelog = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    newest = re.search(r"^## (\S+)", changelog, re.MULTILINE)
    assert newest is not None
    assert newest[1] == PROJECT["version"]
    cited = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    assert (cited["version"], cited["license"]) == (PROJECT["version"], PROJECT["license"])


def read_pins(name: str) -> dict[str, Version]:
    lines = (ROOT / name).read_text(encoding="utf-8").splitlines()
    pins = (line.split("==") for line in lines if not line.startswith("#"))
    return {name.lower().replace("_", "-"): Version(pinned) for name, pinned in pins}


def requirements(*extras: str) -> list[Requirement]:
    lines = [
        *PROJECT["dependencies"],
        *(x for extra in extras for x in PROJECT["optional-dependencies"][extra]),
    ]
    found = [Requirement(line) for line in lines]
    return [requirement for requirement in found if requirement.name != "laserloop"]


@pytest.mark.parametrize(
    ("file", "extras"),
    [
        ("constraints.txt", ("data", "train", "logs", "gym", "docs", "dev")),
        ("constraints-oldest.txt", ("data",)),
    ],
)
def test_every_requirement_is_pinned_inside_its_range(file: str, extras: tuple[str, ...]) -> None:
    pins = read_pins(file)
    for requirement in requirements(*extras):
        assert pins[requirement.name.lower()] in requirement.specifier, requirement


def test_the_oldest_pins_are_the_lower_bounds() -> None:
    pins = read_pins("constraints-oldest.txt")
    for requirement in requirements("data"):
        (bound,) = requirement.specifier
        assert (
            pins[requirement.name].release[: len(Version(bound.version).release)]
            == Version(bound.version).release
        )


def test_pins_are_plain_versions_that_any_index_has() -> None:
    for file in ("constraints.txt", "constraints-oldest.txt"):
        text = (ROOT / file).read_text(encoding="utf-8")
        assert re.search(r"\+|://|@|--", text) is None
