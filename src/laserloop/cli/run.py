"""The verbs that simulate: open loop, closed loop, four closed loops beside each other.

What only a figure, a field or the demo needs is imported there, so that a loop begins soon.
"""

import shlex
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from cyclopts import Parameter

from laserloop.bad_input import BadInput
from laserloop.cli.options import (
    ControllerName,
    Delta,
    LoopOptions,
    PathName,
    PathOptions,
    PlantName,
    PowerOptions,
    ProcessOptions,
    Tracking,
    flag,
    print_notes,
    read_factors,
    several,
    take_file,
)
from laserloop.cli.output import (
    Json,
    Table,
    check_output,
    check_outputs,
    draw,
    name_command,
    publish,
    quiet,
    save_table,
    write,
    writing,
)
from laserloop.control.margins import Margins, read_margins
from laserloop.loop.controllers import CONTROLLERS
from laserloop.loop.scenario import TICKS, Scenario, prepare
from laserloop.paths import ScanPath
from laserloop.planning.window import note_melting
from laserloop.plant import Plant, make_plant
from laserloop.process import Process
from laserloop.report.tables import tabulate_run, tabulate_runs
from laserloop.report.terminal import Bar, show_progress

if TYPE_CHECKING:
    from laserloop.data.episode import Episode

LISTED = ", ".join(f"{name} ({kind.help})" if kind.help else name for name, kind in CONTROLLERS.items())
DEMO_PATH, DEMO_TICKS = "diagonal", 320
DEMO_PLANT = "graded"
NETWORK = "graded-ms-deeponet"  # the paper's architecture, trained on the demo's plant
NEXT = {  # what to type next → why
    "view {out} --open": "the same runs tick by tick, in a browser",
    "init": "your own alloy, beam and window, as a file",
    "control diagonal --noise-k 5 --delay 1": "a noisy camera whose images come late",
}


def simulate(
    path: PathName,
    /,
    beam: PathOptions | None = None,
    laser: PowerOptions | None = None,
    of: ProcessOptions | None = None,
    *,
    plant: PlantName = "graded",
    sampling: Annotated[
        Literal["nearest", "bilinear"] | None,
        Parameter(
            help="Also report what a camera sees where the beam will be a tick later, read at the "
            "nearest pixel (as the paper's controller is) or bilinearly; t_ahead_k in --json and --table.",
            show_default=lambda _: "not reported",
        ),
    ] = None,
    out: Annotated[
        Path | None,
        take_file(
            "Keep a checkpoint of a long simulation in DIR, every 30 s; the same command goes on from it.",
            metavar="DIR",
        ),
    ] = None,
    json_file: Json = None,
    table: Table = None,
    field: Annotated[
        Path | None, take_file("Write the plate's temperatures at the end as VTK, for ParaView; .vtk.")
    ] = None,
    plot: Annotated[
        Path | None,
        take_file("Draw temperature over time, along the path and on the surface; .png, .svg or .pdf."),
    ] = None,
) -> None:
    """Heat a plate along a path, open loop, and report its peak temperature.

    In laser-off moves the power is 0. On the plant graded the table counts ticks above
    the window from the first lit one on, and ticks below it once full power could have reached it; on the
    plant paper the first ten ticks after the laser comes on do not count.

    For example:

        laserloop simulate diagonal --power-w 14 --ticks 320 --json diagonal.json
        laserloop simulate layer.cli --power-w 14 --out layer
        laserloop simulate part.gcode --plant graded --process ti64 --power-w file --plot part.png
    """
    from laserloop.data import episode
    from laserloop.report.tables import tabulate_episode

    beam, laser, of = beam or PathOptions(), laser or PowerOptions(), of or ProcessOptions()
    check_outputs(
        {"--json": json_file, "--table": table, "--field": field, "--plot": plot},
        {"PATH": path, "--process": of.process, "--material": of.material},
    )
    process = of.find(speed_mm_s=beam.speed_mm_s)
    scan = beam.find(path, process)
    power, notes = laser.draw(scan, process)
    print_notes(notes)
    scan = replace(scan, notes=(*scan.notes, *notes))
    truth = make_plant(plant, replace(process, tick=scan.tick))
    with _watch(f"{scan.name} on {plant}") as progress, writing("--out"):
        result = episode.simulate(truth, scan, power, sampling=sampling, folder=out, progress=progress)
    result = _judge(result, truth, scan)
    save_table(table, result.to_json())
    if field is not None:
        from laserloop.logs.export import render_field

        write("--field", field, lambda _: render_field(truth))

    def make_figure() -> Any:
        from laserloop.report.figures import draw_overview

        return draw_overview(result, window=process.window)

    draw("--plot", plot, make_figure)
    publish(result.to_json(), json_file, tabulate_episode(result))


def _judge(result: "Episode", plant: Plant, path: ScanPath) -> "Episode":
    """Which ticks count, and a note by how much the material's range was left."""
    from laserloop.predict.twin import find_counted

    settings = plant.settings
    if settings.name != "paper":
        above, below = find_counted(settings.process, path, result.power)
        result = replace(result, counts_above=above, counts_below=below)
    complaint = settings.process.material.outside(settings.process.ambient, float(result.t_max.max()))
    if complaint is None:
        return result
    print_notes([complaint])
    return replace(result, notes=(*result.notes, complaint))


@contextmanager
def _watch(what: str) -> Iterator[Bar | None]:
    """A progress bar, and no warnings."""
    with quiet(), show_progress(what) as progress:
        yield progress


def control(
    path: PathName,
    /,
    beam: PathOptions | None = None,
    of: ProcessOptions | None = None,
    loop: LoopOptions | None = None,
    *,
    plant: PlantName = "graded",
    controller: Annotated[
        ControllerName | str | None,
        Parameter(
            metavar="NAME",
            show_choices=False,
            help=f"The controller: {LISTED} or an own class as FILE.py:NAME.",
            show_default=lambda _: "the best that ships: twin on graded, realtime on paper",
        ),
    ] = None,
    model: Annotated[
        str | None,
        Parameter(
            help="The model that realtime, ipopt or sqp plan with: a shipped name, a folder, or an own "
            "predictor as FILE.py:NAME.",
            show_default=lambda _: "paper-corner",
        ),
    ] = None,
    delta_k: Delta = None,
    margins: Annotated[
        str | None,
        Parameter(
            metavar="FILE",
            help="Margins of both bounds that calibrate wrote for this process, or adaptive: margins that "
            "follow what the camera sees.",
            show_default=lambda _: "those that ship with the process",
        ),
    ] = None,
    tracking: Tracking = None,
    mismatch: Annotated[
        list[str] | None,
        several(
            "What the plant has and the controller does not know, as NAME=FACTOR, where NAME is "
            "absorptivity, conductivity, heat-capacity, emissivity or laser-lag; absorptivity=0.9 is 10 % "
            "less than the process says. laser-lag-us=125 is a lag in µs. May be given several times."
        ),
    ] = None,
    sampling: Annotated[
        Literal["nearest", "bilinear"] | None,
        Parameter(
            help="Read temperatures ahead of the beam at the nearest pixel, or bilinearly.",
            show_default=lambda _: "as the model learned; nearest in the paper",
        ),
    ] = None,
    graph: Annotated[
        Literal["folded", "plain"],
        Parameter(help="The network inside ipopt: contracted once a tick, or as in the paper."),
    ] = "folded",
    force: Annotated[bool, flag("Also use a model on what it was not made for.")] = False,
    json_file: Json = None,
    table: Table = None,
    plot: Annotated[
        Path | None, take_file("Draw prediction, truth, power and window over time; .png, .svg or .pdf.")
    ] = None,
    map_file: Annotated[
        Path | None,
        take_file("Draw where along the path the prediction was wrong; .png, .svg or .pdf."),
        Parameter(name="--map"),
    ] = None,
) -> None:
    """Keep the peak temperature in its window along a path, and score how well that went.

    Scores are taken on the plant's own T_max. Above the window every tick counts from the first lit one on,
    also after every laser-off move; below it a tick counts once full power could have reached the window. On
    the plant paper the first ten ticks after the laser comes on do not count, as in the publication.

    For example:

        laserloop control diagonal --json run.json --plot run.png
        laserloop control spiral --plant paper --controller ipopt --model paper-base --delta-k 0
        laserloop control part.gcode --plant graded --process ti64 --controller pi
    """
    beam, of, loop = beam or PathOptions(), of or ProcessOptions(), loop or LoopOptions()
    check_outputs(
        {"--json": json_file, "--table": table, "--plot": plot, "--map": map_file},
        {"PATH": path, "--process": of.process, "--material": of.material, "--margins": margins},
    )
    process = loop.change(of.find(speed_mm_s=beam.speed_mm_s))
    scan = beam.find(path, process, ticks=TICKS)
    case = Scenario(
        path=scan,
        controller=controller,
        model=model,
        plant=plant,
        process=process,
        ticks=len(scan),
        delta_k=delta_k,
        margins=_read_margins(margins, delta_k, process),
        adaptive=margins == "adaptive",
        tracking=tracking,
        mismatch=read_factors("--mismatch", mismatch),
        sampling=sampling,
        graph=graph,
        force=force,
    )
    record = close_loop(case)
    save_table(table, record)
    if plot is not None or map_file is not None:
        from laserloop.report.run_figures import draw_residual_map, draw_run

        draw("--plot", plot, lambda: draw_run(record))
        draw("--map", map_file, lambda: draw_residual_map(record))
    publish(record, json_file, tabulate_run(record))


def _read_margins(margins: str | None, delta_k: float | None, process: Process) -> Margins | None:
    """The margins of a file, if it is one."""
    if margins is not None and delta_k is not None:
        raise BadInput("--margins and --delta-k exclude each other, but both were given; drop one")
    return None if margins in (None, "adaptive") else read_margins(Path(margins), process)


def note_margin(delta_k: float | None, process: Process) -> tuple[str, ...]:
    """A note if a margin takes the window's middle, which the twin aims at; one that takes all is refused."""
    low, high = process.window
    if delta_k is None or delta_k <= 0.5 * (high - low) or delta_k >= high - low:
        return ()
    return (
        f"--delta-k {delta_k:g} leaves {high - low - delta_k:g} of the window's {high - low:g} K: plans keep "
        f"to {low:g} – {high - delta_k:g} K, below the window's middle; {0.25 * (high - low):g} K or less "
        "leave room",
    )


def close_loop(case: Scenario, *, tell: Callable[[Iterable[str]], None] = print_notes) -> dict[str, Any]:
    """The record of one run, with progress bars; its notes go to `tell`, by default to standard error."""
    notes = list[str](() if isinstance(case.path, str) else case.path.notes)

    def say(note: str) -> None:
        notes.append(note)
        tell([note])

    with _watch(f"{case.choose().controller} on {case.path_name}") as progress:
        setup = prepare(case)
        known = (*note_melting(case.process), *note_margin(case.delta_k, case.process))
        setup = replace(setup, notes=(*setup.notes, *known))
        for note in setup.notes:
            say(note)
        record = setup.run(progress, wait=say).to_json()
    tell(note for note in record["notes"] if note not in notes)
    return record


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
    from laserloop.report.record import write_headline

    check_output("--out", out / "index.html")
    notes = dict[str, None]()
    records = run_demo(notes)
    sentence, also = f"{write_headline(records)}.", describe_published()
    with writing("--out"):
        page = save_comparison(out, records, command="laserloop demo", also=[also])
    found = {"page": str(page), "conclusion": sentence, "published": also, "runs": records}
    publish(found, json_file, tabulate_runs(records), sentence, also, _tell_next(out), f"\nReport: {page}")
    print_notes(notes)


def _tell_next(out: Path) -> str:
    """Commands that work as they stand here, in columns."""
    command = name_command()
    lines = [(f"  {command} {rest.format(out=shlex.quote(str(out)))}", why) for rest, why in NEXT.items()]
    width = max(len(line) for line, _ in lines)
    return "\n".join(["\nNext:", *(f"{line:{width}}   {why}" for line, why in lines)])


def run_demo(notes: dict[str, None]) -> list[dict[str, Any]]:
    """The records of the demo's runs; what there is to note about them is kept for after the results."""
    from laserloop.studies.arena.entrant import MODELS

    common = Scenario(path=DEMO_PATH, plant=DEMO_PLANT, ticks=DEMO_TICKS, delta_k=None)
    cases = {
        "physics twin": replace(common, controller="twin"),
        "PI": replace(common, controller="pi"),
        "constant power": replace(common, controller="constant"),
        "the paper's network, retrained": replace(
            common, controller="realtime", model=str(MODELS / NETWORK), tracking=100.0
        ),
    }
    records = list[dict[str, Any]]()
    for label, case in cases.items():
        record = close_loop(case, tell=lambda said: notes.update(dict.fromkeys(said)))
        if record["model"] is not None:
            record["model"] = Path(record["model"]).name  # wherever the package lies
        records.append({"label": label, **record})
    return records


def describe_published() -> str:
    """What the publication reports of its own network, on its own plate."""
    from laserloop.studies.halilovic.published import BELOW, HIGHEST, TABLE_2

    own = ("corner + δ", DEMO_PATH)
    over = TABLE_2[own][1]
    return (
        "The paper's network was trained again, on this plate. The publication reports for its own, with its "
        f"margin and on a coarser grid: at most {HIGHEST[own]:.1f} K here, {over or 'no'} ticks above "
        f"800 K, {100 * BELOW[own]:.0f} % of all ticks below 760 K."
    )
