"""The verb that judges a surrogate by its error on fresh trajectories."""

from typing import TYPE_CHECKING, Annotated, Any, Literal

from cyclopts import Parameter

from laserloop.cli.options import ProcessName, take_number
from laserloop.cli.output import Json, publish

if TYPE_CHECKING:
    from laserloop.predict.model import Model
    from laserloop.process import Process


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
    process: Annotated[
        ProcessName | None, Parameter(show_default=lambda _: "the one that it was trained for")
    ] = None,
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
    from laserloop.data.ensemble import Excitation, parse_excitation
    from laserloop.evaluation import Trajectories
    from laserloop.evaluation import evaluate as score
    from laserloop.predict.model import find_model
    from laserloop.report.tables import tabulate_numbers
    from laserloop.report.terminal import show_progress

    kinds = tuple(Excitation) if excitation == "all" else (parse_excitation(excitation),)
    found = find_model(model)
    with show_progress(f"{model} on {path}") as progress:
        scores = score(
            found,
            path,
            trajectories=Trajectories(plant=plant, process=_choose_process(found, process)),
            excitations=kinds,
            realisations=realisations,
            noise=noise_k,
            progress=progress,
        )
    publish({"model": model} | scores, json_file, tabulate_numbers(_flatten(scores)))


def _choose_process(model: "Model", name: str | None) -> "Process":
    from laserloop.process import Process, find_process

    if name is not None:
        return find_process(name)
    return Process() if model.trained_for is None else model.trained_for.process


def _flatten(scores: dict[str, Any]) -> dict[str, Any]:
    """One line for each number that a person looks for."""
    lines: dict[str, Any] = {"path": scores["path"], "plant": scores["plant"]}
    lines |= {f"rmse_{kind}_k": value for kind, value in scores["rmse_k"].items()}
    lines |= {name: scores[name] for name in ("rmse_mean_k", "max_error_k")}
    lines["rmse_per_step_k"] = ", ".join(f"{step:.1f}" for step in scores["rmse_per_step_k"])
    return lines
