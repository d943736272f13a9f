"""Questions that the arena answers, each in a sentence or two whose figures come from the rows."""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from laserloop.studies.arena.ranking import compare

Row = dict[str, Any]
LEVELS = ("off", "nominal", "hard")


def write_verdicts(rows: Sequence[Row], declared: dict[str, Row]) -> str:
    """The section."""
    parts = [
        describe_grid(rows),
        tell_learning(rows, declared),
        tell_parts(rows),
        tell_policy(rows, declared),
    ]
    return "\n\n".join(["## Answers", *(part for part in parts if part)])


def describe_grid(rows: Sequence[Row]) -> str:
    """The paper's network, trained on one grid or the other."""
    told = []
    for level, coarse, fine in pair(rows, "paper-corner", "graded-ms-deeponet"):
        there = {row["task"] for row in fine}
        twin = [row for row in rows if row["entrant"] == "twin" and row["task"] in there]
        a, b = mean(coarse, "rms_k"), mean(fine, "rms_k")
        told.append(
            f"{level}: RMS {a:.0f} K trained on the paper's grid, {b:.0f} K trained on `graded` ({outside(coarse)} and "
            f"{outside(fine)} of the ticks outside; {len(fine)} tasks{tell_others(rows, 'graded-ms-deeponet', level)}), so "
            + (f"{1 - b / a:.0%} of it was the grid" if b < a else "the right grid did not help")
            + f"; the twin {mean(twin, 'rms_k'):.1f} K"
        )
    return (
        f"**How much of the paper's out-of-distribution failure was its grid?** {'. '.join(told)}."
        if told
        else ""
    )


def tell_learning(rows: Sequence[Row], declared: dict[str, Row]) -> str:
    """Everybody who learns against the bare twin, on the same tasks."""
    told = []
    for name in (name for name, entrant in declared.items() if entrant["learns"]):
        better = [
            f"{level} by {-d['d_mean_k']:.2f} K ({-d['d_high_k']:.2f} to {-d['d_low_k']:.2f}; {d['d_runs']} paths)"
            for level, d in contrast(rows, name, "twin")
            if d["d_high_k"] is not None and d["d_high_k"] < 0
        ]
        if better:
            cost = declared[name]
            told.append(
                f"{name}: {', '.join(better)} less RMS, for {cost['core_minutes']:.0f} core minutes of training, "
                f"{cost['plant_steps']} plant steps and {clock(rows, name)} a decision (twin: {clock(rows, 'twin')})"
                + "".join(
                    f"; {other} by {', '.join(tell_less(rows, other))}" for other in find_others(rows, name)
                )
            )
    worse = [
        f"{level}: {', '.join(names)}"
        for level in LEVELS
        if (names := [n for n, e in declared.items() if e["learns"] and is_worse(rows, n, level)])
    ]
    first = "; ".join(told) or "nobody, at no level"
    return (
        f"**Does learning beat the twin, where, at what cost?** Outside the intervals: {first}. Worse than the twin "
        f"outside the intervals: {'; '.join(worse) or 'nobody'}. {tell_winners(rows, declared)}"
    )


def tell_winners(rows: Sequence[Row], declared: dict[str, Row]) -> str:
    """Who beats the twin at every level, and whether that keeps more ticks inside."""
    told = []
    for name in (name for name, entrant in declared.items() if entrant["learns"]):
        found = dict(contrast(rows, name, "twin"))
        if len(found) == len(LEVELS) and all((d["d_high_k"] or 0.0) < 0 for d in found.values()):
            shares = "; ".join(
                f"{level} {outside(own)} and {outside(twin)}, worst excursion {farthest(own):.1f} K and {farthest(twin):.1f} K"
                for level, own, twin in pair(rows, name, "twin")
            )
            told.append(f"{name} (ticks outside, its and the twin's: {shares})")
    if not told:
        return "Only who beats it at every level could become the default: nobody does."
    return (
        f"At every level, as a default must: {', '.join(told)}. "
        "Why it is not the default yet: [decision 11](../decisions/0011-the-arena.md)."
    )


def tell_less(rows: Sequence[Row], name: str) -> list[str]:
    """By how much its RMS is less than the twin's, level by level."""
    return [f"{-d['d_mean_k']:.2f} K ({level})" for level, d in contrast(rows, name, "twin")]


def find_others(rows: Sequence[Row], name: str) -> list[str]:
    """Other trainings of an entrant."""
    return sorted({row["entrant"] for row in rows if row["entrant"].startswith(f"{name}@")})


def tell_others(rows: Sequence[Row], name: str, level: str) -> str:
    """Their RMS at a level."""
    own = {
        other: [row for row in rows if row["entrant"] == other and row["level"] == level]
        for other in find_others(rows, name)
    }
    told = [f"{mean(some, 'rms_k'):.0f} K" for some in own.values() if some]
    return f"; other trainings {' and '.join(told)}" if told else ""


def tell_parts(rows: Sequence[Row]) -> str:
    """What one thing buys."""
    told = []
    for what, without in (("preview", "preview"), ("the camera", "camera"), ("history", "history")):
        found = [
            f"{level} {d['d_mean_k']:.1f} K"
            + (f" ({d['d_low_k']:.1f} to {d['d_high_k']:.1f})" if d["d_low_k"] is not None else "")
            for level, d in contrast(rows, f"twin-without-{without}", "twin")
        ]
        if found:
            told.append(f"{what}: {', '.join(found)}")
    return f"**What do preview, camera and history buy?** RMS of the twin without it minus with it. {'; '.join(told)}."


def tell_policy(rows: Sequence[Row], declared: dict[str, Row]) -> str:
    """Networks that answer at once."""
    told = []
    for name in ("distilled", "rl"):
        own = [row for row in rows if row["entrant"] == name]
        if own:
            shares = ", ".join(
                f"{level} {outside(some)} (farthest {max(row['excursion_k'] for row in some):.0f} K from the middle)"
                for level in LEVELS
                if (some := [row for row in own if row["level"] == level])
            )
            told.append(
                f"{name} ({len(own)} runs): ticks outside {shares}, {clock(rows, name)} a decision in Python"
            )
    twin = ", ".join(
        f"{level} {outside(some)}"
        for level in LEVELS
        if (some := [row for row in rows if row["entrant"] == "twin" and row["level"] == level])
    )
    if not told:
        return ""
    runs = sum(row["entrant"] == "twin" for row in rows)
    return (
        f"**Does an amortised policy keep the bounds, at which speed?** {'; '.join(told)}. "
        f"The twin ({runs} runs): {twin}, {clock(rows, 'twin')}."
    )


def pair(rows: Sequence[Row], one: str, other: str) -> Iterator[tuple[str, list[Row], list[Row]]]:
    """The runs of two entrants on the tasks that both ran, level by level."""
    known = {(row["entrant"], row["task"]): row for row in rows}
    for level in LEVELS:
        both = [
            (row, known[other, row["task"]])
            for row in rows
            if row["entrant"] == one and row["level"] == level and (other, row["task"]) in known
        ]
        if both:
            yield level, [a for a, _ in both], [b for _, b in both]


def contrast(rows: Sequence[Row], one: str, other: str) -> Iterator[tuple[str, Row]]:
    """Difference of RMS, level by level, with its interval."""
    for level, a, b in pair(rows, one, other):
        differences = [x | {"d": x["rms_k"] - y["rms_k"]} for x, y in zip(a, b, strict=True)]
        yield level, compare(differences, "d", "d")


def is_worse(rows: Sequence[Row], name: str, level: str) -> bool:
    """Outside the interval."""
    found = dict(contrast(rows, name, "twin")).get(level)
    return found is not None and found["d_low_k"] is not None and found["d_low_k"] > 0


def mean(rows: Sequence[Row], column: str) -> float:
    return float(np.mean([row[column] for row in rows])) if rows else float("nan")


def outside(rows: Sequence[Row]) -> str:
    return f"{sum(row['outside'] for row in rows) / sum(row['ticks'] for row in rows):.2%}"


def farthest(rows: Sequence[Row]) -> float:
    """From the window's middle, K."""
    return float(max(row["excursion_k"] for row in rows))


def clock(rows: Sequence[Row], name: str) -> str:
    """The median decision in units that fit."""
    us = float(np.median([row["decision_p50_us"] for row in rows if row["entrant"] == name]))
    return f"{us:.0f} µs" if us < 1000 else f"{us / 1000:.1f} ms"
