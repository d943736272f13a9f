"""The page about provenance: where every number comes from, and what it took."""

from collections.abc import Mapping
from typing import Any

from laserloop.papers.halilovic.pages.counts import write_counts
from laserloop.papers.halilovic.pages.results import Record, Results
from laserloop.papers.halilovic.pages.size import NOT_RUN
from laserloop.papers.halilovic.report.blocks import Block, Heading, Page, Prose, Table

ORIGINS = (  # what → the page, the file
    ("the plant's verification", "plant", "results/plant.json"),
    ("the ensembles", "stages", "results/ensembles.json"),
    ("the trained models", "ablations", "results/trainings.json"),
    ("Table 1 and its figure", "table_1", "results/table_1.json"),
    ("the margin", "calibration", "results/calibration.json"),
    ("Tables 2 and 3, corner failure, seeds, gradient", "closed_loop", "results/closed_loop.json"),
    ("the ablations", "ablations", "results/ablations.json"),
    ("the ladder, deadlines, all times", "timing", "results/clock/timing.json"),
    ("stages, machine, versions, commit", "stages", "results/clock/stages.json"),
)


def write_stages(results: Results) -> Page:
    """Files, data and models with their hashes, stages with their times, the machine, the project's size."""
    blocks: list[Block] = [
        Heading("Which file each number comes from"),
        Table(
            ("what", "page", "file"),
            [(what, f"[{page}]({page}.md)", f"`{file}`") for what, page, file in ORIGINS],
            wordy=True,
        ),
        Heading("Stages"),
        *_write_stages(results.stages),
        Heading("Settings"),
        _tabulate_settings(results.settings),
        Heading("Ensembles"),
        *_write_ensembles(results.ensembles),
        Heading("Models"),
        *_write_models(results.trainings),
        Heading("The project itself"),
        *write_counts(),
    ]
    return Page("stages", "Where these numbers come from", blocks)


def _write_stages(found: Record | None) -> list[Block]:
    if not found:
        return [NOT_RUN]
    stages = found.get("stages", [])
    rows = [(one["title"], _show_time(one["seconds"]), str(one["tasks"])) for one in stages]
    rows.append(("**together**", _show_time(sum(one["seconds"] for one in stages)), ""))
    blocks: list[Block] = [Table(("stage", "wall time", "tasks"), rows)]
    blocks += [Prose(note) for note in found.get("notes", [])]
    facts = [("commit", str(found["commit"]))] if found.get("commit") else []
    facts += [
        (key, _show(value)) for part in ("machine", "versions") for key, value in found.get(part, {}).items()
    ]
    facts += [
        (
            f"session {n}",
            f"{one.get('began', '?')} to {one.get('ended') or 'not ended'}, {one.get('workers', '?')} "
            f"workers",
        )
        for n, one in enumerate(found.get("sessions", []), start=1)
    ]
    if facts:
        blocks.append(Table(("fact", "value"), facts, wordy=True))
    return blocks


def _tabulate_settings(settings: Record) -> Table:
    return Table(
        ("setting", "value"),
        [(key, _show(value)) for key, value in settings.items()],
        wordy=True,
        folded="all settings",
    )


def _write_ensembles(found: Record | None) -> list[Block]:
    if not found:
        return [NOT_RUN]
    rows = [
        (
            name,
            str(one["episodes"]),
            str(one["windows"]),
            str(one.get("settings", {}).get("seed", "–")),
            f"`{str(one['data_hash'])[:16]}`",
        )
        for name, one in found.items()
    ]
    return [
        Table(("ensemble", "episodes", "windows", "seed", "data hash"), rows, source="results/ensembles.json")
    ]


def _write_models(found: Record | None) -> list[Block]:
    if not found:
        return [NOT_RUN]
    rows = [
        (
            name,
            _describe(one.get("architecture", {})),
            str(one["training"].get("seed", "–")),
            f"`{str(one['identity'])[:16]}`",
            f"`{str(one.get('weights_sha256', '–'))[:16]}`",
        )
        for name, one in found.items()
    ]
    heads = ("model", "architecture", "seed", "identity", "weights, SHA-256")
    return [
        Table(heads, rows, folded=f"{len(rows)} models with their hashes", source="results/trainings.json")
    ]


def _describe(architecture: Record) -> str:
    rest = ", ".join(f"{key} {value}" for key, value in architecture.items() if key != "name")
    return f"{architecture.get('name', '–')}" + (f" ({rest})" if rest else "")


def _show(value: Any) -> str:
    if isinstance(value, Mapping):
        return ", ".join(f"{key} {_show(one)}" for key, one in value.items())
    if isinstance(value, list | tuple):
        return ", ".join(map(_show, value))
    return f"{value:g}" if isinstance(value, float) else str(value)


def _show_time(seconds: float) -> str:
    if seconds < 60:
        return f"{seconds:.1f} s"
    minutes = round(seconds / 60)
    return f"{minutes} min" if minutes < 60 else f"{minutes // 60} h {minutes % 60:02d} min"
