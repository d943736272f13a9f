"""The first screen: a headline and five sentences, true for whatever figures came out."""

import json

from laserloop.papers.halilovic.pages.claims import MODELS, collect_claims
from laserloop.papers.halilovic.pages.ladder import INTERVAL_US, list_rungs
from laserloop.papers.halilovic.pages.pick import (
    BASE,
    CORNER,
    GUARDED,
    LABELS,
    count_ticks,
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
from laserloop.papers.halilovic.study.published import TABLE_2
from laserloop.papers.halilovic.words import say

TITLES = {BASE: "Baseline model", CORNER: "Corner data", GUARDED: "Corner data + δ"}


def write_headline(verdicts: list[Verdict]) -> str:
    """How many of the paper's claims came out how."""
    words = [verdict.word for verdict in verdicts]
    confirmed, unjudged = words.count("confirmed"), words.count("not judged")
    told = [
        f"{confirmed} {'is' if confirmed == 1 else 'are'} confirmed",
        *(f"{words.count(word)} {word}" for word in ("partly", "not")),
        *([f"{unjudged} not judged yet"] if unjudged else []),
    ]
    return f"Of the paper's {len(verdicts)} claims, {_join(told)}"


def write_story(results: Results) -> list[str]:
    """Five sentences; one whose stage was not run is left out."""
    parts = (_tell_work, _tell_failure, _tell_cure, _tell_plant, _tell_time)
    return [sentence for tell in parts if (sentence := tell(results))]


def draw_picture(results: Results) -> Picture | None:
    """The unseen diagonal under the three controllers of the paper; None if a run is not there."""
    loops = read_loops(results)
    found = [find(loops, label, "diagonal") for label in LABELS]
    records = [record for record in found if record and "series" in record]
    if len(records) < len(LABELS):
        return None
    return Picture("story", say("story.caption"), draw_story(records, [TITLES[label] for label in LABELS]))


def _tell_work(results: Results) -> str:
    episodes = sum(one["episodes"] for one in (results.ensembles or {}).values())
    names = ("table_3", "horizon_seeds", "seeds", "corners", "realtime")
    records = [*read_loops(results), *read_others(results)]
    records += [record for name in names for record in read_rows(results, name)]
    loops = (results.timing or {}).get("loops", [])
    runs = len({_identify(record) for record in records}) + sum(
        row["table"] == "other_graph" for row in loops
    )
    counts = {
        "simulated episodes": episodes,
        "trained networks": len(results.trainings or {}),
        "closed loops": runs,
    }
    parts = [f"{count} {words}" for words, count in counts.items() if count]
    return say("story.work", parts=_join(parts)) if parts else ""


def _tell_failure(results: Results) -> str:
    run = find(read_loops(results), BASE, "diagonal")
    if run is None:
        return ""
    paper, top = TABLE_2[BASE, "diagonal"], run["window_k"][1]
    if not run["n_over"]:
        return say("story.kept", top=top, paper=paper)
    return say("story.failed", top=top, paper=paper, run=run, ticks=count_ticks(run["n_over"]))


def _tell_cure(results: Results) -> str:
    loops = read_loops(results)
    base, corner, guarded = (find(loops, label, "diagonal") for label in LABELS)
    rows = [find_offline(results, "diagonal", model) for model in MODELS]
    offline = [row["rmse_mean_k"] for row in rows if row is not None]
    if base is None or corner is None or guarded is None or len(offline) < 2:
        return ""
    broken = [r for r in loops if r["label"] == GUARDED and r["n_over"]]
    rest = "none on any of the three paths"
    if broken:
        ticks = count_ticks(sum(r["n_over"] for r in broken))
        rest = say("story.rest", ticks=ticks, most=max(r["overshoot_k"] for r in broken))
    holds = any(check.holds for check in collect_claims(results) if check.key == "finding.rank")
    lesson = ": accuracy offline does not tell which model is safe" if holds else ""
    told = {"offline": offline, "lesson": lesson, "rest": rest}
    return say("story.cure", base=base, corner=corner, guarded=guarded, **told)


def _tell_plant(results: Results) -> str:
    return "" if results.plant is None else say("story.grid", told=tell_grid(results.plant))


def _tell_time(results: Results) -> str:
    bench = (results.timing or {}).get("bench") or {}
    rungs = list_rungs({name: bench[name] for name in ("reference", "exported_c") if name in bench})
    if len(rungs) < 2:
        return ""
    slow, fast = rungs
    inside = "inside" if fast.p99 <= INTERVAL_US else "not yet always inside"
    ratio = slow.median / fast.median
    return say(
        "story.time", slow=slow.median / 1e3, fast=fast, ratio=ratio, inside=inside, interval=INTERVAL_US
    )


def _identify(record: Record) -> str:
    """The same run may stand in two tables."""
    return json.dumps({key: value for key, value in record.items() if key not in ("label", "series")})


def _join(words: list[str]) -> str:
    return " and ".join([", ".join(words[:-1]), words[-1]]) if len(words) > 1 else words[0]
