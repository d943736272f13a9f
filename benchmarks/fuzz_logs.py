"""Malformed logs: is the answer to every one of them a recording or one sentence?

    python benchmarks/fuzz_logs.py              # minutes on one core
    python benchmarks/fuzz_logs.py --files 2000

Breaks good logs of every format at random (bytes changed, cut, doubled; cells replaced by hostile ones) and
reads them. Prints, for each reader, how many were refused, how many of the sentences name the file and, of
texts, the line or entry, the slowest file and the most memory; anything but a sentence ends the run with the
file kept. Writes docs/results/fuzz_logs.json.
"""

import argparse
import json
import re
import resource
import tempfile
from collections.abc import Callable
from pathlib import Path
from time import perf_counter
from typing import Any

import h5py
import numpy as np
from PIL import Image

from laserloop.bad_input import BadInput
from laserloop.logs import read_log
from laserloop.report.save import dump, save

ROOT = Path(__file__).parent.parent
CELLS = [
    "",
    "nan",
    "inf",
    "-1e400",
    "1_0",
    "0x10",
    '"',
    "é",
    "\0",
    "9" * 400,
    "true",
    "None",
    "1e-400",
    ",",
    "\n",
]
TEXTS = ("csv", "own_csv", "json", "poses")  # of which a sentence can name a line
PLACE = re.compile(r"\b(?:line|entry|entries) [0-9]")
NIST = (
    "build_time_us,cmd_laser_pos_x_mm,cmd_laser_pos_y_mm,cmd_laser_power_W,measured_peak_k,measured_time_us"
)


def main() -> None:
    """All readers, one after another."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--files", type=int, default=100_000, help="of each format")
    parser.add_argument("--results", type=Path, default=ROOT / "docs" / "results")
    options = parser.parse_args()
    found: dict[str, Any] = {"files": options.files}
    with tempfile.TemporaryDirectory() as folder:
        for name, make in MAKERS.items():
            found[name] = fuzz(Path(folder), name, make, options.files)
            print(name, found[name], flush=True)
    save(options.results / "fuzz_logs.json", dump(found))


def fuzz(folder: Path, name: str, make: Callable[[Path], tuple[Path, Path]], files: int) -> dict[str, Any]:
    """Break one format so many times; `make` gives the log and the file in it that is broken."""
    rng = np.random.default_rng(0)
    home = folder / name
    home.mkdir()
    log, file = make(home)
    good = file.read_bytes()
    read_log(log)
    refused = named = placed = several = 0
    slowest = 0.0
    for _ in range(files):
        file.write_bytes(break_it(good, rng))
        began = perf_counter()
        try:
            read_log(log)
        except BadInput as sentence:
            refused += 1
            named += log.name in str(sentence) or file.name in str(sentence)
            placed += PLACE.search(str(sentence)) is not None
            several += "\n" in str(sentence).strip()
        except BaseException:
            kept = Path(tempfile.gettempdir()) / f"fuzz_{file.name}"
            kept.write_bytes(file.read_bytes())
            print(f"not a sentence; see {kept}")
            raise
        slowest = max(slowest, perf_counter() - began)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return {
        "refused": refused,
        "named": named,
        "placed": placed if name in TEXTS else None,
        "not_one_line": several,
        "slowest_ms": 1e3 * slowest,
        "most_mb": peak,
    }


def break_it(good: bytes, rng: np.random.Generator) -> bytes:
    """One to four breaks."""
    data = bytearray(good)
    for _ in range(int(rng.integers(1, 5))):
        at = int(rng.integers(0, len(data) + 1))
        match int(rng.integers(0, 6)):
            case 0:
                data[at : at + 1] = bytes([int(rng.integers(0, 256))])
            case 1:
                del data[at : at + int(rng.integers(1, 200))]
            case 2:
                data[at:at] = data[: int(rng.integers(0, 200))]
            case 3:
                data = data[:at]
            case 4:
                data[at:at] = str(rng.choice(CELLS)).encode()
            case _:
                end = data.find(b",", at)
                if end >= 0:
                    data[at:end] = str(rng.choice(CELLS)).encode()
    return bytes(data)


def make_csv(home: Path) -> tuple[Path, Path]:
    rows = [f"{125 * i},{0.038 * i:.3f},0.1,11.5,{780 + i % 7}.25,{125 * i - 250}" for i in range(20)]
    file = home / "log.csv"
    file.write_text("\n".join((NIST, *rows)))
    return file, file


def make_own(home: Path) -> tuple[Path, Path]:
    rows = [f"{i},{1.25e-4 * (i + 1):.6g},{0.038 * i:.3f},0.1,1,11.5,{780 + i % 7}.25" for i in range(20)]
    file = home / "own.csv"
    file.write_text("\n".join(("tick,t_s,x_mm,y_mm,lit,power_w,t_measured_k", *rows)))
    return file, file


def make_json(home: Path) -> tuple[Path, Path]:
    n = range(20)
    series = {"t_s": [1.25e-4 * (i + 1) for i in n], "x_mm": [0.038 * i for i in n], "y_mm": [0.1 for _ in n]}
    series |= {"power_w": [11.5 for _ in n], "t_measured_k": [780.25 for _ in n]}
    file = home / "run.json"
    file.write_text(json.dumps({"series": series, "process": {"name": "mine", "tick_us": 125}}))
    return file, file


def make_folder(home: Path, ending: str) -> tuple[Path, Path]:
    header = f"{NIST},frame_file,pixel_um,kelvin_per_count,kelvin_at_zero"
    rows = [f"{125 * i},{0.038 * i:.3f},0.1,11.5,,,{i}{ending},25,4,280" for i in range(3)]
    counts = np.arange(64, dtype=np.uint8).reshape(8, 8)
    for i in range(3):
        if ending == ".npy":
            np.save(home / f"{i}{ending}", counts)
        else:
            Image.fromarray(counts).save(home / f"{i}{ending}")
    (home / "poses.csv").write_text("\n".join((header, *rows)))
    return home / "poses.csv", home / f"1{ending}"


def make_poses(home: Path) -> tuple[Path, Path]:
    poses, _ = make_folder(home, ".npy")
    return poses, poses


def make_hdf5(home: Path) -> tuple[Path, Path]:
    file = home / "log.h5"
    with h5py.File(file, "w") as store:
        layer = store.create_group("part/layer")
        layer["frame"] = np.arange(6 * 64, dtype=np.uint16).reshape(6, 8, 8)
        layer["scan_line_index"] = [0, 3]
        layer["laser_params"] = [[10.0, 300.0], [12.0, 300.0]]
        layer.attrs.update({"frame_rate_hz": 8000.0, "pixel_um": 25.0, "kelvin_per_count": 1.0})
    return file, file


MAKERS: dict[str, Callable[[Path], tuple[Path, Path]]] = {
    "csv": make_csv,
    "own_csv": make_own,
    "json": make_json,
    "poses": make_poses,
    "npy": lambda home: make_folder(home, ".npy"),
    "tiff": lambda home: make_folder(home, ".tif"),
    "bmp": lambda home: make_folder(home, ".bmp"),
    "hdf5": make_hdf5,
}


if __name__ == "__main__":
    main()
