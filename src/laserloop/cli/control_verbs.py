"""The verbs of the control half: close the loop, calibrate a margin, export the controller, time it."""

import sys
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from cyclopts import Parameter, Token

from laserloop.bad_input import BadInput
from laserloop.cli.options import PathOptions, PlantOptions, take_file, take_number
from laserloop.cli.output import Json, check_output, publish, writing

if TYPE_CHECKING:
    from laserloop.control.gains import Gains
    from laserloop.control.problem import MpcProblem
    from laserloop.paths import ScanPath
    from laserloop.predict.networks import Model
    from laserloop.process import CameraSettings

DEFAULT_TICKS = 320
BEST_MODEL = "paper-corner"
SPEED_RANGE = 1.25  # times slower or faster than what a model learned, until it is said


def _convert_window(_: type, tokens: Sequence[Token]) -> tuple[float, ...]:
    try:
        ends = tuple(float(end) for end in tokens[0].value.split(","))
    except ValueError:
        ends = ()
    if len(ends) != 2 or not 1 <= ends[0] < ends[1] <= 1e4:
        raise BadInput(
            f"{tokens[0].keyword} must be two temperatures from 1 to 10000 K, low before high, such as "
            f"760,800, but got {tokens[0].value[:40]!r}"
        )
    return ends


@Parameter(name="*", group="Window")
@dataclass(frozen=True, kw_only=True)
class WindowOptions:
    """Where the peak temperature is wanted, and what the laser can give."""

    window_k: Annotated[
        tuple[float, float],
        Parameter(
            converter=_convert_window,
            n_tokens=1,
            negative="",
            metavar="LOW,HIGH",
            help="Process window in K: soft below, hard above.",
            show_default=lambda ends: ",".join(f"{end:g}" for end in ends),
        ),
    ] = (760.0, 800.0)
    power_max_w: Annotated[float, take_number(1e-3, 1e4, "W", "What the laser can give in W.")] = 20.0
    delta_k: Annotated[
        float | None,
        take_number(
            0.0,
            1e3,
            "K",
            "Margin below the window's top in K; 0 switches it off.",
            default="as calibrated for the model",
        ),
    ] = None
    tracking: Annotated[
        float, take_number(0.0, 1e6, "", "Price of leaving the window's middle; 0 as in the paper.")
    ] = 0.0

    def make(self, model: "Model | None") -> "MpcProblem":
        """The problem for a model's horizon, with its own margin unless one was given."""
        from laserloop.control.problem import MpcProblem
        from laserloop.loop.case import calibrated_margin

        margin = self.delta_k
        if margin is None:
            margin = 0.0 if model is None else calibrated_margin(model) or 0.0
        problem = MpcProblem(
            window=self.window_k,
            power=(0.0, self.power_max_w),
            margin_above=margin,
            tracking_cost=self.tracking,
        )
        return problem if model is None else replace(problem, horizon=model.architecture.horizon)


@Parameter(name="*", group="Camera")
@dataclass(frozen=True, kw_only=True)
class CameraOptions:
    """How good the camera is; by default it sees every node at once and exactly."""

    noise_k: Annotated[float, take_number(0.0, 1e3, "K", "Spread of the noise in each pixel in K.")] = 0.0
    delay: Annotated[int, take_number(0, 9, "ticks", "Ticks until an image arrives.")] = 0
    every: Annotated[int, take_number(1, 9, "ticks", "An image only every so many ticks.")] = 1
    pixel_um: Annotated[
        float | None, take_number(1.0, 1e4, "µm", "Edge of a pixel on the plate in µm.", default="the grid's")
    ] = None
    seed: Annotated[int, take_number(0, 2**32 - 1, "", "Of the noise.")] = 0

    def change(self, settings: "CameraSettings") -> "CameraSettings":
        """A camera's settings with these changes."""
        pixel = None if self.pixel_um is None else self.pixel_um / 1e6
        return replace(settings, noise=self.noise_k, delay=self.delay, pixel=pixel, seed=self.seed)


def control(
    path: Annotated[
        str,
        Parameter(
            help="vertical, horizontal, spiral, diagonal, polyline:SEED, or a .csv file of x_mm,y_mm, a "
            ".gcode, .cli or .txt file."
        ),
    ],
    /,
    way: PathOptions | None = None,
    wish: WindowOptions | None = None,
    target: PlantOptions | None = None,
    eye: CameraOptions | None = None,
    *,
    controller: Annotated[
        Literal["realtime", "ipopt", "pi", "constant", "feedforward", "oracle"],
        Parameter(
            help="The compiled MPC, the paper's with IPOPT, the loops without a model, or one that plans on "
            "the plant itself."
        ),
    ] = "realtime",
    model: Annotated[
        str | None,
        Parameter(help="A shipped model or a folder.", show_default=lambda _: BEST_MODEL),
    ] = None,
    graph: Annotated[
        Literal["folded", "plain"], Parameter(help="Of ipopt: contracted once a tick, or as in the paper.")
    ] = "folded",
    json_file: Json = None,
    plot: Annotated[
        Path | None, take_file("Draw prediction, truth, power and window over time; .png, .svg or .pdf.")
    ] = None,
    map_file: Annotated[
        Path | None,
        take_file("Draw where along the path the prediction was wrong; .png, .svg or .pdf."),
        Parameter(name="--map"),
    ] = None,
) -> None:
    """Keep the peak temperature in its window along a path, and score how well that went.

    For example:

        laserloop control diagonal --json run.json --plot run.png
        laserloop control spiral --controller ipopt --model paper-base --delta-k 0
        laserloop control my.csv --plant graded --controller pi --window-k 860,900
    """
    from laserloop.report.run_tables import tabulate_run

    check_output("--json", json_file)
    for option, file in (("--plot", plot), ("--map", map_file)):
        check_output(option, file)
    record = close_loop(
        path, controller, model=model, graph=graph, way=way, wish=wish, target=target, eye=eye
    )
    _draw(record, plot, map_file)
    publish(record, json_file, tabulate_run(record))


def close_loop(
    path: str,
    controller: str,
    *,
    model: str | None = None,
    graph: str = "folded",
    way: PathOptions | None = None,
    wish: WindowOptions | None = None,
    target: PlantOptions | None = None,
    eye: CameraOptions | None = None,
) -> dict[str, Any]:
    """The record of one run, with a progress bar; whatever is not given is the best that ships."""
    from laserloop.loop import case as closed_loop
    from laserloop.loop.controllers import WITH_MODEL
    from laserloop.loop.faults import slow_down
    from laserloop.paths import names_file
    from laserloop.predict.networks import find_model
    from laserloop.report.terminal import show_progress

    way, wish = way or PathOptions(), wish or WindowOptions()
    target, eye = target or PlantOptions(), eye or CameraOptions()
    if model is not None and controller not in WITH_MODEL:
        raise BadInput(
            f"--model belongs to {' and '.join(WITH_MODEL)}, but the controller is {controller}; leave it out"
        )
    name = (model or BEST_MODEL) if controller in WITH_MODEL else None
    found = None if name is None else find_model(name)
    if found is not None and eye.delay >= found.architecture.horizon:
        raise BadInput(
            f"a plan must outlast the delay, but the model plans {found.architecture.horizon} ticks and the "
            f"image comes after {eye.delay}: take a shorter --delay or a model of a longer horizon"
        )
    if way.ticks is None and not names_file(path):
        way = replace(way, ticks=DEFAULT_TICKS)
    scan = way.find(path, target.plate_mm)
    problem = wish.make(found)
    gains = _find_gains(controller, scan, problem, target)
    plant = target.make(scan)
    if found is not None:
        _warn_of_strangers(found, name or "", target, scan)
    with show_progress(f"{controller} on {path}") as progress:
        run = closed_loop.control(
            plant,
            scan,
            controller,
            problem,
            model=found,
            gains=gains,
            camera=eye.change(closed_loop.choose_camera(plant, found)),
            disturb=slow_down(eye.every) if eye.every > 1 else None,
            options={"graph": graph},
            progress=progress,
        )
    return closed_loop.record(run, problem, model=name)


def _warn_of_strangers(model: "Model", name: str, target: PlantOptions, scan: "ScanPath") -> None:
    """Say it when a model has never seen such a plant or such a speed."""
    import numpy as np

    speed = float(np.median(np.hypot(*scan.velocities.T)))
    usual = model.provenance.get("data", {}).get("ensemble", {}).get("speed_m_s", speed)
    if not usual / SPEED_RANGE <= speed <= usual * SPEED_RANGE:
        print(
            f"laserloop: note: {name} was trained at {1e3 * usual:.0f} mm/s, but the path runs at "
            f"{1e3 * speed:.0f} mm/s; there it guesses.",
            file=sys.stderr,
        )
    learned = model.provenance.get("data", {}).get("ensemble", {}).get("plant", target.plant)
    if replace(target, plant=learned) != PlantOptions(plant=learned) or learned != target.plant:
        print(
            f"laserloop: note: {name} was trained on the {learned} plant of 304 steel as it comes; "
            "on another one it guesses.",
            file=sys.stderr,
        )


def _find_gains(
    controller: str, scan: "ScanPath", problem: "MpcProblem", target: PlantOptions
) -> "Gains | None":
    """Shipped gains where they were tuned for just this, otherwise tuned now."""
    from laserloop.control.gains import find_gains
    from laserloop.control.problem import MpcProblem
    from laserloop.loop.case import tune_for
    from laserloop.loop.controllers import WITH_GAINS
    from laserloop.report.terminal import show_progress

    if controller not in WITH_GAINS:
        return None
    usual = MpcProblem()
    same_problem = (problem.window, problem.power) == (usual.window, usual.power)
    if same_problem and replace(target, plant="paper") == PlantOptions() and scan.tick == 1.25e-4:
        return find_gains(target.plant)
    print(
        "laserloop: note: nobody tuned for this plant and window yet; tuning takes minutes.", file=sys.stderr
    )
    with show_progress("tuning on the training paths") as progress:
        return tune_for(target.plant, scan, problem, progress=progress, **target.describe())


def _draw(record: dict[str, Any], plot: Path | None, map_file: Path | None) -> None:
    from laserloop.report.run_figures import draw_residual_map, draw_run
    from laserloop.report.save import save_figure

    for option, file, draw in (("--plot", plot, draw_run), ("--map", map_file, draw_residual_map)):
        if file is not None:
            with writing(option):
                save_figure(file, draw(record))


def calibrate(
    model: Annotated[str, Parameter(help="A shipped model's name, or the folder of one.")],
    /,
    *,
    data: Annotated[Path, take_file("Folder of the episodes that the model was trained on.", metavar="DIR")],
    quantile: Annotated[
        float, take_number(0.01, 0.9999, "", "Share of the errors that the margin covers.")
    ] = 0.95,
    keep: Annotated[
        bool,
        Parameter(help="Also write the margin into the model's folder, for control to use.", negative=""),
    ] = False,
    json_file: Json = None,
) -> None:
    """Find the margin δ that covers a model's under-prediction one tick ahead on held-out windows.

    For example:

        laserloop calibrate models/mine --data data/corner --keep
    """
    from laserloop.evaluation.calibration import calibrate as find_margin
    from laserloop.predict.networks import find_model, save_model, shipped_models
    from laserloop.report.tables import tabulate_numbers

    check_output("--json", json_file)
    if keep and model in shipped_models():
        raise BadInput(f"--keep needs a model's folder, but {model} is shipped with its margin; leave it out")
    found = find_model(model)
    numbers = find_margin(found, data, quantile=quantile)
    if keep:
        found.provenance["calibration"] = numbers
        with writing("the model's folder"):
            save_model(found, Path(model))
    shown = {name: value for name, value in numbers.items() if not isinstance(value, dict)}
    publish({"model": model} | numbers, json_file, tabulate_numbers(shown))


def export(
    model: Annotated[str, Parameter(help="A shipped model's name, or the folder of one.")],
    /,
    wish: WindowOptions | None = None,
    *,
    out: Annotated[
        Path, take_file("Folder of the C source, its header, test vectors and guide.", metavar="DIR")
    ],
    dtype: Annotated[
        Literal["float32", "float64"], Parameter(help="Numbers of the network; single is faster.")
    ] = "float32",
    json_file: Json = None,
) -> None:
    """Write the controller as one dependency-free C99 source that runs inside a tick.

    For example:

        laserloop export paper-corner --out firmware
        laserloop export models/mine --window-k 860,900 --dtype float64 --out firmware
    """
    from laserloop.control.export import export_c
    from laserloop.predict.networks import find_model
    from laserloop.report.tables import tabulate_numbers

    check_output("--json", json_file)
    found = find_model(model)
    problem = (wish or WindowOptions()).make(found)
    with writing("--out"):
        files = export_c(found, problem, out, dtype=dtype)
    numbers = {
        "model": model,
        "dtype": dtype,
        "delta_k": problem.margin_above,
        "window_k": list(problem.window),
    }
    sizes = {file.name: file.stat().st_size for file in files}
    shown = {name: f"{size} bytes" for name, size in sizes.items()}
    publish({**numbers, "files": sizes}, json_file, tabulate_numbers(shown))


def bench_mpc(
    *,
    problems: Annotated[int, take_number(2, 100_000, "", "Problems, half of them from closed loops.")] = 600,
    model: Annotated[str, Parameter(help="A shipped model's name, or the folder of one.")] = BEST_MODEL,
    seed: Annotated[int, take_number(0, 2**32 - 1, "", "Of the random half.")] = 0,
    json_file: Json = None,
) -> None:
    """Time one tick of the paper's IPOPT, of ours and of the compiled solvers on the same problems.

    For example:

        laserloop bench mpc --json out/bench_mpc.json
    """
    from laserloop.bench.mpc import run_mpc_bench
    from laserloop.report.tables import tabulate_numbers
    from laserloop.report.terminal import show_progress

    check_output("--json", json_file)
    with show_progress("problems") as progress:
        numbers = run_mpc_bench(problems=problems, model=model, seed=seed, progress=progress)
    publish(numbers, json_file, tabulate_numbers(_flatten(numbers)))


def _flatten(numbers: dict[str, Any], prefix: str = "") -> dict[str, Any]:
    """Nested numbers side by side."""
    flat: dict[str, Any] = {}
    for name, value in numbers.items():
        if isinstance(value, dict):
            flat |= _flatten(value, f"{prefix}{name}.")
        else:
            flat[prefix + name] = value
    return flat
