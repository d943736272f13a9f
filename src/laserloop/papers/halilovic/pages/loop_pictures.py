"""The paper's figures of closed loops, from our runs."""

from laserloop.papers.halilovic.pages.pick import BASE, CORNER, GUARDED, LABELS, find, read_loops, read_rows
from laserloop.papers.halilovic.pages.results import Record, Results
from laserloop.papers.halilovic.report.blocks import Block, Picture, Prose
from laserloop.report.run_figures import draw_residual_map, draw_run

PATHS = ("vertical", "diagonal", "spiral")
FIGURES = {  # the paper's figures of closed loops
    (BASE, "vertical"): 10,
    (BASE, "diagonal"): 11,
    (CORNER, "diagonal"): 13,
    (CORNER, "vertical"): 14,
    (GUARDED, "diagonal"): 15,
    (BASE, "spiral"): 18,
    (CORNER, "spiral"): 19,
    (GUARDED, "spiral"): 20,
}


def draw_loops(results: Results) -> list[Block]:
    """The paper's figures of closed loops, and the residual maps."""
    kept = [record for record in read_loops(results) if "series" in record]
    blocks: list[Block] = []
    for key in ((label, path) for label in LABELS for path in PATHS):
        if (record := find(kept, *key)) is not None:
            number = f" (Fig. {FIGURES[key]})" if key in FIGURES else " (not in the paper)"
            blocks.append(Picture(f"loop-{_slug(record)}", f"{', '.join(key)}{number}.", draw_run(record)))
    for part, label in (("a", BASE), ("b", CORNER)):
        if (record := find(kept, label, "diagonal")) is not None:
            caption = f"Where the prediction was off: {label}, diagonal (Fig. 12{part})."
            blocks.append(Picture(f"residual-{_slug(record)}", caption, draw_residual_map(record)))
    record = find(read_rows(results, "table_3"), "SS-AR", "diagonal")
    if record is not None and "series" in record:
        blocks.append(Picture("loop-ss-ar-diagonal", "SS-AR, diagonal (Fig. 17).", draw_run(record)))
    return blocks or [Prose("No run of Table 2 was kept tick by tick.")]


def _slug(record: Record) -> str:
    label = record["label"].replace(" + δ", "-delta").replace(" ", "-")
    return f"{label}-{record['path']}"
