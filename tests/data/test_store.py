import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from laserloop.bad_input import BadInput
from laserloop.data import (
    COLUMNS,
    EnsembleSettings,
    EpisodeStore,
    create_store,
    cut_windows,
    data_hash,
    missing,
    open_store,
    plan_episode,
    read_episode,
    record_episode,
    record_path,
    run_ensemble,
    write_episode,
)
from laserloop.data import store as store_module
from laserloop.plant import Camera, make_plant
from laserloop.process import CameraSettings, Process


def shard(store: EpisodeStore, index: int) -> Path:
    return store.directory / "episodes" / "c" / str(index) / "0" / "0"


def contents(directory: Path) -> dict[str, bytes]:
    return {
        str(file.relative_to(directory)): file.read_bytes() for file in directory.rglob("*") if file.is_file()
    }


def cut_short(file: Path) -> None:
    file.write_bytes(file.read_bytes()[: file.stat().st_size // 2])


def cut_tail(file: Path) -> None:
    file.write_bytes(file.read_bytes()[:-1])


def flip_a_bit(file: Path) -> None:
    data = bytearray(file.read_bytes())
    data[len(data) // 3] ^= 1
    file.write_bytes(data)


def empty(file: Path) -> None:
    file.write_bytes(b"")


def remove(file: Path) -> None:
    file.unlink()


DAMAGES = [cut_short, cut_tail, flip_a_bit, empty, remove]


def test_an_episode_is_read_as_it_was_recorded(made: EpisodeStore, small: EnsembleSettings) -> None:
    assert missing(made) == missing(made, verify=False) == []
    for index in (0, 5):
        assert read_episode(made, index).tobytes() == record_episode(small, index).tobytes()


def test_each_episode_is_one_file_and_the_settings_lie_beside_it(made: EpisodeStore) -> None:
    files = [file for file in (made.directory / "episodes" / "c").rglob("*") if file.is_file()]
    assert len(files) == 6
    attributes = json.loads((made.directory / "zarr.json").read_text())["attributes"]
    assert EnsembleSettings.from_json(attributes["settings"]) == made.settings
    assert attributes["columns"] == list(made.columns)
    assert {"laserloop", "geometry", "excitation"} <= set(attributes)


@pytest.mark.parametrize("damage", DAMAGES)
def test_a_damaged_episode_is_found_refused_by_name_and_made_again(
    copied: EpisodeStore, small: EnsembleSettings, damage: object
) -> None:
    assert callable(damage)
    whole = contents(copied.directory)
    damage(shard(copied, 4))
    broken = contents(copied.directory)
    assert missing(copied) == [4]
    with pytest.raises(BadInput, match=r"episode 4 of .* must be complete, but .*make it again") as caught:
        cut_windows(copied, 5)
    assert "\n" not in str(caught.value)
    assert contents(copied.directory) == broken
    assert run_ensemble(copied.directory, small, workers=1).made == 1
    assert contents(copied.directory) == whole


def test_an_episode_counts_only_once_its_flag_is_written(
    tmp_path: Path, small: EnsembleSettings, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = create_store(tmp_path / "store", small)

    def die(_: object) -> int:
        raise KeyboardInterrupt

    with monkeypatch.context() as crash:
        crash.setattr(store_module, "digest_episode", die)
        with pytest.raises(KeyboardInterrupt):
            write_episode(store, 1, record_episode(small, 1))
    assert shard(store, 1).exists()
    assert missing(store, verify=False) == list(range(6))
    with pytest.raises(BadInput, match=r"episode 1 of .* but was not finished"):
        read_episode(store, 1)


def test_a_flag_without_its_episode_does_not_count(tmp_path: Path, small: EnsembleSettings) -> None:
    store = create_store(tmp_path / "store", small)
    store.done[2] = np.uint64(123)
    assert 2 in missing(store)
    assert 2 not in missing(store, verify=False)


def test_a_digest_is_never_the_mark_of_absence() -> None:
    digests = {store_module.digest_episode(np.full((2, 3), float(n))) for n in range(100)}
    assert len(digests) == 100
    assert all(0 < digest < 2**64 for digest in digests)


def test_the_data_hash_knows_settings_and_every_episode(copied: EpisodeStore, made: EpisodeStore) -> None:
    assert data_hash(copied) == data_hash(made)
    write_episode(copied, 3, read_episode(made, 4))
    assert data_hash(copied) != data_hash(made)


@pytest.mark.parametrize(
    "change",
    [
        {"seed": 9},
        {"runs": 7},
        {"states": 16},
        {"geometry": "random"},
        {"plant": "graded"},
        {"hatch_mm": 0.4},
        {"turns": 2.5},
    ],
)
def test_a_store_with_other_settings_is_left_alone(
    copied: EpisodeStore, small: EnsembleSettings, change: dict[str, object]
) -> None:
    before = contents(copied.directory)
    (name,) = change
    with pytest.raises(BadInput, match=f"holds an ensemble with {name} = .* choose another folder"):
        run_ensemble(copied.directory, replace(small, **change), workers=1)  # type: ignore[arg-type]
    assert contents(copied.directory) == before


def test_a_store_of_other_shapes_is_not_taken_for_one_of_the_named(
    tmp_path: Path, small: EnsembleSettings
) -> None:
    create_store(tmp_path / "wide", replace(small, hatch_mm=0.6))
    with pytest.raises(BadInput, match=r"with hatch_mm = 0.6, but 0.5 was asked for"):
        create_store(tmp_path / "wide", small)


def test_what_is_not_a_store_is_refused_and_left_alone(tmp_path: Path, small: EnsembleSettings) -> None:
    folder, file = tmp_path / "folder", tmp_path / "file"
    folder.mkdir()
    (folder / "thesis.tex").write_text("precious")
    file.write_text("precious")
    with pytest.raises(BadInput, match="must be a store of episodes, but is not"):
        create_store(folder, small)
    with pytest.raises(BadInput, match=r"must be a folder, but .* is a file"):
        create_store(file, small)
    with pytest.raises(BadInput, match=r"must exist, but .* does not"):
        open_store(tmp_path / "absent")
    assert contents(tmp_path) == {"folder/thesis.tex": b"precious", "file": b"precious"}


def test_a_store_with_broken_settings_is_refused(copied: EpisodeStore) -> None:
    file = copied.directory / "zarr.json"
    head = json.loads(file.read_text())
    head["attributes"]["settings"]["runs"] = 5
    file.write_text(json.dumps(head))
    with pytest.raises(BadInput, match="must be a store of episodes"):
        open_store(copied.directory)
    cut_short(file)
    with pytest.raises(BadInput, match="must be a store of episodes"):
        open_store(copied.directory)


def test_an_empty_folder_becomes_a_store_and_nothing_lies_beside_it(
    tmp_path: Path, small: EnsembleSettings
) -> None:
    (tmp_path / "new").mkdir()
    assert missing(create_store(tmp_path / "new", small)) == list(range(6))
    assert missing(create_store(tmp_path / "new", small)) == list(range(6))
    assert [file.name for file in tmp_path.iterdir()] == ["new"]


def test_without_zarr_the_install_line_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "zarr", None)
    with pytest.raises(BadInput, match=r"pip install 'laserloop\[data\]'"):
        open_store(tmp_path)


AT = {name: i for i, name in enumerate(COLUMNS)}


def test_every_column_is_what_its_name_says(small: EnsembleSettings) -> None:
    index = 2
    plan, values = plan_episode(small, index), record_episode(small, index)
    plant, nodes = make_plant("paper"), Camera()
    chords = Camera(CameraSettings(sampling="bilinear"))
    cubic = Camera(CameraSettings(sampling="smooth", subgrid=True))
    surface = plant.reset()
    for k in range(small.states):
        row, image, soft = values[k], nodes.see(surface), cubic.see(surface)
        chord = chords.see(surface)
        ahead = plan.path.positions[k + 1 : k + 11]
        assert row[AT["power_w"]] == (plan.power[k - 1] if k else 0.0)
        assert np.array_equal(row[[AT["x_m"], AT["y_m"]]], plan.path.positions[k])
        velocity = (plan.path.positions[k + 1] - plan.path.positions[k]) / 1.25e-4
        assert row[[AT["vx_m_s"], AT["vy_m_s"]]] == pytest.approx(velocity)
        assert row[AT["t_node_k"]] == image.peak.temperature == surface.temperature.max()
        assert (row[AT["node_x_m"]], row[AT["node_y_m"]]) == (image.peak.x, image.peak.y)
        assert row[AT["t_peak_k"]] == soft.peak.temperature >= row[AT["t_node_k"]]
        assert (row[AT["peak_x_m"]], row[AT["peak_y_m"]]) == (soft.peak.x, soft.peak.y)
        for i in range(1, 11):
            assert row[AT[f"preview_nearest_{i}_k"]] == image.sample(ahead)[i - 1]
            assert row[AT[f"preview_bilinear_{i}_k"]] == chord.sample(ahead)[i - 1]
            assert row[AT[f"preview_smooth_{i}_k"]] == soft.sample(ahead)[i - 1]
        heading = np.arctan2(velocity[1], velocity[0])
        patch = soft.patch(plan.path.positions[k], heading, size=9, spacing=50e-6)
        seen = row[AT["patch_0_0_k"] : AT["patch_8_8_k"] + 1].reshape(9, 9)
        assert seen == pytest.approx(patch, abs=1e-4)
        assert np.array_equal(seen, seen.astype(np.float32))
        if k < small.states - 1:
            surface = plant.step(float(plan.power[k]), plan.path.spot(k))


def test_a_used_plant_records_the_same_bits_as_a_new_one(small: EnsembleSettings) -> None:
    used = [record_episode(small, index) for index in (4, 0, 2)]
    for values, index in zip(used, (4, 0, 2), strict=True):
        store_module._keep_plant.cache_clear()
        assert record_episode(small, index).tobytes() == values.tobytes()


def test_the_graded_plant_records_too() -> None:
    values = record_episode(EnsembleSettings(kind="base", runs=3, states=4, plant="graded"), 0)
    assert values.shape == (4, 122)
    assert np.isfinite(values).all()
    assert values[-1, AT["t_peak_k"]] > 300.0


def test_power_and_path_must_fit(small: EnsembleSettings) -> None:
    plan = plan_episode(small, 0)
    for power in (np.ones(100), np.ones(0)):
        with pytest.raises(BadInput, match="a record needs power for 1 to 24 ticks"):
            record_path(make_plant("paper"), plan.path, power)
    with pytest.raises(BadInput, match="share one tick"):
        record_path(make_plant("paper", Process(tick=1e-4)), plan.path, np.ones(3))
