"""Intervals keep what they promise, also where residuals are correlated."""

import numpy as np
import pytest

from laserloop.identification.fit import find_covariance, half_widths, note_inseparable


def simulate(rng: np.random.Generator, memory: float, n: int = 400) -> tuple[float, float, float]:
    """A slope fitted to correlated residuals: its error, its interval, and the interval for white ones."""
    x = np.convolve(rng.normal(size=n + 20), np.ones(20), "valid")[:n, np.newaxis]
    e = np.empty(n)
    e[0] = rng.normal()
    for k in range(1, n):
        e[k] = memory * e[k - 1] + np.sqrt(1 - memory**2) * rng.normal()
    slope = float((x.T @ e / (x.T @ x)).item())
    residual = e - x[:, 0] * slope
    half = half_widths(find_covariance(x, residual, np.array([10.0])), n)[0]
    white = 1.96 * residual.std() / np.sqrt((x**2).sum())
    return slope, float(half), float(white)


@pytest.mark.parametrize("memory", [0.0, 0.6])
def test_the_truth_lies_inside_as_often_as_promised(memory: float) -> None:
    rng = np.random.default_rng(0)
    found = np.array([simulate(rng, memory) for _ in range(300)])
    kept = np.mean(np.abs(found[:, 0]) <= found[:, 1])
    naive = np.mean(np.abs(found[:, 0]) <= found[:, 2])
    assert kept > 0.87
    if memory:
        assert naive < kept - 0.08


def test_what_moves_together_is_said() -> None:
    rng = np.random.default_rng(1)
    x = rng.normal(size=200)
    slopes = np.stack((x, x + 0.05 * rng.normal(size=200), rng.normal(size=200)), axis=1)
    prior = np.full(3, 0.5)
    covariance = find_covariance(slopes, 0.01 * rng.normal(size=200), prior)
    told = note_inseparable(("a", "b", "c"), covariance, [])
    assert any("a and b can be changed against each other" in sentence for sentence in told)
    assert not any("c" in sentence.split()[:3] for sentence in told[1:])


def test_what_the_data_do_not_know_is_said() -> None:
    rng = np.random.default_rng(2)
    slopes = np.stack((rng.normal(size=50), 1e-6 * rng.normal(size=50)), axis=1)
    prior = np.full(2, 0.5)
    covariance = find_covariance(slopes, rng.normal(size=50), prior)
    vague = [name for name, error in zip("ab", np.sqrt(np.diag(covariance)), strict=True) if error > 0.25]
    told = note_inseparable(("a", "b"), covariance, vague)
    assert vague == ["b"]
    assert any("hardly anything about b" in sentence for sentence in told)
