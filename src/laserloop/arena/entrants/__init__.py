"""Who takes part, one file each; the order is that of the tables before they are sorted."""

from dataclasses import replace
from functools import partial

from laserloop.arena.booth import enter_own
from laserloop.arena.entrant import COST_FILE, Entrant
from laserloop.arena.entrants.affine_history import AFFINE_HISTORY
from laserloop.arena.entrants.constant import CONSTANT
from laserloop.arena.entrants.corrected_twin import TWIN_CORRECTED
from laserloop.arena.entrants.distilled import DISTILLED
from laserloop.arena.entrants.feedforward import FEEDFORWARD
from laserloop.arena.entrants.fno import FNO
from laserloop.arena.entrants.graded_networks import GRADED_LSTM, GRADED_MS_DEEPONET, GRADED_SS_AR
from laserloop.arena.entrants.ilc import ILC
from laserloop.arena.entrants.koopman import KOOPMAN
from laserloop.arena.entrants.oracle import ORACLE
from laserloop.arena.entrants.paper import PAPER_BASE, PAPER_CORNER, PAPER_IPOPT
from laserloop.arena.entrants.pi import PI
from laserloop.arena.entrants.pi_calm import PI_CALM
from laserloop.arena.entrants.rl import RL
from laserloop.arena.entrants.tide import TIDE
from laserloop.arena.entrants.tide_quantile import TIDE_QUANTILE
from laserloop.arena.entrants.twin import (
    TWIN,
    TWIN_WITHOUT_CAMERA,
    TWIN_WITHOUT_HISTORY,
    TWIN_WITHOUT_PREVIEW,
)
from laserloop.arena.shelf import name_folder
from laserloop.bad_input import BadInput
from laserloop.loop.controllers import is_own

LEARNERS: tuple[Entrant, ...] = (
    *(TWIN_CORRECTED, KOOPMAN, AFFINE_HISTORY, TIDE, TIDE_QUANTILE, FNO),
    *(GRADED_MS_DEEPONET, GRADED_SS_AR, GRADED_LSTM),
    *(DISTILLED, RL),
)
# Those who learn take part once they are trained.
ENTRANTS: tuple[Entrant, ...] = (
    *(ORACLE, TWIN, TWIN_WITHOUT_CAMERA, TWIN_WITHOUT_PREVIEW, TWIN_WITHOUT_HISTORY),
    *(ILC, PI, PI_CALM, FEEDFORWARD, CONSTANT),
    *(PAPER_CORNER, PAPER_BASE, PAPER_IPOPT),
    *(learner for learner in LEARNERS if learner.model is not None and (learner.model / COST_FILE).exists()),
)


def find_entrant(name: str) -> Entrant:
    """The entrant of a name; NAME@SEED is another training of it, FILE.py:NAME a user's own."""
    found = {entrant.name: entrant for entrant in ENTRANTS}
    if is_own(name):
        own = enter_own(name)
        if own.name in found:
            raise BadInput(f"{own.name} is an entrant already: give the class of {name} another name")
        return own
    plain, at, seed = name.partition("@")
    if plain not in found:
        raise BadInput(
            f"an entrant must be one of {', '.join(found)} or FILE.py:NAME, got {name!r}: choose one"
        )
    return _find_training(found[plain], seed) if at else found[plain]


def _find_training(entrant: Entrant, seed: str) -> Entrant:
    """The entrant with the model that another seed led to."""
    if not (entrant.learns and seed.isdecimal() and int(seed) > 0):
        raise BadInput(
            f"another training must read NAME@SEED with the name of one who learns and a seed from 1, got "
            f"{entrant.name}@{seed}: correct it"
        )
    folder, make = name_folder(entrant.name, int(seed)), entrant.make
    if not (folder / COST_FILE).exists():
        raise BadInput(
            f"the model of {entrant.name}@{seed} must lie in {folder}, but does not: train it with "
            f"python -m laserloop.arena.train {entrant.name} --seeds {seed}"
        )
    assert make is not None
    bound = partial(make.func, folder) if isinstance(make, partial) else partial(make, folder=folder)  # type: ignore[call-arg]
    return replace(entrant, name=f"{entrant.name}@{seed}", make=bound, model=folder)
