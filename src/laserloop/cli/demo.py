"""The verb that shows the main job."""

from pathlib import Path
from typing import Annotated

from laserloop.cli.control import close_loop
from laserloop.cli.options import take_file
from laserloop.cli.output import Json, check_output, publish, writing

DEMO_PATH, DEMO_TICKS = "diagonal", 320
DEMO_CONTROLLERS = ("realtime", "pi", "constant")


def demo(
    *,
    out: Annotated[Path, take_file("Folder for the page, its figures and the data.", metavar="DIR")] = Path(
        "laserloop-demo"
    ),
    json_file: Json = None,
) -> None:
    """Keep the peak temperature in its window on a path with sharp turns: three controllers, one page.

    The paper's surrogate with its margin, PI and constant power, on a path that no model was trained on.
    Takes about ten seconds, and once a minute more to compile.

    For example:

        laserloop demo --out out/demo
    """
    from laserloop.loop.case import LoopCase
    from laserloop.report.folder import save_comparison
    from laserloop.report.run_story import conclude
    from laserloop.report.run_tables import tabulate_runs

    check_output("--out", out / "index.html")
    check_output("--json", json_file)
    cases = [
        LoopCase(path=DEMO_PATH, controller=name, ticks=DEMO_TICKS, delta_k=None) for name in DEMO_CONTROLLERS
    ]
    records = [close_loop(case) for case in cases]
    with writing("--out"):
        page = save_comparison(out, records, command="laserloop demo")
    sentence = conclude(records)
    found = {"page": str(page), "conclusion": sentence, "runs": records}
    publish(found, json_file, tabulate_runs(records), sentence, f"\nReport: {page}")
