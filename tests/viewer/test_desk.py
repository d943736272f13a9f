"""The desk: what a planned file is called."""

from laserloop.viewer.desk import Desk


def test_a_planned_file_is_called_after_its_path() -> None:
    desk = Desk()
    try:
        dropped = desk.put("my part.gcode", b"G1")
        assert desk.name_planned({"file": dropped}) == "my part-planned.gcode"
        assert desk.name_planned("spiral") == "spiral-planned.csv"
        assert desk.name_planned("raster:1") == "raster-1-planned.csv"
    finally:
        desk.close()
