"""Malformed logs: is the answer to every one of them a recording or one sentence?

    python benchmarks/fuzz_logs.py                     # an hour on one core; may be stopped and goes on
    python benchmarks/fuzz_logs.py json --files 2000
    python benchmarks/fuzz_logs.py json --seed 17      # one of them again: what is said to it

Breaks good logs of every format at random (bytes changed, cut, doubled; cells replaced by hostile ones) and
reads them. Counts, for each reader, what was refused in one sentence with the name of the file and, of texts,
the line, and what was refused otherwise; the slowest file and the most memory. Writes
docs/results/plan/fuzz_logs.json, from which benchmarks/plan.py --page makes its table.
"""

import argparse
import warnings
from collections.abc import Callable
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory

import h5py
import numpy as np
from fuzzing import fuzz, judge
from PIL import Image

from laserloop.logs import read_log
from laserloop.store import dump

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
    "9" * 5000,
    "true",
    "None",
    "1e-400",
    ",",
    "\n",
    "[" * 3000,
]
ROOMS = ("bad_input.py", "logs", "paths", "process")  # that logs pass through
TEXTS = ("csv", "own_csv", "json", "poses")  # of which a sentence can name a line
NIST = (
    "build_time_us,cmd_laser_pos_x_mm,cmd_laser_pos_y_mm,cmd_laser_power_W,measured_peak_k,measured_time_us"
)


def main() -> None:
    """All readers, one after another."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("formats", nargs="*", help=f"of {', '.join(MAKERS)}; all unless given")
    parser.add_argument("--files", type=int, default=100_000, help="of each format")
    parser.add_argument("--seed", type=int, help="only the file of this seed; writes nothing")
    parser.add_argument("--results", type=Path, default=ROOT / "docs" / "results")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    with TemporaryDirectory(dir="/dev/shm" if Path("/dev/shm").is_dir() else None) as folder:
        for name in options.formats or MAKERS:
            logs = Fuzzer(name, Path(folder))
            if options.seed is not None:
                logs.break_one(options.seed)
                print(read_log(logs.log))
                continue
            file = options.results / "plan" / "fuzz_logs.json"
            fuzz(file, name, options.files, ROOMS, logs.try_broken)


class Fuzzer:
    """Logs of one format: a good one, and the file in it that is broken."""

    def __init__(self, name: str, folder: Path) -> None:
        self.name, home = name, folder / name
        home.mkdir()
        self.log, self.file = MAKERS[name](home)
        self.good = self.file.read_bytes()
        read_log(self.log)

    def try_broken(self, seed: int) -> str | None:
        """How a malformed log failed, if it did."""
        self.break_one(seed)
        try:
            read_log(self.log)
        except Exception as problem:
            place = r", line [1-9]" if self.name in TEXTS else ""
            word = judge(problem, (self.log.name, self.file.name), place)
            if word != "refused":
                print(word, self.name, seed, problem, flush=True)
            return word
        return None

    def break_one(self, seed: int) -> None:
        """Put the malformed file of a seed in its place."""
        self.file.write_bytes(break_it(self.good, Random(seed)))


def break_it(good: bytes, rng: Random) -> bytes:
    """One to four breaks."""
    data = bytearray(good)
    for _ in range(rng.randint(1, 4)):
        at = rng.randint(0, len(data))
        match rng.randrange(6):
            case 0:
                data[at : at + 1] = bytes([rng.randrange(256)])
            case 1:
                del data[at : at + rng.randint(1, 199)]
            case 2:
                data[at:at] = data[: rng.randrange(200)]
            case 3:
                data = data[:at]
            case 4:
                data[at:at] = rng.choice(CELLS).encode()
            case _:
                end = data.find(b",", at)
                if end >= 0:
                    data[at:end] = rng.choice(CELLS).encode()
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
    file.write_text(dump({"series": series, "process": {"name": "mine", "tick_us": 125}}))
    return file, file


def make_folder(home: Path, ending: str) -> tuple[Path, Path]:
    header = f"{NIST},frame_file,pixel_um,kelvin_per_count,kelvin_at_zero"
    rows = [f"{125 * i},{0.038 * i:.3f},0.1,11.5,,,{i}{ending},25,4,280" for i in range(2)]
    counts = np.arange(64, dtype=np.uint8).reshape(8, 8)
    for i in range(2):
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
