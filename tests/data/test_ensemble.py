from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from laserloop.bad_input import BadInput
from laserloop.data import EnsembleSettings, lay_out, plan_episode, read_settings
from laserloop.data.ensemble import Excitation, draw_power, parse_excitation, share_out
from laserloop.paths import find_path
from laserloop.process import Process, find_process

BASE, CORNER = EnsembleSettings(kind="base"), EnsembleSettings(kind="corner")


def test_the_papers_shares_are_exact() -> None:
    base = Counter(member.geometry for member in lay_out(BASE))
    corner = Counter(member.geometry for member in lay_out(CORNER))
    assert base == {"horizontal": 107, "vertical": 107, "spiral": 106}
    assert corner == {"horizontal": 64, "vertical": 64, "spiral": 64, "polyline": 128}


@pytest.mark.parametrize("kind", ["base", "corner"])
@pytest.mark.parametrize("runs", [1, 2, 7, 100, 320, 321])
def test_excitations_are_as_even_as_whole_numbers_allow_alone_and_within_each_geometry(
    kind: str, runs: int
) -> None:
    members = lay_out(EnsembleSettings(kind=kind, runs=runs))
    assert len(members) == runs
    for geometry in {None, *(member.geometry for member in members)}:
        among = [member.excitation for member in members if geometry in (None, member.geometry)]
        counts = [among.count(excitation) for excitation in Excitation]
        assert max(counts) - min(counts) <= 1


def test_both_ensembles_are_shaken_identically() -> None:
    for index in (0, 1, 150, 319):
        base, corner = plan_episode(BASE, index), plan_episode(CORNER, index)
        assert base.excitation == corner.excitation
        assert np.array_equal(base.power, corner.power)


@pytest.mark.parametrize(
    ("total", "counts"), [(10, [2, 2, 2, 4]), (3, [1, 1, 0, 1]), (7, [2, 1, 1, 3]), (0, [0] * 4)]
)
def test_the_largest_remainders_are_rounded_up(total: int, counts: list[int]) -> None:
    assert share_out(total, (20.0, 20.0, 20.0, 40.0)) == counts


@pytest.mark.parametrize("geometry", ["fixed", "random"])
def test_a_plan_depends_on_settings_and_index_alone(geometry: str) -> None:
    settings = replace(CORNER, geometry=geometry, runs=12, states=40)
    forward = [plan_episode(settings, index) for index in range(12)]
    lay_out.cache_clear()
    backward = [plan_episode(settings, index) for index in reversed(range(12))][::-1]
    for a, b in zip(forward, backward, strict=True):
        assert (a.geometry, a.excitation) == (b.geometry, b.excitation)
        assert a.path.positions.tobytes() == b.path.positions.tobytes()
        assert a.power.tobytes() == b.power.tobytes()


def test_another_seed_or_index_is_another_episode() -> None:
    settings = replace(CORNER, runs=30, states=40)
    plans = [plan_episode(settings, index) for index in range(30)]
    plans += [plan_episode(replace(settings, seed=1), index) for index in range(30)]
    random = [plan for plan in plans if plan.excitation == "hf-random"]
    assert len({plan.power.tobytes() for plan in random}) == len(random) >= 20
    lines = [plan for plan in plans if plan.geometry == "polyline"]
    assert len({plan.path.positions.tobytes() for plan in lines}) == len(lines) >= 20


def test_fixed_members_are_the_named_test_shapes() -> None:
    for index in range(20):
        plan = plan_episode(BASE, index)
        named = find_path(plan.geometry.value, ticks=410)
        assert np.array_equal(plan.path.positions, named.positions)
        assert plan.power.shape == (400,)


def test_fixed_members_have_the_hatch_turns_and_speed_that_were_chosen() -> None:
    process = replace(BASE.process, speed=0.25)
    chosen = replace(BASE, hatch_mm=0.4, turns=2.0, process=process)
    plans = {plan.geometry.value: plan.path for plan in (plan_episode(chosen, index) for index in range(20))}
    x, y = plans["vertical"].positions.T
    lines = np.unique(np.round(x[np.abs(y) < 1e-3], 9))  # away from where it turns
    assert np.allclose(np.diff(lines), 0.4e-3)
    end = 2 * 2.0 * np.pi
    arm = 1.5e-3 / end / 2 * (end * np.sqrt(1 + end**2) + np.arcsinh(end))  # length of an Archimedean spiral
    radius = np.hypot(*plans["spiral"].positions.T)
    assert np.argmax(radius > 1.5e-3 * (1 - 1e-4)) == pytest.approx(arm / (0.25 * 125e-6), abs=1)
    hops = np.hypot(*np.diff(plans["horizontal"].positions[:40], axis=0).T)
    assert np.allclose(hops, 0.25 * 125e-6)


def test_named_shapes_are_not_told_so_that_older_stores_keep_their_hash() -> None:
    assert list(BASE.to_json()) == [
        "kind",
        "runs",
        "seed",
        "plant",
        "states",
        "geometry",
        "shares",
        "process",
    ]
    told = replace(BASE, hatch_mm=0.4).to_json()
    assert told["hatch_mm"] == 0.4
    assert "turns" not in told


def test_random_members_differ_and_stay_in_the_scan_area() -> None:
    settings = replace(BASE, geometry="random", runs=40)
    paths = [plan_episode(settings, index).path.positions for index in range(40)]
    assert len({path.tobytes() for path in paths}) == 40
    assert max(np.abs(path).max() for path in paths) <= 1.5e-3 * (1 + 1e-9)


def test_settings_survive_json() -> None:
    custom = EnsembleSettings(kind="custom", shares=(1, 0, 0, 2), runs=9, process=find_process("ti64"))
    for each in (BASE, CORNER, custom, replace(BASE, hatch_mm=0.4, turns=2.5)):
        assert EnsembleSettings.from_json(each.to_json()) == each
    assert Counter(member.geometry for member in lay_out(custom)) == {"horizontal": 3, "polyline": 6}


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ({"kind": "corners"}, "kind of an ensemble must be one of base, corner, custom, but is 'corners'"),
        ({}, "kind of an ensemble must be one of .* but is missing"),
        ({"kind": "base", "runs": 0}, "runs of an ensemble must be a whole number from 1 to 1000000"),
        ({"kind": "base", "runs": 3.5}, "whole number"),
        ({"kind": "base", "runs": True}, "whole number"),
        ({"kind": "base", "seed": -1}, "seed of an ensemble must be a whole number from 0"),
        ({"kind": "base", "states": 1}, "states of an ensemble must be a whole number from 2"),
        ({"kind": "base", "plant": "fine"}, "plant of an ensemble must be one of paper, graded"),
        ({"kind": "base", "geometry": "free"}, "geometry of an ensemble must be one of fixed, random"),
        (
            {"kind": "base", "process": {"tick_us": "fast"}},
            "tick_us of the ensemble's process must be",
        ),
        ({"kind": "base", "process": "copper"}, "a process must be 304, 316"),
        ({"kind": "base", "speed": 0.3}, "the settings of an ensemble are kind, .* but 'speed' was given"),
        (
            {"kind": "base", "shares": {"spiral": 1}},
            "shares of an ensemble must be left out when kind is base",
        ),
        ({"kind": "base", "hatch_mm": 0.0}, "hatch_mm of an ensemble must be a number from 0.01 to 3, but"),
        ({"kind": "base", "turns": "many"}, "turns of an ensemble must be a number from 0.5 to 100, but"),
        (
            {"kind": "base", "geometry": "random", "turns": 2.5},
            "turns of an ensemble must be left out when geometry is random",
        ),
        ({"kind": "custom"}, "shares of an ensemble must be a number from 0 on for each"),
        ({"kind": "custom", "shares": {"circle": 1}}, "shares of an ensemble must be a number for each"),
        ({"kind": "custom", "shares": {"spiral": -1}}, "shares of an ensemble must be a number from 0 on"),
        ({"kind": "custom", "shares": {"spiral": 0}}, "not all 0"),
    ],
)
def test_a_broken_setting_is_one_sentence(given: dict[str, Any], sentence: str) -> None:
    with pytest.raises(BadInput, match=sentence):
        EnsembleSettings.from_json(given)


@pytest.mark.parametrize("index", [-1, 320])
def test_an_episode_that_is_not_there_is_refused(index: int) -> None:
    with pytest.raises(BadInput, match="has the episodes 0 to 319"):
        plan_episode(BASE, index)


def test_a_file_may_hold_every_setting(tmp_path: Path) -> None:
    file = tmp_path / "mine.yaml"
    file.write_text(
        "kind: custom\nshares: {spiral: 1, polyline: 3}\nruns: 8\nprocess: {laser: {power_w: [0, 15]}}\n"
    )
    settings = EnsembleSettings.from_json(read_settings(file))
    assert settings == EnsembleSettings(
        kind="custom", shares=(0.0, 0.0, 1, 3), runs=8, process=Process().change(power_w=[0, 15])
    )


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (b"kind: [", "an ensemble must be plain YAML, but line 1 of"),
        (b"\xff\xfe\x00", "UTF-8 text, but byte 1 is not"),
        (b"runs: 3\nruns: 4", "line 2 .* has the key 'runs' twice"),
        (b"a: &a [1]\nb: *a", "line 2 .* has an alias"),
        (b"- base", "must be lines of name: value"),
        (b"", "must be filled, but is empty"),
        (b"#" * 200_000, "at most 100000 bytes"),
    ],
)
def test_a_file_that_is_no_settings_is_one_sentence(tmp_path: Path, content: bytes, sentence: str) -> None:
    file = tmp_path / "mine.yaml"
    file.write_bytes(content)
    with pytest.raises(BadInput, match=sentence):
        read_settings(file)


def test_what_is_neither_a_kind_nor_a_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match=r"must be base, corner or a .yaml file"):
        read_settings("corners")
    with pytest.raises(BadInput, match=r"must be readable, but is not \(No such file"):
        read_settings(tmp_path / "absent.yaml")


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
