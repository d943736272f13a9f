"""A window against the alloy and the plate: where it may lie, and what is not known there."""

from laserloop.bad_input import BadInput
from laserloop.process import Process

Notes = tuple[str, ...]  # sentences without their full stop


def show_window(process: Process) -> str:
    """As people write it."""
    return f"{process.window[0]:g} – {process.window[1]:g} K"


def judge_window(process: Process) -> str | None:
    """Why nobody can aim at a window, and what to do; None if one can."""
    middle, melting = 0.5 * sum(process.window), process.material.melting
    if middle <= process.ambient:
        return (
            f"a window of {show_window(process)} is out of reach, since the plate itself has "
            f"{process.ambient:g} K and a laser only heats; take a higher one"
        )
    if melting is not None and middle >= melting.boiling:
        return (
            f"a window of {show_window(process)} is out of reach, since {process.material.name} boils at "
            f"{melting.boiling:g} K and evaporation is not modelled; take a lower one"
        )
    return None


def check_window(process: Process) -> None:
    """Refuse a window that nobody can aim at."""
    if (judged := judge_window(process)) is not None:
        raise BadInput(judged)


def tell_melting(process: Process) -> Notes:
    """A note if the window, or a part of it, lies above the solidus."""
    melting = process.material.melting
    if melting is None or process.window[1] <= melting.solidus:
        return ()
    lies = "lies" if process.window[0] >= melting.solidus else "reaches"
    return (
        f"the window of {show_window(process)} {lies} above the solidus of {process.material.name}, "
        f"{melting.solidus:g} K: melting is modelled only as far as docs/limits.md says (latent heat in the "
        "plant, none in the twin, no flow, no evaporation)",
    )
