"""The figures of the paper, and where ours of each is, or why there is none."""

from collections.abc import Collection

from laserloop.papers.halilovic.report.blocks import Table

SCHEMATIC = "a drawing of the method, not a result"
FIGURES: tuple[tuple[int, str, tuple[str, ...]], ...] = (  # number, what, our pictures
    (1, "physical setup", ()),
    (2, "properties of 304 steel", ("material",)),
    (3, "closed-loop architecture", ()),
    (4, "the network", ()),
    (5, "path geometries", ("paths",)),
    (6, "power profiles", ("excitations",)),
    (7, "sliding windows", ()),
    (8, "validation protocol", ()),
    (9, "offline validation", ("offline-corner",)),
    (10, "baseline on the vertical path", ("loop-baseline-vertical",)),
    (11, "baseline on the diagonal", ("loop-baseline-diagonal",)),
    (12, "residual along the diagonal", ("residual-baseline-diagonal", "residual-corner-diagonal")),
    (13, "corner data on the diagonal", ("loop-corner-diagonal",)),
    (14, "corner data on the vertical path", ("loop-corner-vertical",)),
    (15, "corner data and δ on the diagonal", ("loop-corner-delta-diagonal",)),
    (16, "offline ablations", ("ablations",)),
    (17, "SS-AR on the diagonal", ("loop-ss-ar-diagonal",)),
    (18, "appendix: baseline on the spiral", ("loop-baseline-spiral",)),
    (19, "appendix: corner data on the spiral", ("loop-corner-spiral",)),
    (20, "appendix: corner data and δ on the spiral", ("loop-corner-delta-spiral",)),
)


def list_figures(drawn: Collection[str]) -> Table:
    """Numbered in the order of the paper's text; `drawn` are the names of our pictures."""
    rows = []
    for number, what, names in FIGURES:
        there = [name for name in names if name in drawn]
        if there:
            ours = ", ".join(f"[{name}](figures/{name}.png)" for name in there)
        else:
            ours = (
                SCHEMATIC
                if not names
                else "not drawn: its run was not kept tick by tick, or its stage not run"
            )
        rows.append((f"Fig. {number}", what, ours))
    return Table(("the paper's", "what it shows", "ours"), rows, wordy=True)
