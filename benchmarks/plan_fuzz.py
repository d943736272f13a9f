"""Random files through reader and writer: round trips, then the same files broken.

python benchmarks/plan_fuzz.py --count 100000       # half an hour on one core; may be stopped and goes on
python benchmarks/plan_fuzz.py .gcode --seed 17     # one malformed file again: what is said to it

Writes docs/results/plan/fuzz.json, from which benchmarks/plan.py --page makes its table.
"""

import argparse
import runpy
import warnings
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import Any

from fuzzing import fuzz, judge

from laserloop.paths.files import ScanFile

ROOT = Path(__file__).parent.parent
WRITTEN: dict[str, Any] = runpy.run_path(str(ROOT / "tests" / "paths" / "written.py"))
ROOMS = ("bad_input.py", "paths", "process")  # that files pass through
CHANGES = b"0123456789.,-+eE XYIJRSFGM\n\r$/;()*\x00\xff#"


def main() -> None:
    """Every format in turn."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("formats", nargs="*", help="endings, such as .gcode; all unless given")
    parser.add_argument("--count", type=int, default=100_000, help="malformed files of each format")
    parser.add_argument("--trips", type=int, help="round trips of each format; as many unless given")
    parser.add_argument("--seed", type=int, help="only the malformed file of this seed; writes nothing")
    parser.add_argument("--results", type=Path, default=ROOT / "docs" / "results")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    with TemporaryDirectory(dir="/dev/shm" if Path("/dev/shm").is_dir() else None) as name:
        for ending in options.formats or WRITTEN["MAKERS"]:
            files = Fuzzer(ending, Path(name))
            if options.seed is not None:
                files.go_through(options.seed)
                continue
            file = options.results / "plan" / "fuzz.json"
            trips = options.count if options.trips is None else options.trips
            fuzz(
                file,
                ending,
                options.count,
                ROOMS,
                files.try_broken,
                round_trip=files.try_round_trip,
                trips=trips,
            )


class Fuzzer:
    """Files of one format in one folder."""

    def __init__(self, ending: str, folder: Path) -> None:
        self.ending, self.folder = ending, folder

    def try_round_trip(self, seed: int) -> str | None:
        """A file that was written says what was asked for."""
        try:
            return "trips" if WRITTEN["try_round_trip"](self.ending, seed, self.folder) else None
        except Exception as problem:
            print("round trip", self.ending, seed, type(problem).__name__, problem, flush=True)
            return "wrong"

    def try_broken(self, seed: int) -> str | None:
        """How a malformed file failed, if it did."""
        try:
            self.go_through(seed)
        except Exception as problem:
            word = judge(problem, (f"c{self.ending}", f"d{self.ending}"), r", line [1-9]")
            if word != "refused":
                print(word, self.ending, seed, problem, flush=True)
            return word
        return None

    def go_through(self, seed: int) -> None:
        """Read and write a malformed file, and read what was written."""
        rng = Random(seed)
        file, written = self.folder / f"c{self.ending}", self.folder / f"d{self.ending}"
        file.write_bytes(break_bytes(WRITTEN["MAKERS"][self.ending](rng).encode(), rng))
        scan = ScanFile.open(str(file), None, 20.0)
        scan.read_layers()
        orders = WRITTEN["draw_orders"](WRITTEN["read_moves"](scan), rng, most=3)
        written.write_bytes(scan.write(orders))
        ScanFile.open(str(written), None, 20.0).read_layers()


def break_bytes(content: bytes, rng: Random) -> bytes:
    """Some bytes changed, lost or doubled."""
    broken = bytearray(content)
    for _ in range(rng.randint(1, 6)):
        at = rng.randrange(len(broken)) if broken else 0
        match rng.randrange(4):
            case 0 if broken:
                broken[at] = rng.choice(CHANGES)
            case 1:
                broken.insert(at, rng.choice(CHANGES))
            case 2:
                del broken[at : at + rng.randint(1, 12)]
            case _:
                broken[at:at] = broken[at : at + rng.randint(1, 40)]
    return bytes(broken)


if __name__ == "__main__":
    main()
