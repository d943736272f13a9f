"""Tables for the terminal."""

from collections.abc import Mapping, Sequence
from typing import Any

from rich.box import SIMPLE_HEAD
from rich.table import Table
from rich.text import Text

from laserloop.data.episode import Episode
from laserloop.report.story import describe_power


def tabulate_episode(episode: Episode) -> Table:
    """What one episode did, a line for each fact."""
    s, (low, high) = episode.summarise(), episode.settings.process.window
    k, tick = episode.hottest_tick, episode.settings.tick
    place = "({:.2f}, {:.2f}) mm".format(*episode.peak_positions[k] * 1e3)
    own = "peak between nodes" if episode.settings.subgrid else "hottest node"
    table = Table(box=None, show_header=False, padding=(0, 2, 0, 0))
    for name, fact in (
        ("path", f"{episode.path}, {len(episode)} ticks of {tick * 1e6:g} µs"),
        ("plant", f"{episode.plant}: {episode.grid}"),
        ("power", describe_power(episode)),
        ("T_max at nodes", _show_range(episode, episode.t_max)),
        ("T_max between nodes", _show_range(episode, episode.t_peak)),
        ("hottest", f"{episode.temperature[k]:.1f} K at {episode.t[k] * 1e3:.2f} ms near {place}"),
        (f"above {high:g} K", _show_ticks(s.above, s.ticks_above, tick)),
        (f"below {low:g} K", _show_ticks(s.below, s.ticks_below, tick)),
        ("absorbed", f"{episode.books['absorbed'] * 1e3:.2f} mJ"),
        ("plant step", f"{episode.ms_per_step:.2f} ms"),
    ):
        table.add_row(Text(name, style="dim"), Text(fact))
    rule = (
        f"{s.ticks_above} settled ticks with the laser on count"
        if episode.plant == "paper"
        else "Above the window all lit ticks count, below it those in which full power could have reached it"
    )
    table.caption = Text(f"{rule}; this plant's T_max is the {own}.")
    table.caption_justify = "left"
    return table


def tabulate_verdicts(claims: Sequence[Mapping[str, Any]], note: str) -> Table:
    """The paper's claims, and what became of each."""
    table = Table(box=SIMPLE_HEAD, caption=Text(note) if note else None, caption_justify="left")
    for heading in ("claim", "verdict", "ours (the paper's)"):
        table.add_column(heading)
    for claim in claims:
        table.add_row(*(Text(claim[name]) for name in ("key", "verdict", "figures")))
    return table


def tabulate_numbers(numbers: Mapping[str, Any]) -> Table:
    """The plain numbers and words of a result."""
    table = Table(box=None, show_header=False, padding=(0, 2, 0, 0))
    for name, value in numbers.items():
        if isinstance(value, int | float | str):
            shown = f"{value:.4g}" if isinstance(value, float) else str(value)
            table.add_row(Text(name, style="dim"), Text(shown))
    return table


def tabulate_replay(record: Mapping[str, Any]) -> Table:
    """What a replay met, and what would have been commanded."""
    frames, (low, high) = record["frames"], record["power_limits_w"]
    faults = ", ".join(f"{frames[name]} {name}" for name in frames if name != "readings")
    facts = {
        "log": f"{record['log']}, {record['ticks']} ticks",
        "controller": record["controller"],
        "readings": f"{frames['readings']}: {faults}",
        "would command": f"{record['commanded_min_w']:.2f} – {record['commanded_max_w']:.2f} W "
        f"(limits {low:g} – {high:g} W)",
        "beyond the limits": f"asked for in {record['asked_outside_limits']} ticks, given in none",
        "statuses": "; ".join(f"{n} × {status}" for status, n in record["statuses"].items()),
    }
    return tabulate_numbers(facts)


def _show_range(episode: Episode, T: Any) -> str:
    return f"{T[episode.counts_below].min():.1f} – {T[episode.counts_above].max():.1f} K"


def _show_ticks(count: int, of: int, tick: float) -> str:
    return f"{count} of {of} ticks ({count * tick * 1e3:.2f} ms)"
