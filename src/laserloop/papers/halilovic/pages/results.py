"""What a reproduction left on disk, read once for all pages."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from laserloop.bad_input import BadInput
from laserloop.papers.halilovic.folder import damaged, read_object
from laserloop.papers.halilovic.words import say

Record = Mapping[str, Any]

STAGES = (  # files under results/ that pages are made of
    *("plant", "ensembles", "trainings", "table_1", "calibration", "closed_loop", "ablations"),
    *("clock/timing", "clock/stages"),
)

WITHOUT_MODELS = ("plant", "stages", "previews")  # pages that say nothing of a model, or say how it sees

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
    """Settings and conclusions; None for a stage that was not run yet."""

    settings: Record
    plant: Record | None = None
    ensembles: Record | None = None
    trainings: Record | None = None
    table_1: Record | None = None
    calibration: Record | None = None
    closed_loop: Record | None = None
    ablations: Record | None = None
    timing: Record | None = None
    stages: Record | None = None

    @property
    def quick(self) -> bool:
        """Was this a run of reduced size?"""
        return self.size != "full"

    @property
    def size(self) -> str:
        """Its name."""
        return str(self.settings.get("size") or self.settings.get("name") or "unknown")


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
    return Results(settings=_read(settings, damaged(settings)) or {}, **found)


def write_banner(results: Results, page: str = "") -> str:
    """The warning of a run of reduced size, or of previews that the paper does not have; or nothing."""
    bilinear = page not in WITHOUT_MODELS and is_bilinear(results)
    told = _tell_size(results), say("banner.sampling") if bilinear else ""
    return ". ".join(part for part in told if part)


def is_bilinear(results: Results) -> bool:
    """Were previews read between the nodes? Models of version 0.2.0 do not say, but theirs were."""
    deployed = (results.trainings or {}).get("paper-corner", {"sampling": "nearest"})
    return bool(deployed.get("sampling", "bilinear") == "bilinear")


def _tell_size(results: Results) -> str:
    if not results.quick:
        return ""
    known = [words.format(results.settings[key]) for key, words in SIZE.items() if key in results.settings]
    return say("banner", told=f" ({', '.join(known)})" if known else "")


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
