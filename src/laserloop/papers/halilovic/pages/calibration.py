"""The page about the margin."""

from laserloop.papers.halilovic.pages.results import Results
from laserloop.papers.halilovic.pages.size import NOT_RUN
from laserloop.papers.halilovic.report.blocks import Block, Cell, Measure, Page, Prose, Table
from laserloop.papers.halilovic.study.published_loops import DELTA
from laserloop.papers.halilovic.study.published_text import CALIBRATION_WINDOWS

SOURCE = "results/calibration.json"
DEPLOYED = "paper-corner"  # the model that the paper calibrates
KELVIN, COUNT = Measure(".1f"), Measure("d")


def write_calibration(results: Results) -> Page:
    """δ of both models, over all held-out windows and by excitation."""
    title = "The margin δ"
    found = results.calibration
    if found is None:
        return Page("calibration", title, (NOT_RUN,))
    kinds = list(dict.fromkeys(kind for one in found.values() for kind in one["per_excitation"]))
    rows: list[tuple[Cell | str, ...]] = []
    for name, one in found.items():
        paper = (
            (DELTA["one-sided"], DELTA["symmetric"], CALIBRATION_WINDOWS) if name == DEPLOYED else (None,) * 3
        )
        rows.append(
            (
                name,
                KELVIN.show(one["delta_one_sided_k"], paper[0]),
                KELVIN.show(one["delta_symmetric_k"], paper[1]),
                COUNT.show(one["windows"], paper[2]),
                *(
                    f"{one['per_excitation'][kind]['delta_one_sided_k']:.1f}"
                    if kind in one["per_excitation"]
                    else "–"
                    for kind in kinds
                ),
                *(
                    [f"{one['largest_under_prediction_k']:.1f}"]
                    if "largest_under_prediction_k" in one
                    else ["–"]
                ),
            )
        )
    quantiles = sorted({one["quantile"] for one in found.values()})
    heads = (
        "model",
        "one-sided δ, K",
        "symmetric δ, K",
        "windows",
        *(f"{k}, K" for k in kinds),
        "largest, K",
    )
    applied = (results.closed_loop or {}).get("delta_k")
    blocks: list[Block] = [
        Prose(
            f"The {' and '.join(f'{100 * q:g} %' for q in quantiles)} quantile of what a one-tick "
            f"prediction falls short "
            "of the truth, over the windows that the training held out; one-sided, because only an "
            "under-prediction can "
            "break the upper bound. By excitation: the same quantile over the windows of that class."
        ),
        Table(heads, rows, source=SOURCE),
    ]
    if applied is not None:
        blocks.append(
            Prose(
                f"The closed loops apply δ = {applied:g} K (the paper: 13 K, rounded down from "
                f"{DELTA['one-sided']} K). A "
                "quantile is not a bound: the largest under-prediction of a held-out window is in the last "
                "column."
            )
        )
    return Page("calibration", title, blocks)
