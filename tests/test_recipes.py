"""The recipes of CONTRIBUTING, followed: an addition is one file or class and at most one line elsewhere."""

import sys
from collections.abc import Iterator
from dataclasses import replace
from importlib.resources import files
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest
from numpy.typing import NDArray

from laserloop.bad_input import BadInput
from laserloop.control.controller import Action, Status
from laserloop.control.mpc import plan_with
from laserloop.loop.controllers import CONTROLLERS, Kind
from laserloop.loop.record import Run
from laserloop.loop.scenario import Scenario, prepare
from laserloop.paths import find_path
from laserloop.paths.files import FORMATS, Format, ScanFile
from laserloop.paths.path import Preview
from laserloop.paths.waypoints import WAYPOINTS
from laserloop.plant import Image, Plant, PlantSettings
from laserloop.plant.nested import NestedHeat
from laserloop.predict.predictor import AffineForecast
from laserloop.process import Process, find_material, find_process
from laserloop.process.heat_table import tabulate
from laserloop.process.material import shipped_materials
from laserloop.studies.arena import entrants
from laserloop.studies.arena.entrant import Entrant


@pytest.fixture
def looked_up_anew() -> Iterator[None]:
    """The names of what ships are listed once."""
    yield
    shipped_materials.cache_clear()


@pytest.mark.usefixtures("looked_up_anew")
def test_an_alloy_is_one_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    known = find_material("316")
    shipped_materials.cache_clear()
    (tmp_path / "alloys").mkdir()
    text = (files("laserloop.process") / "alloys" / "316.yaml").read_text(encoding="utf-8")
    (tmp_path / "alloys" / "mine.yaml").write_text(text, encoding="utf-8")
    monkeypatch.setattr("laserloop.process.material.files", lambda _: tmp_path)
    mine = find_material("mine")
    assert mine.melting is not None
    assert known.melting is not None
    assert mine.melting.solidus == known.melting.solidus


def test_a_file_format_is_one_module_and_a_line_in_formats(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Places by semicolons, in the order y, x."""
    head = "y;x\n"

    def read(file: ScanFile) -> object:
        rows = [line.split(";")[::-1] for line in file.content.decode().splitlines()[1:]]
        csv = "\n".join(["x_mm,y_mm", *map(",".join, rows)])
        return WAYPOINTS.read(ScanFile(f"{file.name}.csv", csv.encode()))

    module = ModuleType("laserloop.paths.mine")
    module.MINE = Format(  # type: ignore[attr-defined]
        recognises=lambda text: text.startswith(head),
        read=read,  # type: ignore[arg-type]
        rewrite=lambda file, _: file.content,
        is_polyline=True,
    )
    monkeypatch.setitem(sys.modules, module.__name__, module)
    monkeypatch.setitem(FORMATS, "mine.MINE", (".mine",))
    (tmp_path / "part.mine").write_text(head + "0;-1\n0;1\n")
    path = find_path(str(tmp_path / "part.mine"), Process())
    np.testing.assert_allclose(path.positions[[0, -1], 1], 0.0)
    assert path.positions[0, 0] == pytest.approx(-1e-3)


def close_loop(monkeypatch: pytest.MonkeyPatch, kind: Kind) -> Run:
    """What a controller called `mine` does on the paper's plant."""
    monkeypatch.setitem(CONTROLLERS, "mine", kind)
    return prepare(Scenario(path="diagonal", controller="mine", plant="paper", ticks=6)).run()


class Steady:
    """A controller of one's own."""

    name, horizon, memory = "mine", 1, 0

    def reset(self) -> None:
        """Nothing to forget."""

    def act(self, image: Image | None, preview: Preview) -> Action:
        """Always the same."""
        return Action(power=7.0, status=Status.SOLVED)


def test_a_controller_is_one_class_and_a_row_of_controllers(monkeypatch: pytest.MonkeyPatch) -> None:
    kind = Kind(label="mine", about="always the same power", plans=False, make=lambda _: Steady())
    run = close_loop(monkeypatch, kind)
    np.testing.assert_array_equal(run.power, 7.0)


class Line:
    """A predictor of one's own: T_max rises by a few kelvin a watt, whatever was before."""

    name, horizon, memory, affine = "mine", 3, 0, True

    def reset(self) -> None:
        """Nothing to forget."""

    def observe(self, image: Image | None, preview: Preview) -> AffineForecast:
        """The same at every tick."""
        ambient, slopes = np.full(3, 300.0), np.diag(np.full(3, 48.0))
        return AffineForecast(base=ambient, slopes=slopes, previous=10.0, committed=np.empty(0))


def test_a_predictor_is_one_class_and_a_row_of_controllers(monkeypatch: pytest.MonkeyPatch) -> None:
    kind = Kind(label="mine", about="plans by a line", make=lambda told: plan_with(Line(), told.problem))
    run = close_loop(monkeypatch, kind)
    expected = 300.0 + 48.0 * run.power
    low, high = run.process.window
    assert low <= expected.min() <= expected.max() <= high


class Plume(NestedHeat):
    """A term of one's own: a tenth of the light is lost in the plume above the plate."""

    def advance(self, power: float, spot: NDArray[np.float64], seconds: float) -> None:
        """With what comes through."""
        super().advance(0.9 * power, spot, seconds)


def test_a_term_of_the_plant_is_one_class_around_its_solver() -> None:
    process = replace(find_process("316"), tick=1e-4)
    settings = PlantSettings(name="graded", process=process)
    heat = Plume(process, tabulate(process.material, process.ambient))
    spot = np.array([[0.0, 0.0], [process.speed * process.tick, 0.0]])
    clear, dim = (Plant(settings, heat).step(10.0, spot).peak.temperature for heat in (None, heat))
    assert process.ambient < dim < clear


def test_an_entrant_is_a_function_and_a_row_of_entrants(monkeypatch: pytest.MonkeyPatch) -> None:
    row = Entrant(name="mine", about="always the same power", make=lambda _: Steady(), foresight="none")
    monkeypatch.setattr(entrants, "ENTRANTS", (*entrants.ENTRANTS, row))
    assert entrants.find_entrant("mine") is row
    with pytest.raises(BadInput, match="mine"):  # named among all
        entrants.find_entrant("another")
