"""The page of plans, from what was measured."""

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

Row = dict[str, Any]

HEAD = """# Plans: file in, better file out

Each file is read, planned with the twin alone, written in its own format, read again and simulated on `graded`; of that plant the plan has used one straight
line at the same speed (its gain). Ranges are T_max over the [ticks that count](../theory.md#scores). Made by `python benchmarks/plan.py` (measured with version 0.2.0, `times.json` with version 0.1.0); figures
in `docs/results/plan/*.json`.
"""


def write_page(results: Path) -> str:
    """All tables that there are."""
    parts = [HEAD]
    for name, write in (
        ("files", write_files),
        ("alloys", write_alloys),
        ("speed", write_speed),
        ("layers", write_layers),
        ("times", write_times),
        ("fuzz", write_fuzz),
        ("fuzz_logs", write_fuzz_logs),
    ):
        file = results / "plan" / f"{name}.json"
        if file.exists():
            parts.append(write(json.loads(file.read_text(encoding="utf-8"))["rows"]))
    return "\n".join(parts)


def show_table(headings: str, rows: Iterable[str]) -> str:
    """In Markdown; cells are separated by bars."""
    line = "|".join("---" for _ in headings.split("|"))
    return "\n".join([f"| {headings} |", f"|{line}|", *(f"| {row} |" for row in rows)]) + "\n"


def show_range(told: Row) -> str:
    """Lowest to highest, and what lies outside."""
    outside = told.get("below_fraction", 0.0) or told.get("n_over", 0)
    more = f" ({told['n_over']} over, {100 * told['below_fraction']:.2g} % below)" if outside else ""
    return f"{told['t_min_k']:.1f}–{told['t_max_k']:.1f} K{more}"


def write_files(rows: list[Row]) -> str:
    """Every file in three ways."""
    by_point = [row["verified"] for row in rows if row["by"] == "point"]
    low, high = min(told["t_min_k"] for told in by_point), max(told["t_max_k"] for told in by_point)
    told = (
        "\n## Files as other tools write them\n\n"
        "Dialects of a slicer, a laser cutter, AdditiveFOAM, 3DThesis and adamantine, written by hand after their documentation; "
        "`pyslm_layer.cli` is\nhatched by PySLM 0.6. Window 760–800 K, process `304`. In brackets the powers written. "
        f"By point, all of them: **{low:.1f}–{high:.1f} K**.\n\n"
    )
    kinds = list(dict.fromkeys(row["by"] for row in rows))
    lines = []
    for file in dict.fromkeys(row["file"] for row in rows):
        same = {row["by"]: row for row in rows if row["file"] == file}
        cells = (f"{show_range(same[by]['verified'])} [{same[by]['commands']}]" for by in kinds)
        lines.append(f"{file} | {next(iter(same.values()))['vectors']} | {' | '.join(cells)}")
    return told + show_table(f"file | vectors | {' | '.join(f'by {by}, simulated' for by in kinds)}", lines)


def write_alloys(rows: list[Row]) -> str:
    """Other processes."""
    told = (
        "\n## Other alloys, beams and windows\n\nBy point. Refined (`--refine 1`): simulated on `graded`, the twin corrected tick by "
        "tick, and planned again. That column is of the\nvery plant that the plan was corrected by; it does not tell how a plate "
        "that differs from `graded` would answer.\n\n"
    )
    lines = []
    for first in (row for row in rows if row["refine"] == 0):
        same = [row for row in rows if all(row[key] == first[key] for key in ("process", "file"))]
        cells = " | ".join(
            show_range(row["verified"]) for row in sorted(same, key=lambda row: row["refine"])[:2]
        )
        lines.append(
            f"{first['process'].replace('paper', '304')} | {first['window_k'][0]:g}–{first['window_k'][1]:g} K | {first['file']} | "
            f"{first['gain']:.4f} | {cells}"
        )
    return told + show_table("process | window | file | gain | simulated | refined once", lines)


def write_speed(rows: list[Row]) -> str:
    """Free speed beside fixed."""
    told = (
        "\n## Free speed\n\nEach vector at the fastest speed between 100 and 2000 mm/s at which a laser of 20 W holds the "
        "window (`--speed-mm-s 100,2000`). Time includes\nlaser-off moves, which stay as they are.\n\n"
    )
    fixed = {row["file"]: row["time_s"] for row in rows if not row["speeds"]}
    lines = (
        f"{row['file']} | {1e3 * fixed[row['file']]:.1f} ms | {1e3 * row['time_s']:.1f} ms | {show_range(row['verified'])}"
        for row in rows
        if row["speeds"]
    )
    return told + show_table(
        "file | time at its own speed | with free speed | simulated with free speed", lines
    )


def write_layers(rows: list[Row]) -> str:
    """Layers on one plate."""
    told = (
        "\n## Layers\n\nAn ellipse of 2.4 × 1.4 mm, four layers of 40 µm, hatched by PySLM, planned by point and simulated "
        "on one plate, which cools while the next\nlayer is coated, and whose surface rises. The twin models the pause, not the rise.\n\n"
    )
    pauses = dict.fromkeys(row["recoating_s"] for row in rows)
    count = max(row["layer"] for row in rows)
    lines = (
        f"{pause:g} s | "
        + " | ".join(show_range(row["verified"]) for row in rows if row["recoating_s"] == pause)
        for pause in pauses
    )
    return told + show_table(f"pause | {' | '.join(f'layer {k + 1}' for k in range(count))}", lines)


def write_times(rows: list[Row]) -> str:
    """How long it takes."""
    told = "\n## Time and memory\n\nProcessor time of one core (x86-64), without the simulation that verifies.\n\n"
    lines = (
        f"{row['what']}: {row.get('ticks') or row.get('lines')} {'ticks' if 'ticks' in row else 'lines'} | "
        f"{row['cpu_s']:.1f} s | {row['memory_gb']:.2f} GB"
        for row in rows
    )
    return told + show_table("what | processor time | memory", lines)


def write_fuzz(rows: list[Row]) -> str:
    """Round trips and malformed files."""
    return (
        "\n## Round trips and malformed files\n\nRandom files of all formats with random powers, written and read again, must give the same moves; "
        f"without powers the same bytes: {tell_fuzz(rows)}\n(`python benchmarks/plan_fuzz.py`).\n"
    )


def write_fuzz_logs(rows: list[Row]) -> str:
    """Malformed recordings."""
    return f"Logs that `identify` and `replay` read: {tell_fuzz(rows)} (`python benchmarks/fuzz_logs.py`).\n"


def tell_fuzz(rows: list[Row]) -> str:
    """All formats together."""
    trips, wrong = sum(row["trips"] for row in rows), sum(row["wrong"] for row in rows)
    refused, silent, raised = (sum(row[key] for row in rows) for key in ("refused", "without_line", "raised"))
    return (
        (f"{trips:,} round trips, {wrong} wrong; " if trips else "")
        + f"{sum(row['malformed'] for row in rows):,} malformed files (bytes changed, lost or doubled), {refused:,} refused in one sentence, "
        f"{silent} of them without the place, the others read, {raised} other errors"
    )
