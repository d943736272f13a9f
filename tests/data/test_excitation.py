import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from laserloop.bad_input import BadInput
from laserloop.data.ensemble import Excitation, draw_power, parse_excitation

SEEDS = st.integers(0, 2**32 - 1)
TICKS = st.integers(1, 600)
KINDS = st.sampled_from(list(Excitation))


def draw(kind: Excitation, ticks: int, seed: int = 0, power_max: float = 20.0) -> NDArray[np.float64]:
    return draw_power(kind, ticks, np.random.default_rng(seed), power_max=power_max)


def hold_lengths(power: NDArray[np.float64]) -> NDArray[np.int64]:
    changes = np.flatnonzero(np.diff(power)) + 1
    return np.diff(np.concatenate([[0], changes, [len(power)]]))


@settings(deadline=None, max_examples=100)
@given(KINDS, TICKS, SEEDS, st.floats(1e-3, 1e3))
def test_power_stays_between_zero_and_its_limit(
    kind: Excitation, ticks: int, seed: int, limit: float
) -> None:
    power = draw(kind, ticks, seed, limit)
    assert power.shape == (ticks,)
    assert power.dtype == np.float64
    assert power.min() >= 0
    assert power.max() <= limit


@settings(deadline=None, max_examples=50)
@given(KINDS, SEEDS)
def test_the_same_seed_draws_the_same_power_and_another_seed_another(kind: Excitation, seed: int) -> None:
    np.testing.assert_array_equal(draw(kind, 400, seed), draw(kind, 400, seed))
    assert not np.array_equal(draw(kind, 400, seed), draw(kind, 400, seed + 1))


@settings(deadline=None, max_examples=50)
@given(TICKS, SEEDS)
def test_persistent_power_is_held_for_5_to_20_ticks(ticks: int, seed: int) -> None:
    holds = hold_lengths(draw(Excitation.PERSISTENT, ticks, seed))
    assert (holds[:-1] >= 5).all()
    assert (holds <= 20).all()


def test_all_holds_from_5_to_20_ticks_are_equally_likely() -> None:
    counts = np.bincount(hold_lengths(draw(Excitation.PERSISTENT, 100_000))[:-1])[5:]
    assert len(counts) == 16
    assert counts / counts.sum() == pytest.approx(1 / 16, abs=0.012)


@pytest.mark.parametrize("kind", [Excitation.PERSISTENT, Excitation.HF_RANDOM])
def test_amplitudes_are_uniform(kind: Excitation) -> None:
    amplitudes = np.unique(draw(kind, 100_000))
    shares = np.histogram(amplitudes, bins=5, range=(0, 20))[0] / len(amplitudes)
    assert shares == pytest.approx(0.2, abs=0.02)


def test_high_frequency_power_is_independent_from_tick_to_tick() -> None:
    power = draw(Excitation.HF_RANDOM, 100_000)
    assert len(np.unique(power)) == len(power)
    assert np.corrcoef(power[1:], power[:-1])[0, 1] == pytest.approx(0, abs=0.02)


@settings(deadline=None, max_examples=50)
@given(TICKS, SEEDS)
def test_bang_bang_knows_only_off_and_full(ticks: int, seed: int) -> None:
    assert set(draw(Excitation.BANG_BANG, ticks, seed)) <= {0.0, 20.0}


@pytest.mark.parametrize("probability", [0.0, 0.1, 0.3, 1.0])
def test_bang_bang_switches_as_often_as_told(probability: float) -> None:
    rng = np.random.default_rng(0)
    power = draw_power("bang-bang", 50_000, rng, switch_probability=probability)
    assert (np.diff(power) != 0).mean() == pytest.approx(probability, abs=0.01)


def test_bang_bang_switches_with_probability_0_3_by_default() -> None:
    assert (np.diff(draw(Excitation.BANG_BANG, 50_000)) != 0).mean() == pytest.approx(0.3, abs=0.01)


def test_bang_bang_starts_on_either_side() -> None:
    starts = [draw(Excitation.BANG_BANG, 3, seed)[0] for seed in range(1000)]
    assert np.mean(starts) == pytest.approx(10, abs=1)


@pytest.mark.parametrize("kind", Excitation)
def test_an_excitation_is_known_by_its_name(kind: Excitation) -> None:
    assert parse_excitation(kind.value) is kind


@pytest.mark.parametrize("text", ["", "Persistent", "hf_random", "all"])
def test_an_unknown_excitation_gets_the_choices(text: str) -> None:
    with pytest.raises(BadInput, match=f"one of persistent, hf-random, bang-bang, but got '{text}'"):
        parse_excitation(text)
    with pytest.raises(BadInput, match="one of persistent"):
        draw_power(text, 10, np.random.default_rng(0))


@pytest.mark.parametrize("ticks", [0, -1, 10**12])
def test_a_profile_needs_a_sensible_number_of_ticks(ticks: int) -> None:
    with pytest.raises(BadInput, match=f"1 to 10000000 ticks, but {ticks} were"):
        draw(Excitation.PERSISTENT, ticks)


@pytest.mark.parametrize("power_max", [0.0, -20.0, np.nan, np.inf])
def test_the_largest_power_must_be_a_power(power_max: float) -> None:
    with pytest.raises(BadInput, match=f"positive and finite, but is {power_max} W"):
        draw(Excitation.PERSISTENT, 10, power_max=power_max)


@pytest.mark.parametrize("probability", [-0.1, 1.1, np.nan])
def test_a_switch_probability_is_a_probability(probability: float) -> None:
    with pytest.raises(BadInput, match=f"must be 0 to 1, but is {probability}"):
        draw_power("bang-bang", 10, np.random.default_rng(0), switch_probability=probability)
