"""Sentences about episodes: every number in them is read from the data."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from laserloop.data.episode import WINDOW, Episode

Window = tuple[float, float]  # K

AFTERMATH = 2e-3  # s after a sharp turn, by when the extra heat has spread


def describe_power(episode: Episode) -> str:
    """The power of an episode in a few words."""
    low, high = float(episode.power.min()), float(episode.power.max())
    return f"constant {low:g} W" if low == high else f"{low:.3g}–{high:.3g} W"


def write_headline(episodes: Sequence[Episode], window: Window = WINDOW) -> str:
    """What happened, in one line."""
    what = "Constant power" if all(np.ptp(e.power) == 0 for e in episodes) else "This power"
    summaries = [episode.summarise(window) for episode in episodes]
    leaves = any(s.above or s.below for s in summaries)
    return f"{what} {'leaves' if leaves else 'stays in'} the window"


def introduce(episodes: Sequence[Episode], window: Window = WINDOW) -> str:
    """What was asked of the laser."""
    powers = dict.fromkeys(describe_power(episode) for episode in episodes)
    paths = dict.fromkeys(Path(episode.path).name for episode in episodes)
    return (
        f"A laser at {' or '.join(powers)} follows the path {' or '.join(paths)}. T_max, the hottest point "
        f"of the surface, should stay in the window from {window[0]:g} to {window[1]:g} K."
    )


def tell(episode: Episode, window: Window = WINDOW) -> str:
    """What one plant did."""
    s = episode.summarise(window)
    text = (
        f"On the {episode.plant} plant, with a node every {_finest_um(episode):.0f} µm, it swings by "
        f"{s.swing:.0f} K, from {s.lowest:.0f} to {s.highest:.0f} K."
    )
    if s.above == s.ticks:
        return f"{text} All {s.ticks} ticks are too hot."
    if s.above == s.below == 0:
        return f"{text} No tick leaves the window."
    text += f" Of {s.ticks} ticks {s.above} are too hot and {s.below} too cold."
    after = count_after_turns(episode, window)
    return f"{text} {_of(after, s.above)} hot ones follow a sharp turn within 2 ms." if after else text


def compare(paper: Episode, graded: Episode) -> list[str]:
    """What two plants under the same power on the same path teach together."""
    swing = graded.summarise().swing
    width = WINDOW[1] - WINDOW[0]
    lessons = [
        "Same laser, same steel, same path: the paper plant reads "
        f"{_mean_excess(graded, paper):.0f} K colder on average. Its grid has one node every "
        f"{_finest_um(paper):.0f} µm under a beam of σ = {paper.settings.beam.sigma * 1e6:.0f} µm, and the "
        "ripple on its curve is the beam passing between nodes; the graded plant resolves the beam. So a "
        "window in kelvin, and the power that fits it, mean something only together with the plant on which "
        "they were found."
    ]
    if swing > width:
        lessons.append(
            "Turning the power down would lower the graded curve, not flatten it: a swing of "
            f"{swing:.0f} K does not fit into {width:g} K. The power must change where the path turns."
        )
    return lessons


def conclude(paper: Episode, graded: Episode) -> str:
    """The demo in one sentence."""
    return (
        "Constant power leaves the window wherever the path turns back into its own heat, and the paper's "
        f"grid reads {_mean_excess(graded, paper):.0f} K colder than the resolved plant, so the window means "
        "something only relative to one plant."
    )


def count_after_turns(episode: Episode, window: Window = WINDOW) -> int:
    """How many of the settled ticks above the window lie within 2 ms after a sharp turn."""
    since = episode.t[:, None] - episode.t[None, episode.turns]
    recent = np.any((since >= 0) & (since <= AFTERMATH), axis=1)
    hot = episode.temperature > window[1]
    return int(np.count_nonzero((recent & hot)[episode.settled]))


def _mean_excess(hotter: Episode, colder: Episode) -> float:
    return float(np.mean((hotter.temperature - colder.temperature)[colder.settled]))


def _finest_um(episode: Episode) -> float:
    return float(np.diff(episode.settings.grid.x).min()) * 1e6


def _of(part: int, whole: int) -> str:
    return f"All {whole}" if part == whole else f"{part} of the {whole}"
