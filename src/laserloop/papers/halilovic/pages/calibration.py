"""The page about the margin."""

from laserloop.papers.halilovic.pages.results import Results
from laserloop.papers.halilovic.pages.write import write_page
from laserloop.papers.halilovic.report.blocks import NOTHING, Cell, Measure, Page, Prose, Table
from laserloop.papers.halilovic.study.published import CALIBRATION_WINDOWS, DELTA
from laserloop.papers.halilovic.words import say

DEPLOYED = "paper-corner"  # the model that the paper calibrates
KELVIN, COUNT = Measure(".1f"), Measure("d")
PAPER = (DELTA["one-sided"], DELTA["symmetric"], CALIBRATION_WINDOWS)


def write_calibration(results: Results) -> Page:
    """δ of both models, over all held-out windows and by excitation."""
    found = results.calibration
    if found is None:
        return write_page("calibration", None)
    kinds = list(dict.fromkeys(kind for one in found.values() for kind in one["per_excitation"]))
    rows: list[list[Cell | str]] = []
    for name, one in found.items():
        paper = PAPER if name == DEPLOYED else (None,) * 3
        by_kind = [one["per_excitation"].get(kind, {}).get("delta_one_sided_k") for kind in kinds]
        rest = [*by_kind, one.get("largest_under_prediction_k")]
        rows.append(
            [
                name,
                KELVIN.show(one["delta_one_sided_k"], paper[0]),
                KELVIN.show(one["delta_symmetric_k"], paper[1]),
                COUNT.show(one["windows"], paper[2]),
                *(NOTHING if value is None else f"{value:.1f}" for value in rest),
            ]
        )
    quantiles = sorted({one["quantile"] for one in found.values()})
    heads = [
        "model",
        "one-sided δ, K",
        "symmetric δ, K",
        "windows",
        *(f"{k}, K" for k in kinds),
        "largest, K",
    ]
    applied = (results.closed_loop or {}).get("delta_k")
    told = None if applied is None else Prose(say("margin.applied", applied=applied, paper=PAPER[0]))
    parts = {"table": Table(heads, rows, source="results/calibration.json"), "applied": told}
    return write_page("calibration", parts, quantiles=" and ".join(f"{100 * q:g} %" for q in quantiles))
