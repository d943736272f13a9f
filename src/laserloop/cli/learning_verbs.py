"""The verbs of the learning half: make episodes, train a surrogate on them, judge it, time the training."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from cyclopts import Parameter

from laserloop.bad_input import BadInput
from laserloop.cli.options import take_file, take_number
from laserloop.cli.output import Json, check_output, publish, writing

if TYPE_CHECKING:
    from laserloop.predict.networks.architecture import Architecture

Trunk = Literal["temps", "loc", "both"]


def ensemble(
    kind: Annotated[
        str,
        Parameter(help="base (rasters, spirals), corner (random polylines too) or a .yaml file of settings."),
    ],
    /,
    *,
    out: Annotated[Path, take_file("Folder of the store; one that was begun is continued.", metavar="DIR")],
    runs: Annotated[int | None, take_number(1, 1_000_000, "", "Episodes in all.", default="320")] = None,
    seed: Annotated[
        int | None, take_number(0, 2**32 - 1, "", "The same seed gives the same bytes.", default="0")
    ] = None,
    plant: Annotated[
        Literal["paper", "graded"] | None,
        Parameter(help="The paper's coarse grid, or a fine one.", show_default=lambda _: "paper"),
    ] = None,
    geometry: Annotated[
        Literal["fixed", "random"] | None,
        Parameter(
            help="Rasters and spirals: the named shapes themselves, or each different.",
            show_default=lambda _: "fixed",
        ),
    ] = None,
    workers: Annotated[
        int | None, take_number(1, 1024, "", "Processes on this machine.", default="one per core")
    ] = None,
    scheduler: Annotated[
        str | None, Parameter(help="Address of a dask scheduler to use instead, such as tcp://host:8786.")
    ] = None,
    json_file: Json = None,
) -> None:
    """Make the episodes that a surrogate learns from; stopped at any time, it goes on when called again.

    For example:

        laserloop ensemble corner --out data/corner
        laserloop ensemble base --runs 40 --workers 2 --out data/small
    """
    from laserloop.data import EnsembleSettings, read_settings, run_ensemble
    from laserloop.report.tables import tabulate_numbers
    from laserloop.report.terminal import show_progress

    check_output("--json", json_file)
    given = {"kind": kind} if kind in ("base", "corner") else read_settings(kind)
    asked = {"runs": runs, "seed": seed, "plant": plant, "geometry": geometry}
    settings = EnsembleSettings.from_json(
        given | {name: value for name, value in asked.items() if value is not None}
    )
    with writing("--out"), show_progress(f"episodes of {settings.kind}") as progress:
        tally = run_ensemble(out, settings, workers=workers, scheduler=scheduler, progress=progress)
    numbers = tally.to_json()
    publish({"settings": settings.to_json()} | numbers, json_file, tabulate_numbers(numbers))


def train(
    architecture: Annotated[
        Literal["ms-deeponet", "ss-ar", "lstm"],
        Parameter(help="The paper's one-shot DeepONet, its single-step autoregressive kin, or an LSTM."),
    ],
    /,
    *,
    data: Annotated[Path, take_file("Folder that laserloop ensemble made.", metavar="DIR")],
    out: Annotated[Path, take_file("Folder of the model; a training begun there goes on.", metavar="DIR")],
    horizon: Annotated[int, take_number(1, 10, "ticks", "How far ahead is predicted.")] = 5,
    width: Annotated[int, take_number(1, 4096, "", "Neurons of a hidden layer.")] = 128,
    basis: Annotated[int, take_number(1, 4096, "", "Basis functions of a DeepONet.")] = 100,
    trunk: Annotated[
        Trunk, Parameter(help="What the trunk sees: temperatures ahead, where the peak is, or both.")
    ] = "temps",
    reading: Annotated[
        Literal["node", "peak"], Parameter(help="T_max is the hottest node, or the peak between nodes.")
    ] = "node",
    smooth: Annotated[bool, Parameter(help="Sample temperatures ahead by a smooth cubic.")] = False,
    seed: Annotated[int, take_number(0, 2**32 - 1, "", "The same seed gives the same weights.")] = 0,
    split: Annotated[
        Literal["window", "episode"],
        Parameter(help="Hold out a fifth of the windows as the paper does, or of whole episodes."),
    ] = "window",
    max_epochs: Annotated[int, take_number(1, 1_000_000, "", "Stop here at the latest.")] = 5000,
    threads: Annotated[int, take_number(1, 256, "", "Of PyTorch; one is best for nets this small.")] = 1,
    json_file: Json = None,
) -> None:
    """Train a surrogate by the paper's protocol; stopped at any time, it goes on when called again.

    For example:

        laserloop train ms-deeponet --data data/corner --out models/corner
        laserloop train lstm --data data/corner --out models/lstm --max-epochs 300
    """
    from laserloop.predict.networks import FitSettings
    from laserloop.predict.networks import train as run_training
    from laserloop.report.tables import tabulate_numbers
    from laserloop.report.terminal import show_losses

    check_output("--json", json_file)
    net = _choose(architecture, horizon, width, basis, trunk)
    settings = FitSettings(seed=seed, split=split, max_epochs=max_epochs, threads=threads)
    with writing("--out"), show_losses(max_epochs) as report:
        model = run_training(data, net, settings, out, reading=reading, smooth=smooth, report=report)
    numbers = model.provenance["metrics"]
    publish({"model": str(out)} | numbers, json_file, tabulate_numbers(numbers))


def _choose(name: str, horizon: int, width: int, basis: int, trunk: Trunk) -> "Architecture":
    from laserloop.predict.networks import Lstm, MsDeepONet, SsAr

    if trunk != "temps" and name != "ms-deeponet":
        raise BadInput(f"--trunk belongs to ms-deeponet, but the architecture is {name}; leave it out")
    if name == "ss-ar":
        return SsAr(horizon=horizon, width=width, basis=basis)
    if name == "lstm":
        return Lstm(horizon=horizon, hidden=width)
    return MsDeepONet(horizon=horizon, width=width, basis=basis, trunk=trunk)


def evaluate(
    model: Annotated[str, Parameter(help="A shipped model's name, or the folder of one.")],
    /,
    *,
    path: Annotated[str, Parameter(help="A built-in path or a file, as of simulate.")] = "diagonal",
    excitation: Annotated[str, Parameter(help="persistent, hf-random, bang-bang, or all of them.")] = "all",
    realisations: Annotated[int, take_number(1, 1000, "", "Fresh power profiles of each class.")] = 3,
    plant: Annotated[
        Literal["paper", "graded"], Parameter(help="The plant that is the truth here.")
    ] = "paper",
    noise_k: Annotated[
        float, take_number(0.0, 1000.0, "K", "Spread of noise in K on the temperatures seen.")
    ] = 0.0,
    json_file: Json = None,
) -> None:
    """Score a surrogate on trajectories it was not trained on, by the paper's blind protocol.

    For example:

        laserloop evaluate paper-corner --path diagonal
        laserloop evaluate models/mine --path spiral --excitation bang-bang --json scores.json
    """
    from laserloop.data.excitation import Excitation, parse_excitation
    from laserloop.evaluation import Trajectories
    from laserloop.evaluation import evaluate as score
    from laserloop.predict.networks import find_model
    from laserloop.report.tables import tabulate_numbers
    from laserloop.report.terminal import show_progress

    check_output("--json", json_file)
    kinds = tuple(Excitation) if excitation == "all" else (parse_excitation(excitation),)
    found = find_model(model)
    with show_progress(f"{model} on {path}") as progress:
        scores = score(
            found,
            path,
            trajectories=Trajectories(plant=plant),
            excitations=kinds,
            realisations=realisations,
            noise=noise_k,
            progress=progress,
        )
    publish({"model": model} | scores, json_file, tabulate_numbers(_flatten(scores)))


def _flatten(scores: dict[str, Any]) -> dict[str, Any]:
    """One line for each number that a person looks for."""
    lines: dict[str, Any] = {"path": scores["path"], "plant": scores["plant"]}
    lines |= {f"rmse_{kind}_k": value for kind, value in scores["rmse_k"].items()}
    lines |= {name: scores[name] for name in ("rmse_mean_k", "max_error_k")}
    lines["rmse_per_step_k"] = ", ".join(f"{step:.1f}" for step in scores["rmse_per_step_k"])
    return lines


def bench_train(
    *,
    windows: Annotated[int, take_number(2048, 10_000_000, "", "Windows of an epoch.")] = 20_480,
    rounds: Annotated[int, take_number(1, 1000, "", "Epochs of each kind; the best counts.")] = 5,
    threads: Annotated[int, take_number(1, 256, "", "Of PyTorch.")] = 1,
    json_file: Json = None,
) -> None:
    """Time an epoch of training against the core's peak and against a stock PyTorch loop.

    For example:

        laserloop bench train --json out/bench_train.json
    """
    from laserloop.bench.train import run_train_bench
    from laserloop.report.tables import tabulate_numbers
    from laserloop.report.terminal import show_progress

    check_output("--json", json_file)
    with show_progress("epochs") as progress:
        numbers = run_train_bench(windows=windows, rounds=rounds, threads=threads, progress=progress)
    publish(numbers, json_file, tabulate_numbers(numbers))
