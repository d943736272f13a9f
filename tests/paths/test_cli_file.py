from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from laserloop.bad_input import BadInput
from laserloop.paths import ScanFile, Track

HEADER = "$$HEADERSTART\n$$ASCII\n$$UNITS/1\n$$HEADEREND\n$$GEOMETRYSTART\n"
BODY = "$$LAYER/0.04\n$$POLYLINE/1,2,3,0,0,1,0,1,2\n$$GEOMETRYEND\n"


def load(file: Path, layer: int | None = None) -> Track:
    """One layer of a file."""
    return ScanFile.open(str(file)).read_layer(layer)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "part.cli"


def read(file: Path) -> Track:
    """The track, if its lit part lies on the plate."""
    track = load(file)
    track.check(file, (15e-3, 10e-3))
    return track


def test_units_scale_coordinates(file: Path) -> None:
    file.write_text(HEADER.replace("/1", "/0.001") + "$$LAYER/40\n$$POLYLINE/1,0,2,0,0,1500,-2000\n")
    np.testing.assert_allclose(load(file).points, [[0.0, 0.0], [1.5e-3, -2e-3]], rtol=1e-12)


@pytest.mark.parametrize(
    "text",
    [
        HEADER + BODY,
        "\ufeff" + (HEADER + BODY).replace("\n", "\r\n"),
        (HEADER + BODY).lower(),
        "// part 3 //\n" + HEADER.replace("$$ASCII", "$$ASCII // readable //  ") + "\n\n" + BODY,
        HEADER + "$$LAYER/0.04 // z\n$$POLYLINE/1,2,3,\n0,0, // start //\n1,0,\n1,2\n$$GEOMETRYEND",
        HEADER.replace("\n", " ") + BODY.replace("$$GEOMETRYEND\n", ""),
        HEADER + BODY + "$$LAYER/9\n$$POLYLINE/not,read\n",
        HEADER + BODY.replace("$$POLYLINE", "$$POWER/0\n$$POLYLINE/1,2,2,9,9,8,9\n$$POWER/200\n$$POLYLINE"),
    ],
    ids=["plain", "bom-crlf", "lower", "comments", "many-lines", "one-line", "after-the-end", "power"],
)
def test_harmless_variations_are_read_alike(file: Path, text: str) -> None:
    file.write_text(text, encoding="utf-8")
    track = read(file)
    np.testing.assert_allclose(track.points, [[0.0, 0.0], [1e-3, 0.0], [1e-3, 2e-3]], atol=1e-15)
    assert track.lit.all()
    assert track.notes == ()
    assert np.isnan(track.speeds).all()


def test_hatches_are_joined_in_their_order(file: Path) -> None:
    file.write_text(HEADER + "$$LAYER/1\n$$HATCHES/1,2,0,0,1,0,1,0.2,0,0.2\n")
    track = load(file)
    np.testing.assert_allclose(
        1e3 * track.points, [[0.0, 0.0], [1.0, 0.0], [1.0, 0.2], [0.0, 0.2]], atol=1e-12
    )
    assert track.lit.tolist() == [True, False, True]


def test_power_in_the_file_is_of_what_follows_it_and_0_is_dark(file: Path) -> None:
    file.write_text(
        HEADER + "$$LAYER/1\n$$SPEED/400\n$$POWER/14\n$$HATCHES/1,1,0,0,1,0\n"
        "$$POWER/0\n$$POLYLINE/1,2,2,1,0,1,3\n$$POWER/12\n$$HATCHES/1,1,1,1,0,1\n"
    )
    track = load(file)
    lit = track.lit & (track.lengths > 0)
    np.testing.assert_array_equal(track.powers[lit], [14, 12])
    assert 1e3 * track.lengths[~track.lit].sum() == pytest.approx(3 + 2)  # where the file says, then straight
    np.testing.assert_array_equal(track.speeds[~track.lit & (track.lengths > 0)], [0.4, np.nan])


def test_a_layer_is_chosen_by_its_number(file: Path) -> None:
    file.write_text(HEADER + "$$LAYER/1\n$$HATCHES/1,1,0,0,1,0\n$$LAYER/2\n$$HATCHES/1,1,0,0,0,1\n")
    np.testing.assert_allclose(1e3 * load(file, 2).points, [[0, 0], [0, 1]])
    with pytest.raises(BadInput, match="the layer must be 1 to 2"):
        load(file, 3)


def test_speeds_in_the_file_are_millimetres_a_second(file: Path) -> None:
    file.write_text(
        HEADER + "$$LAYER/1\n$$SPEED/800\n$$POLYLINE/1,2,3,0,0,1,0,1,1\n$$SPEED/400\n$$HATCHES/1,1,1,1,0,1"
    )
    np.testing.assert_allclose(load(file).speeds, [0.8, 0.8, 0.4, 0.4])  # they meet: there is no jump


def test_the_first_layer_with_geometry_is_taken_and_all_are_counted(file: Path) -> None:
    layers = "$$LAYER/0\n$$LAYER/0.04\n$$HATCHES/1,1,0,0,1,0\n$$LAYER/0.08\n$$HATCHES/1,1,0,0,0,1\n"
    file.write_text(HEADER.replace("$$HEADEREND", "$$LAYERS/9\n$$WIDGET/3\n$$HEADEREND") + layers)
    track = load(file)
    np.testing.assert_allclose(1e3 * track.points, [[0, 0], [1, 0]])
    assert track.notes == (
        f"{file} has 2 layers with lit moves; the first, z = 0.04 mm, is used",
        f"{file}, line 5 and after: $$WIDGET passed over",
        f"{file} announces 9 layers, but has 3",
    )


@pytest.mark.parametrize(
    ("text", "match"),
    [
        ("", ": a layer file must begin with .*HEADERSTART, but is empty"),
        ("x_mm,y_mm\n0,0\n", ", line 1: a layer file must begin with .*HEADERSTART, but is 'x_mm,y_mm'"),
        ("\n$$LAYER/1\n", ", line 2: a layer file must begin with"),
        (
            HEADER.replace("ASCII", "BINARY") + BODY,
            r": a layer file must be ASCII, .* \$\$BINARY; export it as",
        ),
        (HEADER.replace("$$UNITS/1\n", "") + BODY, ", line 5: a layer file must give its unit first"),
        (HEADER.replace("UNITS/1", "UNITS/0") + BODY, r", line 3: \$\$UNITS must be positive, but is 0"),
        (HEADER.replace("UNITS/1", "UNITS/") + BODY, r", line 3: \$\$UNITS must have one value, but has 0"),
        (
            HEADER.replace("UNITS/1", "UNITS/mm") + BODY,
            r"line 3: a value of \$\$UNITS must be a number, but is 'mm'",
        ),
        (HEADER + "$$POLYLINE/1,2,2,0,0,1,1\n", r", line 6: \$\$POLYLINE needs a layer"),
        (
            HEADER + "$$LAYER/1\n$$POLYLINE/1,2,3,0,0,1,1\n",
            "line 7: .* announces 3 points, 6 numbers, but has 4",
        ),
        (HEADER + "$$LAYER/1\n$$POLYLINE/1,2,2,0,5,0,5,1,5,1,5\n", "line 7: .* write decimals with a point"),
        (HEADER + "$$LAYER/1\n$$POLYLINE/1\n", "line 7: .* must begin with 3 whole numbers, but has 1"),
        (HEADER + "$$LAYER/1\n$$HATCHES/1,1e18,0,0\n", "line 7: .*HATCHES announces 1e\\+18 hatches"),
        (HEADER + "$$LAYER/1\n$$HATCHES/1,-1,0,0,1,1\n", "line 7: .*HATCHES announces -1 hatches"),
        (
            HEADER + "$$LAYER/1\n$$POLYLINE/1,2,2,0,0,\n1,nan\n",
            r"line 8: a value of \$\$POLYLINE must be finite",
        ),
        (HEADER + "$$LAYER/1\n$$POLYLINE/1,2,2,0,0,1e400,0\n", "line 7: .* must be finite"),
        (HEADER + "$$LAYER/1\n$$POLYLINE/1,2,2,0,0,1e308,0\n", "line 7: every point must lie"),
        (HEADER + "$$LAYER/1\n$$POLYLINE/1,2,2,0,0,8,0\n", r"line 7: every point must lie .* \(8, 0\) mm"),
        (HEADER + "$$LAYER/1\n$$SPEED/-3\n" + BODY, r"line 7: \$\$SPEED must be positive, but is -3"),
        (HEADER + "$$LAYER/1\n$$POWER/-3\n" + BODY, r"line 7: \$\$POWER must not be negative, but is -3"),
        (HEADER, ": a path needs moves with the laser on"),
        (HEADER + "$$LAYER/1\n$$POLYLINE/1,2,1,0,0\n", ": a path needs moves with the laser on"),
        (HEADER + "$$LAYER/1\n\0", ", line 7: a path file must be text"),
    ],
)
def test_a_defect_is_named_with_its_file(file: Path, text: str, match: str) -> None:
    file.write_text(text)
    with pytest.raises(BadInput, match=match) as caught:
        read(file)
    assert str(caught.value).startswith(str(file))
    assert "\n" not in str(caught.value)


COMMANDS = st.text(alphabet="$/,0123456789.-e \n", max_size=60)


@settings(deadline=None, max_examples=100)
@given(
    st.sampled_from(["", "$$POLYLINE/1,2,", "$$HATCHES/1,", "$$LAYER/"]),
    st.one_of(st.binary(max_size=40), COMMANDS.map(str.encode)),
)
def test_no_content_causes_anything_but_a_track_or_a_sentence(
    tmp_path_factory: pytest.TempPathFactory, start: str, content: bytes
) -> None:
    file = tmp_path_factory.getbasetemp() / "any.cli"
    file.write_bytes((HEADER + BODY.replace("$$GEOMETRYEND\n", "") + start).encode() + content)
    try:
        track = read(file)
    except BadInput as refused:
        sentence = str(refused)
    else:
        assert (np.abs(track.points) <= [7.5e-3 + 1e-9, 5e-3 + 1e-9]).all()
        return
    assert sentence.startswith(str(file))
    assert "\n" not in sentence
