"""Sentences about closed-loop runs: every number and every verdict in them is read from the records."""

from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np

from laserloop.bad_input import plain
from laserloop.report.run_record import (
    Record,
    completes,
    find_interval,
    find_sharp_turns,
    find_troubles,
    keeps,
    mark_late,
    mark_over,
    name_runs,
    predicts,
    read,
    read_margin,
    read_window,
)

AFTERMATH = 2e-3  # s after a sharp turn, by when the extra heat has spread
NUMERALS = ("No", "One", "Two", "Three", "Four", "Five", "Six")


def write_headline(records: Sequence[Record]) -> str:
    """Who kept the upper bound, in one line."""
    kept, broken = _divide(records)
    if not broken:
        return capitalise(f"{_join(kept)} {_agree(kept, 'keeps', 'keep')} the upper bound")
    if not kept and len(broken) > 1:
        return "No controller keeps the upper bound"
    does_not = _agree(broken, "does not", "do not")
    if not kept:
        return capitalise(f"{_join(broken)} {does_not} keep the upper bound")
    return capitalise(
        f"{_join(kept)} {_agree(kept, 'keeps', 'keep')} the upper bound; {_join(broken)} {does_not}"
    )


def introduce(records: Sequence[Record]) -> str:
    """What was asked of the controllers."""
    n = len(records)
    paths = dict.fromkeys(Path(record["path"]).name for record in records)
    plants = dict.fromkeys(str(record["plant"]) for record in records)
    who = f"{NUMERALS[n] if n < len(NUMERALS) else n} controller{'s' * (n != 1)}"
    interval = find_interval(records[0])
    every = f" every {show_ms(1e3 * interval)}" if interval else ""
    return (
        f"{who} {'set' if n != 1 else 'sets'} the power of a laser{every} on the path {' or '.join(paths)} "
        f"of the {' or '.join(plants)} plant. T_max, the hottest point of the surface, must not exceed "
        f"{_top(records)} and should not fall below {_foot(records)}."
    )


def tell(record: Record, name: str | None = None) -> str:
    """What one controller achieved; `name`: what this run is called among others."""
    subject = capitalise((name or name_runs([record])[0]) + _describe_planning(record))
    if record["t_max_k"] is None:
        return f"{subject} finished no tick: {record.get('ending', 'the run is empty')}."
    text = (
        f"{subject} reaches {record['t_max_k']:.1f} K at most: {_count_hot(record)}, {_count_cold(record)}."
    )
    if not completes(record):
        text += f" It ended early: {record['ending'].rstrip('.')}."
    for status, count in find_troubles(record).items():
        text += f" {_ticks(count)}: {status}."
    return text


def conclude(records: Sequence[Record]) -> str:
    """The comparison in one sentence."""
    top, names = _top(records), name_runs(records)
    kept = [(name, r) for name, r in zip(names, records, strict=True) if keeps(r)]
    broken = [(name, r) for name, r in zip(names, records, strict=True) if not keeps(r)]
    if not kept and len(broken) == 1:
        return capitalise(f"{_tell_failures(broken, top)}.")
    failures = _tell_failures(broken, "it")
    if not kept:
        return f"No controller kept T_max at or below {top}: {failures}."
    winners, losers = [r for _, r in kept], [r for _, r in broken]
    who = _join([name for name, _ in kept]) if broken or len(kept) == 1 else _all(len(kept))
    text = f"{_find_moral(winners, losers)}{who} kept T_max at or below {top}"
    if broken:
        text += f", but {failures}"
    text += f"; {_list_cold(winners)} of the ticks fell below {_foot(records)}"
    return capitalise(f"{text}, against {_list_cold(losers)}." if broken else f"{text}.")


def tell_lateness(records: Sequence[Record]) -> str:
    """How many decisions a real machine could not have waited for."""
    late = [
        f"{int(mark_late(r).sum())} of {len(mark_late(r))} by {name}"
        for name, r in zip(name_runs(records), records, strict=True)
        if mark_late(r).any()
    ]
    if not late:
        return "Every decision was ready before its tick was over."
    return (
        f"Decisions that took longer than a tick: {_join(late)}. A real machine cannot wait; this plant did."
    )


def count_hot_after_turns(record: Record) -> int:
    """How many of the ticks above the window lie within 2 ms after a sharp turn."""
    t = read(record, "t_s")
    since = t[:, None] - t[None, find_sharp_turns(record)]
    return int(np.count_nonzero(mark_over(record) & np.any((since >= 0) & (since <= AFTERMATH), axis=1)))


def show_ms(ms: float) -> str:
    """A time in the unit that suits it."""
    if ms < 1:
        return f"{ms * 1e3:.3g} µs"
    return f"{ms:.3g} ms" if ms < 1e3 else f"{plain(ms / 1e3)} s"


def show_percent(fraction: float) -> str:
    """A share that says none and all only when it is none and all."""
    if 0 < fraction < 0.01:
        return "<1 %"
    return ">99 %" if 0.99 < fraction < 1 else f"{100 * fraction:.0f} %"


def show_kelvin(kelvin: float) -> str:
    """A difference that says zero only when it is zero."""
    return "<0.1" if 0 < kelvin < 0.05 else f"{kelvin:.1f}"


def capitalise(text: str) -> str:
    """The first letter large, the others as they are."""
    return text[:1].upper() + text[1:]


def _divide(records: Sequence[Record]) -> tuple[list[str], list[str]]:
    """The names of those that kept the bound and of the others."""
    named = list(zip(name_runs(records), records, strict=True))
    return [name for name, r in named if keeps(r)], [name for name, r in named if not keeps(r)]


def _describe_planning(record: Record) -> str:
    margin = f" and {read_margin(record):.3g} K of margin" if read_margin(record) else ""
    if record.get("model"):
        return f", planning with {Path(record['model']).name}{margin},"
    if record["controller"] == "oracle":
        return f", planning on the plant itself{margin.replace(' and', ' with')},"
    return ""


def _count_hot(record: Record) -> str:
    over = record["n_over"]
    if not over:
        return "no tick is too hot"
    text = f"{_ticks(over)} ({record['over_ms']:.4g} ms) {'is' if over == 1 else 'are'} too hot"
    if (start := record.get("starts", {}).get("over_k")) and not record["settled_from"]:
        text += f", by up to {show_kelvin(start)} K just after the laser came on"
    after = count_hot_after_turns(record)
    if not after:
        return text
    which = "within" if after == over == 1 else "all within" if after == over else f"{after} of them within"
    return f"{text}, {which} 2 ms after a sharp turn"


def _count_cold(record: Record) -> str:
    share, deepest = record["below_fraction"], record["deepest_below_k"]
    if not share:
        return "and none is too cold"
    return f"and {show_percent(share)} are too cold, by up to {show_kelvin(deepest)} K"


def _tell_failures(runs: Sequence[tuple[str, Record]], bound: str) -> str:
    clauses, verb = [], f" exceeded {bound}"
    for name, record in runs:
        if record["n_over"]:
            excess = show_kelvin(record["overshoot_k"])
            clauses.append(f"{name}{verb} by up to {excess} K in {_ticks(record['n_over'])}")
            verb = ""  # said once
        else:
            clauses.append(f"{name} did not reach the end of the path")
            verb = f" exceeded {bound}"
    return _join(clauses)


def _find_moral(kept: Sequence[Record], broken: Sequence[Record]) -> str:
    """What divides the two groups, if foresight does."""
    foresight = all(map(predicts, kept)) and not any(map(predicts, broken))
    warm = all(record["below_fraction"] < 0.5 for record in kept)  # a cold plate proves nothing
    if not (broken and foresight and warm and all(record["n_over"] for record in broken)):
        return ""
    at_turns = all(count_hot_after_turns(r) == r["n_over"] for r in broken)
    return "the heat of a sharp turn must be seen coming: " if at_turns else "here looking ahead decides: "


def _list_cold(records: Sequence[Record]) -> str:
    return _join([show_percent(record["below_fraction"]) for record in records])


def _top(records: Sequence[Record]) -> str:
    return _shared(records, lambda r: f"{read_window(r)[1]:g} K", "the top of its window")


def _foot(records: Sequence[Record]) -> str:
    return _shared(records, lambda r: f"{read_window(r)[0]:g} K", "the foot of its window")


def _shared(records: Sequence[Record], show: Callable[[Record], str], otherwise: str) -> str:
    shown = {show(record) for record in records}
    return shown.pop() if len(shown) == 1 else otherwise


def _ticks(count: int) -> str:
    return f"{count} tick{'s' * (count != 1)}"


def _all(count: int) -> str:
    return "both controllers" if count == 2 else f"all {count} controllers"


def _agree(names: Sequence[object], one: str, many: str) -> str:
    return one if len(names) == 1 else many


def _join(words: Sequence[str]) -> str:
    return " and ".join([", ".join(words[:-1]), words[-1]] if len(words) > 1 else words)
