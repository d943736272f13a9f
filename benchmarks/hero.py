"""The README's picture and first table: the runs of `laserloop demo`.

    python benchmarks/hero.py        # less than a minute

Writes docs/results/demo.json, the scores, docs/results/demo.png, and the same picture for light and dark pages.
"""

from pathlib import Path

from light_and_dark import save_pair

from laserloop.cli.run import run_demo
from laserloop.report.figures import save_figure
from laserloop.report.run_figures import draw_side_by_side
from laserloop.store import dump, save
from laserloop.versions import find_versions, hash_code

RESULTS = Path(__file__).parent.parent / "docs" / "results"


def main() -> None:
    """Run and write."""
    records = run_demo({})
    save_figure(RESULTS / "demo.png", draw_side_by_side(records), dpi=130)
    save_pair(RESULTS / "demo.png", lambda: draw_side_by_side(records))
    told = [{key: value for key, value in record.items() if key != "series"} for record in records]
    save(RESULTS / "demo.json", dump({"code": hash_code(), "versions": find_versions(), "runs": told}))
    for record in told:
        print(f"{record['label']}: {record['t_min_k']:.1f} to {record['t_max_k']:.1f} K")


if __name__ == "__main__":
    main()
