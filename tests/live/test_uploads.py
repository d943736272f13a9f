"""Uploads: what a planned file is called."""

from laserloop.live.uploads import Uploads


def test_a_planned_file_is_called_after_its_path() -> None:
    uploads = Uploads()
    try:
        dropped = uploads.put("my part.gcode", b"G1")
        assert uploads.name_planned({"file": dropped}) == "my part-planned.gcode"
        assert uploads.name_planned("spiral") == "spiral-planned.csv"
        assert uploads.name_planned("raster:1") == "raster-1-planned.csv"
    finally:
        uploads.close()
