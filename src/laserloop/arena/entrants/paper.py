"""The paper's networks as they ship, trained on the paper's own grid and forced on another plant."""

from pathlib import Path

from laserloop.arena.entrant import Entrant
from laserloop.control.twin import TRACKING
from laserloop.predict import networks

ROOM = Path(networks.__file__).parent
HERE = (Path(__file__), *sorted(ROOM.glob("*.py")))


def _enter(model: str, *, controller: str, tracking: float | None, name: str, about: str) -> Entrant:
    """A shipped network; its own margin, its own kind of reading, wherever it is put."""
    settings = {
        "controller": controller,
        "model": model,
        "delta_k": None,
        "force": True,
        "tracking": tracking,
    }
    return Entrant(name=name, about=about, settings=settings, model=ROOM / "models" / model, sources=HERE)


PAPER_BASE = _enter(
    "paper-base",
    controller="realtime",
    tracking=TRACKING,
    name="paper-base",
    about="The paper's network, trained on rasters and spirals of the paper's grid; asked for the middle.",
)
PAPER_CORNER = _enter(
    "paper-corner",
    controller="realtime",
    tracking=TRACKING,
    name="paper-corner",
    about="The paper's network, trained with corners on the paper's grid; asked for the middle.",
)
PAPER_IPOPT = _enter(
    "paper-corner",
    controller="ipopt",
    tracking=None,
    name="paper-corner-ipopt",
    about="The paper's controller as published: IPOPT, least power above the lower bound, margin δ.",
)
