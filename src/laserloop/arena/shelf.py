"""Where the models of the arena lie: seed 0 ships with the package, others are made beside the lessons."""

from pathlib import Path

SHELF = Path(__file__).parent / "models"
OUT = Path("out") / "arena"  # in the working directory, unless lessons lie elsewhere


def name_folder(name: str, seed: int, out: Path = OUT) -> Path:
    """The folder of an entrant's model."""
    return SHELF / name if seed == 0 else out / "models" / f"{name}-{seed}"
