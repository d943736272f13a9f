"""What a result depends on besides its settings: versions, the code, the C compiler and the processor."""

import hashlib
import os
import platform
import shutil
import subprocess
from collections.abc import Collection
from functools import cache
from pathlib import Path

PACKAGES = ("numpy", "scipy", "numba", "llvmlite", "casadi", "torch", "dask", "zarr")
STUDY = ("check", "claims", "contexts", "figures", "loop_claims", "offline_claims", "report", "results")
# Rooms that only show results, what does so in a study, and the study that names its own files for its runs.
SHOWING = {"cli", "live", "report", "arena", *(f"studies/halilovic/{name}.py" for name in STUDY)}
# In `predict`, what only some controllers need; they name their files themselves.
LEARNED = {
    *("networks.py", "model.py", "models", "training.py", "torch_training.py", "window.py"),
    *("sequence.py", "koopman.py", "correction.py", "oracle.py"),
}
# Of which a closed loop along a given path is made; where the path comes from is another matter.
LOOP = {"control", "loop", "native", "plant", "predict", "process", "quantity.py", "paths/path.py"}
SOURCES = (".py", ".c", ".h", ".json", ".yaml", ".csv")  # code, and the numbers it ships with
FEATURES = ("avx2", "fma", "avx512f", "asimd", "sve")  # that compiled arithmetic may use


def find_versions() -> dict[str, str]:
    """What is installed here, by name; read from metadata, nothing heavy is imported."""
    from importlib.metadata import PackageNotFoundError, version

    versions = {
        "laserloop": version("laserloop"),
        "Python": f"{platform.python_version()}, {platform.python_implementation()} "
        f"on {platform.system()} {platform.machine()}",
    }
    for package in PACKAGES:
        try:
            versions[package] = version(package)
        except PackageNotFoundError:
            versions[package] = "not installed"
    return versions | {"C compiler": _describe_compiler(), "processor": _describe_processor()}


def describe_versions() -> str:
    """One line for each."""
    versions = find_versions()
    width = max(map(len, versions))
    return "\n".join(f"{name:{width}}  {value}" for name, value in versions.items())


@cache
def hash_code() -> str:
    """The first 16 hex digits of the hash of the installed package, but for the rooms that only show."""
    return hash_source(Path(__file__).parent)


@cache
def hash_loop() -> str:
    """The same of what a closed loop along a given path depends on, but for what is in `LEARNED`."""
    return hash_source(Path(__file__).parent, only=LOOP, but=SHOWING | LEARNED)


def hash_source(root: Path, *, only: Collection[str] = (), but: Collection[str] = SHOWING) -> str:
    """The same of a package's folder, or of some of its rooms and files only."""
    digest = hashlib.sha256()
    for file in sorted(root.rglob("*")):
        place = file.relative_to(root)
        if only and place.parts[0] not in only and place.as_posix() not in only:
            continue
        if file.suffix in SOURCES and not {place.as_posix(), *place.parts}.intersection(but):
            digest.update(f"{place.as_posix()} {file.stat().st_size}\n".encode())
            digest.update(file.read_bytes())
    return digest.hexdigest()[:16]


def _describe_compiler() -> str:
    """The compiler that the exported controller would be built with here: $CC, cc, gcc or clang."""
    for name in (os.environ.get("CC"), "cc", "gcc", "clang"):
        command = shutil.which(name) if name else None
        if command is None:
            continue
        try:
            answer = subprocess.run(
                [command, "--version"], capture_output=True, text=True, timeout=10, check=False
            )
        except (OSError, subprocess.TimeoutExpired):
            return f"{command}, which does not run"
        return next(iter(answer.stdout.splitlines()), command)
    return "none found"


def _describe_processor() -> str:
    """Its name, and which of the features that matter it has."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        lines = []
    facts = {key.strip(): value.strip() for key, _, value in (line.partition(":") for line in lines)}
    flags = (facts.get("flags") or facts.get("Features") or "").split()
    name = facts.get("model name") or platform.processor() or "unknown"
    return ", ".join([name, *(feature for feature in FEATURES if feature in flags)])
