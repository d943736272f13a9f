"""Frames in folders and in HDF5: pictures of a plate, with places, in kelvin."""

from pathlib import Path

import h5py
import numpy as np
import pytest
from numpy.typing import NDArray
from PIL import Image as Picture

from laserloop.bad_input import BadInput
from laserloop.logs import Recording, count_faults, read_log
from laserloop.loop.replay import _show_readings, replay
from laserloop.loop.scenario import Scenario
from laserloop.process import Process

HEADER = "build_time_us,cmd_laser_pos_x_mm,cmd_laser_pos_y_mm,cmd_laser_power_W,frame_file,pixel_um"
PIXEL_UM, SIZE, ROWS = 25.0, 16, 40


def paint(peak: float, off: tuple[float, float] = (0.0, 0.0)) -> NDArray[np.float64]:
    """A warm spot, its first row at the largest y."""
    line = PIXEL_UM * (np.arange(SIZE) - 0.5 * (SIZE - 1))
    r2 = (line[np.newaxis] - off[0]) ** 2 + (-line[:, np.newaxis] - off[1]) ** 2
    return 300.0 + (peak - 300.0) * np.exp(-r2 / (2 * 120.0**2))


def save(file: Path, kelvin: NDArray[np.float64]) -> None:
    match file.suffix:
        case ".npy":
            np.save(file, kelvin)
        case ".tif":
            Picture.fromarray(kelvin.astype(np.float32)).save(file)
        case _:
            Picture.fromarray(np.clip((kelvin - 280.0) / 4.0, 0, 255).astype(np.uint8)).save(file)


def make_folder(folder: Path, ending: str = ".npy", rows: int = ROWS) -> Path:
    scaled = ending == ".bmp"
    lines = [HEADER + (",kelvin_per_count,kelvin_at_zero" if scaled else "")]
    for i in range(rows):
        name = f"{i:04}{ending}"
        save(folder / name, paint(780.0 + 5.0 * np.sin(i), off=(-60.0, 10.0)))
        lines.append(
            f"{125 * i},{0.038 * i - 0.7:.3f},0.2,10,{name},{PIXEL_UM}" + (",4,280" if scaled else "")
        )
    (folder / "poses.csv").write_text("\n".join(lines), encoding="utf-8")
    return folder


@pytest.mark.parametrize("ending", [".npy", ".tif", ".bmp"])
def test_a_folder_of_frames_is_a_recording_with_pictures(tmp_path: Path, ending: str) -> None:
    recording = read_log(make_folder(tmp_path, ending))
    expected = 780.0 + 5.0 * np.sin(np.arange(ROWS))
    assert recording.readings.peak == pytest.approx(expected, abs=5.0 if ending == ".bmp" else 0.2)
    assert recording.readings.frame is not None
    frame = recording.readings.frame(3)
    row, column = np.unravel_index(int(np.argmax(frame.temperature)), frame.temperature.shape)
    beam = recording.positions[3]
    assert frame.x[column] - beam[0] == pytest.approx(-60e-6, abs=13e-6)
    assert frame.y[row] - beam[1] == pytest.approx(10e-6, abs=13e-6)
    assert (np.diff(frame.y) > 0).all()


@pytest.mark.parametrize("full", [4095, 16383, 65520])
def test_a_sensor_of_fewer_bits_than_its_file_saturates_too(tmp_path: Path, full: int) -> None:
    lines = [f"{HEADER},kelvin_per_count,kelvin_at_zero"]
    for i in range(10):
        counts = np.minimum(full * (paint(700.0 + 30.0 * i) - 280.0) / 600.0, full).astype(np.uint16)
        np.save(tmp_path / f"{i}.npy", counts)
        lines.append(f"{125 * i},{0.038 * i:.3f},0.2,10,{i}.npy,{PIXEL_UM},{600 / full},280")
    (tmp_path / "poses.csv").write_text("\n".join(lines), encoding="utf-8")
    assert read_log(tmp_path).readings.saturated.tolist() == [i > 6 for i in range(10)]


def test_a_frame_that_comes_late_is_shown_where_the_beam_was_when_it_was_taken(tmp_path: Path) -> None:
    recording = read_log(make_folder(tmp_path))
    process, path = Process().change(delay_ticks=8), recording.path(1.25e-4)
    shown = list(_show_readings(recording, count_faults(recording.readings), path, process))
    for k in (20, 30):
        image = shown[k][0]
        assert image is not None
        assert image.peak.x == pytest.approx(path.positions[k - 8, 0] - 60e-6, abs=2e-6)


def test_places_of_a_camera_that_looks_along_the_beam_count_from_it(tmp_path: Path) -> None:
    recording = read_log(make_folder(tmp_path)).moved(np.array([1e-3, 0.0]))
    assert recording.readings.place is not None
    assert recording.readings.coaxial is not None
    assert recording.readings.coaxial.all()
    assert recording.readings.place == pytest.approx(np.tile([-60e-6, 10e-6], (ROWS, 1)), abs=1e-6)


def test_places_in_frames_that_lie_somewhere_count_from_the_plate(tmp_path: Path) -> None:
    file = make_folder(tmp_path) / "poses.csv"
    header, *lines = file.read_text().split("\n")
    where = [",0.1,0.2" if i else ",," for i in range(ROWS)]
    rows = "\n".join(line + cell for line, cell in zip(lines, where, strict=True))
    file.write_text(f"{header},frame_x_mm,frame_y_mm\n{rows}")
    recording = read_log(tmp_path).moved(np.array([1e-3, 0.0]))
    assert recording.readings.place is not None
    assert recording.readings.coaxial is not None
    assert recording.readings.coaxial[:, 0].tolist() == [True] + [False] * (ROWS - 1)
    assert recording.readings.place[0] == pytest.approx([-60e-6, 10e-6], abs=1e-6)
    assert recording.readings.place[1] == pytest.approx([1.04e-3, 0.21e-3], abs=1e-6)


def test_pictures_can_be_shown_to_a_controller_and_moved_with_the_beam(tmp_path: Path) -> None:
    recording = read_log(make_folder(tmp_path)).centred()
    assert recording.readings.frame is not None
    assert recording.readings.frame(3).y.mean() == pytest.approx(0.0, abs=1e-9)
    case = Scenario(path="", controller="twin", plant="graded", process=Process(), ticks=None)
    found = replay(case, recording)
    assert found["ticks"] == ROWS - 1
    assert found["frames"]["readings"] == ROWS
    assert 0.0 <= found["commanded_min_w"] <= found["commanded_max_w"] <= 20.0


def test_frames_that_are_missing_saturated_or_nan_are_counted(tmp_path: Path) -> None:
    folder = make_folder(tmp_path, ".bmp")
    text = (folder / "poses.csv").read_text().replace("0005.bmp", "")
    (folder / "poses.csv").write_text(text)
    save(folder / "0007.bmp", np.full((SIZE, SIZE), 9e9))
    tally = count_faults(read_log(folder).readings)
    assert (tally.lost, tally.saturated) == (1, 1)
    other = make_folder(tmp_path, ".npy")
    np.save(other / "0009.npy", np.full((SIZE, SIZE), np.nan))
    assert count_faults(read_log(other).readings).nan == 1


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        (("0004.npy", "none.npy"), "line 6: the frame 'none.npy' is not there"),
        (("0004.npy", "../0004.npy"), "line 6: a frame must lie in the folder"),
        (("0004.npy", "0004.exe"), "line 6: a frame must end in"),
        (("frame_file", "file"), "line 1.*frame_file"),
        ((",25.0", ",0"), "line 2: pixel_um"),
    ],
)
def test_poses_that_lead_nowhere_say_in_which_line(
    tmp_path: Path, change: tuple[str, str], complaint: str
) -> None:
    folder = make_folder(tmp_path, rows=6)
    text = (folder / "poses.csv").read_text().replace(*change)
    (folder / "poses.csv").write_text(text)
    with pytest.raises(BadInput, match=complaint):
        read_log(folder)


def test_hostile_frames_are_sentences(tmp_path: Path) -> None:
    folder = make_folder(tmp_path, rows=6)
    hostile = [
        b"",
        b"\x93NUMPY",
        b"\x93NUMPY\x01\x00v\x00{'descr': '<f8', 'fortran_order': False, 'shape': (99999999999,)}",
    ]
    for content in hostile:
        (folder / "0002.npy").write_bytes(content)
        with pytest.raises(BadInput, match=r"line 4.*0002\.npy"):
            read_log(folder)
    np.save(folder / "0002.npy", np.array([{"a": 1}] * 9, dtype=object).reshape(3, 3), allow_pickle=True)
    with pytest.raises(BadInput, match="cannot be read"):
        read_log(folder)
    np.save(folder / "0002.npy", np.zeros((3, 3), np.uint16))
    with pytest.raises(BadInput, match="kelvin_per_count"):
        read_log(folder)


def make_store(file: Path, **attributes: object) -> Path:
    with h5py.File(file, "w") as store:
        layer = store.create_group("part/layer_1")
        frames = np.stack([paint(780.0 + i) for i in range(30)])
        layer["frame"] = np.round((frames - 280.0) * 10.0).astype(np.uint16)
        layer["scan_line_index"] = [0, 10, 20]
        layer["laser_params"] = [[10.0, 300.0], [12.0, 300.0], [11.0, 200.0]]
        settings = {
            "frame_rate_hz": 8000.0,
            "pixel_um": 25.0,
            "kelvin_per_count": 0.1,
            "kelvin_at_zero": 280.0,
        }
        for name, value in (settings | attributes).items():
            if value is not None:
                layer.attrs[name] = value
    return file


def read_store(file: Path, **attributes: object) -> Recording:
    return read_log(make_store(file, **attributes))


def test_a_layer_in_hdf5_is_a_recording_of_straight_lines(tmp_path: Path) -> None:
    recording = read_store(tmp_path / "a.h5", hatch_mm=0.2)
    assert recording.times[1] == pytest.approx(1.25e-4)
    assert recording.power[[0, 9, 10, 20]].tolist() == [10, 10, 12, 11]
    steps = np.diff(recording.positions, axis=0)
    assert steps[0] == pytest.approx([300e-3 * 1.25e-4, 0.0])
    assert steps[9, 1] == pytest.approx(2e-4)
    assert steps[25] == pytest.approx([200e-3 * 1.25e-4, 0.0])
    assert recording.readings.peak[5] == pytest.approx(785.0, abs=1.0)
    assert "no places" in recording.notes[0]
    assert recording.readings.pixel == pytest.approx(25e-6)
    assert read_log(f"{tmp_path / 'a.h5'}#part/layer_1").name == "a.h5#part/layer_1"


def test_a_store_without_what_is_needed_says_what(tmp_path: Path) -> None:
    for name, words in (
        ("frame_rate_hz", "frame_rate_hz"),
        ("pixel_um", "pixel_um"),
        ("kelvin_per_count", "counts"),
    ):
        with pytest.raises(BadInput, match=words):
            read_store(tmp_path / f"{name}.h5", **{name: None})
    with pytest.raises(BadInput, match="must be a layer"):
        read_log(f"{make_store(tmp_path / 'b.h5')}#part")
    (tmp_path / "c.h5").write_bytes(b"no HDF5")
    with pytest.raises(BadInput, match="readable HDF5"):
        read_log(tmp_path / "c.h5")
    with h5py.File(tmp_path / "d.h5", "w") as store:
        store["x"] = 1
    with pytest.raises(BadInput, match="frame,scan_line_index,laser_params"):
        read_log(tmp_path / "d.h5")
    file = make_store(tmp_path / "e.h5")
    with h5py.File(file, "a") as store:
        store["part/layer_1/scan_line_index"][...] = [0, 40, 20]
    with pytest.raises(BadInput, match="must rise"):
        read_log(file)
