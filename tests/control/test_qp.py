"""The exact QP of the realtime solver: its conditions are a proof, and DAQP is a witness.

min ½xᵀHx + gᵀx + Σ ρ⁻ max(0, floor − tᵢ) + ρ⁺ max(0, tᵢ − ceiling),  t = r + J x,  0 ≤ x ≤ 1
"""

from dataclasses import dataclass

import casadi
import numpy as np
import pytest
from numpy.typing import NDArray

from laserloop.control import realtime_kernels as kernels
from laserloop.control.realtime import _make_qp as make_qp

FloatArray = NDArray[np.float64]

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

    def value(self, x: FloatArray) -> float:
        t = self.r + self.J @ x
        missing, excess = np.maximum(FLOOR - t, 0.0), np.maximum(t - CEILING, 0.0)
        return float(x @ self.H @ x / 2 + self.g @ x + self.below * missing.sum() + self.above * excess.sum())


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
    price = float(rng.choice([1e-3, 2.0, 2000.0, 2000.0]))
    return Qp(
        H=2 * (rng.choice([0.01, 1.0]) * np.eye(n) + rng.choice([0.1, 10.0]) * hops.T @ hops),
        g=g,
        J=J,
        r=t - J @ x,
        below=price,
        above=1e3 * (price + 11.0),
    )


def solve(qp: Qp, rng: np.random.Generator) -> tuple[FloatArray, FloatArray, int]:
    """x and the multipliers of the rows, from a random working set; and the steps walked."""
    m, n = qp.J.shape
    state = np.concatenate((rng.integers(-2, 3, m), rng.integers(-1, 2, n)))
    x, lam = np.zeros(n), np.zeros(m + n)
    limits, bounds = np.array([FLOOR, CEILING, qp.below, qp.above]), np.array([[0.0], [1.0]]) * np.ones(n)
    steps = kernels.solve_qp(n, m, qp.H, qp.g, qp.J, qp.r, limits, bounds, state, x, lam, make_qp(m))
    slope = np.select(
        [state[:m] == kernels.BELOW, state[:m] == kernels.ABOVE], [qp.below, -qp.above], lam[:m]
    )
    return x, slope, steps


def assert_optimal(qp: Qp, x: FloatArray, slope: FloatArray) -> None:
    """The conditions under which x is the minimiser of a strictly convex problem, and no other point is."""
    assert ((x >= 0.0) & (x <= 1.0)).all()
    t = qp.r + qp.J @ x
    near = 5 * NEAR
    least = np.select([t < FLOOR - near, t > CEILING - near], [qp.below, -qp.above], 0.0)
    most = np.select([t > CEILING + near, t < FLOOR + near], [-qp.above, qp.below], 0.0)
    slack = 1e-9 * qp.above
    assert (slope >= least - slack).all()
    assert (slope <= most + slack).all()
    terms = np.abs(qp.H) @ np.abs(x) + np.abs(qp.g) + np.abs(qp.J).T @ np.abs(slope)
    tolerance = 1e-7 * (terms + terms.max())
    gradient = qp.H @ x + qp.g - qp.J.T @ slope
    assert (gradient[x < 1.0] >= -tolerance[x < 1.0]).all()
    assert (gradient[x > 0.0] <= tolerance[x > 0.0]).all()


def ask_daqp(qp: Qp, *, hard: bool) -> FloatArray | None:
    """The same with explicit slacks, below the floor and, unless the ceiling is hard, above it.

    DAQP wants strict convexity: a trace of curvature is given to the slacks. None: it gave up.
    """
    m, n = qp.J.shape
    sides = 1 if hard else 2
    one, none = np.eye(m), np.zeros((m, m))
    H = np.zeros((n + sides * m, n + sides * m))
    H[:n, :n] = qp.H
    H[n:, n:] = 1e-9 * qp.below * np.eye(sides * m)
    A = np.block([[qp.J, one, none], [qp.J, none, -one]])[:, : len(H)]
    shape = {"h": casadi.Sparsity.dense(*H.shape), "a": casadi.Sparsity.dense(*A.shape)}
    solver = casadi.conic("qp", "daqp", shape, {"error_on_fail": False})
    answer = solver(
        h=H,
        g=np.concatenate((qp.g, np.full(m, qp.below), np.full(m, qp.above)))[: len(H)],
        a=A,
        lba=np.concatenate((FLOOR - qp.r, np.full(m, -np.inf))),
        uba=np.concatenate((np.full(m, np.inf), CEILING - qp.r)),
        lbx=np.zeros(len(H)),
        ubx=np.concatenate((np.ones(n), np.full(sides * m, np.inf))),
    )
    return np.clip(np.asarray(answer["x"]).ravel()[:n], 0.0, 1.0) if solver.stats()["success"] else None


def prove(count: int, seed: int, kind: str) -> None:
    """Prove `count` answers optimal, and hear DAQP about each."""
    rng = np.random.default_rng([seed, KINDS.index(kind)])
    apart = []
    for _ in range(count):
        qp = draw_qp(rng, kind)
        x, slope, steps = solve(qp, rng)
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
    assert np.percentile(apart, 95) < 1e-4  # DAQP keeps its rows to 1e-6 and has its own slacks


@pytest.mark.parametrize("kind", KINDS)
def test_answers_are_optimal_and_daqp_knows_no_better(kind: str) -> None:
    prove(60, 1, kind)


@pytest.mark.validation
@pytest.mark.parametrize("kind", KINDS)
def test_ten_thousand_answers_are_optimal_and_daqp_knows_no_better(kind: str) -> None:
    prove(2000, 2, kind)


@pytest.mark.parametrize("kind", KINDS)
def test_the_answer_does_not_depend_on_the_working_set_it_began_with(kind: str) -> None:
    rng = np.random.default_rng(3)
    for _ in range(20):
        qp = draw_qp(rng, kind)
        answers = [solve(qp, rng)[0] for _ in range(5)]
        values = [qp.value(x) for x in answers]
        assert max(values) - min(values) <= 1e-7 * (abs(values[0]) + qp.below) + NEAR * qp.above


def test_the_right_working_set_is_kept_without_a_walk() -> None:
    rng = np.random.default_rng(4)
    for _ in range(50):
        qp = draw_qp(rng, "heating")
        m, n = qp.J.shape
        state, x, lam = np.zeros(m + n, np.int64), np.zeros(n), np.zeros(m + n)
        limits, bounds = np.array([FLOOR, CEILING, qp.below, qp.above]), np.array([[0.0], [1.0]]) * np.ones(n)
        given = n, m, qp.H, qp.g, qp.J, qp.r, limits, bounds, state, x, lam, make_qp(m)
        kernels.solve_qp(*given)
        first, kept = x.copy(), state.copy()
        assert kernels.solve_qp(*given) == 0
        assert np.array_equal(state, kept)
        assert x == pytest.approx(first, abs=1e-9)


def test_a_ceiling_that_no_plan_keeps_is_missed_by_the_least() -> None:
    for least in (805.0, 850.0):  # K, at no power
        qp = Qp(
            H=np.eye(2),
            g=np.zeros(2),
            J=np.array([[100.0, 0.0], [50.0, 100.0]]),
            r=np.full(2, least),
            below=2e3,
            above=2e6,
        )
        x, slope, _ = solve(qp, np.random.default_rng(5))
        assert not x.any()
        assert (slope == -qp.above).all()
