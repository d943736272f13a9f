"""The exported folder: compiles clean, answers its vectors under the sanitizers, and says what it is."""

import shutil
import subprocess
from dataclasses import replace
from importlib.metadata import version
from pathlib import Path

import numpy as np
import pytest

from laserloop.bad_input import BadInput
from laserloop.control.problem import MpcProblem
from laserloop.native import build, export_c
from laserloop.native.render import hash_model, read_source
from laserloop.predict.networks import Model

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


def test_the_folder_compiles_without_a_warning_and_answers_its_vectors(
    compilers: list[str], folder: Path
) -> None:
    for cc in compilers:
        assert "200 of 200 vectors passed" in replay(compile_runner(cc, folder, "-O2"), folder)


def test_the_vectors_and_poisoned_inputs_are_clean_under_the_sanitizers(
    compilers: list[str], small: Setup, tmp_path: Path
) -> None:
    export_c(*small, tmp_path)
    for cc in compilers:
        assert "200 of 200 vectors passed" in replay(compile_runner(cc, tmp_path, *SANITIZE), tmp_path)


@pytest.mark.parametrize(
    ("file", "line", "wrong"),
    [
        ("types.h", "#define MATCH 0.01 ", "#define MATCH 40.0 "),
        ("laserloop_config.h", "#define LASERLOOP_COLDEST 50.0", "#define LASERLOOP_COLDEST -1.0"),
        ("controller.c", "return !rests && ", "return 0 && "),
    ],
    ids=["the answers", "zeros", "frozen images"],
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


@pytest.mark.parametrize("file", ["laserloop_config.h", "README.md"])
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
    if shutil.which("cmake") is None:
        pytest.skip("no CMake on this machine")
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
