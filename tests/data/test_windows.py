import json
from typing import Any

import numpy as np
import pytest

from laserloop.bad_input import BadInput
from laserloop.data import (
    COLUMNS,
    EpisodeStore,
    Scaler,
    Windows,
    cut_episode,
    cut_windows,
    fit_scaler,
    lay_out,
    read_episode,
    split_windows,
)
from laserloop.data.ensemble import EXCITATIONS, GEOMETRIES
from laserloop.process.process import SAMPLINGS, Sampling

AT = {name: i for i, name in enumerate(COLUMNS)}
READINGS = {"node": ("t_node_k", "node_x_m", "node_y_m"), "peak": ("t_peak_k", "peak_x_m", "peak_y_m")}


def numbered(states: int) -> np.ndarray:
    """A record whose entry tells its state and column: k + column/1000."""
    return np.arange(states)[:, None] + np.arange(len(COLUMNS)) / 1000


def test_the_paper_has_395_windows_an_episode_and_126400_in_all() -> None:
    windows = cut_episode(numbered(401), COLUMNS, 5)
    assert len(windows) == 395
    assert (windows.tick[0], windows.tick[-1]) == (1, 395)
    assert len(windows) * 320 == 126_400


@pytest.mark.parametrize("horizon", [1, 3, 5, 10])
@pytest.mark.parametrize("reading", ["node", "peak"])
@pytest.mark.parametrize("sampling", SAMPLINGS)
def test_each_entry_means_what_it_says(
    made: EpisodeStore, horizon: int, reading: str, sampling: Sampling
) -> None:
    windows = cut_windows(made, horizon, reading=reading, sampling=sampling)
    assert len(windows) == 6 * (14 - horizon)
    assert windows.horizon == horizon
    t_max, at_x, at_y = (AT[name] for name in READINGS[reading])
    members = lay_out(made.settings)
    for n in np.random.default_rng(horizon).choice(len(windows), 8):
        e, k = windows.episode[n], windows.tick[n]
        record = read_episode(made, e)
        for i in range(1, horizon + 1):
            row = [record[k + i, AT["power_w"]], *record[k + i - 1, AT["x_m"] : AT["vy_m_s"] + 1]]
            assert windows.branch[n, i - 1].tolist() == row
            preview = AT[f"preview_{sampling}_{i}_k"]
            assert windows.temps[n, i] == record[k, preview]
            assert windows.target[n, i - 1] == record[k + i, t_max]
            assert windows.places[n, i - 1].tolist() == [record[k + i, at_x], record[k + i, at_y]]
        assert windows.temps[n, 0] == record[k, t_max]
        assert windows.location[n].tolist() == [record[k, at_x], record[k, at_y]]
        assert EXCITATIONS[windows.excitation[n]] == members[e].excitation
        assert GEOMETRIES[windows.geometry[n]] == members[e].geometry


def test_a_record_of_before_says_which_previews_it_has() -> None:
    older = tuple(name for name in COLUMNS if "nearest" not in name)
    record = numbered(40)[:, : len(older)]
    assert len(cut_episode(record, older, 5, sampling="bilinear")) == 34
    with pytest.raises(
        BadInput, match="must be bilinear or smooth, as it was made, but nearest ones are asked"
    ):
        cut_episode(record, older, 5)


def test_inputs_never_see_a_temperature_after_their_tick() -> None:
    record = numbered(40)
    clean = cut_episode(record, COLUMNS, 5)
    for n in (0, 10, len(clean) - 1):
        k = clean.tick[n]
        spoiled = record.copy()
        spoiled[k + 1 :, AT["t_node_k"] :] = np.nan
        again = cut_episode(spoiled, COLUMNS, 5)
        assert np.array_equal(again.branch[n], clean.branch[n])
        assert np.array_equal(again.temps[n], clean.temps[n])
        assert np.array_equal(again.location[n], clean.location[n])
        assert np.isnan(again.target[n]).all()


def test_a_stride_of_the_horizon_covers_every_target_once() -> None:
    windows = cut_episode(numbered(401), COLUMNS, 5, stride=5)
    assert len(windows) == 79
    assert np.array_equal(windows.target.ravel().astype(int), np.arange(2, 397))


def make_windows(episodes: int, each: int) -> Windows:
    parts = [cut_episode(numbered(each + 6), COLUMNS, 5) for _ in range(episodes)]
    for index, part in enumerate(parts):
        part.episode[:] = index
    names = parts[0].__dataclass_fields__
    return Windows(**{name: np.concatenate([getattr(part, name) for part in parts]) for name in names})


@pytest.mark.parametrize("by", ["window", "episode"])
def test_a_split_is_complete_disjoint_and_repeatable(by: str) -> None:
    windows = make_windows(20, 395)
    train, held = split_windows(windows, seed=7, by=by)
    assert len(held) == 0.2 * len(windows)
    assert np.array_equal(np.sort(np.concatenate([train, held])), np.arange(len(windows)))
    again = split_windows(windows, seed=7, by=by)
    assert np.array_equal(again[1], held)
    assert not np.array_equal(split_windows(windows, seed=8, by=by)[1], held)


def test_a_split_by_episode_shares_no_episode_and_one_by_window_shares_all() -> None:
    windows = make_windows(20, 395)
    train, held = split_windows(windows, seed=0, by="episode")
    assert not set(windows.episode[train]) & set(windows.episode[held])
    train, held = split_windows(windows, seed=0)
    assert set(windows.episode[train]) == set(windows.episode[held])


def test_taking_some_windows_takes_all_their_parts() -> None:
    windows = make_windows(2, 10)
    some = windows.take(np.array([3, 12]))
    assert len(some) == 2
    assert some.tick.tolist() == [4, 3]
    assert some.episode.tolist() == [0, 1]


@pytest.mark.parametrize(
    ("states", "options", "sentence"),
    [
        (40, {"horizon": 0}, "the horizon must be 1 to 10 ticks"),
        (40, {"horizon": 11}, "the horizon must be 1 to 10 ticks"),
        (6, {"horizon": 5}, "at least 7 states for a horizon of 5 ticks, but has 6"),
        (40, {"stride": 0}, "the stride must be at least 1"),
        (40, {"reading": "mean"}, "a reading must be one of node, peak"),
    ],
)
def test_windows_that_cannot_be_cut_are_one_sentence(
    states: int, options: dict[str, Any], sentence: str
) -> None:
    with pytest.raises(BadInput, match=sentence):
        cut_episode(numbered(states), COLUMNS, **options)


def test_a_split_with_an_empty_side_is_refused() -> None:
    windows = make_windows(2, 10)
    with pytest.raises(BadInput, match="by window or by episode"):
        split_windows(windows, seed=0, by="tick")
    with pytest.raises(BadInput, match="holds out 0 of 2 episodes"):
        split_windows(windows, seed=0, by="episode", share=0.1)


def test_scaled_features_have_zero_mean_and_unit_variance_and_come_back() -> None:
    rng = np.random.default_rng(0)
    values = rng.normal([700.0, 1e-3], [60.0, 1e-4], size=(500, 3, 2))
    scaler = fit_scaler(values)
    scaled = scaler.scale(values)
    assert scaler.mean.shape == scaler.std.shape == (3, 2)
    assert scaled.mean(axis=0) == pytest.approx(np.zeros((3, 2)), abs=1e-12)
    assert scaled.std(axis=0) == pytest.approx(np.ones((3, 2)))
    assert scaler.unscale(scaled) == pytest.approx(values, rel=1e-12)


@pytest.mark.parametrize("constant", [0.0, 300.0, 0.1, -0.304])
def test_a_constant_feature_keeps_its_unit(constant: float) -> None:
    scaler = fit_scaler(np.full((1000, 1), constant))
    assert scaler.std.tolist() == [1.0]
    assert scaler.scale([[constant + 2.0]]) == pytest.approx(np.array([[2.0]]))


def test_a_scaler_survives_json_bit_by_bit() -> None:
    scaler = fit_scaler(np.random.default_rng(1).random((9, 5, 5)))
    back = Scaler.from_json(json.loads(json.dumps(scaler.to_json())))
    assert np.array_equal(back.mean, scaler.mean)
    assert np.array_equal(back.std, scaler.std)


@pytest.mark.parametrize(
    "given",
    [
        None,
        {},
        {"mean": [1.0]},
        {"mean": [1.0], "std": [0.0]},
        {"mean": [1.0], "std": [-1.0]},
        {"mean": [1.0], "std": [1.0, 2.0]},
        {"mean": [float("nan")], "std": [1.0]},
        {"mean": ["x"], "std": [1.0]},
        {"mean": [[1.0], [1.0, 2.0]], "std": [1.0]},
    ],
)
def test_a_broken_scaler_is_one_sentence(given: object) -> None:
    with pytest.raises(BadInput, match="a scaler must"):
        Scaler.from_json(given)


def test_no_samples_make_no_scaler() -> None:
    with pytest.raises(BadInput, match="at least one sample"):
        fit_scaler(np.empty((0, 3)))
