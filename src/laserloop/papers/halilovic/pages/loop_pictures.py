"""The paper's figures of closed loops, from our runs."""

from laserloop.papers.halilovic.pages.pick import BASE, CORNER, GUARDED, LABELS, find, read_loops, read_rows
from laserloop.papers.halilovic.pages.results import Results
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
    blocks: list[Block] = []
    loops = read_loops(results)
    for label in LABELS:
        for path in PATHS:
            record = find(loops, label, path)
            if record is not None and "series" in record:
                number = FIGURES.get((label, path))
                caption = f"{label}, {path}" + (f" (Fig. {number})" if number else " (not in the paper)")
                blocks.append(Picture(f"loop-{_slug(label)}-{path}", f"{caption}.", draw_run(record)))
    for part, label in (("a", BASE), ("b", CORNER)):
        record = find(loops, label, "diagonal")
        if record is not None and "series" in record:
            caption = f"Where the prediction was off: {label}, diagonal (Fig. 12{part})."
            blocks.append(Picture(f"residual-{_slug(label)}-diagonal", caption, draw_residual_map(record)))
    record = find(read_rows(results, "table_3"), "SS-AR", "diagonal")
    if record is not None and "series" in record:
        blocks.append(Picture("loop-ss-ar-diagonal", "SS-AR, diagonal (Fig. 17).", draw_run(record)))
    return blocks or [Prose("No run of Table 2 was kept tick by tick.")]


def _slug(label: str) -> str:
    return label.replace(" + δ", "-delta").replace(" ", "-")
