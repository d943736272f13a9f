"""The exported folder: compiles clean, answers its vectors under the sanitizers, and says what it is."""

import re
import subprocess
from dataclasses import replace
from importlib.metadata import version
from pathlib import Path

import numpy as np
import pytest
from tests.conftest import need

from laserloop.bad_input import BadInput
from laserloop.control.problem import MpcProblem, make_twin_problem
from laserloop.native import build, export_c, export_twin
from laserloop.native.export import hash_model
from laserloop.native.layout import read_source
from laserloop.predict.model import Model
from laserloop.process import Process

DOCUMENTED = ("-O2", "-march=native", "-ffp-contract=fast", "-fno-math-errno", "-fno-trapping-math")
STRICT = ("-std=c99", "-Wall", "-Wextra", "-Wpedantic", "-Werror", "-Wshadow", "-Wconversion")
SANITIZE = ("-g", "-O1", "-fsanitize=address,undefined,float-cast-overflow", "-fno-sanitize-recover=all")

Setup = tuple[Model, MpcProblem]


@pytest.fixture(scope="module", params=["float32", "float64"])
def folder(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory, model: Model) -> Path:
    out = tmp_path_factory.mktemp(request.param)
    export_c(model, MpcProblem(), out, dtype=request.param, name="paper-corner")
    return out


def compile_runner(cc: str, folder: Path, *flags: str) -> Path:
    program = folder / f"runner-{cc}"
    sources = [str(folder / "laserloop.c"), str(folder / "runner.c")]
    done = subprocess.run(
        [cc, *STRICT, *flags, "-o", str(program), *sources, "-lm"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert not done.stderr
    return program


def replay(program: Path, folder: Path) -> str:
    done = subprocess.run(
        [str(program), str(folder / "vectors.txt")], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_the_folder_compiles_without_a_warning_and_answers_its_vectors(compiler: str, folder: Path) -> None:
    assert "200 of 200 vectors passed" in replay(compile_runner(compiler, folder, "-O2"), folder)


def test_the_vectors_and_poisoned_inputs_are_clean_under_the_sanitizers(
    compiler: str, small: Setup, tmp_path: Path
) -> None:
    export_c(*small, tmp_path)
    assert "200 of 200 vectors passed" in replay(compile_runner(compiler, tmp_path, *SANITIZE), tmp_path)


@pytest.mark.parametrize(
    ("file", "line", "wrong"),
    [
        ("types.h", "#define MATCH 0.01 ", "#define MATCH 40.0 "),
        (
            "laserloop_network_config.h",
            "#define LASERLOOP_NETWORK_COLDEST 50.0",
            "#define LASERLOOP_NETWORK_COLDEST -1.0",
        ),
        ("controller.c", "return !rests && ", "return 0 && "),
        ("controller.c", "memcmp(in->temps, d->seen, sizeof in->temps) == 0", "0"),
    ],
    ids=["the answers", "zeros", "frozen images", "frozen images that follow the beam"],
)
def test_a_controller_that_answers_wrong_does_not_pass(
    compilers: list[str], small: Setup, tmp_path: Path, file: str, line: str, wrong: str
) -> None:
    export_c(*small, tmp_path)
    source = (tmp_path / file).read_text()
    assert source.count(line) == 1
    (tmp_path / file).write_text(source.replace(line, wrong))
    program = compile_runner(compilers[0], tmp_path)
    done = subprocess.run([str(program), str(tmp_path / "vectors.txt")], capture_output=True, check=False)
    assert done.returncode == 1


def test_the_folder_holds_the_very_files_that_this_process_runs(folder: Path) -> None:
    for part in (
        "laserloop.c",
        "types.h",
        "network.c",
        "working_set.c",
        "qp.c",
        "costs.c",
        "kinks.c",
        "sqp.c",
    ):
        assert (folder / part).read_text() == read_source(part)


@pytest.mark.parametrize("file", ["laserloop_network_config.h", "README.md"])
def test_an_export_says_where_it_comes_from_and_what_it_is_valid_for(
    folder: Path, model: Model, file: str
) -> None:
    text = (folder / file).read_text()
    facts = ("paper-corner", hash_model(model), f"laserloop {version('laserloop')}", "Tick 125 us")
    validity = ("paper plant", "304", "760 to 800 K", "304 mm/s", "-1.5 to 1.5 mm in x", "0 to 20 W")
    for fact in (*facts, *validity):
        assert fact in text
    assert "@" not in text


def test_another_model_has_another_hash(model: Model) -> None:
    weights = {**model.weights, "bias": model.weights["bias"] + np.float32(1e-3)}
    assert hash_model(replace(model, weights=weights)) != hash_model(model)


def test_cmake_builds_and_tests_the_folder(small: Setup, tmp_path: Path) -> None:
    need("cmake")
    export_c(*small, tmp_path)
    built = str(tmp_path / "build")
    for command in (
        ["cmake", "-S", str(tmp_path), "-B", built],
        ["cmake", "--build", built],
        ["ctest", "--test-dir", built],
    ):
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout + done.stderr


def test_a_model_with_broken_weights_is_not_exported(model: Model, tmp_path: Path) -> None:
    weights = {name: np.full_like(weight, np.nan) for name, weight in model.weights.items()}
    broken = Model(architecture=model.architecture, weights=weights, scalers=model.scalers)
    with pytest.raises(BadInput, match="not finite"):
        export_c(broken, MpcProblem(), tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_other_arithmetic_is_refused(model: Model, tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="float32"):
        export_c(model, MpcProblem(), tmp_path, dtype="float16")


def test_without_a_compiler_nothing_is_exported(
    small: Setup, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setenv("CC", "no-such-compiler")
    build.find_compiler.cache_clear()
    try:
        with pytest.raises(BadInput, match="needs a C compiler here"):
            export_c(*small, tmp_path / "out")
    finally:
        build.find_compiler.cache_clear()
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("name", ["README.md", "CMakeLists.txt", "vectors.txt", "qp.c"])
def test_an_export_replaces_an_earlier_one_but_nothing_else(small: Setup, tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_text("mine")
    with pytest.raises(BadInput, match="must not replace other files"):
        export_c(*small, tmp_path)
    assert [file.name for file in tmp_path.iterdir()] == [name]
    assert (tmp_path / name).read_text() == "mine"
    (tmp_path / name).unlink()
    export_c(*small, tmp_path)
    (tmp_path / name).write_text("older")
    export_c(*small, tmp_path)
    assert (tmp_path / name).read_text() != "older"


BOTH = """
#include "laserloop_network.h"
#include "laserloop_twin.h"

static struct laserloop_twin left, right;
static struct laserloop_network third;

int main()
{
    laserloop_twin_input in = {0};
    laserloop_network_input other = {0};
    if (laserloop_twin_init(&left) || laserloop_twin_init(&right) || laserloop_network_init(&third))
        return 1;
    if (laserloop_twin_begin(&left, 0.0, 0.0, 0.0) || laserloop_network_begin(&third))
        return 2;
    if (!(laserloop_twin_step(&left, &in, 0) > 0.0) || laserloop_twin_step(&right, &in, 0) != 0.0)
        return 3;
    return laserloop_network_step(&third, &other, 0) == LASERLOOP_NETWORK_POWER_LOW ? 0 : 4;
}
"""


@pytest.mark.parametrize("language", ["c99", "c++11"])
def test_both_exports_live_in_one_program_of_either_language(
    compiler: str, small: Setup, tmp_path: Path, language: str
) -> None:
    """Both headers in one file, two twins and a network: each has a handle of its own."""
    export_c(*small, tmp_path / "network")
    export_twin(Process(), make_twin_problem(MpcProblem()), tmp_path / "twin")
    main = tmp_path / "main.txt"
    main.write_text(BOTH.replace("{0}", "{}") if "+" in language else BOTH)
    objects = [str(tmp_path / f"{name}.o") for name in ("network", "twin", "main")]
    units = [tmp_path / "network" / "laserloop.c", tmp_path / "twin" / "twin.c", main]
    for unit, out, standard in zip(units, objects, ("c99", "c99", language), strict=True):
        kind = ["-x", "c++"] if "+" in standard else ["-x", "c"]
        headers = [f"-I{tmp_path / 'network'}", f"-I{tmp_path / 'twin'}"]
        command = [compiler, f"-std={standard}", "-O1", *kind, *headers, "-c", str(unit), "-o", out]
        done = subprocess.run([*command], capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
    program = str(tmp_path / "main")
    subprocess.run([compiler, *objects, "-o", program, "-lm"], check=True)
    assert subprocess.run([program], check=False).returncode == 0


def test_a_step_needs_at_most_4_kilobytes_of_stack(small: Setup, tmp_path: Path) -> None:
    """With the flags that the pages name, by gcc's own call graph; memcpy and its like not counted."""
    need("gcc")
    export_c(*small, tmp_path / "network")
    export_twin(Process(), make_twin_problem(MpcProblem()), tmp_path / "twin")
    for unit, step in (
        ("network/laserloop.c", "laserloop_network_step"),
        ("twin/twin.c", "laserloop_twin_step"),
    ):
        command = ["gcc", "-std=c99", *DOCUMENTED, "-fcallgraph-info=su", "-c", unit, "-o", "unit.o"]
        subprocess.run(command, cwd=tmp_path, check=True)
        graph = (tmp_path / "unit.ci").read_text()
        own = {
            name: int((re.findall(r"(\d+) bytes", label) or ["0"])[0])
            for name, label in re.findall(r'node: { title: "([^"]+)" label: "([^"]*)"', graph)
        }
        calls = re.findall(r'edge: { sourcename: "([^"]+)" targetname: "([^"]+)"', graph)

        def deepest(name: str, own: dict[str, int] = own, calls: list[tuple[str, str]] = calls) -> int:
            below = [deepest(callee) for caller, callee in calls if caller == name]
            return own.get(name, 0) + 8 + max(below, default=0)  # 8 of the call itself

        assert 1000 < deepest(step) <= 4096


COMMON = ("begin", "end", "faults", "init", "set_window", "size", "status", "step")


@pytest.mark.parametrize(
    ("kind", "more"), [("twin", ("measurement", "units")), ("network", ("image",))], ids=["twin", "network"]
)
def test_an_export_shows_its_own_functions_and_nothing_else(
    small: Setup, tmp_path: Path, kind: str, more: tuple[str, ...]
) -> None:
    """Names are a promise: whoever changes them raises the version in the header."""
    need("nm")
    if kind == "twin":
        export_twin(Process(), make_twin_problem(MpcProblem()), tmp_path)
    else:
        export_c(*small, tmp_path)
    unit = "twin.c" if kind == "twin" else "laserloop.c"
    subprocess.run(["cc", "-std=c99", "-O1", "-c", unit, "-o", "unit.o"], cwd=tmp_path, check=True)
    listed = subprocess.run(
        ["nm", "-P", "unit.o"], cwd=tmp_path, check=True, capture_output=True, text=True
    ).stdout
    symbols = [line.split()[:2] for line in listed.splitlines()]
    shown = {name for name, letter in symbols if letter.isupper() and letter != "U"}
    assert shown == {f"laserloop_{kind}_{name}" for name in (*COMMON, *more)}
    assert not [name for name, letter in symbols if letter in "bBcCD"]  # no memory but the handle
    wanted = {name for name, letter in symbols if letter == "U"}
    assert wanted <= {"memcpy", "memmove", "memset", "memcmp", "sqrt", "sqrtf"}
    assert f"#define LASERLOOP_{kind.upper()}_VERSION 2 " in (tmp_path / f"laserloop_{kind}.h").read_text()
