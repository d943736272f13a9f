"""Materials: what their curves promise, and what becomes of bad tables."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.polynomial import Polynomial
from numpy.typing import NDArray

from laserloop.bad_input import BadInput
from laserloop.process.material import Material, find_material

Table = dict[str, list[float]]

PATIENT = settings(deadline=None, max_examples=40)  # the machine may be busy

TEMPERATURES = st.lists(st.integers(1, 40_000), min_size=2, max_size=12, unique=True).map(
    lambda tenths: [t / 10 for t in sorted(tenths)]
)
POSITIVE = st.floats(1e-3, 1e5)


@st.composite
def tables(draw: st.DrawFn) -> Table:
    T = draw(TEMPERATURES)
    column = st.lists(POSITIVE, min_size=len(T), max_size=len(T))
    return {"T": T, "k": draw(column), "rho": draw(column), "cp": draw(column)}


def build(table: Table) -> Material:
    return Material.from_table(
        T=table["T"], k=table["k"], rho=table["rho"], cp=table["cp"], name="mine", source="me"
    )


def between(low: float, high: float) -> NDArray[np.float64]:
    return np.linspace(low, high, 301)


@PATIENT
@given(tables())
def test_a_table_is_met_at_its_rows(table: Table) -> None:
    material = build(table)
    for curve, column in (
        (material.conductivity, table["k"]),
        (material.density, table["rho"]),
        (material.heat_capacity, table["cp"]),
    ):
        np.testing.assert_allclose(curve(table["T"]), column, rtol=0, atol=1e-14 * max(column))


@PATIENT
@given(tables())
def test_between_two_rows_a_property_stays_between_their_values_and_never_turns(table: Table) -> None:
    material = build(table)
    for i in range(len(table["T"]) - 1):
        k = material.conductivity(between(table["T"][i], table["T"][i + 1]))
        low, high = sorted(table["k"][i : i + 2])
        noise = 1e-12 * high
        assert k.min() >= low - noise
        assert k.max() <= high + noise
        steps = np.diff(k) * np.sign(table["k"][i + 1] - table["k"][i])
        assert steps.min() >= -noise


@PATIENT
@given(tables(), st.floats(0, 1e4))
def test_outside_its_range_a_material_is_held_at_the_limit(table: Table, excess: float) -> None:
    material = build(table)
    low, high = material.valid
    for curve in (material.conductivity, material.density, material.heat_capacity):
        assert curve(high + excess) == curve(high)
        assert curve(low - excess) == curve(low)


@PATIENT
@given(tables())
def test_the_knots_of_a_table_are_its_temperatures(table: Table) -> None:
    np.testing.assert_array_equal(build(table).knots(), table["T"])


def test_a_polynomial_has_no_knots_but_its_limits() -> None:
    np.testing.assert_array_equal(find_material("304").knots(), [300.0, 1670.0])


@PATIENT
@given(POSITIVE, POSITIVE, POSITIVE, st.floats(0.1, 1e5))
def test_constant_properties_do_not_depend_on_temperature(k: float, rho: float, cp: float, T: float) -> None:
    material = Material.constant(k=k, rho=rho, cp=cp)
    assert material.conductivity(T) == k
    assert material.density(T) == rho
    assert material.heat_capacity(T) == cp


def test_arrays_of_any_shape_keep_their_shape() -> None:
    T = np.full((2, 3, 4), 500.0)
    assert find_material("in625").conductivity(T).shape == T.shape
    assert find_material("304").density(500.0).shape == ()


def test_leaving_the_range_of_validity_is_said_in_a_sentence() -> None:
    assert find_material("304").outside(300.0, 1735.0) == (
        "temperatures of 1735 K lie 65 K above the solidus of material 304 (1670 K): "
        "latent heat counts, evaporation and flow of the melt are not modelled"
    )
    steel = replace(find_material("304"), melting=None)
    assert steel.outside(300.0, 1670.0) is None
    assert steel.outside(299.999, 1670.001) is None
    assert steel.outside(300.0, 1735.0) == (
        "temperatures of 1735 K lie 65 K above the range of material 304 (300–1670 K): "
        "its properties are held at the limit"
    )
    assert "temperatures of 77 K lie 223 K below" in str(steel.outside(77.0, 1700.0))


# ---- tables given by hand ----

GOOD: Table = {
    "T": [300.0, 600.0, 900.0],
    "k": [1.0, 2.0, 3.0],
    "rho": [3.0, 2.0, 1.0],
    "cp": [1.0, 1.0, 1.0],
}


@PATIENT
@given(tables(), st.data())
def test_a_table_whose_temperatures_fall_is_refused_with_the_row(table: Table, data: st.DataObject) -> None:
    row = data.draw(st.integers(1, len(table["T"]) - 1))
    table["T"][row] = table["T"][row - 1]
    with pytest.raises(BadInput, match=f"T must rise from row to row, got .* in row {row + 1} of the table"):
        build(table)


@PATIENT
@given(
    st.sampled_from(["T", "k", "rho", "cp"]), st.integers(0, 2), st.sampled_from([0.0, -1.0, np.nan, np.inf])
)
def test_a_cell_that_is_not_finite_and_positive_is_refused_with_column_and_row(
    column: str, row: int, value: float
) -> None:
    table = {name: list(values) for name, values in GOOD.items()}
    table[column][row] = value
    with pytest.raises(BadInput, match=rf"^{column} .*row {row + 1} of the table of material mine"):
        build(table)


def test_a_matrix_is_not_a_column() -> None:
    with pytest.raises(BadInput, match="k of the table of material mine must be a list of numbers"):
        Material.from_table(
            T=GOOD["T"], k=np.ones((3, 3)), rho=GOOD["rho"], cp=GOOD["cp"], name="mine", source="me"
        )


@pytest.mark.parametrize(
    ("T", "sentence"),
    [
        ([300.0, 300.0001, 900.0], "must change at finite rates"),
        ([300.0, 600.0, 900.0], r"must be positive \(1e-06 to 1e\+09\) in 300–900 K, got 2.997e\+305"),
        ([1e-320, 2e-320, 3e-320], "must change at finite rates"),
    ],
)
def test_values_that_overflow_between_rows_are_refused(T: list[float], sentence: str) -> None:
    with pytest.raises(BadInput, match=sentence):
        build(GOOD | {"T": T, "k": [1.0, 1e308, 2.0]})


@pytest.mark.parametrize("value", [0.0, -5.0, np.nan])
def test_constants_must_be_positive(value: float) -> None:
    with pytest.raises(BadInput, match=r"heat capacity|cp of material constant"):
        Material.constant(k=1.0, rho=1.0, cp=value)


@PATIENT
@given(st.floats(301, 1669))
def test_a_polynomial_that_dips_below_zero_inside_its_range_is_refused(root: float) -> None:
    dip = Polynomial([root**2 - 1.0, -2 * root, 1.0])  # (T − root)² − 1
    one = Polynomial([1.0])
    with pytest.raises(BadInput, match="the density of material dip must be positive"):
        Material(name="dip", source="me", valid=(300.0, 1670.0), k=one, rho=dip, cp=one)
