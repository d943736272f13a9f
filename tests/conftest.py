"""Tools beside Python: a test that needs one says so, and the end says what to install."""

import importlib.util
import os
import re
import sys
from collections.abc import Generator
from pathlib import Path
from types import ModuleType

import pytest

MISSING = "this test needs "
NO_COMPILER = re.compile(r"C compiler was found|needs a C compiler")  # as the package refuses

sys.path.append(str(Path(__file__).parent.parent / "benchmarks"))  # those that tests try in small

# Before NumPy is imported: on small matrices, two workers' threads on two cores wait for each other.
assert "numpy" not in sys.modules
for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(name, "1")


def _load_packages() -> ModuleType:
    """The list of them, which `make test` and the CI install from."""
    if "packages_of_the_tests" in sys.modules:
        return sys.modules["packages_of_the_tests"]
    file = Path(__file__).parent.parent / ".ci" / "packages.py"
    spec = importlib.util.spec_from_file_location("packages_of_the_tests", file)
    assert spec is not None
    assert spec.loader is not None
    found = sys.modules["packages_of_the_tests"] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(found)
    return found


packages = _load_packages()


def need(*tools: str) -> None:
    """Skip the test where one of them is not on this machine."""
    for tool in tools:
        if not packages.has(tool):
            lack(tool)


def lack(tool: str) -> None:
    """Skip the test for want of it."""
    pytest.skip(f"{MISSING}{tool}")


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport() -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Whoever meets a refusal for want of a compiler, on a machine without one, is skipped as well."""
    report = yield
    if report.failed and NO_COMPILER.search(str(report.longrepr)) and not packages.has("cc"):
        file, line, _ = report.location
        report.outcome, report.longrepr = "skipped", (file, line or 0, f"Skipped: {MISSING}cc")
    return report


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> Generator[None]:
    """At the very end one sentence for all that was skipped for want of a tool."""
    yield
    reasons = [str(report.longrepr) for report in terminalreporter.stats.get("skipped", ())]
    strict = os.environ.get("CI") == "true"
    lacking = [tool for tool in packages.PACKAGES if any(f"{MISSING}{tool}'" in reason for reason in reasons)]
    if not lacking:
        if strict and reasons:
            terminalreporter.line(f"CI=true allows no test to be skipped, and {len(reasons)} were.")
        return
    count = sum(MISSING in reason for reason in reasons)
    what = f"{count} tests were" if count != 1 else "1 test was"
    fails = ", which CI=true does not allow" if strict else ""
    cure = packages.how_to_get(*lacking)
    terminalreporter.section("not tested here", sep="=")
    terminalreporter.line(f"{what} skipped for want of {', '.join(lacking)}{fails}; to run all: {cure}.")


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish(session: pytest.Session) -> None:
    """Where CI=true, nothing may be skipped."""
    terminal = session.config.pluginmanager.get_plugin("terminalreporter")
    skipped = terminal.stats.get("skipped") if terminal is not None else None
    if os.environ.get("CI") == "true" and skipped and session.exitstatus == pytest.ExitCode.OK:
        session.exitstatus = pytest.ExitCode.TESTS_FAILED
