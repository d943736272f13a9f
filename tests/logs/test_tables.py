"""Runs as data: tables that read back, and a field that other programs open."""

from pathlib import Path

import meshio
import numpy as np
import pyarrow.parquet
import pytest

from laserloop.bad_input import BadInput
from laserloop.cli import main
from laserloop.logs import read_log
from laserloop.logs.export import check_field, check_table, render_field, render_table
from laserloop.paths import find_path
from laserloop.plant import make_plant

RECORD = {
    "path": "diagonal",
    "plant": "graded",
    "process": {"name": "paper"},
    "series": {
        "t_s": [1e-4, 2e-4, 3e-4],
        "x_mm": [0.1, 0.2, 0.3],
        "y_mm": [0.0, 0.0, 0.1],
        "lit": [True, True, False],
        "power_w": [10.0, 11.0, 0.0],
        "t_measured_k": [None, 700.25, 710.5],
        "t_true_k": [690.0, 701.0, 705.0],
    },
}


def test_a_table_reads_back_as_the_log_it_is_of(tmp_path: Path) -> None:
    file = tmp_path / "run.csv"
    file.write_bytes(render_table(RECORD, ".csv"))
    assert (
        file.read_text().splitlines()[0] == "tick,t_s,x_mm,y_mm,lit,power_w,t_measured_k,t_true_k,path,plant"
    )
    recording = read_log(file)
    assert recording.power.tolist() == [10, 11, 0]
    assert recording.readings.peak.tolist() == [700.25, 710.5]
    assert recording.notes == ()


def test_parquet_has_the_same_columns_and_the_process_in_its_notes(tmp_path: Path) -> None:
    file = tmp_path / "run.parquet"
    file.write_bytes(render_table(RECORD, ".parquet"))
    table = pyarrow.parquet.read_table(file)
    assert table.column("t_measured_k").to_pylist() == [None, 700.25, 710.5]
    assert table.column("lit").to_pylist() == [True, True, False]
    assert b"paper" in table.schema.metadata[b"process"]


def test_a_field_is_opened_by_meshio_with_its_temperatures_in_place(tmp_path: Path) -> None:
    path = find_path("diagonal", ticks=4)
    plant = make_plant("graded")
    for k in range(4):
        surface = plant.step(12.0, path.spot(k))
    file = tmp_path / "plate.vtk"
    file.write_bytes(render_field(plant))
    mesh = meshio.read(file)
    temperature = mesh.point_data["temperature_k"].ravel()
    hottest = mesh.points[int(np.argmax(temperature))]
    assert temperature.max() == pytest.approx(surface.node.temperature, rel=1e-6)
    assert hottest == pytest.approx([1e3 * surface.node.x, 1e3 * surface.node.y, 0.0], abs=1e-6)
    assert mesh.points.min(axis=0) == pytest.approx([-7.5, -5.0, -2.0])
    cold = temperature[mesh.points[:, 2] < -1.99]
    assert cold == pytest.approx(300.0)


def test_the_verbs_write_tables_and_fields(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    table, field = tmp_path / "a.csv", tmp_path / "a.vtk"
    assert main(["simulate", "diagonal", "--ticks", "5", "--table", str(table), "--field", str(field)]) == 0
    assert len(table.read_text().splitlines()) == 6
    assert "t_peak_k" in read_log(table).notes[0]
    assert meshio.read(field).point_data
    run = tmp_path / "b.parquet"
    assert main(["control", "diagonal", "--ticks", "5", "--table", str(run)]) == 0
    assert pyarrow.parquet.read_table(run).num_rows == 5
    capsys.readouterr()
    assert main(["control", "diagonal", "--table", "run.xlsx"]) == 2
    assert "must end in .csv or .parquet" in capsys.readouterr().err


def test_other_endings_are_sentences() -> None:
    with pytest.raises(BadInput, match=r"\.csv or \.parquet"):
        check_table(Path("run.xlsx"))
    with pytest.raises(BadInput, match=r"\.vtk"):
        check_field(Path("run.vtu"))
