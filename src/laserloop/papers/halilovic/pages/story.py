"""The first screen: a headline and five sentences, true for whatever figures came out."""

import json

from laserloop.papers.halilovic.pages.claims_loop import judge_finding
from laserloop.papers.halilovic.pages.ladder import INTERVAL_US, list_rungs
from laserloop.papers.halilovic.pages.pick import (
    BASE,
    CORNER,
    GUARDED,
    LABELS,
    find,
    find_offline,
    read_loops,
    read_others,
    read_rows,
)
from laserloop.papers.halilovic.pages.plant import tell_grid
from laserloop.papers.halilovic.pages.results import Record, Results
from laserloop.papers.halilovic.pages.verdict import Verdict
from laserloop.papers.halilovic.report.blocks import Picture
from laserloop.papers.halilovic.report.story import draw_story
from laserloop.papers.halilovic.study.published_loops import TABLE_2

TITLES = {BASE: "Baseline model", CORNER: "Corner data", GUARDED: "Corner data + δ"}


def write_headline(verdicts: list[Verdict]) -> str:
    """How many of the paper's claims came out how."""
    words = [verdict.word for verdict in verdicts]
    counts = {word: words.count(word) for word in ("confirmed", "partly", "not", "not judged")}
    told = [
        f"{counts['confirmed']} {'is' if counts['confirmed'] == 1 else 'are'} confirmed",
        f"{counts['partly']} partly",
        f"{counts['not']} not",
        *([f"{counts['not judged']} not judged yet"] if counts["not judged"] else []),
    ]
    return f"Of the paper's {len(verdicts)} claims, {_join(told)}"


def write_story(results: Results) -> list[str]:
    """Five sentences; one whose stage was not run is left out."""
    parts = (_tell_work, _tell_failure, _tell_cure, _tell_plant, _tell_time)
    return [sentence for tell in parts if (sentence := tell(results))]


def draw_picture(results: Results) -> Picture | None:
    """The unseen diagonal under the three controllers of the paper; None if a run is not there."""
    loops = read_loops(results)
    records = [
        record for label in LABELS if (record := find(loops, label, "diagonal")) and "series" in record
    ]
    if len(records) < len(LABELS):
        return None
    figure = draw_story(records, [TITLES[label] for label in LABELS])
    caption = "The unseen diagonal: peak temperature against the window, where it was exceeded, and power."
    return Picture("story", caption, figure)


def _tell_work(results: Results) -> str:
    episodes = sum(one["episodes"] for one in (results.ensembles or {}).values())
    names = ("table_3", "seeds", "details", "realtime")
    records = [*read_loops(results), *read_others(results)]
    records += [record for name in names for record in read_rows(results, name)]
    loops = (results.timing or {}).get("loops", [])
    runs = len({_identify(record) for record in records}) + sum(row["table"] == "plain" for row in loops)
    parts = [
        f"{count} {words}"
        for count, words in (
            (episodes, "simulated episodes"),
            (len(results.trainings or {}), "trained networks"),
            (runs, "closed loops"),
        )
        if count
    ]
    return (
        f"From nothing but the package, one command made {_join(parts)}, and judged the paper by them."
        if parts
        else ""
    )


def _tell_failure(results: Results) -> str:
    run = find(read_loops(results), BASE, "diagonal")
    if run is None:
        return ""
    paper, top = TABLE_2[BASE, "diagonal"], run["window_k"][1]
    if not run["n_over"]:
        return (
            f"On a path no model was trained on, the baseline model keeps T_max below {top:g} K, where the "
            f"paper's "
            f"exceeds it by {paper[0]:.0f} K."
        )
    return (
        f"On a path no model was trained on, the baseline model lets T_max exceed {top:g} K in "
        f"{_ticks(run['n_over'])}, by up "
        f"to {run['overshoot_k']:.1f} K (the paper: {paper[1]} ticks, {paper[0]:.1f} K)."
    )


def _tell_cure(results: Results) -> str:
    loops = read_loops(results)
    base, corner, guarded = (find(loops, label, "diagonal") for label in LABELS)
    rows = [find_offline(results, "diagonal", f"paper-{kind}") for kind in ("base", "corner")]
    offline = [row["rmse_mean_k"] for row in rows if row is not None]
    if base is None or corner is None or guarded is None or len(offline) < 2:
        return ""
    broken = [r for r in loops if r["label"] == GUARDED and r["n_over"]]
    rest = (
        f"{_ticks(sum(r['n_over'] for r in broken))} on all three paths together, by up to "
        f"{max(r['overshoot_k'] for r in broken):.1f} K"
        if broken
        else "none on any of the three paths"
    )
    holds = all(check.holds for check in judge_finding(results)[1])
    lesson = ": accuracy offline does not tell which model is safe" if holds else ""
    return (
        f"Corner data take the error offline from {offline[0]:.1f} to {offline[1]:.1f} K, and the ticks "
        f"above the "
        f"bound from {base['n_over']} to {corner['n_over']}{lesson}; a margin of {guarded['delta_k']:g} K "
        f"leaves "
        f"{rest} (the paper: none)."
    )


def _tell_plant(results: Results) -> str:
    return (
        ""
        if results.plant is None
        else f"But on that grid a kelvin is not a kelvin: {tell_grid(results.plant)}"
    )


def _tell_time(results: Results) -> str:
    bench = (results.timing or {}).get("bench") or {}
    rungs = list_rungs({name: bench[name] for name in ("reference", "exported_c") if name in bench})
    if len(rungs) < 2:
        return ""
    slow, fast = rungs
    inside = "inside" if fast.p99 <= INTERVAL_US else "not yet always inside"
    return (
        f"The same decision that takes IPOPT {slow.median / 1e3:.0f} ms takes the exported controller "
        f"{fast.median:.0f} µs "
        f"({slow.median / fast.median:.0f} times less; p99 {fast.p99:.0f} µs), {inside} its tick of "
        f"{INTERVAL_US:g} µs."
    )


def _identify(record: Record) -> str:
    """The same run may stand in two tables."""
    return json.dumps({key: value for key, value in record.items() if key not in ("label", "series")})


def _ticks(count: int) -> str:
    return f"{count} tick{'s' * (count != 1)}"


def _join(words: list[str]) -> str:
    return " and ".join([", ".join(words[:-1]), words[-1]]) if len(words) > 1 else words[0]
