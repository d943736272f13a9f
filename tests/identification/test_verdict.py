"""A fit is believed only if what it leaves is noise, and if what it finds can be."""

from dataclasses import replace

import numpy as np
import pytest

from laserloop.identification.verdict import Evidence, find_whiteness, judge

N = 220


def evidence(seed: int = 0) -> Evidence:
    """Of a log that the model can tell."""
    rng = np.random.default_rng(seed)
    return Evidence(
        residuals=rng.normal(0.0, 5.0, N),
        time=np.arange(N, dtype=np.float64),
        power=rng.uniform(3.0, 14.0, N),
        fitted=rng.uniform(500.0, 900.0, N),
        ambient=300.0,
        noise=5.0,
        told=5.0,
        astray=0.2,
        whole=np.concatenate(([300.0, 295.0, 0.0, 0.0, 0.0], rng.uniform(500.0, 900.0, N))),
        moved=0.04,
    )


def test_noise_holds() -> None:
    assert sum(not judge(evidence(seed)).holds for seed in range(200)) <= 2


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (
            {"residuals": np.convolve(np.random.default_rng(1).normal(0.0, 5.0, N + 1), (1, 0.6), "valid")},
            "follow each",
        ),
        ({"astray": 0.4}, "far from any fit"),
        ({"noise": 60.0}, "a tenth of"),
        ({"told": 2.0}, "tells of 2 K of noise"),
        ({"moved": 0.7}, "not settled"),
        ({"whole": np.array([27.0, 26.0, 480.0])}, "colder than the plate"),
        ({"suspicious": ("absorptivity would be above 1",)}, "above 1"),
    ],
)
def test_what_cannot_be_is_a_reason(change: dict[str, object], reason: str) -> None:
    verdict = judge(replace(evidence(), **change))  # type: ignore[arg-type]
    assert not verdict.holds
    assert reason in verdict.sentence


@pytest.mark.parametrize("name", ["time", "power", "fitted"])
def test_residuals_that_change_with_something_are_no_noise(name: str) -> None:
    seen = evidence()
    along = getattr(seen, name)
    slope = 6.0 * (along - along.mean()) / along.std()
    verdict = judge(replace(seen, residuals=seen.residuals + slope))
    assert any("residuals change with" in reason for reason in verdict.reasons)


def test_what_is_left_of_a_log_without_noise_may_be_anything() -> None:
    ramp = np.linspace(-0.5, 0.5, N)
    assert judge(replace(evidence(), residuals=ramp, noise=0.3)).holds
    assert not judge(replace(evidence(), residuals=10.0 * ramp, noise=3.0)).holds


def test_whiteness_is_a_number_of_standard_deviations() -> None:
    rng = np.random.default_rng(2)
    drawn = [find_whiteness(rng.normal(size=N)) for _ in range(500)]
    assert np.std(drawn) == pytest.approx(1.0, abs=0.1)
    assert find_whiteness(np.zeros(9)) == 0.0
