"""The page about the claims: what reproduces, what does not, and why, as far as it was measured."""

from collections.abc import Callable
from functools import partial

from laserloop.control.controller import Status
from laserloop.control.ipopt import MOST_ITERATIONS
from laserloop.papers.halilovic.pages.claims import judge_paper
from laserloop.papers.halilovic.pages.pick import read_asked, read_rows
from laserloop.papers.halilovic.pages.results import Results
from laserloop.papers.halilovic.pages.tables import tabulate_claims
from laserloop.papers.halilovic.pages.verdict import Verdict
from laserloop.papers.halilovic.pages.write import Parts, write_page
from laserloop.papers.halilovic.report.blocks import Block, Heading, Page, Prose, Table
from laserloop.papers.halilovic.study.ablation_claims import keeps_seen, keeps_unseen
from laserloop.papers.halilovic.study.corners import USUAL, explains, find_best
from laserloop.papers.halilovic.words import say

VERDICTS = ("claim", "verdict", "the paper says", "the figures that say so: ours (the paper's)")
HEADS = ("the paper says (rule)", "its figures", "ours")


def write_claims(results: Results) -> Page:
    """One line each, then the checks behind it; nothing of it needs a clock."""
    verdicts = judge_paper(results)
    rows = [
        (v.key, f"{v.sign} {v.word}", v.claim, f"{v.says} [{v.count} sentences]" if v.says else v.count)
        for v in verdicts
    ]
    checks: list[Block] = []
    for verdict in verdicts:
        if verdict.checks:
            checks += [Heading(f"{verdict.key}: {verdict.word}", 3), tabulate_claims(verdict.checks)]
    parts: Parts = {
        "table": Table(VERDICTS, rows, wordy=True),
        "rules": [Prose(say("rules")), Prose(say("claims.clock"))],
        "checks": [Heading("The sentences"), *checks] if checks else None,
        "findings": write_findings(results, verdicts),
    }
    return write_page("claims", parts, words="claims_page")


def write_findings(results: Results, verdicts: list[Verdict]) -> list[Block]:
    """How many sentences hold; those that do not with a measured cause, then those without one."""
    claims = [check for verdict in verdicts for check in verdict.checks]
    if not claims:
        return [Prose("Nothing was judged yet.")]
    failed = [claim for claim in claims if not claim.holds]
    blocks: list[Block] = [Prose(say("findings", held=len(claims) - len(failed), all=len(claims)))]
    told = [(claim, explain(claim.key, results)) for claim in failed]
    caused = [(one.sentence, one.paper, one.ours, why) for one, why in told if why]
    if caused:
        why = (*HEADS, "why, as far as it was measured")
        blocks += [
            Heading("What does not hold, with a cause that was measured", 3),
            Table(why, caused, wordy=True),
        ]
    rest = [(one.group, one.sentence, one.paper, one.ours) for one, why in told if not why]
    if rest:
        blocks += [Heading("What remains unexplained", 3), Table(("of", *HEADS), rest, wordy=True)]
    return blocks


def explain(key: str, results: Results) -> str:
    """The cause of a sentence's failure, if a figure of this run shows one; nothing otherwise."""
    reason = REASONS.get(key)
    return "" if reason is None else reason(results)


def _tell_excitation(results: Results) -> str:
    rows = {r["excitation"]: r["t_max_std_k"] for r in (results.table_1 or {}).get("excitations", [])}
    slow, fast = rows.get("persistent", 0.0), rows.get("hf-random", 0.0)
    return say("why.excitation", slow=slow, fast=fast) if slow > fast > 0 else ""


def _tell_noise(results: Results, where: str) -> str:
    """By the errors, seen or unseen, that the sentence is about, and by its own rule."""
    points = {(p["axis"], p["value"]): p[where] for p in (results.ablations or {}).get("points", [])}
    wanted = (("noise", "0"), ("noise", "10"), ("shared noise", "10"))
    if not set(wanted) <= set(points):
        return ""
    still, each, shared = (points[key] for key in wanted)
    if not (keeps_seen(still, shared) if where == "seen" else keeps_unseen(still, shared)):
        return ""
    return say("why.noise", where=where, each=each, shared=shared)


def _tell_lstm(results: Results) -> str:
    trained = (results.trainings or {}).get("corner-lstm")
    if not trained or trained["training"].get("schedule", "plateau") != "plateau":
        return ""
    metrics = trained["metrics"]
    return say("why.lstm", **metrics) if metrics["best_epoch"] >= 0.95 * metrics["epochs"] else ""


def _tell_corner(results: Results) -> str:
    """By the corner that meets most of the paper's sentences, if that is not the one that ran."""
    rows = read_rows(results, "corners")
    if not rows:
        return ""
    best = find_best(rows)
    if best["variant"] == USUAL or not explains(best):
        return ""
    return say("why.corner", best=best, count=len({r["variant"] for r in rows}))


def _tell_margin(results: Results) -> str:
    found = (results.calibration or {}).get("paper-corner", {})
    if "largest_under_prediction_k" not in found:
        return ""
    return say("why.margin", quantile=100 * found["quantile"], largest=found["largest_under_prediction_k"])


def _tell_plant(results: Results) -> str:
    forward = (results.timing or {}).get("forward")
    return say("why.plant", **forward) if forward else ""


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


REASONS: dict[str, Callable[[Results], str]] = {  # key of a sentence → what was measured about it
    "table_1.order": _tell_excitation,
    "c3.solved": _tell_cap,
    "noise.seen": partial(_tell_noise, where="seen"),
    "noise.unseen": partial(_tell_noise, where="unseen"),
    "lstm": _tell_lstm,
    **dict.fromkeys(("c4.overshoot", "c4.run", "c4.place", "c4.size", "c4.same"), _tell_corner),
    "c4.none": _tell_margin,
    "c5.forecast": _tell_plant,
}
