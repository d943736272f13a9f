"""However the program ends, it ends in one sentence."""

import os
import signal
import subprocess
import sys
import time
import warnings
from pathlib import Path

import pytest

from laserloop.cli import main
from laserloop.data.store import missing, open_store

LASERLOOP = (sys.executable, "-m", "laserloop")
PROGRAM = """
import signal

from laserloop.cli import main

if __name__ == "__main__":
    signal.signal(signal.SIGINT, signal.default_int_handler)  # jobs in the background begin deaf to it
    raise SystemExit(main({tokens}))
"""


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="this system has no full device")
@pytest.mark.parametrize("options", [(), ("--json", "-")], ids=["table", "json"])
def test_a_full_disk_behind_standard_output_is_one_sentence(options: tuple[str, ...]) -> None:
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(
            [*LASERLOOP, "simulate", "diagonal", "--ticks", "2", *options],
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )
    assert done.returncode == 2
    assert done.stderr.startswith("laserloop: standard output must be ")
    assert done.stderr.count("\n") == 1


def test_ctrl_c_with_workers_is_one_sentence(tmp_path: Path) -> None:
    """A terminal sends it to every process, the workers included."""
    store = tmp_path / "data"
    tokens = ["ensemble", "base", "--runs", "500", "--workers", "2", "--out", str(store)]
    (tmp_path / "program.py").write_text(PROGRAM.format(tokens=tokens))
    program = subprocess.Popen(
        [sys.executable, str(tmp_path / "program.py")],
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    while program.poll() is None and not _has_begun(store):
        time.sleep(0.5)
    os.killpg(program.pid, signal.SIGINT)
    told = program.communicate()[1]
    assert "Traceback" not in told
    assert told.endswith("laserloop: interrupted; the same command goes on where it stopped.\n")
    assert program.returncode == 130


def _has_begun(store: Path) -> bool:
    try:
        return len(missing(open_store(store), verify=False)) < 500
    except (OSError, ValueError, KeyError):
        return False


def test_a_warning_is_shown_as_a_sentence(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        "laserloop.live.server.open_server", lambda *_, **__: warnings.warn("it is late", stacklevel=1)
    )
    with warnings.catch_warnings():
        warnings.simplefilter("always")
        with pytest.raises(TypeError):  # what is opened is no viewer
            main(["view", "."])
    assert capsys.readouterr().err == "laserloop: note: it is late.\n"


@pytest.mark.parametrize(
    ("typed", "how"),
    [
        (
            ("simulate", "diagonal"),
            "nothing was kept; with --out DIR the same command goes on where it stopped",
        ),
        (("simulate", "diagonal", "--out", "here"), "the same command goes on where it stopped"),
        (("plan", "a.nc", "--out", "b.nc"), "nothing was kept; with --keep DIR the same command goes on"),
        (("plan", "a.nc", "--out", "b.nc", "--keep=here"), "the same command goes on where it stopped"),
        (("reproduce", "--quick"), "the same command goes on where it stopped"),
        (("control", "diagonal"), "nothing was kept, so the same command begins anew"),
    ],
    ids=lambda value: " ".join(value)[:40] if isinstance(value, tuple) else "",
)
def test_ctrl_c_says_how_to_go_on(
    typed: tuple[str, ...], how: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupt(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("cyclopts.App.__call__", interrupt)
    assert main(typed) == 130
    assert f"laserloop: interrupted; {how}" in capsys.readouterr().err


VERBS = {
    "simulate": ("diagonal",),
    "control": ("diagonal",),
    "check": ("paper",),
    "doctor": (),
    "demo": (),
    "arena": ("--quick",),
    "reproduce": ("--quick",),
    "report": ("here",),
    "calibrate": (),
    "replay": ("run.json",),
    "identify": ("run.json",),
    "plan": ("part.nc", "--out", "planned.nc"),
    "export": ("paper-base", "--out", "code"),
    "ensemble": ("base", "--out", "data"),
    "train": ("lstm", "--data", "data", "--out", "model"),
    "evaluate": ("paper-base",),
    "bench plant": (),
    "bench train": (),
    "bench mpc": (),
}


@pytest.mark.parametrize("verb", VERBS)
def test_results_that_cannot_be_written_are_refused_before_any_work(
    verb: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("occupied").write_text("a file, not a folder")
    for place in ("occupied/results.json", "/proc/results.json", "."):
        assert main([*verb.split(), *VERBS[verb], "--json", place]) == 2
        assert "--json must be writable, but" in capsys.readouterr().err
    assert [entry.name for entry in tmp_path.iterdir()] == ["occupied"]
