"""The page about the claims: what reproduces, what does not, and why, as far as it was measured."""

from collections.abc import Callable

from laserloop.control.action import Status
from laserloop.control.ipopt import MOST_ITERATIONS
from laserloop.papers.halilovic.pages.claims import judge_paper
from laserloop.papers.halilovic.pages.loop_words import read_details
from laserloop.papers.halilovic.pages.pick import BASE, find_ripple, read_asked
from laserloop.papers.halilovic.pages.results import Results
from laserloop.papers.halilovic.pages.tables import tabulate_claims
from laserloop.papers.halilovic.pages.verdict import Verdict
from laserloop.papers.halilovic.pages.write import Parts, write_page
from laserloop.papers.halilovic.report.blocks import Block, Heading, Page, Prose, Table
from laserloop.papers.halilovic.study.ablation_claims import judge_claims
from laserloop.papers.halilovic.study.ablation_points import Point
from laserloop.papers.halilovic.study.claim import Claim, is_near
from laserloop.papers.halilovic.study.published import TABLE_2
from laserloop.papers.halilovic.study.table_1_claims import judge_table_1
from laserloop.papers.halilovic.words import say

VERDICTS = ("claim", "verdict", "the paper says", "the figures that say so: ours (the paper's)")
HEADS = ("the paper says (rule)", "its figures", "ours")


def write_claims(results: Results) -> Page:
    """One line each, then the checks behind it; nothing of it needs a clock."""
    verdicts = judge_paper(results)
    rows = [
        (v.key, f"{v.sign} {v.word}", v.claim, f"{v.says} [{v.count} checks]" if v.says else "–")
        for v in verdicts
    ]
    checks: list[Block] = []
    for verdict in verdicts:
        if verdict.checks:
            checks += [Heading(f"{verdict.key}: {verdict.word}", 3), tabulate_claims(verdict.checks)]
    parts: Parts = {
        "table": Table(VERDICTS, rows, wordy=True),
        "rules": [Prose(say("rules")), Prose(say("claims.clock"))],
        "checks": [Heading("The checks"), *checks] if checks else None,
        "findings": write_findings(results, verdicts),
    }
    return write_page("claims", parts, words="claims_page")


def write_findings(results: Results, verdicts: list[Verdict]) -> list[Block]:
    """Every judged sentence once: those that hold, then those that do not, each with its measured cause."""
    sentences: dict[str, Claim] = {}
    for claim in collect_claims(results, verdicts):
        sentences.setdefault(claim.sentence.split(" (", maxsplit=1)[0].replace(",", ""), claim)
    if not sentences:
        return [Prose("Nothing was judged yet.")]
    rows = {
        holds: [(one.sentence, one.paper, one.ours) for one in sentences.values() if one.holds is holds]
        for holds in (True, False)
    }
    failed = [(*row, explain(row[0], results)) for row in rows[False]]
    why = (*HEADS, "why, as far as it was measured")
    return [
        Prose(f"{len(rows[True])} of {len(sentences)} sentences of the paper hold on our figures."),
        Heading("What does not, and why", 3),
        Table(why, failed, wordy=True) if failed else Prose("Nothing: all of it reproduces."),
        Heading("What reproduces", 3),
        Table(HEADS, rows[True], wordy=True) if rows[True] else Prose("Nothing."),
    ]


def collect_claims(results: Results, verdicts: list[Verdict]) -> list[Claim]:
    """The checks of the verdicts, then the sentences about Table 1 and the ablations."""
    claims = [check for verdict in verdicts for check in verdict.checks]
    if results.table_1 is not None:
        claims += judge_table_1(results.table_1["rows"])
    if results.ablations is not None:
        claims += judge_claims(Point(**point) for point in results.ablations["points"])
    return claims


def explain(sentence: str, results: Results) -> str:
    """The cause, as far as a figure of this run shows one."""
    for words, reason in REASONS.items():
        if words in sentence and (told := reason(results)):
            return told
    return say("why.nothing")


def _tell_excitation(results: Results) -> str:
    rows = {r["excitation"]: r["t_max_std_k"] for r in (results.table_1 or {}).get("excitations", [])}
    slow, fast = rows.get("persistent", 0.0), rows.get("hf-random", 0.0)
    return say("why.excitation", slow=slow, fast=fast) if slow > fast > 0 else ""


def _tell_noise(results: Results) -> str:
    points = {(p["axis"], p["value"]): p["seen"] for p in (results.ablations or {}).get("points", [])}
    wanted = (("noise", "0"), ("noise", "10"), ("shared noise", "10"))
    if not set(wanted) <= set(points):
        return ""
    still, each, shared = (points[key] for key in wanted)
    enough = "which would explain it" if shared - still < 3.0 else "which does not close the gap"
    return say("why.noise", each=each, shared=shared, enough=enough)


def _tell_lstm(results: Results) -> str:
    metrics = (results.trainings or {}).get("corner-lstm", {}).get("metrics")
    learning = metrics and metrics["best_epoch"] >= 0.95 * metrics["epochs"]
    return say("why.lstm", **metrics) if learning else ""


def _tell_grid(results: Results) -> str:
    ripple = find_ripple(results)
    return "" if ripple is None else say("why.grid", ripple=ripple)


def _tell_corner(results: Results) -> str:
    details = read_details(results)
    if not details or any(value > 0 and is_near(value, TABLE_2[BASE, "diagonal"][0]) for value in details):
        return ""
    return say("why.corner", count=len(details), low=min(details), high=max(details))


def _tell_margin(results: Results) -> str:
    found = (results.calibration or {}).get("paper-corner", {})
    if "largest_under_prediction_k" not in found:
        return ""
    return say("why.margin", quantile=100 * found["quantile"], largest=found["largest_under_prediction_k"])


def _tell_plant(results: Results) -> str:
    forward = (results.timing or {}).get("forward")
    return say("why.plant", **forward) if forward else ""


def _tell_scales(results: Results) -> str:
    rows = (results.ablations or {}).get("rows", [])
    unseen = {r["model"]: r["unseen_k"] for r in rows if r["noise_k"] == 0.0}
    seeds = [unseen[name] for n in range(3) if (name := f"corner-nh5-seed{n}") in unseen]
    return say("why.scales", count=len(seeds), spread=max(seeds) - min(seeds)) if len(seeds) > 1 else ""


def _tell_cap(results: Results) -> str:
    """Where the iteration cap ended a search; nothing if another status did, or if ticks were not kept."""
    places, heating = [], True
    for loop in read_asked(results):
        unsolved = {status: n for status, n in loop["statuses"].items() if status != Status.SOLVED}
        if not unsolved:
            continue
        counts = loop.get("series", {}).get("iterations", [])
        capped = [k for k, count in enumerate(counts) if count >= MOST_ITERATIONS]
        if set(unsolved) != {Status.STOPPED} or unsolved[Status.STOPPED] != len(capped):
            return ""
        places += [f"tick {k + 1} of {loop['label']}, {loop['path']}" for k in capped]
        heating = heating and max(capped) < loop["settled_from"]
    if not places:
        return ""
    when = ", while the plate was heating up and no score counted" if heating else ""
    return say("why.cap", cap=MOST_ITERATIONS, places=", ".join(places), when=when)


REASONS: dict[str, Callable[[Results], str]] = {  # words of a sentence → what was measured about it
    "easier than hf-random": _tell_excitation,
    "solver converges": _tell_cap,
    "of noise": _tell_noise,
    "LSTM matches": _tell_lstm,
    "residual in every row": _tell_grid,
    "first corner": _tell_corner,
    "as large as the paper's": _tell_corner,
    "no path has a tick above": _tell_margin,
    "thousand times faster": _tell_plant,
    "horizon to the next longer": _tell_scales,
}
