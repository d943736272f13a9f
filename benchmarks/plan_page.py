"""The page of plans, from what was measured."""

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

Row = dict[str, Any]

HEAD = """# Plans: file in, better file out

Each file is read, planned with the twin alone, written in its own format, read again and simulated on `graded`; of that plant the plan has used one straight
line at the same speed (its gain). Ranges are T_max over the [ticks that count](../theory.md#scores). Made by `python benchmarks/plan.py`; figures
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
        "window (`--speed-mm-s 100,2000`), beside the\nspeed of the file. Time includes laser-off moves, which stay as "
        "they are.\n\n"
    )
    lines = (
        f"{row['file']} | {'free' if row['speeds'] else 'of the file'} | {1e3 * row['time_s']:.1f} ms | "
        f"{100 * row['time_saved_s'] / (row['time_s'] + row['time_saved_s']):.0f} % | "
        f"{show_range(row['verified'])}"
        for row in rows
    )
    return told + show_table("file | speed | time | saved | simulated", lines)


def write_layers(rows: list[Row]) -> str:
    """Layers on one plate."""
    told = (
        "\n## Layers\n\nAn ellipse of 2.4 × 1.4 mm, four layers of 40 µm, as STL; hatched by PySLM, planned by point and simulated "
        "on one plate, which cools while the next\nlayer is coated, and whose surface rises. The twin models the pause, not the rise.\n\n"
    )
    lines = (
        f"{row['recoating_s']:g} s | {row['layer']} | {row['commands']} | "
        f"{row['power_mean_w']:.2f} W | {show_range(row['verified'])}"
        for row in rows
    )
    return told + show_table("between layers | layer | powers | mean power | simulated", lines)


def write_times(rows: list[Row]) -> str:
    """How long it takes."""
    told = "\n## Time and memory\n\nProcessor time of one core, without the simulation that verifies.\n\n"
    lines = (
        f"{row['what']}: {row.get('ticks') or row.get('lines')} {'ticks' if 'ticks' in row else 'lines'} | "
        f"{row['cpu_s']:.1f} s | {row['memory_gb']:.2f} GB"
        for row in rows
    )
    return told + show_table("what | processor time | memory", lines)


def write_fuzz(rows: list[Row]) -> str:
    """Round trips and malformed files."""
    told = (
        "\n## Round trips and malformed files\n\nRound trips: random files with random powers, written and read again, must give the "
        "same moves; without powers the same bytes.\nMalformed files have bytes changed, lost or doubled; each must be read, or "
        "refused in one sentence that names its line\n(`python benchmarks/plan_fuzz.py`).\n\n"
    )
    return told + show_fuzz(rows)


def write_fuzz_logs(rows: list[Row]) -> str:
    """Malformed recordings."""
    return "\nLogs that `identify` and `replay` read (`python benchmarks/fuzz_logs.py`):\n\n" + show_fuzz(
        rows
    )


def show_fuzz(rows: list[Row]) -> str:
    """A line for each format."""
    lines = (
        f"{row['format']} | {row['trips'] or '–'} | {row['wrong'] if row['trips'] else '–'} | {row['malformed']} | "
        f"{row['refused']} | {row['without_line']} | {row['raised']}"
        for row in rows
    )
    return show_table(
        "format | round trips | wrong | malformed | refused | without the line | other errors", lines
    )
