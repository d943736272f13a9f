from collections import Counter
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from laserloop.bad_input import BadInput
from laserloop.data import EnsembleSettings, lay_out, plan_episode
from laserloop.data.ensemble import Excitation, share_out
from laserloop.paths import find_path
from laserloop.process import find_process

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
    for settings in (BASE, CORNER, custom, replace(BASE, hatch_mm=0.4, turns=2.5)):
        assert EnsembleSettings.from_json(settings.to_json()) == settings
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
