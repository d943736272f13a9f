"""Where the models of the arena lie: seed 0 ships with the package, others are made beside the lessons."""

from pathlib import Path

SHELF = Path(__file__).parent / "models"


def name_folder(name: str, seed: int, out: Path) -> Path:
    """The folder of an entrant's model."""
    return SHELF / name if seed == 0 else out / "models" / f"{name}-{seed}"
