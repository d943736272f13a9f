"""The process: one noun, one hash, overrides by the names of its file."""

import json
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from laserloop.bad_input import BadInput
from laserloop.process import Beam, CameraSettings, Laser, Material, Process, find_material, find_process
from laserloop.process.keys import KEYS, Key, get_value

DEFAULT = Process()


def other_value(entry: Key) -> object:
    """A value of the entry, as a file has it, that is allowed and not the default."""
    if entry.names:
        return [value + 0.25 for value in entry.tell(get_value(DEFAULT, entry))]
    if entry.whole:
        return int(entry.low) + 2
    return 0.5 * (entry.low + min(entry.high, entry.low + 1.0))


def test_the_default_is_the_papers() -> None:
    assert find_process("paper") == DEFAULT
    assert (DEFAULT.tick, DEFAULT.speed, DEFAULT.window) == (1.25e-4, 0.304, (760.0, 800.0))
    assert (DEFAULT.beam, DEFAULT.laser.power) == (Beam(sigma=1e-4, absorptivity=1.0), (0.0, 20.0))


@pytest.mark.parametrize("entry", KEYS, ids=lambda entry: entry.key)
def test_every_key_changes_the_hash_and_is_the_one_difference(entry: Key) -> None:
    changed = DEFAULT.change(**{entry.key: other_value(entry)})
    assert entry.tell(get_value(changed, entry)) == pytest.approx(other_value(entry))
    assert changed.hash != DEFAULT.hash
    assert changed != DEFAULT
    assert changed.differences(DEFAULT) == [entry.key]
    assert DEFAULT.differences(DEFAULT) == []


@pytest.mark.parametrize("entry", KEYS, ids=lambda entry: entry.key)
def test_every_key_survives_json_there_and_back(entry: Key) -> None:
    changed = DEFAULT.change(**{entry.key: other_value(entry)})
    told = json.loads(json.dumps(changed.to_json(), allow_nan=False))
    back = Process.from_json(told)
    assert back.hash == changed.hash
    assert back == changed
    assert back.to_json() == told


def test_the_hash_is_pinned_since_files_of_others_bear_it() -> None:
    assert DEFAULT.hash == "8a38454823c72d9e"
    assert len(DEFAULT.change(tick_us=100).hash) == 16


def test_names_and_sources_do_not_count_but_the_alloy_does() -> None:
    steel = replace(find_material("304"), name="our steel", source="our laboratory")
    named = replace(DEFAULT, name="ours", material=steel)
    assert named == DEFAULT
    assert named.differences(DEFAULT) == []
    assert len({named, DEFAULT}) == 1
    alloy = DEFAULT.change(material="ti64")
    assert alloy != DEFAULT
    assert alloy.differences(DEFAULT) == ["material"]
    assert DEFAULT != "paper"


def test_the_order_of_keys_does_not_count() -> None:
    told = DEFAULT.change(sigma_um=80, tick_us=100).to_json()
    turned = dict(reversed(told.items()))
    turned["camera"] = dict(reversed(told["camera"].items()))
    assert Process.from_json(turned).hash == Process.from_json(told).hash


def test_zero_has_one_sign() -> None:
    assert DEFAULT.change(lag_us=-0.0).hash == DEFAULT.hash


ROWS = st.lists(st.floats(0.5, 2.0), min_size=3, max_size=8)


@settings(deadline=None, max_examples=60)
@given(ROWS, st.integers(0, 2**32 - 1))
def test_the_table_of_a_material_survives_json_whatever_its_numbers(steps: list[float], seed: int) -> None:
    rng = np.random.default_rng(seed)
    T = 300.0 + 100.0 * np.cumsum(steps)
    k, rho, cp = (rng.uniform(0.5, 2.0, len(T)) * scale for scale in (20.0, 8e3, 500.0))
    process = replace(DEFAULT, material=Material.from_table(T=T, k=k, rho=rho, cp=cp, name="a", source="b"))
    back = Process.from_json(json.loads(json.dumps(process.to_json())))
    assert back == process
    np.testing.assert_allclose(back.material.conductivity(T), k, rtol=1e-11)


def test_change_takes_the_names_and_units_of_the_file_with_or_without_their_section() -> None:
    changed = DEFAULT.change(
        sigma_um=80, **{"laser.lag_us": 50}, power_w=[1, 9], pixel_um=None, tick_us="1e2"
    )
    assert changed.beam == Beam(sigma=80e-6, absorptivity=1.0)
    assert changed.laser == Laser(power=(1.0, 9.0), lag=50e-6)
    assert changed.camera.pixel is None
    assert changed.tick == 1e-4
    assert DEFAULT.change() == DEFAULT
    assert changed.change(material=find_material("316")).material.name == "316"


@pytest.mark.parametrize(
    ("values", "sentence"),
    [
        (
            {"sigma_um": 1},
            "beam.sigma_um of the process must be a number from 5 to 10000 µm, but is 1; give 1000 if",
        ),
        ({"tick_us": float("nan")}, "tick_us .* from 0.01 to 1000000 µs, but is nan"),
        ({"tick_us": True}, "tick_us .* but is True"),
        ({"tick_us": 10**400}, "tick_us .* but is a int"),
        ({"window_k": (800, 760)}, r"window_k .* low before high, but is \[800, 760\]"),
        ({"window_k": 780}, r"window_k .* must be 2 numbers \[low, high\] .*, but is 780"),
        ({"plate_mm": [15, 10]}, r"plate_mm .* must be 3 numbers \[x, y, z\] .*, but is \[15, 10\]"),
        ({"delay_ticks": 1.5}, "camera.delay_ticks .* a whole number from 0 to 1000 ticks, but is 1.5"),
        (
            {"sigma": 1},
            "a process has the keys .*beam.sigma_um.*, but 'sigma' was given .did you mean sigma_um..;",
        ),
        ({"material": "cheese"}, "a material must be 304, .* got 'cheese'"),
    ],
)
def test_a_change_out_of_range_names_key_value_range_and_cure(
    values: dict[str, object], sentence: str
) -> None:
    with pytest.raises(BadInput, match=sentence):
        DEFAULT.change(**values)


def test_a_process_is_checked_however_it_is_built() -> None:
    with pytest.raises(BadInput, match=r"tick_us of a process must be a number from 0\.01"):
        Process(tick=0.0)
    with pytest.raises(BadInput, match=r"camera\.noise_k of a process"):
        Process(camera=CameraSettings(noise=1e4))
    with pytest.raises(BadInput, match="must be a Material"):
        Process(material="304")  # type: ignore[arg-type]


def test_a_lagging_laser_follows_its_command_by_an_exponential() -> None:
    tick, lag = 1e-4, 5e-5
    mean, end = Laser(lag=lag).follow(0.0, 10.0, tick)
    t = np.linspace(0.0, tick, 200_001)
    exact = 10.0 * (1.0 - np.exp(-t / lag))
    assert end == pytest.approx(exact[-1])
    assert mean == pytest.approx(np.trapezoid(exact, t) / tick)
    assert Laser().follow(3.0, 10.0, tick) == (10.0, 10.0)


@pytest.mark.parametrize("power", [(5.0, 5.0), (-1.0, 5.0), (0.0, float("inf")), (float("nan"), 1.0)])
def test_the_power_of_a_laser_rises_from_0_on(power: tuple[float, float]) -> None:
    with pytest.raises(BadInput, match="low before high"):
        Laser(power=power)
    with pytest.raises(BadInput, match="lag must be a finite time"):
        Laser(lag=power[0] - 9.0)
