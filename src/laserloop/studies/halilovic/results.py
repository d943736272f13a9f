"""What a reproduction left on disk, read once for all pages and claims."""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from laserloop.bad_input import BadInput
from laserloop.studies.halilovic.cases import AXES, Trial
from laserloop.studies.halilovic.check import is_near
from laserloop.studies.halilovic.published import ABLATIONS, TABLE_2

Record = Mapping[str, Any]

STAGES = (  # files under results/ that pages are made of
    *("plant", "ensembles", "trainings", "table_1", "calibration", "closed_loop", "ablations"),
    *("clock/timing", "clock/stages"),
)
LABELS = BASE, CORNER, GUARDED = ("baseline", "corner", "corner + δ")
MODELS = ("paper-base", "paper-corner")
SIZE = {  # of settings.json
    "ensemble_runs": "{} episodes an ensemble",
    "full_epochs": "at most {} epochs for the deployed models",
    "short_epochs": "{} for the others",
    "realisations": "{} of each excitation",
    "ticks": "{} ticks a run",
    "problems": "{} problems for the solvers",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Results:
    """Settings and conclusions; empty for a stage that was not run yet."""

    settings: Record
    plant: Record = field(default_factory=dict)
    ensembles: Record = field(default_factory=dict)
    trainings: Record = field(default_factory=dict)
    table_1: Record = field(default_factory=dict)
    calibration: Record = field(default_factory=dict)
    closed_loop: Record = field(default_factory=dict)
    ablations: Record = field(default_factory=dict)
    timing: Record = field(default_factory=dict)
    stages: Record = field(default_factory=dict)

    @property
    def size(self) -> str:
        """Full, quick, or whatever the settings call it."""
        return str(self.settings.get("size") or self.settings.get("name") or "unknown")

    @property
    def bilinear(self) -> bool:
        """Were previews read between the nodes? Models of version 0.2.0 do not say, but theirs were."""
        deployed = self.trainings.get("paper-corner", {"sampling": "nearest"})
        return bool(deployed.get("sampling", "bilinear") == "bilinear")

    @property
    def loops(self) -> dict[tuple[str, str], Record]:
        """The rows of Table 2 that the paper has too, by label and path."""
        return {key: row for key, row in index(self.rows("table_2")).items() if key in TABLE_2}

    @property
    def others(self) -> list[Record]:
        """Runs beside Table 2 that the paper has not."""
        beside = [r for r in self.rows("table_2") if (r["label"], r["path"]) not in TABLE_2]
        return [*beside, *self.rows("others")]

    @property
    def ipopt_runs(self) -> list[Record]:
        """Every loop of the paper's tables and of the seeds that IPOPT decided."""
        runs = [*self.loops.values(), *self.rows("table_3"), *self.rows("seeds")]
        return [r for r in runs if str(r["controller"]).startswith("ipopt")]

    def rows(self, name: str) -> list[Record]:
        """A list of closed-loop records by its name."""
        return list(self.closed_loop.get(name, []))

    def offline(self, path: str) -> list[Record]:
        """The rows of both deployed models in Table 1, the baseline first; those that are there."""
        rows: Sequence[Record] = self.table_1.get("rows", [])
        return [row for model in MODELS for row in rows if (row["path"], row["model"]) == (path, model)]

    def write_banner(self, *, models: bool = True) -> str:
        """The warning of a reduced size or, where a page is about models, of previews the paper has not."""
        told = []
        if self.size != "full":
            known = [words.format(self.settings[key]) for key, words in SIZE.items() if key in self.settings]
            size = f" ({', '.join(known)})" if known else ""
            told.append(f"QUICK RUN: reduced size{size}; figures are not those of the paper's protocol")
        if models and self.bilinear:
            told.append(
                "MEASURED WITH BILINEAR PREVIEWS: every figure of ours here is of models and loops that read "
                "temperatures ahead of the beam between the nodes, where the paper reads the node itself; "
                "the models are paper-base-bilinear and paper-corner-bilinear"
            )
        return ". ".join(told)


def index(rows: Sequence[Record]) -> dict[tuple[str, str], Record]:
    """Closed-loop records by label and path."""
    return {(row["label"], row["path"]): row for row in rows}


def read_results(directory: Path) -> Results:
    """All that is there; a folder without any of it, or with a damaged file, is refused."""
    folder, settings = directory / "results", directory / "settings.json"
    if not folder.is_dir() or not settings.is_file():
        raise BadInput(
            f"a report is made from the folder of a reproduction, but {str(directory)!r} is none: "
            "run `laserloop reproduce --out DIR` first"
        )
    found = {name.split("/")[-1]: _read(folder / f"{name}.json") for name in STAGES}
    if all(content is None for content in found.values()):
        raise BadInput(
            f"a report needs the results of at least one stage, but {str(folder)!r} holds none: "
            "run `laserloop reproduce` on this folder again"
        )
    there = {name: content for name, content in found.items() if content is not None}
    return Results(settings=_read(settings, damaged(settings)) or {}, **there)


def read_object(file: Path) -> dict[str, Any] | None:
    """What a JSON file holds; None if it is not there, damaged, or holds anything but an object."""
    try:
        found = json.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    return found if isinstance(found, dict) else None


def damaged(settings: Path) -> str:
    """What to do about a folder that does not know its size any more."""
    return (
        f"a reproduction must know its size, but {str(settings)!r} is damaged: "
        "copy that of another reproduction of the same size over it"
    )


def _read(file: Path, otherwise: str | None = None) -> dict[str, Any] | None:
    if not file.exists():
        return None
    content = read_object(file)
    if content is None:
        raise BadInput(
            otherwise
            or f"a result must be a JSON object, but {str(file)!r} is damaged: "
            "delete it and run `laserloop reproduce` on this folder again"
        )
    return content


@dataclass(frozen=True, slots=True, kw_only=True)
class Point:
    """One point of a figure, K; the paper's errors are None where it gives no number."""

    axis: str
    value: str
    model: str
    seen: float
    seen_std: float  # from path to path
    unseen: float
    seen_per_step: tuple[float, ...]
    unseen_per_step: tuple[float, ...]
    paper_seen: float | None = None
    paper_unseen: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """Ours beside a number of the paper's, K."""

    axis: str
    value: str
    where: str  # seen, unseen
    ours: float
    paper: float

    @property
    def ratio(self) -> float:
        """Ours over the paper's."""
        return self.ours / self.paper

    @property
    def matters(self) -> bool:
        """Beyond the factor that counts as one, either way."""
        return not is_near(self.ours, self.paper)


def place_points(rows: Iterable[Record]) -> list[Point]:
    """The points whose rows are there, axis by axis; the others are left out."""
    found = {Trial(row["model"], row["noise_k"], row["noise_shared"]): row for row in rows}
    points = []
    for axis, values in AXES.items():
        for value, trial in values.items():
            if trial not in found:
                continue
            row = found[trial]
            paper_seen, paper_unseen = ABLATIONS.get((axis, value), (None, None))
            points.append(
                Point(
                    axis=axis,
                    value=value,
                    model=row["model"],
                    seen=row["seen_k"],
                    seen_std=row["seen_std_k"],
                    unseen=row["unseen_k"],
                    seen_per_step=tuple(row["seen_per_step_k"]),
                    unseen_per_step=tuple(row["unseen_per_step_k"]),
                    paper_seen=paper_seen,
                    paper_unseen=paper_unseen,
                )
            )
    return points


def compare(points: Sequence[Point]) -> list[Difference]:
    """Every number of the paper's that ours can stand beside, each once."""
    differences: dict[tuple[str, str, float], Difference] = {}
    for point in points:
        for where, ours, paper in (
            ("seen", point.seen, point.paper_seen),
            ("unseen", point.unseen, point.paper_unseen),
        ):
            if paper is not None:
                differences.setdefault(
                    (point.model, where, paper),
                    Difference(axis=point.axis, value=point.value, where=where, ours=ours, paper=paper),
                )
    return list(differences.values())


def measure_scales(
    rows: Iterable[Record], seeds: Sequence[str], schedules: tuple[str, str]
) -> dict[str, dict[str, float]]:
    """What else moves an error, K, seen and unseen: the spread of seeds, and short or full training."""
    found = {row["model"]: row for row in rows if row["noise_k"] == 0.0}
    scales: dict[str, dict[str, float]] = {"seen": {}, "unseen": {}}
    for where, sizes in scales.items():
        lucky = [found[name][f"{where}_k"] for name in seeds if name in found]
        if len(lucky) > 1:
            sizes["the seed"] = float(np.std(lucky, ddof=1))
        if all(name in found for name in schedules):
            short, full = (found[name][f"{where}_k"] for name in schedules)
            sizes["the schedule"] = abs(short - full)
    return scales
