import numpy as np
import pytest

from laserloop.bad_input import BadInput
from laserloop.data import COLUMNS, EnsembleSettings, plan_episode, record_episode, record_path
from laserloop.data import store as store_module
from laserloop.plant import Camera, make_plant
from laserloop.process import CameraSettings, Process

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
