"""The verb that shows the main job."""

import shlex
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

from laserloop.arena.shelf import SHELF
from laserloop.cli.control import close_loop
from laserloop.cli.options import take_file, tell_notes
from laserloop.cli.output import Json, check_output, name_command, publish, writing

DEMO_PATH, DEMO_TICKS = "diagonal", 320
DEMO_PLANT = "graded"
NETWORK = "graded-ms-deeponet"  # the paper's architecture, trained on the demo's plant
DEMO_RUNS: dict[str, dict[str, Any]] = {  # what people call it → what it is
    "physics twin": {"controller": "twin"},
    "PI": {"controller": "pi"},
    "constant power": {"controller": "constant"},
    "the paper's network, retrained": {
        "controller": "realtime",
        "model": str(SHELF / NETWORK),
        "tracking": 100.0,
    },
}

NEXT = {  # what to type next → why
    "view {out} --open": "the same runs tick by tick, in a browser",
    "init": "your own alloy, beam and window, as a file",
    "control diagonal --noise-k 5 --delay 1": "a noisy camera whose images come late",
}


def demo(
    *,
    out: Annotated[Path, take_file("Folder for the page, its figures and the data.", metavar="DIR")] = Path(
        "laserloop-demo"
    ),
    json_file: Json = None,
) -> None:
    """Keep the peak temperature in its window on a path with sharp turns: four controllers, one page.

    The physics twin, PI, constant power, and the paper's network trained on this plant and asked, like the
    twin, for the middle of the window; on a path that nothing was trained or tuned on. Takes less than a
    minute, and once a minute more to compile.

    For example:

        laserloop demo --out out/demo
    """
    from laserloop.report.page import save_comparison
    from laserloop.report.record import conclude
    from laserloop.report.tables import tabulate_runs

    check_output("--out", out / "index.html")
    notes = dict[str, None]()
    records = run_demo(notes)
    sentence, also = conclude(records), tell_published()
    with writing("--out"):
        page = save_comparison(out, records, command="laserloop demo", also=[also])
    found = {"page": str(page), "conclusion": sentence, "published": also, "runs": records}
    publish(found, json_file, tabulate_runs(records), sentence, also, tell_next(out), f"\nReport: {page}")
    tell_notes(notes)


def tell_next(out: Path) -> str:
    """Commands that work as they stand here, in columns."""
    command = name_command()
    lines = [(f"  {command} {rest.format(out=shlex.quote(str(out)))}", why) for rest, why in NEXT.items()]
    width = max(len(line) for line, _ in lines)
    return "\n".join(["\nNext:", *(f"{line:{width}}   {why}" for line, why in lines)])


def run_demo(notes: dict[str, None]) -> list[dict[str, Any]]:
    """The records of the demo's runs; what there is to note about them is kept for after the results."""
    from laserloop.loop.scenario import Scenario

    common = Scenario(path=DEMO_PATH, plant=DEMO_PLANT, ticks=DEMO_TICKS, delta_k=None)
    records = list[dict[str, Any]]()
    for label, settings in DEMO_RUNS.items():
        record = close_loop(replace(common, **settings), tell=lambda said: notes.update(dict.fromkeys(said)))
        if record["model"] is not None:
            record["model"] = Path(record["model"]).name  # wherever the package lies
        records.append({"label": label, **record})
    return records


def tell_published() -> str:
    """What the publication reports of its own network, on its own plate."""
    from laserloop.studies.halilovic.published import BELOW, HIGHEST, TABLE_2

    own = ("corner + δ", DEMO_PATH)
    over = TABLE_2[own][1]
    return (
        "The paper's network was trained again, on this plate. The publication reports for its own, with its "
        f"margin and on a coarser grid: at most {HIGHEST[own]:.1f} K here, {over or 'no'} ticks above "
        f"800 K, {100 * BELOW[own]:.0f} % of all ticks below 760 K."
    )
