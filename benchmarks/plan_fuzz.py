"""Random files through reader and writer: round trips, then the same files broken.

python benchmarks/plan_fuzz.py --count 100000

Writes docs/results/plan/fuzz.json, from which benchmarks/plan.py --page makes its table.
"""

import argparse
import json
import re
import resource
import runpy
import warnings
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from time import process_time
from typing import Any

from laserloop.bad_input import BadInput
from laserloop.paths.scan_file import ScanFile
from laserloop.report.save import dump, save
from laserloop.versions import find_versions

ROOT = Path(__file__).parent.parent
WRITTEN: dict[str, Any] = runpy.run_path(str(ROOT / "tests" / "paths" / "written.py"))
CHANGES = b"0123456789.,-+eE XYIJRSFGM\n\r$/;()*\x00\xff#"


def main() -> None:
    """Every format in turn."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("formats", nargs="*", help="endings, such as .gcode; all unless given")
    parser.add_argument("--count", type=int, default=100_000, help="of each kind and format")
    parser.add_argument("--results", type=Path, default=ROOT / "docs" / "results")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    file = options.results / "plan" / "fuzz.json"
    kept = json.loads(file.read_text(encoding="utf-8"))["rows"] if file.exists() else []
    found = {row["format"]: row for row in kept}
    for ending in options.formats or WRITTEN["MAKERS"]:
        found[ending] = fuzz(ending, options.count)
        save(file, dump({"versions": find_versions(), "rows": list(found.values())}))


def fuzz(ending: str, count: int) -> dict[str, Any]:
    """Round trips, then malformed files."""
    row: dict[str, Any] = {
        "format": ending,
        "trips": 0,
        "wrong": 0,
        "malformed": count,
        "refused": 0,
        "without_line": 0,
        "raised": 0,
    }
    worst = 0.0
    with TemporaryDirectory(dir="/dev/shm" if Path("/dev/shm").is_dir() else None) as name:
        folder = Path(name)
        for seed in range(count):
            try:
                row["trips"] += WRITTEN["try_round_trip"](ending, seed, folder)
            except Exception as problem:
                row["wrong"] += 1
                print(ending, seed, type(problem).__name__, problem, flush=True)
            began = process_time()
            outcome = try_broken(ending, seed, folder)
            worst = max(worst, process_time() - began)
            if outcome:
                row[outcome] += 1
    row |= {"worst_s": worst, "memory_gb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6}
    print(row, flush=True)
    return row


def try_broken(ending: str, seed: int, folder: Path) -> str | None:
    """Read and write a malformed file; how it failed, if it did."""
    rng = Random(seed)
    file = folder / f"c{ending}"
    file.write_bytes(break_bytes(WRITTEN["MAKERS"][ending](rng).encode(), rng))
    try:
        scan = ScanFile(str(file), None, 20.0)
        scan.read_layers()
        orders = WRITTEN["draw_orders"](WRITTEN["read_moves"](scan), rng, most=3)
        written = folder / f"d{ending}"
        written.write_bytes(scan.write(orders))
        ScanFile(str(written), None, 20.0).read_layers()
    except BadInput as problem:
        if "\n" in str(problem):
            return "raised"
        if not re.search(r", line [1-9]", str(problem)):
            print("without a line", ending, seed, problem, flush=True)
            return "without_line"
        return "refused"
    except Exception as problem:
        print("malformed", ending, seed, type(problem).__name__, problem, flush=True)
        return "raised"
    return None


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
