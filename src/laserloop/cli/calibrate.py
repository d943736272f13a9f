"""The verb that finds margins: of a process by closed-loop runs, or of a model by held-out data."""

from pathlib import Path
from typing import Annotated, Any

from cyclopts import Parameter

from laserloop.bad_input import BadInput
from laserloop.cli.options import LoopOptions, ProcessOptions, take_file, take_number
from laserloop.cli.output import Json, check_output, keep_apart, publish, writing


def calibrate(
    model: Annotated[
        str | None,
        Parameter(
            help="A shipped model's name, or the folder of one; none: the physics twin.",
            show_default=False,
        ),
    ] = None,
    /,
    target: ProcessOptions | None = None,
    wish: LoopOptions | None = None,
    *,
    runs: Annotated[int, take_number(1, 100_000, "", "Closed-loop runs to calibrate on.")] = 39,
    level: Annotated[
        float, take_number(0.5, 0.999, "", "Share of future runs that each margin is promised for.")
    ] = 0.95,
    spread: Annotated[
        list[str] | None,
        Parameter(
            negative="",
            consume_multiple=False,
            help="How far a property of the plant may be from what the process says, as NAME=SHARE with the "
            "names of --mismatch of control; absorptivity=0.1 is anything within 10 %. May be given several "
            "times.",
            show_default=lambda _: "absorptivity=0.1",
        ),
    ] = None,
    ticks: Annotated[int, take_number(20, 1_000_000, "ticks", "Length of each run.")] = 320,
    workers: Annotated[int, take_number(1, 1024, "", "Processes that share the runs.")] = 1,
    out: Annotated[
        Path | None, take_file("Write the margins here, for control --margins.", metavar="FILE")
    ] = None,
    data: Annotated[
        Path | None,
        take_file("Of a model: folder of the episodes that it was trained on.", metavar="DIR"),
    ] = None,
    quantile: Annotated[
        float, take_number(0.01, 0.9999, "", "Of a model: share of the errors that the margin covers.")
    ] = 0.95,
    keep: Annotated[
        bool,
        Parameter(help="Of a model: also write the margin into its folder, for control to use.", negative=""),
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
    from laserloop.report.tables import tabulate_numbers

    if model is None:
        if data is not None or keep:
            raise BadInput("--data and --keep belong to a model, but none was given; name it")
        check_output("--out", out)
        target, wish = target or ProcessOptions(), wish or LoopOptions()
        keep_apart({"--out": out, "--json": json_file}, {"--process": target.process})
        page = _calibrate_process(target, wish, runs, level, spread, ticks, workers, out)
        shown = page["margins"] | {"ticks of a run": ticks}
        publish(page, json_file, tabulate_numbers(shown))
        return
    if data is None:
        raise BadInput(f"a model is calibrated on the data it was trained on; give --data DIR for {model}")
    numbers = _calibrate_model(model, data, quantile, keep=keep)
    shown = {name: value for name, value in numbers.items() if not isinstance(value, dict)}
    publish({"model": model} | numbers, json_file, tabulate_numbers(shown))


def _calibrate_process(
    target: ProcessOptions,
    wish: LoopOptions,
    runs: int,
    level: float,
    spread: list[str] | None,
    ticks: int,
    workers: int,
    out: Path | None,
) -> dict[str, Any]:
    from laserloop.cli.control import read_factors
    from laserloop.loop.tune import SPREAD, Draws, calibrate_margins
    from laserloop.report.save import dump, save
    from laserloop.report.terminal import show_progress

    process = wish.change(target.find())
    off = tuple(SPREAD.items()) if spread is None else read_factors("--spread", spread)
    draws = Draws(process=process, ticks=ticks, spread=off, seed=wish.seed)
    with show_progress(f"{runs} runs of {process.name}") as progress:
        page = calibrate_margins(draws, runs=runs, level=level, workers=workers, progress=progress)
    if out is not None:
        with writing("--out"):
            save(out, dump(page))
    return page


def _calibrate_model(model: str, data: Path, quantile: float, *, keep: bool) -> dict[str, Any]:
    from laserloop.evaluation import calibrate as find_margin
    from laserloop.predict.model import find_model, save_model, shipped_models

    if keep and model in shipped_models():
        raise BadInput(f"--keep needs a model's folder, but {model} is shipped with its margin; leave it out")
    found = find_model(model)
    numbers = find_margin(found, data, quantile=quantile)
    if keep:
        found.provenance["calibration"] = numbers
        with writing("the model's folder"):
            save_model(found, Path(model))
    return numbers
