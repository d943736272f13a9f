"""What reproduces, what does not, and why, as far as it was measured."""

from collections.abc import Callable

from laserloop.control.action import Status
from laserloop.control.ipopt import MOST_ITERATIONS
from laserloop.papers.halilovic.pages.pick import BASE, read_asked, read_rows
from laserloop.papers.halilovic.pages.results import Results
from laserloop.papers.halilovic.pages.verdict import Verdict
from laserloop.papers.halilovic.report.blocks import Block, Heading, Prose, Table
from laserloop.papers.halilovic.study.ablation_claims import judge_claims
from laserloop.papers.halilovic.study.ablation_points import Point
from laserloop.papers.halilovic.study.claim import Claim, is_near
from laserloop.papers.halilovic.study.plant_accuracy import PAPER
from laserloop.papers.halilovic.study.published_loops import TABLE_2
from laserloop.papers.halilovic.study.table_1_claims import judge_table_1


def write_findings(results: Results, verdicts: list[Verdict]) -> list[Block]:
    """Every judged sentence once: those that hold, then those that do not, each with its measured cause."""
    sentences: dict[str, Claim] = {}
    for claim in collect_claims(results, verdicts):
        sentences.setdefault(_plain(claim.sentence), claim)
    held = [claim for claim in sentences.values() if claim.holds]
    failed = [claim for claim in sentences.values() if not claim.holds]
    if not sentences:
        return [Prose("Nothing was judged yet.")]
    return [
        Prose(f"{len(held)} of {len(sentences)} sentences of the paper hold on our figures."),
        Heading("What does not, and why", 3),
        Table(
            ("the paper says (rule)", "its figures", "ours", "why, as far as it was measured"),
            [(claim.sentence, claim.paper, claim.ours, explain(claim.sentence, results)) for claim in failed],
            wordy=True,
        )
        if failed
        else Prose("Nothing: all of it reproduces."),
        Heading("What reproduces", 3),
        Table(
            ("the paper says (rule)", "its figures", "ours"),
            [(claim.sentence, claim.paper, claim.ours) for claim in held],
            wordy=True,
        )
        if held
        else Prose("Nothing."),
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
    return "not explained by anything measured here."


def _tell_excitation(results: Results) -> str:
    rows = {r["excitation"]: r for r in (results.table_1 or {}).get("excitations", [])}
    if not {"persistent", "hf-random"} <= set(rows):
        return ""
    slow, fast = rows["persistent"]["t_max_std_k"], rows["hf-random"]["t_max_std_k"]
    if slow <= fast:
        return ""
    return (
        f"under persistent excitation our T_max spreads by {slow:.0f} K, under hf-random by {fast:.0f} K, "
        f"whose quick changes "
        "the plate averages away: the slower class asks for the wider range."
    )


def _tell_noise(results: Results) -> str:
    points = {(p["axis"], p["value"]): p["seen"] for p in (results.ablations or {}).get("points", [])}
    if not {("noise", "0"), ("noise", "10"), ("shared noise", "10")} <= set(points):
        return ""
    still, each, shared = points["noise", "0"], points["noise", "10"], points["shared noise", "10"]
    enough = "which would explain it" if shared - still < 3.0 else "which does not close the gap"
    return (
        f"the paper does not say how its noise is drawn; with one draw for each input our seen error becomes "
        f"{each:.1f} K, with one for all inputs {shared:.1f} K, {enough}."
    )


def _tell_lstm(results: Results) -> str:
    metrics = (results.trainings or {}).get("corner-lstm", {}).get("metrics")
    if not metrics or metrics["best_epoch"] < 0.95 * metrics["epochs"]:
        return ""
    return (
        f"its best epoch was {metrics['best_epoch']} of {metrics['epochs']}: the shorter schedule stopped "
        f"it while it was "
        "still learning."
    )


def _tell_grid(results: Results) -> str:
    if results.plant is None:
        return ""
    ripple = max(cell["node_ripple_k"] for cell in results.plant["plants"][PAPER].values())
    return (
        f"part of it is the grid: at constant power T_max of this plant ripples by up to {ripple:.0f} K "
        f"with the beam's place "
        "between the nodes, and where the authors' paths lie on theirs is not known."
    )


def _tell_corner(results: Results) -> str:
    details = [r["overshoot_k"] for r in read_rows(results, "details") if r["label"] == BASE]
    if not details or any(value > 0 and is_near(value, TABLE_2[BASE, "diagonal"][0]) for value in details):
        return ""
    return (
        f"{len(details)} ways of meeting the corners give an overshoot of {min(details):.1f} to "
        f"{max(details):.1f} K, so this is not it; hatch, spiral and speed of the authors' training paths "
        f"are "
        "not known."
    )


def _tell_margin(results: Results) -> str:
    found = (results.calibration or {}).get("paper-corner", {})
    if "largest_under_prediction_k" not in found:
        return ""
    return (
        f"δ is a {100 * found['quantile']:g} % quantile, not a bound: the largest under-prediction of a "
        f"held-out window is "
        f"{found['largest_under_prediction_k']:.1f} K; the paper's own spiral stays half a kelvin below."
    )


def _tell_plant(results: Results) -> str:
    forward = (results.timing or {}).get("forward")
    return (
        f"five steps of our plant take {forward['plant_5_steps_ms']:.1f} ms, the paper's 515 ms."
        if forward
        else ""
    )


def _tell_scales(results: Results) -> str:
    rows = {
        r["model"]: r["unseen_k"] for r in (results.ablations or {}).get("rows", []) if r["noise_k"] == 0.0
    }
    seeds = [rows[name] for name in (f"corner-nh5-seed{n}" for n in range(3)) if name in rows]
    if len(seeds) < 2:
        return ""
    return (
        f"not explained; {len(seeds)} seeds of the same training differ by {max(seeds) - min(seeds):.1f} K."
    )


def _tell_cap(results: Results) -> str:
    """Where the iteration cap ended a search; nothing if any other status did."""
    places, heating = [], True
    for loop in read_asked(results):
        unsolved = {status: n for status, n in loop["statuses"].items() if status != Status.SOLVED}
        if not unsolved:
            continue
        counts = loop["series"].get("iterations", [])
        capped = [k for k, count in enumerate(counts) if count >= MOST_ITERATIONS]
        if set(unsolved) != {Status.STOPPED} or unsolved[Status.STOPPED] != len(capped):
            return ""
        places += [f"tick {k + 1} of {loop['label']}, {loop['path']}" for k in capped]
        heating = heating and max(capped) < loop["settled_from"]
    if not places:
        return ""
    when = ", while the plate was heating up and no score counted" if heating else ""
    return f"IPOPT came to the paper's cap of {MOST_ITERATIONS} iterations: {', '.join(places)}{when}."


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


def _plain(sentence: str) -> str:
    return sentence.split(" (", maxsplit=1)[0].replace(",", "")
