"""Installs the built wheels into empty environments, oldest and newest, and runs them (make package-check).

python .ci/package_check.py out/dist               # all, minutes
python .ci/package_check.py out/dist newest        # those whose title has this word
"""

import os
import shutil
import subprocess
import sys
import time
from pathlib import Path
from tempfile import TemporaryDirectory

ROOT = Path(__file__).parents[1]
PYTHONS = ("3.11", "3.12", "3.13", "3.14")  # looked for by name and, if it is there, among pyenv's
COMMANDS = (
    "laserloop --version",
    "laserloop demo --out demo",
    "laserloop ensemble base --runs 2 --workers 2 --out data",
)


def find_pythons() -> dict[str, str]:
    """The interpreters of this machine, by version, that can make environments."""
    found = {}
    for version in PYTHONS:
        named = [path for path in (shutil.which(f"python{version}"),) if path]
        pyenv = sorted(map(str, Path.home().glob(f".pyenv/versions/{version}.*/bin/python")))
        for path in (*pyenv, *named):
            if (
                subprocess.run(
                    [path, "-c", "import ensurepip, venv"], capture_output=True, check=False
                ).returncode
                == 0
            ):
                found[version] = path
                break
    return found


def check(title: str, python: str, wheel: Path, constraints: str | None) -> bool:
    """Install and run; says how long both took. A platform wheel must do without a compiler."""
    with TemporaryDirectory() as folder:
        venv = Path(folder) / "venv"
        pins = [] if constraints is None else ["--constraint", str(ROOT / constraints)]
        environment = {
            **{
                name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "VIRTUAL_ENV")
            },
            "PATH": str(venv / "bin")
            if carries(wheel)
            else f"{venv / 'bin'}{os.pathsep}{os.environ['PATH']}",
            "XDG_CACHE_HOME": folder,
            "NUMBA_CACHE_DIR": f"{folder}/numba",
        }
        began = time.monotonic()
        subprocess.run([python, "-m", "venv", str(venv)], check=True)
        install = [str(venv / "bin" / "pip"), "install", "--quiet", f"{wheel}[data]", *pins]
        steps = [install, *(command.split() for command in COMMANDS)]
        for step in steps:
            done = subprocess.run(
                step, cwd=folder, env=environment, capture_output=True, text=True, check=False
            )
            if done.returncode:
                print(f"FAILED  {title}: {' '.join(step)}\n{done.stdout}{done.stderr}")
                return False
            if carries(wheel) and "in NumPy" in done.stdout + done.stderr:
                print(f"FAILED  {title}: {' '.join(step)} found no compiled controller\n{done.stderr}")
                return False
            if step[-1] == "--version":
                print(f"{title}\n{done.stdout.rstrip()}")
            if step is install:
                installed = time.monotonic() - began
        ran = time.monotonic() - began - installed
        print(f"passed  {title}: installed in {installed:.0f} s, run in {ran:.0f} s\n", flush=True)
    return True


def carries(wheel: Path) -> bool:
    """Are compiled controllers in it?"""
    return "-any" not in wheel.name


def find_wheels(kind: str) -> list[Path]:
    """The newest of a kind, if there is one."""
    found = Path(sys.argv[1]).resolve().glob(f"laserloop-*-{kind}*.whl")
    return sorted(found, key=lambda file: file.stat().st_mtime)[-1:]


def main() -> int:
    """The oldest Python with the oldest versions, with the pinned ones, and the newest with the newest."""
    (pure,), compiled = find_wheels("any"), find_wheels("manylinux")
    pythons = find_pythons()
    oldest, newest = min(pythons, key=PYTHONS.index), max(pythons, key=PYTHONS.index)
    plans = [
        (f"Python {oldest}, oldest versions", oldest, pure, "constraints-oldest.txt"),
        *((f"Python {version}, pinned versions", version, pure, "constraints.txt") for version in pythons),
        (f"Python {newest}, newest versions", newest, pure, None),
        *(
            (f"Python {newest}, platform wheel without a compiler", newest, wheel, "constraints.txt")
            for wheel in compiled
        ),
    ]
    wanted = [plan for plan in plans if all(word in plan[0] for word in sys.argv[2:])]
    results = [check(title, pythons[version], wheel, pins) for title, version, wheel, pins in wanted]
    print(f"{sum(results)} passed, {len(results) - sum(results)} failed")
    return 0 if all(results) else 1


if __name__ == "__main__":
    sys.exit(main())
