"""The page about how previews are read: every figure and every sentence, at the nearest node and bilinearly.

The bilinear figures are those of version 0.2.0, by the same protocol, kept in bilinear.json.
"""

import json
from collections.abc import Iterator, Mapping
from functools import cache
from importlib.resources import files
from typing import Any

from laserloop.papers.halilovic.pages.claims import collect_claims
from laserloop.papers.halilovic.pages.pick import read_loops, read_rows
from laserloop.papers.halilovic.pages.results import Results, is_bilinear
from laserloop.papers.halilovic.pages.tables import LOOP_COLUMNS
from laserloop.papers.halilovic.pages.write import Parts, write_page
from laserloop.papers.halilovic.report.blocks import NOTHING, Block, Page, Prose, Table
from laserloop.papers.halilovic.study.published import ABLATIONS, BELOW, DELTA, TABLE_1, TABLE_2, TABLE_3
from laserloop.papers.halilovic.study.table_1 import COLUMNS, figures_of
from laserloop.papers.halilovic.words import say

TABLE_3_COLUMNS = ("highest, K", "overshoot, K", "ticks over", "below, %", "RMSE₁, K")
HEADS = ("paper", "nearest", "bilinear")

Figures = Mapping[str, Mapping[str, float]]  # "row: column" → value, by section


def write_previews(results: Results) -> Page:
    """Three columns for every figure, and what each reading makes of every sentence."""
    before, ours = read_bilinear(), None if is_bilinear(results) else collect_figures(results)
    if not ours or not any(ours.values()):
        return write_page("previews", None)
    paper = collect_paper()
    tables: list[Block] = []
    for section, figures in before["figures"].items():
        rows = [
            (
                *name.split(": "),
                *(_show(found.get(section, {}).get(name)) for found in (paper, ours, before["figures"])),
            )
            for name in dict.fromkeys((*figures, *ours.get(section, {})))
        ]
        heads = ("of", "figure", *HEADS)
        tables += [Prose(f"**{section}**"), Table(heads, rows, grouped=True, folded=f"{len(rows)} figures")]
    parts: Parts = {"sentences": _compare(results, before), "figures": tables}
    return write_page("previews", parts, version=before["version"])


def _compare(results: Results, before: Mapping[str, Any]) -> list[Block]:
    """Each sentence with what both readings make of it."""
    rows, changed, held = [], 0, [0, 0]
    for claim in collect_claims(results):
        told, holds = before["sentences"].get(claim.key, (NOTHING, None))
        changed += holds is not None and holds != claim.holds
        held = [held[0] + claim.holds, held[1] + bool(holds)]
        mark = "**" if holds not in (None, claim.holds) else ""
        verdicts = (_say(claim.holds), NOTHING if holds is None else _say(holds))
        rows.append(
            (claim.sentence, claim.paper, claim.ours, f"{mark}{verdicts[0]}{mark}", told, verdicts[1])
        )
    heads = ("the paper says (rule)", "its figures", "nearest", "holds", "bilinear", "holds ")
    told = say("previews.sentences", nearest=held[0], bilinear=held[1], all=len(rows), changed=changed)
    return [Prose(told), Table([head.strip() for head in heads], rows, wordy=True)]


def condense(results: Results, version: str) -> dict[str, Any]:
    """What bilinear.json holds, from a whole reproduction."""
    sentences = {claim.key: [claim.ours, claim.holds] for claim in collect_claims(results)}
    return {"version": version, "figures": collect_figures(results), "sentences": sentences}


def collect_figures(results: Results) -> dict[str, dict[str, float]]:
    """All figures of the tables and of the ablations, those that are there."""
    found: dict[str, dict[str, float]] = {
        "Table 1": {},
        "δ": {},
        "Table 2": {},
        "Table 3": {},
        "Ablations": {},
    }
    for row in (results.table_1 or {}).get("rows", []):
        for column, value in zip(COLUMNS, figures_of(row), strict=True):
            found["Table 1"][f"{row['path']}, {row['model']}: {column}"] = value
    margin = (results.calibration or {}).get("paper-corner")
    if margin:
        found["δ"] = {
            "corner: one-sided": margin["delta_one_sided_k"],
            "corner: symmetric": margin["delta_symmetric_k"],
        }
    for run in read_loops(results):
        name = f"{run['label']}, {run['path']}"
        for field, (head, _) in LOOP_COLUMNS.items():
            found["Table 2"][f"{name}: {head}"] = run[field]
        found["Table 2"][f"{name}: below, %"] = 100 * run["below_fraction"]
    for run in read_rows(results, "table_3"):
        fields = run["t_max_k"], run["overshoot_k"], run["n_over"], 100 * run["below_fraction"]
        for head, value in zip(TABLE_3_COLUMNS, (*fields, run["residual_rms_k"]), strict=True):
            found["Table 3"][f"{run['label']}, {run['path']}: {head}"] = value
    for point in (results.ablations or {}).get("points", []):
        for where in ("seen", "unseen"):
            found["Ablations"][f"{point['axis']} {point['value']}: {where}"] = point[where]
    return {section: _round(figures) for section, figures in found.items()}


def collect_paper() -> dict[str, dict[str, float]]:
    """The same of the paper, as far as it gives them."""
    found: dict[str, dict[str, float]] = {section: {} for section in ("Table 2", "Table 3")}
    found["Table 1"] = {
        f"{path}, {model}: {column}": value
        for (path, model), row in TABLE_1.items()
        for column, value in zip(COLUMNS, row, strict=True)
    }
    found["δ"] = {f"corner: {name}": value for name, value in DELTA.items()}
    heads = [head for head, _ in LOOP_COLUMNS.values()]
    for (label, path), row in TABLE_2.items():
        found["Table 2"] |= {f"{label}, {path}: {head}": v for head, v in zip(heads, row, strict=True)}
    for (label, path), share in BELOW.items():
        found["Table 2"][f"{label}, {path}: below, %"] = 100 * share
    for (label, path), three in TABLE_3.items():
        shown = (*three[:3], 100 * three[3], three[4])
        found["Table 3"] |= {f"{label}, {path}: {h}": v for h, v in zip(TABLE_3_COLUMNS, shown, strict=True)}
    found["Ablations"] = dict(_list_ablations())
    return found


def _list_ablations() -> Iterator[tuple[str, float]]:
    for (axis, value), errors in ABLATIONS.items():
        for where, error in zip(("seen", "unseen"), errors, strict=True):
            if error is not None:
                yield f"{axis} {value}: {where}", error


@cache
def read_bilinear() -> dict[str, Any]:
    """Figures and sentences with bilinear previews."""
    text = files("laserloop.papers.halilovic").joinpath("pages/bilinear.json").read_text(encoding="utf-8")
    return dict(json.loads(text))


def _round(figures: Mapping[str, float]) -> dict[str, float]:
    """To a thousandth, for people and for a small file."""
    return {name: round(value, 3) for name, value in figures.items() if value is not None}


def _show(value: float | None) -> str:
    return NOTHING if value is None else f"{value:.2f}".rstrip("0").rstrip(".")


def _say(holds: bool) -> str:
    return "yes" if holds else "no"
