"""Margins that follow: adaptive conformal inference, against MAPIE and against its promise."""

import warnings
from math import inf

import numpy as np
import pytest

from laserloop.control.controller import Action, Status
from laserloop.control.margins import AdaptiveController, AdaptiveMargin, AdaptiveSettings, Margins
from laserloop.paths.path import Preview
from laserloop.plant.camera import Image


def draw_scores(count: int, seed: int = 0, drift: float = 0.0) -> np.ndarray:
    """Residuals of a predictor whose plant may drift away, K."""
    rng = np.random.default_rng(seed)
    return rng.normal(0.0, 2.0, count) + drift * np.linspace(0.0, 1.0, count)


def test_alpha_and_margin_are_those_of_mapie() -> None:
    """MAPIE's symmetric scores |y − ŷ| of a predictor that says 0; one score at a time."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from mapie.conformity_scores import AbsoluteConformityScore
        from mapie.regression import TimeSeriesRegressor
        from sklearn.dummy import DummyRegressor

        known, coming = draw_scores(150, seed=1), draw_scores(300, seed=2, drift=4.0)
        zero = DummyRegressor(strategy="constant", constant=0.0).fit(np.zeros((150, 1)), known)
        theirs = TimeSeriesRegressor(
            zero, method="aci", cv="prefit", conformity_score=AbsoluteConformityScore(sym=True)
        ).fit(np.zeros((150, 1)), known)
        ours = AdaptiveMargin(AdaptiveSettings(level=0.9, rate=0.01, memory=150), scores=list(abs(known)))
        alphas = []
        for score in coming:
            x, y = np.zeros((1, 1)), np.array([score])
            _, bounds = theirs.predict(x, confidence_level=0.9, allow_infinite_bounds=True)
            assert bounds[0, 1, 0] == pytest.approx(ours.margin, abs=1e-9)
            theirs.adapt_conformal_inference(x, y, gamma=0.01, confidence_level=0.9)
            theirs.update(x, y)
            ours.learn(abs(score))
            alphas.append(ours.alpha)
            assert next(iter(theirs.current_alpha.values())) == pytest.approx(ours.alpha, abs=1e-12)
    assert min(alphas) < 0.07  # it did have to follow


@pytest.mark.parametrize("drift", [0.0, 60.0])
def test_the_share_beyond_is_as_promised_also_while_the_plant_drifts(drift: float) -> None:
    """Static margins of the same scores break their promise under the drift."""
    settings = AdaptiveSettings(level=0.9, rate=0.02, memory=200)
    margin = AdaptiveMargin(settings, start=2.0)
    scores = draw_scores(5000, seed=3, drift=drift)
    static = np.quantile(scores[:200], 0.9)
    beyond = 0
    for score in scores:
        beyond += score > margin.margin
        margin.learn(score)
    assert 0.09 <= beyond / len(scores) <= 0.115
    if drift:
        assert np.mean(scores > static) > 0.5


def test_the_bound_of_gibbs_and_candes_holds_for_the_worst_sequence() -> None:
    """|share beyond − (1 − level)| ≤ (max(α, 1 − α) + γ)/(γ n) for any scores, also hostile ones."""
    settings = AdaptiveSettings(level=0.95, rate=0.05, memory=50)
    margin = AdaptiveMargin(settings, start=inf)
    beyond, count = 0, 4000
    for k in range(count):
        now = margin.margin
        score = now + 1.0 if np.isfinite(now) else float(k % 7)  # always beyond, where that can be
        beyond += score > now
        margin.learn(score)
    assert abs(beyond / count - 0.05) <= (0.95 + 0.05) / (0.05 * count)


def test_the_margin_starts_as_told_and_forgets_what_is_old() -> None:
    margin = AdaptiveMargin(AdaptiveSettings(level=0.5, rate=0.0, memory=3), start=7.0)
    assert margin.margin == 7.0
    for score in (1.0, 2.0, 3.0, 10.0, 11.0, 12.0):
        margin.learn(score)
    assert margin.margin == 11.0  # second smallest of the last three
    margin.reset()
    assert margin.margin == 7.0


class Surprised:
    """A controller that is surprised as told."""

    name, horizon, memory = "surprised", 1, 0

    def __init__(self, innovations: list[float]) -> None:
        self.innovations, self.given = innovations, list[tuple[float, float]]()

    @property
    def innovation(self) -> float:
        return self.innovations[0]

    def set_margins(self, above: float, below: float) -> None:
        self.given.append((above, below))

    def set_window(self, low: float, high: float) -> None:
        self.aimed = low, high

    def reset(self) -> None:
        pass

    def act(self, image: Image | None, preview: Preview) -> Action:
        self.innovations.pop(0)
        return Action(power=1.0, status=Status.SOLVED)


def test_a_controller_gets_margins_of_its_own_surprises_and_none_from_silent_ticks() -> None:
    inner = Surprised([0.0, 3.0, -1.0, float("nan"), 50.0, 2.0])
    settings = AdaptiveSettings(level=0.5, rate=0.0, memory=10)
    controller = AdaptiveController(inner, start=Margins(above=5.0, below=4.0), most=18.0, settings=settings)
    controller.reset()
    for _ in range(5):
        controller.act(None, None)  # type: ignore[arg-type]
    assert inner.given[0] == (5.0, 4.0)  # as told, while nothing is known
    assert inner.given[1] == (3.0, 0.0)  # of one score, no less than 0
    assert inner.given[2] == (3.0, 1.0)  # the second of two
    assert len(inner.given) == 5  # a silent tick changes nothing
    assert inner.given[4] == (3.0, 0.0)  # second of −1, 2, 3, 50 is 2; of four it is the third


def test_no_margin_is_wider_than_the_window_has_room_for() -> None:
    inner = Surprised([0.0, 100.0])
    controller = AdaptiveController(
        inner, start=Margins(above=0.0, below=0.0), most=18.0, settings=AdaptiveSettings(level=0.5)
    )
    controller.reset()
    controller.act(None, None)  # type: ignore[arg-type]
    assert inner.given[-1] == (18.0, 0.0)
