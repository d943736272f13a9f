"""The exact QP of the compiled solver: its conditions are a proof, and DAQP is a witness.

min ½xᵀHx + gᵀx + Σ ρ⁻ max(0, floor − tᵢ) + ρ⁺ max(0, tᵢ − ceiling) + Σ κ(zₖ),  t = r + J x,  0 ≤ x ≤ 1
κ(z) = w s max(0, l − z) + w (1 − s) max(0, z − l)  a kink at l of a unit with the slope s,  z = K x
"""

from collections.abc import Callable
from dataclasses import dataclass

import casadi
import numpy as np
import pytest
from numpy.typing import NDArray

from laserloop.control.problem import MpcProblem
from laserloop.native.network import CEngine
from laserloop.predict.model import Model
from laserloop.predict.networks import MsDeepONet

FloatArray = NDArray[np.float64]

N, KINKS = 10, 12  # moves and predictions, and kinks, of the library; what a QP has less of is left idle
BELOW, ABOVE = -2, 2  # states of a row; FLOOR, INSIDE and CEILING between them
PRICES = (1e-3, 2.0, 2000.0)

FLOOR, CEILING = 760.0, 800.0  # K
NEAR = 1e-6  # K; kinks that meet are parted by less
KINDS = ("heating", "any signs", "whole numbers", "twins", "dead row and move", "near twins", "corner")


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Qp:
    H: FloatArray  # (n, n)
    g: FloatArray  # (n,)
    J: FloatArray  # (m, n), K
    r: FloatArray  # (m,), K
    below: float  # ρ⁻, 1/K
    above: float  # ρ⁺, 1/K
    K: FloatArray  # (c, n)
    kinks: FloatArray  # (3, c): l, w, s

    def value(self, x: FloatArray) -> float:
        t = self.r + self.J @ x
        missing, excess = np.maximum(FLOOR - t, 0.0), np.maximum(t - CEILING, 0.0)
        level, weight, slope = self.kinks
        z = self.K @ x - level
        bent = weight @ np.maximum(-slope * z, (1.0 - slope) * z)
        smooth = x @ self.H @ x / 2 + self.g @ x
        return float(smooth + self.below * missing.sum() + self.above * excess.sum() + bent)


def draw_qp(rng: np.random.Generator, kind: str) -> Qp:
    """Costs of power and moves with rows of a heating plate, or something worse."""
    n = int(rng.integers(1, 11))
    m = int(rng.integers(n, 11))
    hops = np.eye(n) - np.eye(n, k=-1)
    g = np.zeros(n)
    g[0] = -20.0 * rng.uniform()
    J = np.tril(rng.uniform(0, 150, (m, n))) + rng.normal(0, 10, (m, n))
    x, t = rng.uniform(0, 1, n), rng.uniform(500, 900, m)
    match kind:
        case "any signs":
            J = rng.normal(0, 100, (m, n))
        case "whole numbers":  # kinks meet in points
            J = 50.0 * rng.integers(-2, 3, (m, n)).astype(np.float64)
            x, t = np.round(2 * x) / 2, np.round(t / 20) * 20
        case "twins":
            J[rng.integers(m)] = J[rng.integers(m)]
        case "dead row and move":
            J[rng.integers(m)] = 0.0
            J[:, rng.integers(n)] *= rng.choice([0.0, 1e-6])
        case "near twins":
            J[-1] = J[0] * (1 + 1e-9)
        case "corner":  # all kinks meet in a corner of the box
            x, t = rng.integers(0, 2, n).astype(float), rng.choice([FLOOR, CEILING, 780.0], m)
    price = float(rng.choice([*PRICES, PRICES[-1]]))
    c = int(rng.integers(0, KINKS + 1))
    K = rng.normal(0, 1.0, (c, n))
    if kind == "whole numbers":
        K = np.round(2 * K) / 2
    if c > 1 and kind in ("twins", "near twins"):
        K[0] = K[-1] * (1.0 if kind == "twins" else 1 + 1e-9)
    around = x if kind in ("corner", "whole numbers") else rng.uniform(0, 1, n)
    slopes = rng.choice([0.0, 1.0, 0.5, 0.1], c)
    weights = rng.choice([1e-2, 1.0, 50.0], c) * price
    return Qp(
        H=2 * (rng.choice([0.01, 1.0]) * np.eye(n) + rng.choice([0.1, 10.0]) * hops.T @ hops),
        g=g,
        J=J,
        r=t - J @ x,
        below=price,
        above=1e3 * (price + 11.0),
        K=K,
        kinks=np.stack((K @ around, weights, slopes)),
    )


class Minimiser:
    """The QP of a library, with a problem for each price."""

    def __init__(self, model: Model) -> None:
        self._engines = {
            price: CEngine(model, MpcProblem(horizon=N, slack_cost=500.0 * price), dtype=np.float64)
            for price in PRICES
        }
        assert next(iter(self._engines.values())).kinks == KINKS

    def run(
        self, qp: Qp, state: NDArray[np.int64], x: FloatArray, radius: float = 2.0
    ) -> tuple[FloatArray, FloatArray, NDArray[np.int64], int]:
        """x, the multipliers and the states of rows, moves and kinks, and the steps walked."""
        (m, n), c = qp.J.shape, len(qp.K)
        H, g, J, r = np.eye(N), np.full(N, -0.5), np.zeros((N, N)), np.full(N, 780.0)
        H[:n, :n], g[:n], J[:m, :n], r[:m] = qp.H, qp.g, qp.J, qp.r
        at, states = np.full(N, 0.5), np.zeros(2 * N + KINKS)
        used = np.r_[:m, N : N + n, 2 * N : 2 * N + c]
        at[:n], states[used] = x, state
        kinks = np.zeros((KINKS, N + 3))
        kinks[:c, :n], kinks[:c, N:] = qp.K, qp.kinks.T
        asked = np.concatenate((H.ravel(), g, J.ravel(), r, at, [n, radius], states, [c], kinks.ravel()))
        told = self._engines[qp.below].minimise(asked)
        found, lam, states, steps = np.split(told, np.cumsum([N, 2 * N + KINKS, 2 * N + KINKS]))
        return found[:n], lam[used], states[used].astype(np.int64), int(steps[0])


@pytest.fixture(scope="module")
def minimiser(compilers: list[str], draw_model: Callable[[MsDeepONet], Model]) -> Minimiser:
    return Minimiser(draw_model(MsDeepONet(horizon=N, width=8, basis=4)))


def solve(minimiser: Minimiser, qp: Qp, rng: np.random.Generator) -> tuple[FloatArray, FloatArray, int]:
    """x and the multipliers of the rows and kinks, from a random working set; and the steps walked."""
    (m, n), c = qp.J.shape, len(qp.K)
    begun = np.concatenate((rng.integers(-2, 3, m), rng.integers(-1, 2, n), rng.choice([-2, 1, 2], c)))
    x, lam, state, steps = minimiser.run(qp, begun, rng.uniform(0, 1, (n,)))
    _, weight, slope = qp.kinks
    below = np.concatenate((np.full(m, qp.below), np.zeros(n), weight * slope))
    above = np.concatenate((np.full(m, qp.above), np.zeros(n), weight * (1.0 - slope)))
    price = np.select([state == BELOW, state == ABOVE], [below, -above], lam)
    return x, np.delete(price, np.s_[m : m + n]), steps


def assert_optimal(qp: Qp, x: FloatArray, slope: FloatArray) -> None:
    """The conditions under which x is the minimiser of a strictly convex problem, and no other point is."""
    assert ((x >= 0.0) & (x <= 1.0)).all()
    t = qp.r + qp.J @ x
    near = 5 * NEAR
    least = np.select([t < FLOOR - near, t > CEILING - near], [qp.below, -qp.above], 0.0)
    most = np.select([t > CEILING + near, t < FLOOR + near], [-qp.above, qp.below], 0.0)
    level, weight, s = qp.kinks
    z = qp.K @ x - level
    least = np.concatenate((least, weight * np.where(z < -near, s, s - 1.0)))
    most = np.concatenate((most, weight * np.where(z > near, s - 1.0, s)))
    slack = 1e-9 * qp.above
    assert (slope >= least - slack).all()
    assert (slope <= most + slack).all()
    rows = np.concatenate((qp.J, qp.K))
    terms = np.abs(qp.H) @ np.abs(x) + np.abs(qp.g) + np.abs(rows).T @ np.abs(slope)
    tolerance = 1e-7 * (terms + terms.max())
    gradient = qp.H @ x + qp.g - rows.T @ slope
    assert (gradient[x < 1.0] >= -tolerance[x < 1.0]).all()
    assert (gradient[x > 0.0] <= tolerance[x > 0.0]).all()


def ask_daqp(qp: Qp, *, hard: bool) -> FloatArray | None:
    """The same with explicit slacks: below the floor, above a ceiling that is not hard, and beside the kinks.

    DAQP wants strict convexity: a trace of curvature is given to the slacks. None: it gave up.
    """
    (m, n), c = qp.J.shape, len(qp.K)
    sides = 1 if hard else 2
    slacks = sides * m + 2 * c
    H = np.zeros((n + slacks, n + slacks))
    H[:n, :n] = qp.H
    H[n:, n:] = 1e-9 * qp.below * np.eye(slacks)
    A = np.zeros((2 * m + c, n + slacks))
    A[:m, :n], A[:m, n : n + m] = qp.J, np.eye(m)
    A[m : 2 * m, :n] = qp.J
    A[m : 2 * m, n + m : n + sides * m] = -np.eye(m)[:, : (sides - 1) * m]
    A[2 * m :, :n], A[2 * m :, n + sides * m :] = qp.K, np.concatenate((np.eye(c), -np.eye(c)), axis=1)
    level, weight, s = qp.kinks
    above = np.full((sides - 1) * m, qp.above)
    shape = {"h": casadi.Sparsity.dense(*H.shape), "a": casadi.Sparsity.dense(*A.shape)}
    solver = casadi.conic("qp", "daqp", shape, {"error_on_fail": False})
    answer = solver(
        h=H,
        g=np.concatenate((qp.g, np.full(m, qp.below), above, weight * s, weight * (1.0 - s))),
        a=A,
        lba=np.concatenate((FLOOR - qp.r, np.full(m, -np.inf), level)),
        uba=np.concatenate((np.full(m, np.inf), CEILING - qp.r, level)),
        lbx=np.zeros(len(H)),
        ubx=np.concatenate((np.ones(n), np.full(slacks, np.inf))),
    )
    return np.clip(np.asarray(answer["x"]).ravel()[:n], 0.0, 1.0) if solver.stats()["success"] else None


def prove(minimiser: Minimiser, count: int, seed: int, kind: str) -> None:
    """Prove `count` answers optimal, and hear DAQP about each."""
    rng = np.random.default_rng([seed, KINDS.index(kind)])
    apart = []
    for _ in range(count):
        qp = draw_qp(rng, kind)
        x, slope, steps = solve(minimiser, qp, rng)
        assert steps >= 0
        assert_optimal(qp, x, slope)
        hard = bool((qp.r + qp.J @ x).max() <= CEILING + NEAR)
        other = ask_daqp(qp, hard=hard)
        if other is not None:
            theirs = qp.value(other)
            assert qp.value(x) <= theirs + 1e-6 * (abs(theirs) + qp.below) + NEAR * qp.above
            if hard:
                apart.append(np.abs(x - other).max())
    assert len(apart) > count // 3
    assert np.percentile(apart, 75) < 1e-4  # DAQP keeps its rows to 1e-6, and steep kinks make much of that


@pytest.mark.parametrize("kind", KINDS)
def test_answers_are_optimal_and_daqp_knows_no_better(minimiser: Minimiser, kind: str) -> None:
    prove(minimiser, 60, 1, kind)


@pytest.mark.validation
@pytest.mark.parametrize("kind", KINDS)
def test_ten_thousand_answers_are_optimal_and_daqp_knows_no_better(minimiser: Minimiser, kind: str) -> None:
    prove(minimiser, 2000, 2, kind)


@pytest.mark.parametrize("kind", KINDS)
def test_the_answer_does_not_depend_on_the_working_set_it_began_with(minimiser: Minimiser, kind: str) -> None:
    rng = np.random.default_rng(3)
    for _ in range(20):
        qp = draw_qp(rng, kind)
        answers = [solve(minimiser, qp, rng)[0] for _ in range(5)]
        values = [qp.value(x) for x in answers]
        assert max(values) - min(values) <= 1e-7 * (abs(values[0]) + qp.below) + NEAR * qp.above


def test_the_right_working_set_is_kept_without_a_walk(minimiser: Minimiser) -> None:
    rng = np.random.default_rng(4)
    for _ in range(50):
        qp = draw_qp(rng, "heating")
        (m, n), c = qp.J.shape, len(qp.K)
        first, _, kept, _ = minimiser.run(qp, np.zeros(m + n + c, np.int64), np.zeros(n))
        again, _, state, steps = minimiser.run(qp, kept, first)
        assert steps == 0
        assert np.array_equal(state, kept)
        assert again == pytest.approx(first, abs=1e-9)


def test_a_ceiling_that_no_plan_keeps_is_missed_by_the_least(minimiser: Minimiser) -> None:
    for least in (805.0, 850.0):  # K, at no power
        qp = Qp(
            H=np.eye(2),
            g=np.zeros(2),
            J=np.array([[100.0, 0.0], [50.0, 100.0]]),
            r=np.full(2, least),
            below=2e3,
            above=1e3 * (2e3 + 11.0),
            K=np.zeros((0, 2)),
            kinks=np.zeros((3, 0)),
        )
        x, slope, _ = solve(minimiser, qp, np.random.default_rng(5))
        assert not x.any()
        assert (slope == -qp.above).all()


def test_no_move_is_longer_than_the_radius(minimiser: Minimiser) -> None:
    rng = np.random.default_rng(6)
    for _ in range(50):
        qp = draw_qp(rng, "heating")
        (m, n), c = qp.J.shape, len(qp.K)
        before = rng.uniform(0, 1, (n,))
        x, *_ = minimiser.run(qp, np.zeros(m + n + c, np.int64), before, radius=0.1)
        assert np.abs(x - before).max() <= 0.1 + 1e-12
        other = before + rng.uniform(-0.1, 0.1, n)
        assert qp.value(x) <= qp.value(np.clip(other, 0.0, 1.0)) + 1e-6 * qp.above * NEAR + 1e-9
