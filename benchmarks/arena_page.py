"""The page about the arena, from docs/results/arena.json."""

from collections import defaultdict
from collections.abc import Sequence
from typing import Any

import numpy as np
from arena_answers import LEVELS, contrast, pair, write_verdicts
from arena_costs import write_costs
from arena_rows import choose, count_paths, first, share_further, share_tasks

from laserloop.control.margins import LEVEL
from laserloop.studies.arena.ranking import rank, time_all
from laserloop.studies.arena.tasks import FULL_PATHS

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
    "twin-corrected": "what one diffusivity gets wrong repeats with the shape of the path, so it can be learned; what the "
    "camera and the plant do otherwise than told cannot",
    "koopman": "one linear map for each kind of turn: paths of other kinds fall between them",
    "affine-history": "a network near its lessons; far from them it has nothing to run_benchmark on to",
    "tide": "the same of the whole horizon at once; four linearisations a tick",
    "tide-quantile": "the same, and it knows how unsure it is",
    "fno": "it sees the surface itself, noise included",
    "graded-ms-deeponet": "the paper's network on the right grid, still without the path that lies behind it",
    "graded-ss-ar": "its errors go into its next prediction",
    "graded-lstm": "it remembers a stretch of its past, and forgets what lies farther back",
    "distilled": "it does what the twin would do in one pass of a network, within what its teacher was shown",
    "rl": "nobody told it the physics; it found most of it",
}
PAIRS = (
    ("preview", "twin-without-preview", "twin"),
    ("the camera", "twin-without-camera", "twin"),
    ("history", "twin-without-history", "twin"),
    ("a model instead of feedback alone", "pi", "twin"),
    ("five passes of practice instead of a model", "ilc", "twin"),
    ("the right grid for the paper's network", "paper-corner", "graded-ms-deeponet"),
    ("a learned correction of the twin", "twin", "twin-corrected"),
    ("physics instead of a network with a memory", "affine-history", "twin"),
    ("planning instead of a policy distilled from it", "distilled", "twin"),
)


def describe_counting(rows: list[Row]) -> str:
    """Which ticks the scores are over."""
    if all(row.get("start_over_k") is not None for row in rows):
        return (
            "Above the window all lit ticks count, below it those in which full power could have reached it."
        )
    return "Scored by the former rule: lit ticks from the eleventh after the laser came on; starts are not counted."


def write_page(found: Row) -> str:
    """Standings, answers, and a sentence for each."""
    rows = first(choose(found["rows"]))
    shared, more = share_tasks(rows), share_further(rows)
    standings = rank(shared)
    levels = list(dict.fromkeys(row["level"] for row in rows))
    codes = sorted({row["code"] for row in rows})
    caption = (
        "Mean gap of each entrant and level, its interval (thick) and the worst path (thin, with a bar)"
        if any(levels["all"]["gap_mean_k"] is not None for levels in standings.values())
        else "Mean RMS from the middle of each entrant and level; the oracle has not run on whole tasks yet"
    )
    head = f"""# The arena: every controller on the same held-out paths

Made by `python benchmarks/arena.py` (measured with version {found["versions"]["laserloop"]}; code of the loop {", ".join(codes)}; {found["versions"].get("processor", "unknown processor")}). Plant `graded` of 0.2.0,
before it became [nested boxes](nested_plant.md), where three entrants were measured again;
process `304` (760 to 800 K), 320 ticks along held-out paths of ten families, {FULL_PATHS} of them planned: {count_paths(shared)} for all
{len(standings)} entrants{tell_more(more)}; disturbances {", ".join(levels)} (what they are: [how-to](../how-to/arena.md)); {len(rows)} runs.
T_max is the peak between the nodes. {describe_counting(rows)} Gap: RMS from the window's middle minus the oracle's on the
same task; in brackets the 95 % interval of the mean over paths. How scores are made and why: [decision 11](../decisions/0011-the-arena.md).

![{caption}](arena.png)

*{caption}; {count_paths(shared)} paths.* Compare entrants within a level.{tell_lost(rows)}
"""
    parts = [
        head,
        write_verdicts(
            choose(found["rows"]),
            {name: told for name, told in found["entrants"].items() if "@" not in name},
        ),
        write_further(more, rows),
        write_standings(found, shared, standings),
        *(write_level(level, standings) for level in levels),
        write_short(found),
        write_answers(rows),
        write_coverage(found, standings),
        write_families(shared, standings),
        write_sentences(rows, standings),
        write_others(found),
        write_costs(rows, found),
        WORDS,
    ]
    return "\n\n".join(part.strip() for part in parts if part) + "\n"


def tell_more(more: Sequence[Row]) -> str:
    """How far some have come."""
    if not more:
        return ""
    names = dict.fromkeys(row["entrant"] for row in more)
    return f", {count_paths(more)} for {len(names)} of them ({', '.join(names)})"


def write_further(more: Sequence[Row], rows: Sequence[Row]) -> str:
    """Those who have run more paths than everybody."""
    if not more:
        return ""
    standings = rank(more)
    caption = "RMS from the middle: mean with its interval (thick) and the worst path (thin, with a bar)"
    bounds = [row["rms_k"] for row in rows if row["entrant"] == "oracle"]
    known = "oracle" in standings
    lines = [
        f"## On {count_paths(more)} paths",
        "",
        f"The entrants that answer most: {len(more)} runs, every task run by all of them."
        + (
            ""
            if known or not bounds
            else f" The oracle ran {len(bounds)} tasks and was never more than {max(bounds):.2f} K RMS from the middle, so RMS is the "
            "gap to it within that."
        ),
        "",
        f"![{caption}](arena_further.png)",
        "",
        "| level | entrant | RMS, K | worst path, K | to the twin, K | outside | most above, K | most below, K | runs |",
        "|---|---|---|---|---|---|---|---|---|",
    ]
    for level in dict.fromkeys(row["level"] for row in more):
        for name, levels in sorted(standings.items(), key=lambda item: item[1][level]["rms_k"]):
            s = levels[level]
            beside = "–" if name == "twin" else f"{s['to_twin_mean_k']:+.2f}{show_interval(s, 'to_twin')}"
            lines.append(
                f"| {level} | {name} | {s['rms_k']:.2f}{show_interval(s, 'rms')} | {s['rms_worst_k']:.1f} | {beside} | "
                f"{s['outside_fraction']:.2%} | {s['above_k']:.1f} | {s['below_k']:.1f} | {s['runs']} |"
            )
    return "\n".join(lines)


def tell_lost(rows: Sequence[Row]) -> str:
    """Where the oracle is no bound."""
    twin = {row["task"]: row["rms_k"] for row in rows if row["entrant"] == "twin"}
    lost = [
        row for row in rows if row["entrant"] == "oracle" and row["rms_k"] > twin.get(row["task"], np.inf)
    ]
    told = ", ".join(f"`{row['task']}` ({row['rms_k']:.0f} K RMS)" for row in lost)
    return f" On {told} the oracle lost its way and is no bound; gaps there are left out." if told else ""


def write_short(found: Row) -> str:
    """The same from short runs, on which the oracle has been everywhere."""
    rows = first(choose(found["rows"], short=True))
    if not rows:
        return ""
    ticks = sorted({row["task"].partition("@")[2] for row in rows})
    standings = rank(rows)
    body = write_level(next(iter({row["level"]: 0 for row in rows})), standings).partition("\n\n")[2]
    return f"""## The quick contest, oracle included

`laserloop arena --quick`: one path of each family, nominal, the first {" and ".join(ticks)} ticks; code of the loop
{", ".join(sorted({row["code"] for row in rows}))}. The oracle's own RMS is {standings["oracle"]["all"]["rms_k"]:.3f} K here, so a gap is hardly less than the RMS itself.

{body}"""


def write_standings(found: Row, rows: Sequence[Row], standings: Standings) -> str:
    """All levels together."""
    clocks = time_all(rows)
    lines = [
        "## Standings, all levels\n",
        "Who has run fewer tasks than most stands below, after those who have run them all: read these level by level.\n",
        "| entrant | knows the path | camera | gap, K | worst gap, K | RMS, K | outside | below | most above, K | "
        "most below, K | mean \\|ΔP\\|, W | decision p50 / p99.9, µs | missed deadlines | training | runs |",
        "|---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|",
    ]
    most = max(levels["all"]["runs"] for levels in standings.values())
    for name, levels in sorted(standings.items(), key=lambda item: item[1]["all"]["runs"] < most):
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
    lines = [
        "## What preview, camera, history and a model buy\n",
        "RMS from the middle, mean over the tasks that both ran, K; in brackets the 95 % interval of the difference.\n",
        "| what | level | without | with | difference | tasks |",
        "|---|---|---|---|---|---|",
    ]
    for what, poor, rich in PAIRS:
        differences = dict(contrast(rows, poor, rich))
        for level, without, having in pair(rows, poor, rich):
            d = differences[level]
            before, after = (float(np.mean([row["rms_k"] for row in some])) for some in (without, having))
            lines.append(
                f"| {what} | {level} | {before:.2f} | {after:.2f} | {d['d_mean_k']:.2f}{show_interval(d, 'd')} | {len(having)} |"
            )
    return "\n".join(lines)


def write_coverage(found: Row, standings: Standings) -> str:
    """How often margins run_benchmark that other families, or the undisturbed level, promised."""
    told = {(row["entrant"], row["level"]): row for row in found.get("coverage", [])}
    lines = [
        "## Promised and kept",
        "",
        f"Margins that {LEVEL:.0%} of the ticks shall stay within on either side of their predictions, for all who predict. *Other families*: "
        "calibrated on the other families at the same level, tried on each in turn. *Undisturbed*: calibrated on the level off. *Following*: "
        "learned in the run itself from what the camera reads, noise included (adaptive conformal inference). Widths are means over "
        "both sides, K; the widest is the farthest that T_max ever lay from a prediction.",
        "",
        "| entrant | level | runs | other families | its width | undisturbed | following | its width | widest |",
        "|---|---|---|---|---|---|---|---|---|",
    ]
    for name in standings:
        for level in LEVELS:
            if row := told.get((name, level)):
                shares = {
                    key: "–" if row[key] is None else f"{row[key]:.1%}"
                    for key in ("apart", "shifted", "followed")
                }
                lines.append(
                    f"| {name} | {level} | {row['runs']} | {shares['apart']} | {show(row['apart_k'], 1)} | {shares['shifted']} | "
                    f"{shares['followed']} | {show(row['followed_k'], 1)} | {row['widest_k']:.1f} |"
                )
    return "\n".join(lines) if told else ""


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
            continue  # has the tables above
        for name in dict.fromkeys(row["entrant"] for row in rows):
            own = [row for row in rows if row["entrant"] == name]
            outside = sum(row["outside"] for row in own) / sum(row["ticks"] for row in own)
            by_level = [[row["rms_k"] for row in own if row["level"] == level] for level in LEVELS]
            rms = " | ".join(f"{np.mean(some):.2f}" if some else "–" for some in by_level)
            lines.append(
                f"| {process} | {name} | {rms} | {outside:.2%} | {max(row['above_k'] for row in own):.1f} | "
                f"{max(row['below_k'] for row in own):.1f} | {len(own)} |"
            )
    if not lines:
        return ""
    return "\n".join(
        [
            "## Other alloys and windows\n",
            "in625 at 860 to 900 K, ti64 at 1200 to 1240 K; RMS from the middle at each level, K.\n",
            "| process | entrant | off | nominal | hard | outside | most above, K | most below, K | runs |",
            "|---|---|---|---|---|---|---|---|---|",
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
plant; others may be found for noise and delay. The `paper-…` networks were trained on the paper's grid and are
forced here; `graded-…` are the same networks trained on the plant they are scored on. Trainings are short (core minutes in the
table); longer ones may do better. All are of seed 0; [two more](learned.md) say how lucky it was.
"""
