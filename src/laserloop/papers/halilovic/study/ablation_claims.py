"""The paper's sentences about its ablations, each judged on our figures."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import pairwise

from laserloop.papers.halilovic.study import published
from laserloop.papers.halilovic.study.ablation_points import Point
from laserloop.papers.halilovic.study.claim import FACTOR, STEADY, Claim, is_flat, join, judge, judge_all

Points = Mapping[tuple[str, str], Point]
Latency = Mapping[str, Mapping[str, float]]  # architecture → way → µs

SIZES = (("basis", "50"), ("basis", "100"), ("basis", "150"), ("width", "64"), ("width", "256"))


def judge_claims(points: Iterable[Point]) -> list[Claim]:
    """All claims whose figures are there, in the paper's order; none of them needs a clock."""
    return judge_all(JUDGES, place(points))


def place(points: Iterable[Point]) -> Points:
    """Points by axis and value."""
    return {(point.axis, point.value): point for point in points}


def _judge_trunk(points: Points) -> list[Claim]:
    """Previews of the temperature where the beam will be are what counts."""
    temps, loc = points["trunk", "temps"], points["trunk", "loc"]
    return [
        judge(
            f"trunk.{where}",
            getattr(loc, where) >= FACTOR * getattr(temps, where),
            paper=_change(temps, loc, f"paper_{where}"),
            ours=_change(temps, loc, where),
        )
        for where in ("seen", "unseen")
    ]


def _judge_both(points: Points) -> list[Claim]:
    """The place of the peak adds nothing to them."""
    temps, both = points["trunk", "temps"], points["trunk", "both"]
    holds = both.seen > temps.seen / STEADY and both.unseen > temps.unseen / STEADY
    return [judge("both", holds, paper=_changes(temps, both, "paper_"), ours=_changes(temps, both))]


def _judge_sizes(points: Points) -> list[Claim]:
    seen, unseen = ([getattr(points[key], part) for key in SIZES] for part in ("seen", "unseen"))
    most = published.SIZES_UNSEEN_CHANGE
    return [
        judge("sizes.seen", max(seen) - min(seen) <= 1.0, paper=published.SIZES_SEEN, ours=_range(seen)),
        judge("sizes.unseen", max(unseen) - min(unseen) < most, paper=most, ours=_range(unseen)),
    ]


def _judge_widest(points: Points) -> list[Claim]:
    usual, widest = points["width", "128"], points["width", "256"]
    return [judge("widest", widest.seen >= usual.seen, ours=_change(usual, widest, "seen"))]


def _judge_noise(points: Points) -> list[Claim]:
    """Noise of its own on each temperature; what one draw for all of them would do stands beside."""
    still, loud, shared = points["noise", "0"], points["noise", "10"], points.get(("shared noise", "10"))
    holds = {"seen": keeps_seen(still.seen, loud.seen), "unseen": keeps_unseen(still.unseen, loud.unseen)}
    return [
        judge(
            f"noise.{where}",
            held,
            paper=_change(still, loud, f"paper_{where}"),
            ours=_change(still, loud, where),
            shared="not run" if shared is None else _change(still, shared, where),
        )
        for where, held in holds.items()
    ]


def _judge_little_noise(points: Points) -> list[Claim]:
    still, low = points["noise", "0"], points["noise", "2"]
    assert low.paper_seen is not None
    assert still.paper_seen is not None
    most = FACTOR * (low.paper_seen - still.paper_seen)
    paper, ours = _change(still, low, "paper_seen"), _change(still, low, "seen")
    return [judge("noise.two", low.seen - still.seen <= most, paper=paper, ours=ours)]


def keeps_seen(still: float, loud: float) -> bool:
    """Whether noise adds as little to a seen error, K, as the paper says."""
    return loud - still < 3.0


def keeps_unseen(still: float, loud: float) -> bool:
    """Whether noise moves an unseen error, K, as little as the paper says."""
    return loud < STEADY * still


def _judge_noise_on_loc(points: Points) -> list[Claim]:
    still, loud = points["noise on loc", "0"], points["noise on loc", "10"]
    holds = loud.seen < STEADY * still.seen and loud.unseen < STEADY * still.unseen
    return [judge("noise.loc", holds, ours=_changes(still, loud))]


def _judge_horizon(points: Points) -> list[Claim]:
    line = [points["horizon", value] for value in ("3", "5", "7", "10")]
    unseen = [point.unseen for point in line]
    paper = join(point.paper_unseen for point in line)
    return [judge("horizon", _rises(unseen[::-1]), paper=paper, ours=join(unseen))]


def _judge_ss_ar(points: Points) -> list[Claim]:
    """A model that eats its own predictions gets worse with every step."""
    model = points["structure", "SS-AR"]
    unseen, seen = model.unseen_per_step, model.seen_per_step
    holds = _rises(unseen) and _rises(seen)
    return [judge("ss-ar", holds, paper=published.SS_AR_STEPS, unseen=join(unseen), seen=join(seen))]


def _judge_one_shot(points: Points) -> list[Claim]:
    """One that predicts all steps at once does not."""
    steps = points["structure", "one-shot"].unseen_per_step
    return [judge("one-shot", is_flat(steps), paper=published.ONE_SHOT_STEPS, ours=join(steps))]


def _judge_lstm(points: Points) -> list[Claim]:
    ours, lstm = points["structure", "one-shot"], points["structure", "LSTM"]
    ratios = lstm.seen / ours.seen, lstm.unseen / ours.unseen
    return [judge("lstm", all(1 / STEADY <= ratio <= STEADY for ratio in ratios), lstm=lstm, ours=ours)]


def judge_latency(latency: Latency) -> list[Claim]:
    """The one claim that needs a clock; none if ms-deeponet or lstm was not timed."""
    if not {"lstm", "ms-deeponet"} <= set(latency):
        return []
    ways = ("numpy", "compiled")
    ratios = {way: latency["lstm"][f"{way}_us"] / latency["ms-deeponet"][f"{way}_us"] for way in ways}
    return [judge("latency", min(ratios.values()) >= FACTOR, paper=published.LSTM_LATENCY_RATIO, **ratios)]


JUDGES: tuple[Callable[[Points], list[Claim]], ...] = (
    _judge_trunk,
    _judge_both,
    _judge_little_noise,
    _judge_noise,
    _judge_noise_on_loc,
    _judge_sizes,
    _judge_widest,
    _judge_ss_ar,
    _judge_one_shot,
    _judge_horizon,
    _judge_lstm,
)


def _change(one: Point, other: Point, part: str) -> str:
    first, second = getattr(one, part), getattr(other, part)
    return f"{first:.1f} → {second:.1f} (×{second / first:.2g})"


def _changes(one: Point, other: Point, prefix: str = "") -> str:
    return ", ".join(f"{part} {_change(one, other, prefix + part)}" for part in ("seen", "unseen"))


def _rises(values: Sequence[float]) -> bool:
    return all(one < other for one, other in pairwise(values))


def _range(values: Sequence[float]) -> str:
    return f"{min(values):.1f}–{max(values):.1f}"
