"""What the tests use besides Python; run as a script it gets what is missing, where it can.

python .ci/packages.py              # says what it could not get, and ends well: those tests are skipped
CI=true python .ci/packages.py      # ends badly instead
"""

import os
import shutil
import subprocess
import sys
from pathlib import Path

BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")
MACOS = ("Google Chrome", "Chromium")
PACKAGES = {  # tool → packages of Debian and Ubuntu
    "make": ("make",),
    "bash": ("bash",),
    "cc": ("gcc", "libc6-dev"),
    "clang": ("clang", "libclang-rt-dev"),  # the second compiler, and its sanitizers
    "cmake": ("cmake",),
    "browser": ("chromium",),
}
OWN_BROWSER = "python -m playwright install chromium"


def find_browsers() -> list[str]:
    """Browsers of this machine that the viewer's tests can drive, of the package manager first."""
    named = [found for name in BROWSERS if (found := shutil.which(name))]
    apps = [Path(f"/Applications/{name}.app/Contents/MacOS/{name}") for name in MACOS]
    return [*dict.fromkeys(named), *(str(app) for app in apps if app.exists()), *_find_own()]


def _find_own() -> list[str]:
    """Playwright's own, where `playwright install` has put it; newest first."""
    home = Path.home()
    caches = [home / ".cache" / "ms-playwright", home / "Library" / "Caches" / "ms-playwright"]
    if given := os.environ.get("PLAYWRIGHT_BROWSERS_PATH"):
        caches = [Path(given)]
    kinds = ("chromium-*/chrome-*/chrome", "chromium-*/chrome-*/*.app/Contents/MacOS/*")
    shells = (
        "chromium_headless_shell-*/*/headless_shell",
        "chromium_headless_shell-*/*/*-headless-shell",
    )
    return [str(f) for cache in caches for kind in (*kinds, *shells) for f in sorted(cache.glob(kind))[::-1]]


def has(tool: str) -> bool:
    """Is it on this machine?"""
    return bool(find_browsers()) if tool == "browser" else shutil.which(tool) is not None


def how_to_get(*tools: str) -> str:
    """The command to type."""
    if shutil.which("apt-get"):
        return f"apt-get install {' '.join(package for tool in tools for package in PACKAGES[tool])}"
    programs = [tool for tool in tools if tool != "browser"]
    hints = [f"your package manager's {', '.join(programs)}"] if programs else []
    return " and ".join([*hints, *([f"`{OWN_BROWSER}`"] if "browser" in tools else [])])


def get(tools: list[str]) -> None:
    """By apt-get where that needs no password; a browser else from Playwright, into the home folder."""
    apt, as_root = shutil.which("apt-get"), [] if os.geteuid() == 0 else ["sudo", "--non-interactive"]
    if apt and (not as_root or shutil.which("sudo")):
        packages = [package for tool in tools for package in PACKAGES[tool]]
        install = [apt, "install", "-qq", "--no-install-recommends", *packages]
        if _run([*as_root, apt, "update", "-qq"]):
            _run([*as_root, "env", "DEBIAN_FRONTEND=noninteractive", *install])
    if "browser" in tools and not has("browser"):
        _run([sys.executable, "-m", "playwright", "install", "chromium"])


def _run(command: list[str]) -> bool:
    return subprocess.run(command, capture_output=True, check=False).returncode == 0


def main() -> int:
    """Get what is missing; one sentence for what cannot be got."""
    missing = [tool for tool in PACKAGES if not has(tool)]
    if missing:
        print(f"The tests also use {', '.join(missing)}: getting what is not here.", flush=True)
        get(missing)
    left = [tool for tool in missing if not has(tool)]
    if not left:
        return 0
    must = os.environ.get("CI") == "true"
    what = "install that and run this again" if must else "the tests that need that will be skipped"
    print(f"Could not get {', '.join(left)}: {what} ({how_to_get(*left)}).", file=sys.stderr)
    return int(must)


if __name__ == "__main__":
    sys.exit(main())
