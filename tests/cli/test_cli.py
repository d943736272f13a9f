import json
import os
import platform
import re
import subprocess
import sys
import types
from collections.abc import Iterator
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from cyclopts import App
from tests.conftest import need

from laserloop.bench import NAMES
from laserloop.cli import app, main
from laserloop.cli.output import name_command
from laserloop.data import episode
from laserloop.native.build import NoCompiler, find_compiler
from laserloop.process import Process
from laserloop.versions import find_versions

LISTS = ("t_s", "x_mm", "y_mm", "lit", "power_w", "t_max_k", "t_peak_k")
Capture = pytest.CaptureFixture[str]


def run_json(capsys: Capture, *options: str) -> dict[str, Any]:
    assert main(["simulate", *options, "--json", "-"]) == 0
    return dict(json.loads(capsys.readouterr().out))


@pytest.fixture(autouse=True)
def in_an_empty_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize("plant", ["paper", "graded"])
def test_json_holds_the_promised_lists(plant: str, capsys: Capture) -> None:
    data = run_json(capsys, "diagonal", "--ticks", "12", "--plant", plant)
    assert {len(data[name]) for name in LISTS} == {12}
    assert all(np.isfinite(data[name]).all() for name in LISTS)
    assert np.abs([data["x_mm"], data["y_mm"]]).max() <= 1.5
    assert data["t_s"] == pytest.approx(1.25e-4 * np.arange(1, 13))
    assert set(data["power_w"]) == {14.0}
    assert 700 < data["t_max_k"][-1] <= data["t_peak_k"][-1] < 950
    assert data["ms_per_step"] > 0
    assert all(data["lit"])
    assert Process.from_json(data["process"]) == Process()
    assert (data["version"], data["notes"]) == (version("laserloop"), [])


def test_options_reach_the_plant(capsys: Capture) -> None:
    data = run_json(
        capsys,
        *("horizontal", "--ticks", "4", "--power-w", "8", "--speed-mm-s", "500", "--tick-us", "100"),
        *("--material", "ti64", "--ambient-k", "400", "--sigma-um", "120", "--absorptivity", "0.5"),
        *("--plate-mm", "8,6,1"),
    )
    assert np.hypot(*np.diff([data["x_mm"], data["y_mm"]])) == pytest.approx(0.05)  # 500 mm/s · 100 µs
    process = data["process"]
    assert (process["ambient_k"], process["tick_us"], process["speed_mm_s"]) == pytest.approx((400, 100, 500))
    assert process["beam"] == pytest.approx({"sigma_um": 120, "absorptivity": 0.5})
    assert process["plate_mm"] == pytest.approx([8, 6, 1])
    assert data["energy_j"]["absorbed"] == pytest.approx(0.5 * 8 * 4e-4)
    assert "64" in process["material"]["name"]


def test_the_same_seed_gives_the_same_power(capsys: Capture) -> None:
    options = ("spiral", "--ticks", "6", "--excitation", "hf-random", "--seed")
    first, again, other = (run_json(capsys, *options, seed)["power_w"] for seed in ("7", "7", "8"))
    assert first == again != other
    assert 0 <= min(first) < max(first) <= 20


def test_a_file_of_waypoints_is_followed_to_its_end(tmp_path: Path, capsys: Capture) -> None:
    (tmp_path / "line.csv").write_text("x_mm,y_mm\n0,0\n0.38,0\n")  # ten ticks of 38 µm
    data = run_json(capsys, "line.csv", "--plant", "graded")
    assert len(data["t_s"]) == 10
    assert data["x_mm"][-1] == pytest.approx(0.38)


def test_people_get_a_table_and_exit_code_0_although_the_window_is_left(capsys: Capture) -> None:
    assert main(["simulate", "diagonal", "--ticks", "12", "--power-w", "30"]) == 0
    out, err = capsys.readouterr()
    shown = ("diagonal, 12 ticks", "graded", "constant 30 W", "above 800 K", "12 of 12 ticks", "absorbed")
    for words in shown:  # also the first ticks, which were too hot at once
        assert words in out
    assert err == ""


def test_files_are_written_where_asked_and_nowhere_else(tmp_path: Path, capsys: Capture) -> None:
    assert main(["simulate", "spiral", "--ticks", "3", "--json", "a/b.json", "--plot", "c/d.png"]) == 0
    files = {str(file.relative_to(tmp_path)) for file in tmp_path.rglob("*") if file.is_file()}
    assert files == {"a/b.json", "c/d.png"}
    assert len(json.loads((tmp_path / "a/b.json").read_text())["t_s"]) == 3
    assert "spiral, 3 ticks" in capsys.readouterr().out


def test_without_options_nothing_is_written(tmp_path: Path) -> None:
    assert main(["simulate", "spiral", "--ticks", "2"]) == 0
    assert list(tmp_path.iterdir()) == []


def test_melting_is_noted_once_with_the_largest_excess(capsys: Capture) -> None:
    assert main(["simulate", "diagonal", "--ticks", "15", "--power-w", "60", "--json", "a.json"]) == 0
    highest = max(json.loads(Path("a.json").read_text())["t_max_k"])
    err = capsys.readouterr().err
    assert re.fullmatch(rf"laserloop: note: temperatures of {highest:.5g} K lie .*not modelled\.\n", err)


def test_leaving_the_materials_range_is_noted_once_with_the_largest_excess(capsys: Capture) -> None:
    Path("alloy.csv").write_text("T,k,rho,cp\n300,15,8000,480\n900,22,7800,560\n")
    options = ["--ticks", "15", "--power-w", "25", "--material", "alloy.csv", "--json", "a.json"]
    assert main(["simulate", "diagonal", *options]) == 0
    highest = max(json.loads(Path("a.json").read_text())["t_max_k"])
    assert highest > 900.0
    err = capsys.readouterr().err
    assert re.fullmatch(rf"laserloop: note: temperatures of {highest:.5g} K lie .*limit\.\n", err)


BAD = {  # what tests/cli/test_pins.py does not hold
    "--power-w": ("inf", "-1", "fourteen", ""),
    "--ticks": ("-3", "many", "99999999999"),
    "--speed-mm-s": ("fast",),
    "--plate-mm": ("15", "a,b,c", "-1,1,1"),
    "--excitation": ("noise",),
    "--json": ("",),
    "--plot": ("",),
}


@pytest.mark.parametrize(("option", "value"), [(option, value) for option in BAD for value in BAD[option]])
def test_a_bad_value_is_refused_with_one_sentence(option: str, value: str, capsys: Capture) -> None:
    code = main(["simulate", "diagonal", option, value])
    expect_one_sentence(code, capsys, option)


@pytest.mark.parametrize(
    ("tokens", "hint"),
    [
        (["simulate", "missing.csv"], "missing.csv"),
        (["simulate", "polyline:x"], "polyline:7"),
        (["simulate", "diagonal", "--material", "cheese"], "'cheese'"),
        (["simulate", "diagonal", "--material", "missing.yaml"], "missing.yaml"),
        (["simulate", "diagonal", "--excitation", "bang-bang", "--seed", "-1"], "--seed"),
        (["simulate", "diagonal", "--plate-mm", "1,1,1"], "1 × 1 mm plate"),
        (["simulate", "diagonal", "--plant", "paper", "--plate-mm", "900,900,9"], "at most 20000000 nodes"),
        (["control", "diagonal", "--plant", "paper", "--delay", "5"], "the model plans 5 ticks"),
        (["bench", "plant", "--steps", "0"], "--steps"),
        (["demo", "--out", "taken"], "--out"),
        (["simulate", "diagonal", "--json", "folder"], "--json"),
        (["simulate", "diagonal", "--json", "taken/a.json"], "--json"),
        (["simulate", "diagonal", "--plot", "taken/a.png"], "--plot"),
        (["simulate", "diagonal", "--ticks", "2", "--json", "/dev/full"], "--json"),
    ],
)
def test_bad_input_is_refused_with_one_sentence(tokens: list[str], hint: str, capsys: Capture) -> None:
    Path("taken").touch()
    Path("folder").mkdir()
    expect_one_sentence(main(tokens), capsys, hint)


def expect_one_sentence(code: int, capsys: Capture, hint: str) -> None:
    err = capsys.readouterr().err
    assert code == 2
    assert err.startswith("laserloop: ")
    assert err.endswith((".\n", "?\n"))
    assert err.count("\n") == 1
    assert hint in err


def test_an_unwritable_output_is_refused_before_the_work(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(episode, "simulate", lambda *_, **__: pytest.fail("worked in vain"))
    Path("taken").touch()
    assert main(["simulate", "diagonal", "--json", "taken/a.json"]) == 2


def test_ctrl_c_ends_with_one_line(capsys: Capture, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupt(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(episode, "simulate", interrupt)
    assert main(["simulate", "diagonal", "--json", "a.json"]) == 130
    how = "nothing was kept; with --out DIR the same command goes on where it stopped"
    assert capsys.readouterr().err == f"laserloop: interrupted; {how}.\n"
    assert not Path("a.json").exists()


def test_too_little_memory_is_one_sentence(capsys: Capture, monkeypatch: pytest.MonkeyPatch) -> None:
    def run_out(*_: object, **__: object) -> None:
        raise MemoryError

    monkeypatch.setattr("laserloop.cli.run.make_plant", run_out)
    expect_one_sentence(main(["simulate", "diagonal"]), capsys, "memory")


def test_the_demo_compares_four_controllers(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    need("cc")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("laserloop.cli.run.DEMO_TICKS", 60)  # past the first sharp turn
    monkeypatch.setenv("COLUMNS", "60")  # of a pipe, where a table stays whole
    assert main(["demo", "--out", "out/demo", "--json", "demo.json"]) == 0
    out, err = capsys.readouterr()
    assert err == ""  # no warning before the first result
    for word in ("physics twin", "PI", "constant power", "the paper's network, retrained", "800 K"):
        assert word in out
    assert "The publication reports for its own" in out
    assert {"\x1b", "…"} & set(out) == set()
    assert "laserloop view out/demo --open " in out
    assert out.endswith("Report: out/demo/index.html\n")
    runs = [json.loads((tmp_path / f"out/demo/run-{n}.json").read_text()) for n in (1, 2, 3, 4)]
    assert [run["n_over"] > 0 for run in runs] == [False, True, True, True]
    assert {run["plant"] for run in runs} == {"graded"}
    assert runs[3]["model"] == "graded-ms-deeponet"
    assert not any("was not made for" in note for run in runs for note in run["notes"])
    told = json.loads(Path("demo.json").read_text())
    assert (told["page"], told["runs"]) == ("out/demo/index.html", runs)
    assert told["conclusion"] in out
    assert main(["demo", "--out", "out/demo", "--json", "-"]) == 0
    assert json.loads(capsys.readouterr().out)["page"] == told["page"]  # and nothing else
    assert "<svg" in (tmp_path / "out/demo/index.html").read_text()


def test_next_commands_work_as_typed_from_the_folder_one_is_in(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    script = tmp_path / ".venv" / "bin" / "laserloop"
    script.parent.mkdir(parents=True)
    script.write_text("#!/bin/sh\n")
    script.chmod(0o755)
    monkeypatch.setattr(sys, "argv", [".venv/bin/laserloop", "demo"])
    monkeypatch.setenv("PATH", str(tmp_path))
    assert name_command() == ".venv/bin/laserloop"  # as make calls it
    monkeypatch.setenv("PATH", str(script.parent))
    assert name_command() == "laserloop"
    monkeypatch.setattr(sys, "argv", ["/x/laserloop/__main__.py", "demo"])
    monkeypatch.setattr(sys, "executable", str(script.with_name("python")))
    assert name_command() == ".venv/bin/python -m laserloop"


def test_the_bench_prints_its_numbers_and_writes_them(
    capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in NAMES:
        monkeypatch.setenv(name, "1")
    asked: dict[str, Any] = {}

    def measure(**options: Any) -> dict[str, Any]:
        asked.update(options)
        return {"ratio_scipy": 123.4, "paper_ms": 1.5}

    fake = types.SimpleNamespace(run_plant_bench=measure)
    monkeypatch.setitem(sys.modules, "laserloop.bench.plant", fake)
    assert main(["bench", "plant", "--steps", "9", "--json", "bench.json"]) == 0
    assert (asked["steps"], asked["reference_steps"]) == (9, 400)
    assert re.search(r"ratio_scipy +123\.4", capsys.readouterr().out)
    assert json.loads(Path("bench.json").read_text())["ratio_scipy"] == 123.4


@pytest.mark.skipif(sys.platform != "linux", reason="counts threads as Linux does")
def test_the_bench_of_the_plant_keeps_scipy_to_one_thread() -> None:
    probe = "from laserloop.bench import keep_to_one_thread; keep_to_one_thread(); "
    probe += "import os, numpy, scipy.sparse.linalg; a = numpy.ones((400, 400)); a @ a; "
    probe += "print(len(os.listdir('/proc/self/task')))"
    clean = {name: value for name, value in os.environ.items() if name not in NAMES}
    assert subprocess.check_output([sys.executable, "-c", probe], env=clean, text=True) == "1\n"


def find_verbs(group: App = app, path: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    yield path
    for name in group:
        if not name.startswith("-"):
            yield from find_verbs(group[name], (*path, name))


VERBS = sorted(find_verbs())


MORE = "\n=== next verb ===\n"


def read_helps(columns: int) -> dict[tuple[str, ...], str]:
    """What each verb says in a pipe of some width; in a process of its own, which asks for the width once."""
    code = f"from laserloop.cli import main\nfor verb in {VERBS}: main([*verb, '--help']); print({MORE!r})"
    environment = {**os.environ, "COLUMNS": str(columns)}
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, env=environment, check=True)
    return dict(zip(VERBS, done.stdout.decode().split(MORE), strict=False))


@pytest.fixture(scope="module")
def helps() -> dict[tuple[str, ...], str]:
    return read_helps(96)


@pytest.mark.parametrize("verb", VERBS, ids=" ".join)
def test_every_verb_has_help_with_examples_that_can_be_copied(
    verb: tuple[str, ...], helps: dict[tuple[str, ...], str]
) -> None:
    out = helps[verb]
    assert "Usage: laserloop" in out
    lines = out[out.index("For example:") :].splitlines()
    examples = [line.strip() for line in lines if re.match(r"\s+(laserloop|source) ", line)]
    assert any(" ".join(("laserloop", *verb)) in example for example in examples)
    for example in examples:  # none was broken into two lines, and every option in it exists
        tokens = re.sub(r"[>)].*", "", example.removeprefix("source <(")).split()[1:]
        command, _, unused = app.parse_known_args(tokens)[:3]
        assert callable(command)
        assert not unused, example


def launch(*tokens: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "laserloop", *tokens]
    return subprocess.run(command, capture_output=True, text=True, encoding="utf-8", timeout=120, check=False)


def test_the_program_says_what_its_results_depend_on() -> None:
    result = launch("--version")
    assert (result.returncode, result.stderr) == (0, "")
    said = dict(re.split(r"  +", line, maxsplit=1) for line in result.stdout.splitlines())
    assert said["laserloop"] == version("laserloop")
    assert said["Python"].startswith(platform.python_version())
    for package in ("numpy", "scipy", "numba", "llvmlite", "casadi", "torch", "dask", "zarr"):
        assert said[package] == version(package)
    assert said["processor"]


def test_the_compiler_that_is_named_is_the_one_that_is_used() -> None:
    try:
        command = find_compiler()
    except NoCompiler:
        assert find_versions()["C compiler"] == "none found"
        return
    told = subprocess.run([command, "--version"], capture_output=True, text=True, check=True).stdout
    assert find_versions()["C compiler"] == told.splitlines()[0]


def test_a_package_that_is_missing_is_said_to_be(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("laserloop.versions.PACKAGES", ("no-such-package",))
    monkeypatch.setattr("shutil.which", lambda _: None)
    found = find_versions()
    assert (found["no-such-package"], found["C compiler"]) == ("not installed", "none found")


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_shells_get_a_script_that_knows_every_verb(shell: str, capsys: Capture) -> None:
    assert main(["completion", shell]) == 0
    script = capsys.readouterr().out
    for verb in VERBS:
        assert all(word in script for word in verb)
    assert "--power-w" in script or "power-w" in script


def test_bash_completes_verbs_and_choices(capsys: Capture) -> None:
    need("bash")
    assert main(["completion", "bash"]) == 0
    script = capsys.readouterr().out
    assert complete(script, "laserloop", "sim") == {"simulate"}
    assert complete(script, "laserloop", "control", "diagonal", "--controller", "or") == {"oracle"}


def complete(script: str, *words: str) -> set[str]:
    """What bash offers for the last word."""
    ask = f"COMP_WORDS=({' '.join(words)}); COMP_CWORD={len(words) - 1}; _laserloop; echo ${{COMPREPLY[@]}}"
    command = ["bash", "-c", f"{script}\n{ask}"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return set(done.stdout.split())


def test_the_program_shows_help_without_loading_the_solver() -> None:
    probe = "import sys; from laserloop.cli import main; main(['--help']); print(sorted({'numba', 'scipy', "
    probe += "'matplotlib', 'numpy'} & set(sys.modules)), file=sys.stderr)"
    result = subprocess.run(
        [sys.executable, "-c", probe], capture_output=True, text=True, timeout=60, check=False
    )
    assert "simulate" in result.stdout
    assert result.stderr == "[]\n"


def test_the_program_refuses_a_bad_path_without_a_traceback() -> None:
    result = launch("simulate", "nowhere.csv")
    assert (result.returncode, result.stdout) == (2, "")
    assert result.stderr.startswith("laserloop: ")
    assert "Traceback" not in result.stderr


def test_the_program_prints_only_json_on_request() -> None:
    result = launch("simulate", "vertical", "--ticks", "2", "--json", "-")
    assert (result.returncode, result.stderr) == (0, "")
    assert len(json.loads(result.stdout)["t_max_k"]) == 2
