"""The paper's sentences about its ablations, each judged on our figures."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import pairwise

from laserloop.papers.halilovic.study.ablation_points import Point
from laserloop.papers.halilovic.study.claim import FACTOR, STEADY, Claim, is_flat
from laserloop.papers.halilovic.study.published import (
    LSTM_LATENCY_RATIO,
    ONE_SHOT_STEPS,
    SIZES_SEEN,
    SIZES_UNSEEN_CHANGE,
    SS_AR_STEPS,
)

Points = Mapping[tuple[str, str], Point]
Latency = Mapping[str, Mapping[str, float]]  # architecture → way → µs

SIZES = (("basis", "50"), ("basis", "100"), ("basis", "150"), ("width", "64"), ("width", "256"))


def judge_claims(points: Iterable[Point]) -> list[Claim]:
    """All claims whose figures are there, in the paper's order; none of them needs a clock."""
    placed = place(points)
    judged = []
    for judge in JUDGES:
        try:
            judged += judge(placed)
        except KeyError:  # a model of it is not trained yet
            continue
    return judged


def place(points: Iterable[Point]) -> Points:
    """Points by axis and value."""
    return {(point.axis, point.value): point for point in points}


def judge_trunk(points: Points) -> list[Claim]:
    """Previews of the temperature where the beam will be are what counts."""
    temps, loc = points["trunk", "temps"], points["trunk", "loc"]
    return [
        Claim(
            sentence=f"without previews the {where} error grows (at least {FACTOR:g} times)",
            paper=_change(temps, loc, f"paper_{where}"),
            ours=_change(temps, loc, where),
            holds=getattr(loc, where) >= FACTOR * getattr(temps, where),
        )
        for where in ("seen", "unseen")
    ]


def judge_both(points: Points) -> list[Claim]:
    """The place of the peak adds nothing to them."""
    temps, both = points["trunk", "temps"], points["trunk", "both"]
    return [
        Claim(
            sentence=f"the peak's place beside the previews does not help (no {STEADY:g} times less)",
            paper=_changes(temps, both, "paper_"),
            ours=_changes(temps, both),
            holds=both.seen > temps.seen / STEADY and both.unseen > temps.unseen / STEADY,
        )
    ]


def _judge_sizes(points: Points) -> list[Claim]:
    seen, unseen = ([getattr(points[key], part) for key in SIZES] for part in ("seen", "unseen"))
    return [
        Claim(
            sentence="p and width change the seen error by 1 K at most",
            paper=f"{SIZES_SEEN[0]}–{SIZES_SEEN[1]}",
            ours=_range(seen),
            holds=max(seen) - min(seen) <= 1.0,
        ),
        Claim(
            sentence=f"p and width change the unseen error by less than {SIZES_UNSEEN_CHANGE:g} K",
            paper=f"< {SIZES_UNSEEN_CHANGE:g}",
            ours=_range(unseen),
            holds=max(unseen) - min(unseen) < SIZES_UNSEEN_CHANGE,
        ),
    ]


def _judge_widest(points: Points) -> list[Claim]:
    usual, widest = points["width", "128"], points["width", "256"]
    return [
        Claim(
            sentence="the widest net is no better than the usual one (seen)",
            paper="slightly worse",
            ours=_change(usual, widest, "seen"),
            holds=widest.seen >= usual.seen,
        )
    ]


def _judge_noise(
    points: Points, axis: str = "noise", what: str = "10 K of noise on each input"
) -> list[Claim]:
    still, loud = points[axis, "0"], points[axis, "10"]
    return [
        Claim(
            sentence=f"{what} add less than 3 K to the seen error",
            paper=_change(still, loud, "paper_seen"),
            ours=_change(still, loud, "seen"),
            holds=loud.seen - still.seen < 3.0,
        ),
        Claim(
            sentence=f"{what} hardly move the unseen error (within {STEADY:g} times)",
            paper=_change(still, loud, "paper_unseen"),
            ours=_change(still, loud, "unseen"),
            holds=loud.unseen < STEADY * still.unseen,
        ),
    ]


def _judge_shared_noise(points: Points) -> list[Claim]:
    return _judge_noise(points, "shared noise", "10 K of noise, one draw for all inputs,")


def _judge_noise_on_loc(points: Points) -> list[Claim]:
    still, loud = points["noise on loc", "0"], points["noise on loc", "10"]
    return [
        Claim(
            sentence=f"loc hardly feels 10 K of noise (within {STEADY:g} times)",
            paper="almost completely insensitive",
            ours=_changes(still, loud),
            holds=loud.seen < STEADY * still.seen and loud.unseen < STEADY * still.unseen,
        )
    ]


def _judge_horizon(points: Points) -> list[Claim]:
    line = [points["horizon", value] for value in ("3", "5", "7", "10")]
    unseen = [point.unseen for point in line]
    return [
        Claim(
            sentence="the unseen error falls from each horizon to the next longer one, 3, 5, 7, 10",
            paper=_arrows(point.paper_unseen for point in line),
            ours=_arrows(unseen),
            holds=_rises(unseen[::-1]),
        )
    ]


def judge_ss_ar(points: Points) -> list[Claim]:
    """A model that eats its own predictions gets worse with every step."""
    steps = points["structure", "SS-AR"].unseen_per_step
    seen = points["structure", "SS-AR"].seen_per_step
    return [
        Claim(
            sentence="the error of SS-AR grows at every step (unseen; seen)",
            paper=f"{SS_AR_STEPS[0]:g} → … → {SS_AR_STEPS[1]:g}",
            ours=f"{_arrows(steps)}; {_arrows(seen)}",
            holds=_rises(steps) and _rises(seen),
        )
    ]


def judge_one_shot(points: Points) -> list[Claim]:
    """One that predicts all steps at once does not."""
    steps = points["structure", "one-shot"].unseen_per_step
    return [
        Claim(
            sentence=f"the one-shot error is flat (unseen; last step within {STEADY:g} times the first)",
            paper=f"≈ {ONE_SHOT_STEPS:g} at every step",
            ours=_arrows(steps),
            holds=is_flat(steps),
        )
    ]


def _judge_lstm(points: Points) -> list[Claim]:
    ours, lstm = points["structure", "one-shot"], points["structure", "LSTM"]
    ratios = lstm.seen / ours.seen, lstm.unseen / ours.unseen
    return [
        Claim(
            sentence=f"the LSTM matches the one-shot DeepONet (within {STEADY:g} times)",
            paper="matches",
            ours=f"seen {lstm.seen:.1f} and {ours.seen:.1f}, unseen {lstm.unseen:.1f} and {ours.unseen:.1f}",
            holds=all(1 / STEADY <= ratio <= STEADY for ratio in ratios),
        )
    ]


def judge_latency(latency: Latency) -> list[Claim]:
    """The one claim that needs a clock; none if ms-deeponet or lstm was not timed."""
    if not {"lstm", "ms-deeponet"} <= set(latency):
        return []
    lstm, ours = latency["lstm"], latency["ms-deeponet"]
    ratios = {way: lstm[way] / ours[way] for way in ("numpy_us", "compiled_us")}
    return [
        Claim(
            sentence=f"the LSTM takes several times as long for one window (at least {FACTOR:g})",
            paper=f"roughly {LSTM_LATENCY_RATIO:g}",
            ours=f"{ratios['numpy_us']:.1f} (NumPy), {ratios['compiled_us']:.1f} (compiled)",
            holds=min(ratios.values()) >= FACTOR,
        )
    ]


JUDGES: tuple[Callable[[Points], list[Claim]], ...] = (
    judge_trunk,
    judge_both,
    _judge_sizes,
    _judge_widest,
    _judge_noise,
    _judge_shared_noise,
    _judge_noise_on_loc,
    _judge_horizon,
    judge_ss_ar,
    judge_one_shot,
    _judge_lstm,
)


def _change(one: Point, other: Point, part: str) -> str:
    first, second = getattr(one, part), getattr(other, part)
    return f"{first:.1f} → {second:.1f} (×{second / first:.2g})"


def _changes(one: Point, other: Point, prefix: str = "") -> str:
    return ", ".join(f"{part} {_change(one, other, prefix + part)}" for part in ("seen", "unseen"))


def _rises(values: Sequence[float]) -> bool:
    return all(one < other for one, other in pairwise(values))


def _arrows(values: Iterable[float | None]) -> str:
    return " → ".join("…" if value is None else f"{value:.1f}" for value in values)


def _range(values: Sequence[float]) -> str:
    return f"{min(values):.1f}–{max(values):.1f}"
