"""The verbs that learn: episodes, networks, their scores, and margins.

Each imports its room itself: some need extras, and none needs the others.
"""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from cyclopts import Parameter

from laserloop.bad_input import BadInput
from laserloop.cli.options import (
    SEED,
    LoopOptions,
    PlantName,
    ProcessName,
    ProcessOptions,
    Scheduler,
    Workers,
    flag,
    number,
    read_factors,
    several,
    take_file,
)
from laserloop.cli.output import Json, check_outputs, publish, write, writing
from laserloop.report.terminal import show_losses, show_progress

if TYPE_CHECKING:
    from laserloop.predict.networks import WindowNetwork

Trunk = Literal["temps", "loc", "both"]


def ensemble(
    kind: Annotated[
        str,
        Parameter(help="base (rasters, spirals), corner (random polylines too) or a .yaml file of settings."),
    ],
    /,
    *,
    out: Annotated[Path, take_file("Folder of the store; one that was begun is continued.", metavar="DIR")],
    runs: Annotated[int | None, number(1, 1_000_000, "", "Episodes in all.", default="320")] = None,
    seed: Annotated[int | None, number(*SEED, "The same seed gives the same bytes.", default="0")] = None,
    plant: Annotated[
        PlantName | None,
        Parameter(help="The paper's coarse grid, or a fine one.", show_default=lambda _: "paper"),
    ] = None,
    process: Annotated[ProcessName | None, Parameter(show_default=lambda _: "304")] = None,
    geometry: Annotated[
        Literal["fixed", "random"] | None,
        Parameter(
            help="Rasters and spirals: the named shapes themselves, or each different.",
            show_default=lambda _: "fixed",
        ),
    ] = None,
    workers: Workers = None,
    scheduler: Scheduler = None,
    json_file: Json = None,
) -> None:
    """Make the episodes that a surrogate learns from; stopped at any time, it goes on when called again.

    For example:

        laserloop ensemble corner --out data/corner
        laserloop ensemble base --runs 40 --workers 2 --out data/small
    """
    from laserloop.data import EnsembleSettings, read_settings, run_ensemble
    from laserloop.report.tables import tabulate_numbers

    content = {"kind": kind} if kind in ("base", "corner") else read_settings(kind)
    asked = {"runs": runs, "seed": seed, "plant": plant, "process": process, "geometry": geometry}
    settings = EnsembleSettings.from_json(content | {name: v for name, v in asked.items() if v is not None})
    with writing("--out"), show_progress(f"episodes of {settings.kind}") as progress:
        tally = run_ensemble(out, settings, workers=workers, scheduler=scheduler, progress=progress)
    numbers = tally.to_json()
    publish({"settings": settings.to_json()} | numbers, json_file, tabulate_numbers(numbers))


def train(
    architecture: Annotated[
        Literal["ms-deeponet", "ss-ar", "ss-ar-loc", "lstm"],
        Parameter(
            help="The paper's one-shot DeepONet, its single-step autoregressive kin, the same that also "
            "predicts where the peak is, or an LSTM."
        ),
    ],
    /,
    *,
    data: Annotated[Path, take_file("Folder that laserloop ensemble made.", metavar="DIR")],
    out: Annotated[Path, take_file("Folder of the model; a training begun there goes on.", metavar="DIR")],
    horizon: Annotated[int, number(1, 10, "ticks", "How far ahead is predicted.")] = 5,
    width: Annotated[int, number(1, 4096, "", "Neurons of a hidden layer.")] = 128,
    basis: Annotated[int, number(1, 4096, "", "Basis functions of a DeepONet.")] = 100,
    trunk: Annotated[
        Trunk, Parameter(help="What the trunk sees: temperatures ahead, where the peak is, or both.")
    ] = "temps",
    reading: Annotated[
        Literal["node", "peak"] | None,
        Parameter(
            help="T_max is the hottest node, or the peak between nodes.",
            show_default=lambda _: "that of the plant",
        ),
    ] = None,
    sampling: Annotated[
        Literal["nearest", "bilinear", "smooth"] | None,
        Parameter(
            help="Read temperatures ahead at the nearest node, bilinearly, or by a smooth cubic.",
            show_default=lambda _: "nearest, with the peak smooth",
        ),
    ] = None,
    seed: Annotated[int, number(*SEED, "The same seed gives the same weights.")] = 0,
    split: Annotated[
        Literal["window", "episode"],
        Parameter(help="Hold out a fifth of the windows as the paper does, or of whole episodes."),
    ] = "window",
    max_epochs: Annotated[int, number(1, 1_000_000, "", "Stop here at the latest.")] = 5000,
    threads: Annotated[int, number(1, 256, "", "Of PyTorch; one is best for nets this small.")] = 1,
    json_file: Json = None,
) -> None:
    """Train a surrogate by the paper's protocol; stopped at any time, it goes on when called again.

    For example:

        laserloop train ms-deeponet --data data/corner --out models/corner
        laserloop train lstm --data data/corner --out models/lstm --max-epochs 300
    """
    from laserloop.predict.training import FitSettings
    from laserloop.predict.training import train as run_training
    from laserloop.report.tables import tabulate_numbers

    net = _choose(architecture, horizon, width, basis, trunk)
    settings = FitSettings(seed=seed, split=split, max_epochs=max_epochs, threads=threads)
    with writing("--out"), show_losses(max_epochs) as report:
        model = run_training(data, net, settings, out, reading=reading, sampling=sampling, report=report)
    numbers = model.provenance["metrics"]
    publish({"model": str(out)} | numbers, json_file, tabulate_numbers(numbers))


def _choose(name: str, horizon: int, width: int, basis: int, trunk: Trunk) -> "WindowNetwork":
    from laserloop.predict.networks import Lstm, MsDeepONet, SsAr, SsArLoc

    if trunk != "temps" and name != "ms-deeponet":
        raise BadInput(f"--trunk belongs to ms-deeponet, but the architecture is {name}; leave it out")
    if name == "ss-ar":
        return SsAr(horizon=horizon, width=width, basis=basis)
    if name == "ss-ar-loc":
        return SsArLoc(horizon=horizon, width=width, basis=basis)
    if name == "lstm":
        return Lstm(horizon=horizon, hidden=width)
    return MsDeepONet(horizon=horizon, width=width, basis=basis, trunk=trunk)


def evaluate(
    model: Annotated[str, Parameter(help="A shipped model's name, or the folder of one.")],
    /,
    *,
    path: Annotated[str, Parameter(help="A built-in path or a file, as of simulate.")] = "diagonal",
    excitation: Annotated[str, Parameter(help="persistent, hf-random, bang-bang, or all of them.")] = "all",
    realisations: Annotated[int, number(1, 1000, "", "Fresh power profiles of each class.")] = 3,
    plant: Annotated[PlantName, Parameter(help="The plant that is the truth here.")] = "paper",
    process: Annotated[
        ProcessName | None, Parameter(show_default=lambda _: "the one that it was trained for")
    ] = None,
    noise_k: Annotated[
        float, number(0.0, 1000.0, "K", "Spread of noise in K on the temperatures seen.")
    ] = 0.0,
    json_file: Json = None,
) -> None:
    """Score a surrogate on trajectories it was not trained on, by the paper's blind protocol.

    For example:

        laserloop evaluate paper-corner --path diagonal
        laserloop evaluate models/mine --path spiral --excitation bang-bang --json scores.json
    """
    from laserloop.data.ensemble import Excitation, parse_excitation
    from laserloop.evaluation import Trajectories
    from laserloop.evaluation import evaluate as score
    from laserloop.predict.model import find_model
    from laserloop.process import Process, find_process
    from laserloop.report.tables import tabulate_numbers

    kinds = tuple(Excitation) if excitation == "all" else (parse_excitation(excitation),)
    network = find_model(model)
    own = Process() if network.trained_for is None else network.trained_for.process
    truth = Trajectories(plant=plant, process=own if process is None else find_process(process))
    with show_progress(f"{model} on {path}") as progress:
        scores = score(
            network,
            path,
            trajectories=truth,
            excitations=kinds,
            realisations=realisations,
            noise=noise_k,
            progress=progress,
        )
    shown: dict[str, Any] = {"path": scores["path"], "plant": scores["plant"]}
    shown |= {f"rmse_{kind}_k": value for kind, value in scores["rmse_k"].items()}
    shown |= {name: scores[name] for name in ("rmse_mean_k", "max_error_k")}
    shown["rmse_per_step_k"] = ", ".join(f"{step:.1f}" for step in scores["rmse_per_step_k"])
    publish({"model": model} | scores, json_file, tabulate_numbers(shown))


def calibrate(
    model: Annotated[
        str | None,
        Parameter(
            help="A shipped model's name, or the folder of one; none: the physics twin.", show_default=False
        ),
    ] = None,
    /,
    of: ProcessOptions | None = None,
    loop: LoopOptions | None = None,
    *,
    runs: Annotated[int, number(1, 100_000, "", "Closed-loop runs to calibrate on.")] = 39,
    level: Annotated[
        float, number(0.5, 0.999, "", "Share of future runs that each margin is promised for.")
    ] = 0.95,
    spread: Annotated[
        list[str] | None,
        several(
            "How far a property of the plant may be from what the process says, as NAME=SHARE with the "
            "names of --mismatch of control; absorptivity=0.1 is anything within 10 %. May be given several "
            "times.",
            default="absorptivity=0.1",
        ),
    ] = None,
    ticks: Annotated[int, number(20, 1_000_000, "ticks", "Length of each run.")] = 320,
    workers: Annotated[int, number(1, 1024, "", "Processes that share the runs.")] = 1,
    out: Annotated[Path | None, take_file("Write the margins here, for control --margins.")] = None,
    data: Annotated[
        Path | None,
        take_file("Of a model: folder of the episodes that it was trained on.", metavar="DIR"),
    ] = None,
    quantile: Annotated[
        float, number(0.01, 0.9999, "", "Of a model: share of the errors that the margin covers.")
    ] = 0.95,
    keep: Annotated[
        bool, flag("Of a model: also write the margin into its folder, for control to use.")
    ] = False,
    json_file: Json = None,
) -> None:
    """Find how far inside the window plans must stay, so that the truth stays in it.

    Of a process: the loop is closed on the graded plant along paths of ten families, each with its own
    absorptivity, and both margins are what the given share of new runs keeps from their first to their last
    tick. Of a model: the share of one-tick errors on held-out windows, as in the paper.

    For example:

        laserloop calibrate --process ti64 --noise-k 5 --out margins.json
        laserloop calibrate models/mine --data data/corner --keep
    """
    from laserloop.loop.tune import SPREAD, Draws, calibrate_margins
    from laserloop.report.tables import tabulate_numbers
    from laserloop.store import dump

    if model is not None:
        if data is None:
            raise BadInput(
                f"a model is calibrated on the data it was trained on; give --data DIR for {model}"
            )
        numbers = _calibrate_model(model, data, quantile, keep=keep)
        shown = {name: value for name, value in numbers.items() if not isinstance(value, dict)}
        publish({"model": model} | numbers, json_file, tabulate_numbers(shown))
        return
    if data is not None or keep:
        raise BadInput("--data and --keep belong to a model, but none was given; name it")
    of, loop = of or ProcessOptions(), loop or LoopOptions()
    check_outputs({"--out": out, "--json": json_file}, {"--process": of.process})
    process = loop.change(of.find())
    off = tuple(SPREAD.items()) if spread is None else read_factors("--spread", spread)
    draws = Draws(process=process, ticks=ticks, spread=off, seed=loop.seed)
    with show_progress(f"{runs} runs of {process.name}") as progress:
        page = calibrate_margins(draws, runs=runs, level=level, workers=workers, progress=progress)
    write("--out", out, lambda _: dump(page))
    publish(page, json_file, tabulate_numbers(page["margins"] | {"ticks of a run": ticks}))


def _calibrate_model(model: str, data: Path, quantile: float, *, keep: bool) -> dict[str, Any]:
    from laserloop.evaluation import calibrate as find_margin
    from laserloop.predict.model import find_model, save_model, shipped_models

    if keep and model in shipped_models():
        raise BadInput(f"--keep needs a model's folder, but {model} is shipped with its margin; leave it out")
    network = find_model(model)
    numbers = find_margin(network, data, quantile=quantile)
    if keep:
        network.provenance["calibration"] = numbers
        with writing("the model's folder"):
            save_model(network, Path(model))
    return numbers
