"""A window and a tick against the alloy, the beam and the plate: where they may lie."""

from dataclasses import replace
from math import floor, log10

from laserloop.bad_input import BadInput, plain
from laserloop.predict.twin.twin import read_alpha
from laserloop.process import Process

HOP = 0.5  # beam widths in a tick, beyond which a tick is coarse
LEAP = 4.0  # beam widths in a tick, beyond which hardly anything is left of the spot before
FINE = 20.0  # times shorter than the longest, beyond which a tick is needlessly fine
ROOM = 0.8  # of the longest tick, up to which a tick is chosen
STEPS = (5.0, 2.5, 2.0, 1.25, 1.0)  # leading digits of a tick that is chosen

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


def note_melting(process: Process) -> Notes:
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


def find_longest_tick(process: Process, speed: float) -> float:
    """s, in which the beam moves by half its width at most and heat spreads by less than one."""
    sigma = process.beam.sigma
    alpha = read_alpha(process.material, process.ambient, 0.5 * sum(process.window))
    return min(HOP * sigma / speed, sigma**2 / alpha)


def judge_tick(process: Process) -> str | None:
    """What to do about a tick that is coarse or needlessly fine; None if it suits."""
    longest = find_longest_tick(process, process.speed)
    if process.tick > longest * (1 + 1e-9):
        return f"which is coarse: take at most {plain(1e6 * longest, 2)} µs"
    if FINE * process.tick < longest:
        chosen = choose_tick(process)
        return (
            f"which is needlessly fine: {1e6 * chosen:g} µs do as well in {chosen / process.tick:.0f} times "
            "fewer ticks"
        )
    return None


def note_leap(process: Process, speed: float) -> tuple[str, ...]:
    """A note if the beam leaves its own spot within a tick; a sentence without its full stop."""
    leap = speed * process.tick / process.beam.sigma
    if leap <= LEAP:
        return ()
    slip = f"; if the speed is in mm/min, give {1e3 * speed / 60:.6g} mm/s" if leap / 60 <= LEAP else ""
    longest = plain(1e6 * find_longest_tick(process, speed), 2)
    return (
        f"at {1e3 * speed:.6g} mm/s the beam moves {plain(leap)} σ in a tick of {1e6 * process.tick:g} µs, "
        f"too far to tell what happens under it: take at most {longest} µs{slip}",
    )


def choose_tick(process: Process) -> float:
    """A round number of seconds that suits the process."""
    most = ROOM * find_longest_tick(process, process.speed)
    decade = 10.0 ** floor(log10(most))
    return next(step for step in STEPS if step * decade <= most * (1 + 1e-9)) * decade


def fit_tick(process: Process) -> Process:
    """The same process with a tick that suits it, its own if that does."""
    return process if judge_tick(process) is None else replace(process, tick=round(choose_tick(process), 12))
