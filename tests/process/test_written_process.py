"""What is written about a process is read again as the same process."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from numpy.polynomial import Polynomial
from scipy.interpolate import PchipInterpolator

from laserloop.bad_input import BadInput
from laserloop.process import Material, Process, find_material, read_process, shipped_materials, write_process
from laserloop.process.keys import KEYS, Key
from laserloop.process.material import describe_material, name_shipped, parse_material, read_material


def own_alloy(name: str) -> Material:
    """A made-up alloy that may bear the name of a shipped one."""
    return Material.constant(k=15.0, rho=7900.0, cp=500.0, name=name)


def draw_number(entry: Key) -> st.SearchStrategy[float]:
    """Any number that an entry allows; of sizes that are hard to print as well as plain ones."""
    if entry.whole:
        return st.integers(int(entry.low), int(entry.high)).map(float)
    return st.floats(entry.low, entry.high).map(lambda value: float(f"{value:.12g}"))


def draw_value(entry: Key) -> st.SearchStrategy[object]:
    number = draw_number(entry)
    if not entry.names:
        return st.none() | number if entry.optional else number
    several = st.lists(number, min_size=len(entry.names), max_size=len(entry.names), unique=entry.rising)
    return several.map(sorted) if entry.rising else several


def draw_tables() -> st.SearchStrategy[Material]:
    """An alloy in a table of two to five rows, as measured to any number of digits."""
    value = st.floats(0.5, 2.0)
    row = st.tuples(value, value, value)

    def make(temperatures: list[int], rows: list[tuple[float, float, float]], name: str) -> Material:
        k, rho, cp = np.array(rows[: len(temperatures)]).T
        T = 0.1 * np.array(sorted(temperatures), dtype=np.float64)
        return Material.from_table(T=T, k=20 * k, rho=7e3 * rho, cp=500 * cp, name=name, source="drawn")

    return st.builds(
        make,
        st.lists(st.integers(2000, 20_000), min_size=2, max_size=5, unique=True),
        st.lists(row, min_size=5, max_size=5),
        st.sampled_from(["304", "ours", "a: b", "1e3", "null"]),
    )


MATERIALS = st.sampled_from(shipped_materials()).map(find_material) | draw_tables()
VALUES = st.fixed_dictionaries({entry.key: draw_value(entry) for entry in KEYS})


@settings(deadline=None, max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(values=VALUES, material=MATERIALS, name=st.text("abcäß 0:'\"#{}\\", min_size=1, max_size=20))
def test_every_process_is_read_again_as_it_was_written(
    values: dict[str, object], material: Material, name: str, tmp_path: Path
) -> None:
    name = " ".join(name.split()) or "x"
    process = replace(Process.from_json(values), material=material, name=name)
    for material_name in {None, name_shipped(material)}:
        file = tmp_path / "any.yaml"
        file.write_text(write_process(process, material=material_name), encoding="utf-8")
        back = read_process(file)
        assert (back, back.name) == (process, name)
        assert describe_material(back.material) == describe_material(material)
    told = json.loads(json.dumps(process.to_json(), allow_nan=False))
    assert Process.from_json(told) == process


def test_numbers_in_a_list_keep_their_digits() -> None:
    assert "window_k: [1403.125, 1443.375]" in write_process(Process().change(window_k=[1403.125, 1443.375]))


def test_an_own_alloy_under_a_shipped_name_is_written_whole() -> None:
    mine = own_alloy("304")
    assert name_shipped(mine) is None
    assert name_shipped(find_material("304")) == "304"
    again = yaml.safe_load(write_process(replace(Process(), material=mine)))["material"]
    assert describe_material(parse_material(again, "it")) == describe_material(mine)


def test_what_would_be_read_as_another_process_is_not_written(tmp_path: Path) -> None:
    (tmp_path / "own.csv").write_text("T,k,rho,cp\n300,12,8000,490\n900,21,7700,590\n")
    alloy = read_material(tmp_path / "own.csv")
    process = replace(Process(), material=alloy)
    assert "own.csv" in write_process(process, material="own.csv", folder=tmp_path)
    with pytest.raises(BadInput, match="must say what it was given, but that of paper would not; write the"):
        write_process(replace(process, material=own_alloy("own")), material="own.csv", folder=tmp_path)


def test_a_fitted_polynomial_is_written_in_kelvin() -> None:
    T = np.linspace(300.0, 1400.0, 30)
    fits: dict[str, Any] = {
        label: Polynomial.fit(T, values, 1)
        for label, values in {"k": 10 + 0.01 * T, "rho": 8000 - 0.3 * T, "cp": 450 + 0.1 * T}.items()
    }
    alloy = Material(name="fit", source="fit", valid=(300.0, 1400.0), **fits)
    back = parse_material(describe_material(alloy), "it")
    np.testing.assert_allclose(back.conductivity(T), 10 + 0.01 * T, rtol=1e-12)
    np.testing.assert_allclose(back.density(T), 8000 - 0.3 * T, rtol=1e-12)


def test_curves_that_no_file_can_say_are_no_material() -> None:
    k, other = (PchipInterpolator(T, [10.0, 20.0]) for T in ([300.0, 900.0], [300.0, 800.0]))
    rho = Polynomial([8000.0])
    mixed: list[dict[str, Any]] = [{"k": k, "rho": rho, "cp": rho}, {"k": k, "rho": other, "cp": k}]
    for curves in mixed:
        with pytest.raises(BadInput, match="three polynomials, or three tables at the same temperatures"):
            Material(name="mixed", source="", valid=(300.0, 800.0), **curves)


def test_a_process_needs_a_name_that_its_file_can_bear() -> None:
    assert Process(name=" two  words ").name == "two words"
    with pytest.raises(BadInput, match="the name of a process must be 1 to 100 printable characters"):
        Process(name="")
