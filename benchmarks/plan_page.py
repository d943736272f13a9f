"""The page of plans, from what was measured."""

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

Row = dict[str, Any]

HEAD = """# Plans: file in, better file out

Each file is read, planned with the twin alone, written in its own format, read again and simulated on the plant `graded`,
which the plan has never seen but for one straight line of the same process and speed (its gain). Temperatures are T_max between
the nodes: the highest of all lit ticks, from the first one after the dark on, and the lowest of those in which full power could have
reached the floor, by the twin, and two ticks later. `python benchmarks/plan.py` measures it anew.
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


def show_diff(row: Row) -> str:
    """Lines before and after, and how many of the old are there byte by byte."""
    return f"{row['lines']} → {row['lines_written']}, {row['lines_kept']} untouched"


def write_files(rows: list[Row]) -> str:
    """Every file in three ways."""
    by_point = [row["verified"] for row in rows if row["by"] == "point"]
    low, high = min(told["t_min_k"] for told in by_point), max(told["t_max_k"] for told in by_point)
    told = (
        "\n## Files as other tools write them\n\n"
        "`slicer.gcode` is in the dialect of a 3D printer's slicer (laser on where E grows), `cutter.nc` in that of a laser "
        "cutter (M4,\nS of 1000, relative arcs, rapids), both written by hand after files of such tools; `segments.txt` "
        "is the table of AdditiveFOAM\n(m, W), `path_mm.txt` that of 3DThesis (mm, Pmod), `events.inp` an event series of "
        "adamantine, all three written by hand after their\ndocumentation; `pyslm_layer.cli` is hatched by PySLM 0.6 "
        "(`benchmarks/pyslm_layer.py`). Window 760–800 K, process `paper`.\n"
        f"By point, all of them: **{low:.1f}–{high:.1f} K**.\n\n"
    )
    lines = (
        f"{row['file']} | {row['by']} | {row['vectors']} | {row['commands']} | {show_range(row)} | "
        f"{show_range(row['verified'])} | {row['verified']['rms_k']:.1f} K | {show_diff(row)}"
        for row in rows
    )
    return told + show_table(
        "file | by | vectors | powers | planned | simulated | RMS from 780 K | lines of the file", lines
    )


def write_alloys(rows: list[Row]) -> str:
    """Other processes."""
    told = (
        "\n## Other alloys, beams, windows and plates\n\nBy point; the gain is what one straight line told. Refined "
        "(`--refine`): the plan was simulated on `graded`, the twin's gain corrected\ntick by tick by what came of it, and the "
        "path planned again. The last two columns are therefore of the very plant that the plan has learned from:\nthey say "
        "how much of what remains is the twin's, not how a plate that differs from `graded` would answer.\n\n"
    )
    lines = []
    for first in (row for row in rows if row["refine"] == 0):
        same = [row for row in rows if all(row[key] == first[key] for key in ("process", "file"))]
        cells = " | ".join(show_range(row["verified"]) for row in sorted(same, key=lambda row: row["refine"]))
        lines.append(
            f"{first['process']} | {first['window_k'][0]:g}–{first['window_k'][1]:g} K | {first['file']} | "
            f"{first['gain']:.4f} | {show_range(first)} | {cells}"
        )
    return told + show_table(
        "process | window | file | gain | planned | simulated | refined once | refined twice", lines
    )


def write_speed(rows: list[Row]) -> str:
    """Free speed beside fixed."""
    told = (
        "\n## Free speed\n\nEach vector at the fastest speed between 100 and 2000 mm/s at which a laser of 20 W holds the "
        "window (`--speed-mm-s 100,2000`), beside the\nspeed of the file. Time includes laser-off moves, which stay as "
        "they are. A tick counts as above.\n\n"
    )
    lines = (
        f"{row['file']} | {'free' if row['speeds'] else 'of the file'} | {1e3 * row['time_s']:.1f} ms | "
        f"{100 * row['time_saved_s'] / (row['time_s'] + row['time_saved_s']):.0f} % | {row['power_max_w']:.2f} W | "
        f"{show_range(row)} | {show_range(row['verified'])}"
        for row in rows
    )
    return told + show_table("file | speed | time | saved | most power | planned | simulated", lines)


def write_layers(rows: list[Row]) -> str:
    """Layers on one plate."""
    told = (
        "\n## Layers\n\nAn ellipse of 2.4 × 1.4 mm, four layers of 40 µm, as STL; hatched by PySLM (0.1 mm apart, turned by 67° "
        "from layer to\nlayer, one contour), planned by point and simulated layer after layer on one plate, which cools "
        "while the next layer is coated, and\nwhose surface rises. The twin is told of the pause, not of the rise.\n\n"
    )
    lines = (
        f"{row['recoating_s']:g} s | {row['layer']} | {row['vectors']} | {row['commands']} | "
        f"{row['power_mean_w']:.2f} W | {show_range(row)} | {show_range(row['verified'])}"
        for row in rows
    )
    return told + show_table(
        "between layers | layer | vectors | powers | mean power | planned | simulated", lines
    )


def write_times(rows: list[Row]) -> str:
    """How long it takes."""
    told = "\n## Time and memory\n\nOne core of a machine with two, on which other work was running.\n\n"
    lines = (
        f"{row['what']}: {row.get('ticks') or row.get('lines')} {'ticks' if 'ticks' in row else 'lines'} | "
        f"{row['seconds']:.1f} s | {row['cpu_s']:.1f} s | {row['memory_gb']:.2f} GB"
        for row in rows
    )
    return told + show_table("what | wall clock | processor time | memory", lines)


def write_fuzz(rows: list[Row]) -> str:
    """Round trips and malformed files."""
    told = (
        "\n## Round trips and malformed files\n\nRandom files in each format with random orders, written and read again: the "
        "same moves in the same order, in their\npieces, with their powers and speeds; without orders the same bytes. "
        "Malformed: the same files with bytes changed, lost or\ndoubled; each is read and written, or refused in one "
        "sentence that names its line (`python benchmarks/plan_fuzz.py`).\n\n"
    )
    return told + show_fuzz(rows)


def write_fuzz_logs(rows: list[Row]) -> str:
    """Malformed recordings."""
    told = (
        "\n## Malformed logs\n\nRecordings that `identify` and `replay` read: good ones with bytes changed, cut or doubled, or "
        "cells replaced by hostile ones.\nEach is read, or refused in one sentence that names the file and, of texts (CSV, "
        "JSON, the table of poses), the line (`python benchmarks/fuzz_logs.py`).\n\n"
    )
    return told + show_fuzz(rows)


def show_fuzz(rows: list[Row]) -> str:
    """A line for each format; time is the processor's."""
    lines = (
        f"{row['format']} | {row['trips'] or '–'} | {row['wrong'] if row['trips'] else '–'} | {row['malformed']} | "
        f"{row['refused']} | {row['without_line']} | {row['raised']} | {1e3 * row['worst_s']:.0f} ms | "
        f"{row['memory_gb']:.2f} GB | {row.get('code', '')[:8]}"
        for row in rows
    )
    return show_table(
        "format | round trips | wrong | malformed | refused with the place | without | other errors | worst time | memory | code",
        lines,
    )
