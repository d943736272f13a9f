"""The verb that shows the main job."""

from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

from laserloop.cli.control import close_loop
from laserloop.cli.options import take_file
from laserloop.cli.output import Json, check_output, publish, writing

DEMO_PATH, DEMO_TICKS = "diagonal", 320
DEMO_PLANT = "graded"
DEMO_RUNS: dict[str, dict[str, Any]] = {  # what people call it → what it is
    "physics twin": {"controller": "twin"},
    "PI": {"controller": "pi"},
    "constant power": {"controller": "constant"},
    "the paper's MPC": {"controller": "realtime", "model": "paper-corner", "force": True},
}


NEXT = """
Next: laserloop view {out} --open        the same runs tick by tick, in a browser
      laserloop init                     your own alloy, beam and window, as a file
      laserloop control diagonal --noise-k 5 --delay 1"""


def demo(
    *,
    out: Annotated[Path, take_file("Folder for the page, its figures and the data.", metavar="DIR")] = Path(
        "laserloop-demo"
    ),
    json_file: Json = None,
) -> None:
    """Keep the peak temperature in its window on a path with sharp turns: four controllers, one page.

    The physics twin, PI, constant power and the paper's network with its margin, which was trained on the
    paper's coarse plant, on the converged plant and a path that nothing was trained or tuned on. Takes less
    than a minute, and once a minute more to compile.

    For example:

        laserloop demo --out out/demo
    """
    from laserloop.loop.case import LoopCase
    from laserloop.report.folder import save_comparison
    from laserloop.report.run_story import conclude
    from laserloop.report.run_tables import tabulate_runs

    check_output("--out", out / "index.html")
    check_output("--json", json_file)
    common = LoopCase(path=DEMO_PATH, plant=DEMO_PLANT, ticks=DEMO_TICKS, delta_k=None)
    records = [
        {"label": label, **close_loop(replace(common, **settings))} for label, settings in DEMO_RUNS.items()
    ]
    with writing("--out"):
        page = save_comparison(out, records, command="laserloop demo")
    sentence = conclude(records)
    found = {"page": str(page), "conclusion": sentence, "runs": records}
    publish(found, json_file, tabulate_runs(records), sentence, NEXT.format(out=out), f"\nReport: {page}")
