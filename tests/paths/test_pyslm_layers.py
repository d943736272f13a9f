"""Layers as PySLM has them, and shapes that it hatches."""

import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from laserloop.bad_input import BadInput
from laserloop.paths.files import ScanFile
from laserloop.paths.layer_file import read_layer_file
from laserloop.paths.pyslm_layers import follow_layers, lay_layers_of_pyslm, tell_layers
from laserloop.paths.stl_file import Hatching, hatch_stl


class HatchGeometry(SimpleNamespace):
    pass


class ContourGeometry(SimpleNamespace):
    pass


class PointsGeometry(SimpleNamespace):
    pass


LINES = np.array([[-1.0, 0.0], [1.0, 0.0], [1.0, 0.1], [-1.0, 0.1]])
SQUARE = np.array([[-1.0, -1.0], [1.0, -1.0], [1.0, 1.0], [-1.0, -1.0]])


def make_layer(*geometry: Any, z: int = 40) -> Any:
    return SimpleNamespace(z=z, geometry=list(geometry))


def make_model(**style: float) -> Any:
    given = {
        "laserPower": 0.0,
        "laserSpeed": 0.0,
        "pointDistance": 0,
        "pointExposureTime": 0,
        "pointDelay": 0,
    }
    return SimpleNamespace(mid=1, buildStyles=[SimpleNamespace(bid=2, **(given | style))])


def hatches(coords: Any = LINES, **given: int) -> Any:
    return HatchGeometry(coords=coords, **({"mid": 1, "bid": 2} | given))


def test_hatches_are_a_move_each_and_a_contour_is_one() -> None:
    contour = ContourGeometry(coords=SQUARE, mid=1, bid=2)
    moves = list(follow_layers([make_layer(hatches(), contour), make_layer(hatches(), z=80)]))
    assert [len(move.points) for move in moves] == [2, 2, 4, 2, 2]
    assert moves[1].points == pytest.approx([1e-3 + 1e-4j, -1e-3 + 1e-4j])
    assert [move.level for move in moves] == pytest.approx([4e-5] * 3 + [8e-5] * 2)
    assert np.isnan([move.power for move in moves]).all()


def test_build_styles_say_power_and_speed() -> None:
    (move, _) = follow_layers([make_layer(hatches())], [make_model(laserPower=15.0, laserSpeed=304.0)])
    assert (move.power, move.speed) == pytest.approx((15.0, 0.304))
    pulsed = make_model(laserPower=15.0, pointDistance=60, pointExposureTime=80, pointDelay=20)
    (move, _) = follow_layers([make_layer(hatches())], [pulsed])
    assert move.speed == pytest.approx(0.6)


def test_points_rest_for_their_exposure() -> None:
    points = PointsGeometry(coords=LINES, mid=1, bid=2)
    model = make_model(laserPower=9.0, pointExposureTime=100)
    moves = list(follow_layers([make_layer(points)], [model]))
    assert [move.rest for move in moves] == pytest.approx([1e-4] * 4)
    with pytest.raises(BadInput, match="points need an exposure time"):
        list(follow_layers([make_layer(points)]))
    with pytest.raises(BadInput, match="a layer file has lines only"):
        tell_layers([make_layer(points)], [model])


@pytest.mark.parametrize(
    ("layer", "models", "match"),
    [
        (make_layer(hatches(LINES[:3])), [], "geometry 1: hatches must be pairs of points, but there are 3"),
        (
            make_layer(hatches(), SimpleNamespace(coords=LINES)),
            [],
            "geometry 2: a geometry must be hatches, a",
        ),
        (make_layer(hatches(LINES * np.nan)), [], "geometry 1: coords must be finite pairs"),
        (make_layer(hatches(bid=7)), [make_model()], "geometry 1: its build style .* model 1 has no 7"),
    ],
)
def test_a_defect_is_named_with_its_geometry(layer: Any, models: list[Any], match: str) -> None:
    with pytest.raises(BadInput, match=match):
        list(follow_layers([layer], models))


def test_the_layer_file_has_the_same_moves(tmp_path: Path) -> None:
    contour = ContourGeometry(coords=SQUARE, mid=1, bid=2)
    layers = [make_layer(hatches(), contour), make_layer(contour, hatches(), z=80)]
    models = [make_model(laserPower=15.0, laserSpeed=304.0)]
    (tmp_path / "a.cli").write_text(tell_layers(layers, models))
    found, expected = (
        list(read_layer_file(ScanFile.open(str(tmp_path / "a.cli")))),
        list(follow_layers(layers, models)),
    )
    assert len(found) == len(expected) == 6
    for a, b in zip(found, expected, strict=True):
        assert a.points == pytest.approx(b.points, abs=1e-9)
        assert (a.level, a.speed, a.power) == pytest.approx((b.level, b.speed, b.power))
    assert lay_layers_of_pyslm(layers, models, layer=2).level == pytest.approx(8e-5)


def write_cube(file: Path, side: float = 1.0, height: float = 0.1) -> None:
    """Twelve triangles as ASCII STL, mm."""
    corners = np.array([[x, y, z] for x in (0, side) for y in (0, side) for z in (0, height)])
    faces = [(0, 2, 4), (4, 2, 6), (1, 5, 3), (5, 7, 3), (0, 4, 1), (4, 5, 1)]
    faces += [(2, 3, 6), (6, 3, 7), (0, 1, 2), (2, 1, 3), (4, 6, 5), (6, 7, 5)]
    lines = ["solid cube"]
    for face in faces:
        lines += ["facet normal 0 0 0", "outer loop"]
        lines += [f"vertex {x:g} {y:g} {z:g}" for x, y, z in corners[list(face)]]
        lines += ["endloop", "endfacet"]
    file.write_text("\n".join([*lines, "endsolid cube", ""]))


def test_a_shape_is_hatched_layer_by_layer(tmp_path: Path) -> None:
    pytest.importorskip("pyslm")
    write_cube(tmp_path / "cube.stl")
    (tmp_path / "cube.cli").write_text(hatch_stl(tmp_path / "cube.stl", Hatching(layer=50e-6, turn=90.0)))
    moves = list(read_layer_file(ScanFile.open(str(tmp_path / "cube.cli"))))
    assert sorted({round(1e6 * move.level) for move in moves}) == [50, 100]
    lines = [move for move in moves if len(move.points) == 2]
    first, second = ([m for m in lines if round(1e6 * m.level) == level] for level in (50, 100))
    along = [{abs((m.points[1] - m.points[0]).real) < 1e-9 for m in layer} for layer in (first, second)]
    assert along in ([{True}, {False}], [{False}, {True}])
    gaps = np.diff(sorted({round(1e6 * m.points[0].imag) for m in (second if True in along[0] else first)}))
    assert gaps == pytest.approx(100, abs=1)
    inside = [abs(point - (0.5e-3 + 0.5e-3j)) for move in moves for point in move.points]
    assert max(inside) < 0.72e-3


@pytest.mark.parametrize(
    ("content", "match"),
    [
        (b"solid x\n", "a shape must be an STL file with triangles, but is not"),
        (b"\0" * 90, "a shape must be an STL file with triangles, but is not"),
    ],
)
def test_what_is_no_shape_is_named(content: bytes, match: str, tmp_path: Path) -> None:
    pytest.importorskip("pyslm")
    (tmp_path / "a.stl").write_bytes(content)
    with pytest.raises(BadInput, match=match):
        hatch_stl(tmp_path / "a.stl")


def test_a_part_in_another_unit_is_asked_about(tmp_path: Path) -> None:
    pytest.importorskip("pyslm")
    write_cube(tmp_path / "cube.stl", side=2e4, height=1e4)
    with pytest.raises(BadInput, match="check that it is in mm"):
        hatch_stl(tmp_path / "cube.stl")


def test_without_pyslm_its_install_line_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pyslm", None)
    write_cube(tmp_path / "cube.stl")
    with pytest.raises(BadInput, match=r"pip install 'laserloop\[parts\]'"):
        hatch_stl(tmp_path / "cube.stl")
