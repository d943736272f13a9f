"""The verb that trains a surrogate."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from cyclopts import Parameter

from laserloop.bad_input import BadInput
from laserloop.cli.options import take_file, take_number
from laserloop.cli.output import Json, publish, writing

if TYPE_CHECKING:
    from laserloop.predict.networks import WindowNetwork

Trunk = Literal["temps", "loc", "both"]


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
    horizon: Annotated[int, take_number(1, 10, "ticks", "How far ahead is predicted.")] = 5,
    width: Annotated[int, take_number(1, 4096, "", "Neurons of a hidden layer.")] = 128,
    basis: Annotated[int, take_number(1, 4096, "", "Basis functions of a DeepONet.")] = 100,
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
    from laserloop.predict.training import FitSettings
    from laserloop.predict.training import train as run_training
    from laserloop.report.tables import tabulate_numbers
    from laserloop.report.terminal import show_losses

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
