"""The paper's networks as they ship, trained on the paper's own grid and forced on another plant."""

from pathlib import Path

from laserloop.arena.entrant import Entrant
from laserloop.predict import model, networks, window

SHIPPED = Path(model.__file__).parent / "models"
HERE = (Path(__file__), Path(model.__file__), Path(networks.__file__), Path(window.__file__))


def _enter(name: str, *, controller: str, shipped: str, about: str) -> Entrant:
    """A shipped network; its own cost, margin and kind of reading, wherever it is put."""
    settings = {"controller": controller, "model": shipped, "delta_k": None, "force": True}
    return Entrant(name=name, about=about, settings=settings, model=SHIPPED / shipped, sources=HERE)


PAPER_BASE = _enter(
    "paper-base",
    controller="realtime",
    shipped="paper-base",
    about="The paper's network of rasters and spirals on the paper's grid, compiled; least power, margin δ.",
)
PAPER_CORNER = _enter(
    "paper-corner",
    controller="realtime",
    shipped="paper-corner",
    about="The paper's network of corners on the paper's grid, compiled; least power, margin δ.",
)
PAPER_IPOPT = _enter(
    "paper-corner-ipopt",
    controller="ipopt",
    shipped="paper-corner",
    about="The same as published, by IPOPT.",
)
