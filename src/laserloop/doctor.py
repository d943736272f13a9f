"""What works here and what does not: each check is a sentence, and says what would help."""

import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from time import perf_counter

EXTRAS = {
    "data": (
        "dask, distributed and zarr",
        ("dask", "distributed", "zarr"),
        "ensembles, and dask clusters",
    ),
    "train": ("PyTorch", ("torch",), "training of networks"),
    "logs": ("h5py and PyArrow", ("h5py", "pyarrow"), "logs in HDF5 and tables in Parquet"),
    "gym": ("Gymnasium", ("gymnasium",), "environments for learners"),
}
TICKS = 60  # of the self-test
HELD = 5.0  # K from the middle of the window that the twin keeps on the diagonal; it keeps ±2


@dataclass(frozen=True, slots=True)
class _Check:
    """One thing that was looked at."""

    what: str
    found: str  # a sentence without its full stop
    state: str = "ok"  # ok, missing (something is not possible or slower), or failed


def examine() -> Iterator[_Check]:
    """All checks, the slow ones last."""
    yield from look_for_extras()
    yield look_for_compiler()
    yield from _look_at_caches()
    yield _attempt("plant", try_plant)
    yield _attempt("loop", try_loop)


def look_for_extras() -> Iterator[_Check]:
    """Which optional parts are installed."""
    for extra, (names, modules, use) in EXTRAS.items():
        if all(find_spec(module) is not None for module in modules):
            yield _Check(f"extra {extra}", f"installed: {names}, for {use}")
        else:
            cure = f"not installed, so no {use}; pip install 'laserloop[{extra}]'"
            yield _Check(f"extra {extra}", cure, "missing")


def look_for_compiler() -> _Check:
    """Without one everything works, more slowly."""
    from laserloop.native.build import NoCompiler, find_compiler, load_library
    from laserloop.native.twin import came_compiled

    try:
        load_library({"doctor.c": "int doctor(void);\nint doctor(void) { return 1; }\n"}, "doctor.c")
        return _Check("C compiler", f"{find_compiler()} builds the fast controllers")
    except NoCompiler as missing:
        if came_compiled():
            return _Check(
                "C compiler", f"{missing}; the controllers that came compiled with the package are used"
            )
        cure = "controllers run in NumPy, about 100 times slower; install gcc or clang"
        return _Check("C compiler", f"{missing}; {cure}", "missing")


def _look_at_caches() -> Iterator[_Check]:
    """Where compiled code is kept, so that only the first start is slow."""
    from laserloop.native.build import find_cache

    package = Path(__file__).parent
    kernels = Path(os.environ.get("NUMBA_CACHE_DIR") or package / "plant" / "__pycache__")
    for what, folder in (("compiled controllers", find_cache()), ("compiled kernels", kernels)):
        files = [file for file in folder.glob("**/*") if file.is_file()] if folder.is_dir() else []
        size = sum(file.stat().st_size for file in files) / 1e6
        place = next(parent for parent in (folder, *folder.parents) if parent.exists())
        if os.access(place, os.W_OK):
            yield _Check(what, f"{len(files)} files, {size:.1f} MB in {folder}")
        else:
            yield _Check(what, f"{folder} cannot be written, so every start compiles anew", "missing")


def _attempt(what: str, test: Callable[[], str]) -> _Check:
    """A test that may fail in any way."""
    began = perf_counter()
    try:
        sentence = test()
    except Exception as error:  # whatever is broken here is what a doctor has to tell
        return _Check(what, f"{type(error).__name__}: {error}", "failed")
    return _Check(what, f"{sentence} ({perf_counter() - began:.1f} s)")


def try_plant() -> str:
    """Some ticks of the converged plant, and its heat balance."""
    from laserloop.paths import find_path
    from laserloop.plant import make_plant
    from laserloop.process import Process

    path = find_path("diagonal", ticks=TICKS)
    plant = make_plant("graded", Process())
    for k in range(TICKS):
        surface = plant.step(10.0, path.spot(k))
    hottest = plant.t_max(surface).temperature
    if not 600.0 < hottest < 1000.0:
        raise ArithmeticError(f"10 W must heat 304 steel to about 750 K, but gave {hottest:.0f} K")
    return f"{TICKS} ticks at 10 W end at {hottest:.1f} K"


def try_loop() -> str:
    """The twin holds its window on them."""
    from laserloop.loop.scenario import Scenario, prepare

    run = prepare(Scenario(path="diagonal", plant="graded", controller="twin", ticks=TICKS)).run()
    below = run.counted.below
    low, high = float(run.t_max[below].min()), float(run.t_max[run.lit].max())
    middle = 0.5 * sum(run.process.window)
    if not middle - HELD < low <= high < middle + HELD:
        raise ArithmeticError(
            f"the twin must hold {middle:g} ± {HELD:g} K, but held {low:.1f} to {high:.1f} K"
        )
    return f"the twin holds {low:.1f} to {high:.1f} K over {below.sum()} ticks"
