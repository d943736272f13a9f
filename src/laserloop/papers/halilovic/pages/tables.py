"""Tables that more than one page has."""

from collections.abc import Iterable, Mapping, Sequence

from laserloop.papers.halilovic.pages.results import Record
from laserloop.papers.halilovic.report.blocks import Cell, Measure, Table
from laserloop.papers.halilovic.study.claim import Claim
from laserloop.papers.halilovic.study.published import BELOW, TABLE_2

# field → how it is written; absolute steps where a ratio says nothing (many figures are zero, or near 14 W)
LOOP_COLUMNS: Mapping[str, tuple[str, Measure]] = {
    "overshoot_k": ("overshoot, K", Measure(".1f", 2.0)),
    "n_over": ("ticks over", Measure("d", 2.0)),
    "over_ms": ("ms over", Measure(".2f", 0.25)),
    "residual_rms_k": ("residual RMS, K", Measure(".1f")),
    "residual_max_k": ("largest, K", Measure(".1f")),
    "residual_mean_k": ("mean, K", Measure("+.1f", 2.0)),
    "power_mean_w": ("mean P, W", Measure(".2f", 0.25)),
    "power_step_mean_w": ("mean ΔP, W", Measure(".2f")),
}
BELOW_WINDOW = Measure(".1f", 5.0)


def tabulate_loops(records: Sequence[Record], source: str, *, folded: str = "") -> Table:
    """Closed loops as in Table 2; those that the paper has with its figures beside."""
    rows: list[list[Cell | str]] = []
    for record in records:
        key = (record["label"], record["path"])
        paper, below = TABLE_2.get(key, (None,) * len(LOOP_COLUMNS)), BELOW.get(key)
        columns = zip(LOOP_COLUMNS.items(), paper, strict=True)
        cells = [measure.show(record[field], theirs) for (field, (_, measure)), theirs in columns]
        share = BELOW_WINDOW.show(100 * record["below_fraction"], None if below is None else 100 * below)
        rows.append([*key, *cells, share])
    heads = ("controller", "path", *(head for head, _ in LOOP_COLUMNS.values()), "below, %")
    return Table(heads, rows, grouped=True, folded=folded, source=source)


def tabulate_claims(claims: Iterable[Claim], source: str = "") -> Table:
    """What the paper says with the rule it is judged by, its figures, ours, and whether ours obey."""
    rows = [(claim.sentence, claim.paper, claim.ours, "yes" if claim.holds else "**no**") for claim in claims]
    return Table(("the paper says (rule)", "its figures", "ours", "holds"), rows, wordy=True, source=source)
