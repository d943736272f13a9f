"""The page about the arena, from docs/results/arena.json."""

from collections import defaultdict
from collections.abc import Sequence
from typing import Any

import numpy as np

from laserloop.arena.standings import compare, time_all

Row = dict[str, Any]
Standings = dict[str, dict[str, Row]]

# What each lives on and what it lacks: the reason behind the figures that stand beside it.
WHY = {
    "twin": "it knows where heat is left from all past ticks and corrects what it does not know by one number",
    "twin-without-camera": "whatever the process says wrong of the plant stays wrong to the end",
    "twin-without-preview": "it takes a turn for a straight line until it has happened",
    "twin-without-history": "heat that the path comes back to is a surprise, which the camera tells too late",
    "ilc": "errors that repeat are learned, noise and lost images too",
    "pi": "it acts after the error, so a turn is over before it is answered, and a late camera makes it swing",
    "pi-calm": "the same with less haste: it swings less and follows later",
    "feedforward": "its dwell was tuned on rasters and a spiral, and no camera says when that is wrong",
    "constant": "a path that returns to warm places needs less and gets the same",
    "paper-corner": "it was trained on another grid: after a turn it may find no power that keeps the bound and falls "
    "into a cycle between none and all of it",
    "paper-base": "the same, without corners in its training",
    "paper-corner-ipopt": "the same plan, found slowly",
    "oracle": "it asks the plant itself",
}
PAIRS = (
    ("preview", "twin-without-preview", "twin"),
    ("the camera", "twin-without-camera", "twin"),
    ("history", "twin-without-history", "twin"),
    ("a model instead of feedback alone", "pi", "twin"),
    ("five passes of practice instead of a model", "ilc", "twin"),
)


def write_page(found: Row, standings: Standings) -> str:
    """Standings, answers, and a sentence for each."""
    rows = [row for row in found["rows"] if row["process"] == "304"]
    levels = list(dict.fromkeys(row["level"] for row in rows))
    codes = sorted({row["code"] for row in rows})
    paths = {(row["family"], row["seed"]) for row in rows}
    head = f"""# The arena: every controller on the same held-out paths

Made by `python benchmarks/arena.py` (code of the loop {", ".join(codes)}; {found["versions"].get("processor", "")}). Plant `graded`,
process `304` (760 to 800 K), 320 ticks along {len(paths)} held-out paths of ten families, disturbances {", ".join(levels)} (what they are:
[how-to](../how-to/arena.md)); {len(rows)} runs. T_max is the peak between the nodes, over settled ticks with the laser on. Gap: RMS from the
window's middle minus the oracle's on the same task; in brackets the 95 % interval of the mean over paths. How scores are made and why:
[decision 11](../decisions/0011-the-arena.md).

![Gap to the oracle: mean with interval, and the worst path](arena.png)

*Mean gap of each entrant and level, its interval (thick) and the worst path (thin, with a bar).*
"""
    parts = [
        head,
        write_standings(found, standings),
        *(write_level(level, standings) for level in levels),
        write_answers(rows),
        write_families(rows, standings),
        write_sentences(rows, standings),
        write_others(found),
        WORDS,
    ]
    return "\n\n".join(part.strip() for part in parts if part) + "\n"


def write_standings(found: Row, standings: Standings) -> str:
    """All levels together."""
    clocks = time_all([row for row in found["rows"] if row["process"] == "304"])
    lines = [
        "## Standings, all levels\n",
        "| entrant | knows the path | camera | gap, K | worst gap, K | RMS, K | outside | below | most above, K | "
        "most below, K | mean \\|ΔP\\|, W | decision p50 / p99.9, µs | missed deadlines | training | runs |",
        "|---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|",
    ]
    for name, levels in standings.items():
        s, e, c = levels["all"], found["entrants"][name], clocks[name]
        cost = f"{e['core_minutes']:.0f} min, {e['plant_steps']} steps" if e["learns"] else "none"
        cost = f"{e['passes']} passes a task" if e["passes"] else cost
        lines.append(
            f"| {name}{' (bound)' if e['bound'] else ''} | {'yes' if e['foresight'] == 'path' else 'no'} | "
            f"{'yes' if e['camera'] else 'no'} | {show_gap(s)} | {show(s['gap_worst_k'], 1)} | {s['rms_k']:.2f} | "
            f"{s['outside_fraction']:.2%} | {s['below_fraction']:.2%} | {s['above_k']:.1f} | {s['below_k']:.1f} | "
            f"{s['step_mean_w']:.2f} | {c['decision_p50_us']:.0f} / {c['decision_p999_us']:.0f} | "
            f"{c['missed_fraction']:.1%} | {cost} | {s['runs']} |"
        )
    return "\n".join(lines)


def write_level(level: str, standings: Standings) -> str:
    """One level."""
    lines = [
        f"## {level.capitalize()}\n",
        "| entrant | gap, K | worst gap, K | RMS, K | outside | most above, K | most below, K | runs |",
        "|---|---|---|---|---|---|---|---|",
    ]
    known = {name: levels[level] for name, levels in standings.items() if level in levels}
    for name, s in sorted(known.items(), key=lambda item: item[1]["rms_k"]):
        lines.append(
            f"| {name} | {show_gap(s)} | {show(s['gap_worst_k'], 1)} | {s['rms_k']:.2f} | "
            f"{s['outside_fraction']:.2%} | {s['above_k']:.1f} | {s['below_k']:.1f} | {s['runs']} |"
        )
    return "\n".join(lines)


def write_answers(rows: Sequence[Row]) -> str:
    """What one thing buys: two entrants on the same tasks."""
    by_key = {(row["entrant"], row["task"]): row for row in rows}
    lines = ["## What preview, camera, history and a model buy\n"]
    lines += [
        "RMS from the middle, mean over the tasks that both ran, K; in brackets the 95 % interval of the difference.\n"
    ]
    lines += ["| what | level | without | with | difference | tasks |", "|---|---|---|---|---|---|"]
    for what, poor, rich in PAIRS:
        for level in ("off", "nominal", "hard"):
            pairs = [
                (row, by_key[rich, row["task"]])
                for row in rows
                if row["entrant"] == poor and row["level"] == level and (rich, row["task"]) in by_key
            ]
            if pairs:
                differences = [a | {"d": a["rms_k"] - b["rms_k"]} for a, b in pairs]
                d = compare(differences, "d", "d")
                without, rich_k = (float(np.mean([pair[k]["rms_k"] for pair in pairs])) for k in (0, 1))
                lines.append(
                    f"| {what} | {level} | {without:.2f} | {rich_k:.2f} | {d['d_mean_k']:.2f}"
                    f"{show_interval(d, 'd')} | {len(pairs)} |"
                )
    return "\n".join(lines)


def write_families(rows: Sequence[Row], standings: Standings) -> str:
    """Who is good where."""
    families = list(dict.fromkeys(row["family"] for row in rows))
    values = gather(rows)
    lines = [
        "## Family by family\n",
        "RMS from the middle, mean over all levels, K.\n",
        f"| entrant | {' | '.join(families)} |",
        "|---|" + "---|" * len(families),
    ]
    for name in standings:
        cells = [f"{np.mean(values[name][f]):.2f}" if values[name][f] else "–" for f in families]
        lines.append(f"| {name} | {' | '.join(cells)} |")
    return "\n".join(lines)


def write_sentences(rows: Sequence[Row], standings: Standings) -> str:
    """What each is good at and where it fails, with the path that shows it."""
    values, lines = gather(rows), ["## One by one\n"]
    for name in standings:
        own = [row for row in rows if row["entrant"] == name]
        means = {family: float(np.mean(some)) for family, some in values[name].items() if some}
        best, worst_family = min(means, key=lambda f: means[f]), max(means, key=lambda f: means[f])
        worst = max(own, key=lambda row: row["excursion_k"])
        beyond = (
            f"{worst['above_k']:.0f} K above the window"
            if worst["above_k"] >= worst["below_k"] and worst["above_k"] > 0
            else f"{worst['below_k']:.0f} K below the window"
            if worst["below_k"] > 0
            else "inside the window"
        )
        why = WHY.get(name)
        lines.append(
            f"- **{name}**: best on {best} paths ({means[best]:.2f} K RMS), worst on {worst_family} paths "
            f"({means[worst_family]:.2f} K); farthest from the middle on `{worst['task']}`, by "
            f"{worst['excursion_k']:.1f} K, {beyond}" + (f"; {why}." if why else ".")
        )
    return "\n".join(lines)


def write_others(found: Row) -> str:
    """The other processes, briefly."""
    lines = []
    for process in dict.fromkeys(row["process"] for row in found["rows"]):
        rows = [row for row in found["rows"] if row["process"] == process]
        if process == "304":
            continue
        for name in dict.fromkeys(row["entrant"] for row in rows):
            own = [row for row in rows if row["entrant"] == name]
            outside = sum(row["outside"] for row in own) / sum(row["ticks"] for row in own)
            rms = np.mean([row["rms_k"] for row in own])
            lines.append(f"| {process} | {name} | {rms:.2f} | {outside:.2%} | {len(own)} |")
    if not lines:
        return ""
    return "\n".join(
        [
            "## Other alloys and windows\n",
            "| process | entrant | RMS, K | outside | runs |",
            "|---|---|---|---|---|",
            *lines,
        ]
    )


def gather(rows: Sequence[Row]) -> dict[str, dict[str, list[float]]]:
    """Entrant → family → RMS of its runs."""
    found: dict[str, dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    for row in rows:
        found[row["entrant"]][row["family"]].append(row["rms_k"])
    return found


def show(value: float | None, digits: int) -> str:
    return "–" if value is None else f"{value:.{digits}f}"


def show_gap(s: Row) -> str:
    if s["gap_mean_k"] is None:
        return "–"
    return f"{s['gap_mean_k']:.2f}" + show_interval(s, "gap")


def show_interval(s: Row, name: str) -> str:
    low, high = s[f"{name}_low_k"], s[f"{name}_high_k"]
    return "" if low is None else f" ({low:.2f} to {high:.2f})"


WORDS = """
## What this does not say

Times were taken in Python, one decision at a time, while other work shared the two cores: medians are what they are, tails are not
worth much, and exported C is faster. The gains of PI, feed-forward and constant power were tuned on three paths of the undisturbed
plant; others may be found for noise and delay. The paper's networks were trained on the paper's grid and are forced here: how much of
their distance is the grid is answered by the same networks trained on `graded`, once they are among the entrants.
"""
