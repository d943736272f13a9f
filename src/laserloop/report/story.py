"""Sentences about episodes: every number in them is read from the data."""

from laserloop.data.episode import Episode


def describe_power(episode: Episode) -> str:
    """The power of an episode in a few words."""
    low, high = float(episode.power.min()), float(episode.power.max())
    return f"constant {low:g} W" if low == high else f"{low:.3g}–{high:.3g} W"
