"""Models and questions that the tests of the compiled solver share."""

import shutil
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from tests.conftest import lack, need

from laserloop.control.problem import MpcProblem, Question
from laserloop.data.windows import Scaler
from laserloop.native.vectors import draw_question
from laserloop.predict.model import Model, Scalers, find_model
from laserloop.predict.networks import ROW, MsDeepONet
from laserloop.predict.window import SMOOTHING, Folding, WindowForecast

Pose = Callable[..., list[Question]]
Change = Callable[..., Question]
Draw = Callable[[MsDeepONet], Model]


@pytest.fixture(scope="session")
def compilers() -> list[str]:
    """Those of this machine; where there is none, nothing native can be tested."""
    found = [name for name in ("cc", "clang") if shutil.which(name)]
    if not found:
        lack("cc")
    return found


@pytest.fixture(params=["cc", "clang"])
def compiler(request: pytest.FixtureRequest) -> str:
    """Each of the two that an export is compiled with."""
    need(request.param)
    return str(request.param)


@pytest.fixture(scope="session")
def model(compilers: list[str]) -> Model:
    return find_model("paper-corner")


@pytest.fixture(scope="session")
def pose() -> Pose:
    """Questions about as far from a model's training data as that data is."""

    def pose(model: Model, problem: MpcProblem, count: int, seed: int = 3) -> list[Question]:
        rng, folder = np.random.default_rng(seed), Folding(model, smoothing=SMOOTHING)
        return [draw_question(model, problem, rng, folder) for _ in range(count)]

    return pose


@pytest.fixture(scope="session")
def change() -> Change:
    """A question with parts of its forecast or of itself replaced."""

    def change(question: Question, **parts: Any) -> Question:
        own = {name: parts.pop(name) for name in ("start", "lit", "resumes") if name in parts}
        known = question.forecast
        assert isinstance(known, WindowForecast)
        return replace(question, forecast=replace(known, **parts), **own)

    return change


@pytest.fixture(scope="session")
def draw_model() -> Draw:
    """A small network whose T_max rises with power, about 20 K per W, with kinks."""

    def draw(architecture: MsDeepONet) -> Model:
        rng = np.random.default_rng(11)
        a, b, c = architecture.sizes()
        weights = {
            name: rng.normal(0, 0.3, shape).astype(np.float32)
            for name, shape in architecture.shapes().items()
        }
        powers = np.arange(a) % ROW == 0
        weights["branch.0.weight"][:, powers] = np.abs(weights["branch.0.weight"][:, powers])
        for name in ("branch.1.weight", "branch.2.weight", "trunk.2.weight"):
            weights[name] = np.abs(weights[name])
        rows = np.resize([14.0, 0, 0, 0, 0], a), np.resize([4.0, 1e-3, 1e-3, 0.2, 0.2], a)
        hot = np.ones(b, np.bool_)  # all that the trunk reads are temperatures, but for the peak's place
        hot[
            [i for i, entry in enumerate(getattr(architecture, "seen", ())) if entry > architecture.horizon]
        ] = False
        guess = Model(
            architecture=architecture,
            weights=weights,
            scalers=Scalers(
                branch=Scaler(rows[0], rows[1]),
                trunk=Scaler(np.where(hot, 600.0, 0.0), np.where(hot, 60.0, 1e-3)),
                target=Scaler(np.zeros(c), np.ones(c)),
            ),
        )
        middle = np.resize([14.0, 0, 0, 0, 0], (1, architecture.horizon, ROW))
        more = middle + np.array([1.0, 0, 0, 0, 0])
        temps, place = np.full((1, 1 + architecture.horizon), 600.0), np.zeros((1, 2))
        at, above = (guess.predict(plan, temps, place)[0] for plan in (middle, more))
        scale = 20.0 / np.maximum(above - at, 1e-6)
        return replace(guess, scalers=replace(guess.scalers, target=Scaler(780.0 - scale * at, scale)))

    return draw


@pytest.fixture(scope="session")
def small(compilers: list[str], draw_model: Draw) -> tuple[Model, MpcProblem]:
    """A small network and a problem that wishes for everything."""
    problem = MpcProblem(tracking_cost=5.0, margin_above=6.0, margin_below=2.0, power=(2.0, 18.0))
    return draw_model(MsDeepONet(horizon=5, width=32, basis=8, trunk="both")), problem
