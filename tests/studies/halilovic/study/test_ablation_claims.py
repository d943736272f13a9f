"""The paper's sentences: each is judged by figures and can be found wrong."""

from dataclasses import replace

import pytest

from laserloop.studies.halilovic.cases import AXES
from laserloop.studies.halilovic.offline_claims import judge_ablations, judge_latency
from laserloop.studies.halilovic.published import ABLATIONS
from laserloop.studies.halilovic.results import Point

LATENCY = {
    "ms-deeponet": {"numpy_us": 30.0},
    "lstm": {"numpy_us": 90.0},
}


def invent_points() -> dict[tuple[str, str], Point]:
    """Figures that agree with everything the paper says."""
    figures: dict[tuple[str, str], tuple[float, float]] = {
        ("horizon", "3"): (6.0, 20.2),
        ("horizon", "7"): (6.0, 11.0),
        ("horizon", "10"): (6.0, 9.8),
        ("trunk", "loc"): (11.6, 53.0),
        ("trunk", "both"): (5.8, 15.6),
        ("width", "256"): (6.8, 13.0),
        ("noise", "10"): (9.0, 14.5),
        ("noise on loc", "10"): (11.9, 53.2),
        ("structure", "SS-AR"): (40.0, 60.0),
    }
    points = {}
    for axis, values in AXES.items():
        for value, trial in values.items():
            usual = (11.6, 53.0) if axis == "noise on loc" else (6.1, 13.2)
            seen, unseen = figures.get((axis, value), usual)
            steps = (29.0, 40.0, 50.0, 60.0, 80.0) if value == "SS-AR" else (15.0, 14.0, 14.5, 15.0, 15.5)
            paper_seen, paper_unseen = ABLATIONS.get((axis, value), (None, None))
            points[axis, value] = Point(
                axis=axis,
                value=value,
                model=trial.model,
                seen=seen,
                seen_std=0.5,
                unseen=unseen,
                seen_per_step=steps,
                unseen_per_step=steps,
                paper_seen=paper_seen,
                paper_unseen=paper_unseen,
            )
    return points


def test_the_papers_own_figures_obey_all_its_sentences() -> None:
    claims = [*judge_ablations(invent_points().values()), *judge_latency(LATENCY)]
    assert len(claims) == 15
    assert all(claim.holds for claim in claims)
    assert any(claim.paper == claim.ours == "6.1 → 11.6 (×1.9)" for claim in claims)


@pytest.mark.parametrize(
    ("key", "change", "sentence"),
    [
        (("trunk", "loc"), {"seen": 8.0}, "without previews the seen"),
        (("trunk", "loc"), {"unseen": 15.0}, "without previews the unseen"),
        (("trunk", "both"), {"unseen": 9.0}, "the peak's place"),
        (("basis", "150"), {"seen": 7.9}, "change the seen"),
        (("basis", "50"), {"unseen": 17.0}, "change the unseen"),
        (("width", "256"), {"seen": 6.0}, "the widest net"),
        (("noise", "2"), {"seen": 6.6}, "add next to nothing"),
        (("noise", "10"), {"seen": 9.2}, "noise on each input add less"),
        (("noise", "10"), {"unseen": 17.0}, "noise on each input hardly move"),
        (("noise on loc", "10"), {"seen": 15.0}, "loc hardly feels"),
        (("horizon", "7"), {"unseen": 14.0}, "falls from each horizon"),
        (("structure", "SS-AR"), {"seen_per_step": (5.0, 4.0, 6.0, 7.0, 8.0)}, "SS-AR grows"),
        (("structure", "one-shot"), {"unseen_per_step": (8.0, 9.0, 10.0, 11.0, 12.0)}, "is flat"),
        (("structure", "LSTM"), {"unseen": 20.0}, "LSTM matches"),
    ],
)
def test_a_sentence_that_the_figures_contradict_does_not_hold(
    key: tuple[str, str], change: dict[str, object], sentence: str
) -> None:
    points = invent_points()
    points[key] = replace(points[key], **change)  # type: ignore[arg-type]
    broken = [claim.sentence for claim in judge_ablations(points.values()) if not claim.holds]
    assert len(broken) == 1
    assert sentence in broken[0]


def test_a_fast_lstm_contradicts_the_paper() -> None:
    fast = {**LATENCY, "lstm": {"numpy_us": 36.0}}
    (last,) = judge_latency(fast)
    assert not last.holds
    assert last.ours == "1.2"


def test_a_sentence_without_its_figures_is_not_judged() -> None:
    points = invent_points()
    del points["structure", "LSTM"], points["trunk", "loc"]
    sentences = [claim.sentence for claim in judge_ablations(points.values())]
    assert len(sentences) == 11
    assert judge_latency({"lstm": LATENCY["lstm"]}) == []
    assert not any("LSTM" in sentence or "without previews" in sentence for sentence in sentences)
