"""The verbs that hand over: the controller as C, the page of runs, and what works on this machine."""

import webbrowser
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Literal

from cyclopts import Parameter

from laserloop.bad_input import BadInput
from laserloop.cli.options import (
    Delta,
    LoopOptions,
    PowerMaxW,
    ProcessOptions,
    Tracking,
    WindowK,
    flag,
    number,
    print_notes,
    take_file,
)
from laserloop.cli.output import Json, check_output, publish, writing
from laserloop.report.terminal import show

MARKS = {"ok": "✓", "missing": "–", "failed": "✗"}


def export(
    model: Annotated[
        str | None,
        Parameter(help="A shipped model's name, or the folder of one; without it the twin of the process."),
    ] = None,
    /,
    of: ProcessOptions | None = None,
    *,
    window_k: WindowK = None,
    power_max_w: PowerMaxW = None,
    delta_k: Delta = None,
    tracking: Tracking = None,
    out: Annotated[
        Path, take_file("Folder of the C sources, their header, test vectors and guide.", metavar="DIR")
    ],
    dtype: Annotated[
        Literal["float32", "float64"], Parameter(help="Numbers of the network; single is faster.")
    ] = "float32",
    force: Annotated[bool, flag("Also export a model for what it was not made for.")] = False,
    json_file: Json = None,
) -> None:
    """Write the controller as dependency-free C99 that runs inside a tick: the twin, or a model.

    For example:

        laserloop export --process 316 --out firmware
        laserloop export paper-corner --out network
        laserloop export models/mine --window-k 860,900 --dtype float64 --out mine
    """
    from laserloop.cli.run import note_margin
    from laserloop.control.margins import find_margins
    from laserloop.control.problem import make_twin_problem
    from laserloop.loop.scenario import keep_margins, make_problem
    from laserloop.native import export_c, export_twin
    from laserloop.planning.window import note_melting
    from laserloop.predict.model import find_model
    from laserloop.report.tables import tabulate_numbers

    check_output("--json", json_file)
    wish = LoopOptions(window_k=window_k, power_max_w=power_max_w)
    process = wish.change((of or ProcessOptions()).find())
    notes: tuple[str, ...] = ()
    if model is None:  # the twin, with the margins that `control` keeps for it
        problem = make_twin_problem(make_problem(process, None, delta_k=delta_k), tracking)
        if delta_k is None:
            problem, notes = keep_margins(problem, find_margins("graded", process), process)
        with writing("--out"):
            files = export_twin(process, problem, out, dtype=dtype)
    else:
        network = find_model(model)
        problem = make_problem(process, network, delta_k=delta_k, tracking=tracking or 0.0)
        misfits = [] if network.trained_for is None else network.trained_for.judge_process(process)
        if misfits and not force:
            raise BadInput(
                f"a model must be made for what it is exported for, but of {model} this is not true: "
                f"{'; '.join(misfit.why for misfit in misfits)}; train one that fits, or insist with --force"
            )
        with writing("--out"):
            files = export_c(network, problem, out, dtype=dtype, name=model)
    print_notes((*notes, *note_melting(process), *note_margin(delta_k, process)))
    sizes = {file.name: file.stat().st_size for file in files}
    numbers = {
        **({"process": process.name, "process_hash": process.hash} if model is None else {"model": model}),
        "dtype": dtype,
        "delta_k": problem.margin_above,
        "margins_k": {"above": problem.margin_above, "below": problem.margin_below},
        "window_k": list(problem.window),
        "files": sizes,
    }
    table = tabulate_numbers({name: f"{size} bytes" for name, size in sizes.items()})
    publish(numbers, json_file, table)


def view(
    directory: Annotated[
        Path,
        Parameter(
            name="DIR",
            help="Folder with runs: of control or simulate --json, demo, reproduce. What is kept on the page "
            "goes there, too.",
        ),
    ] = Path("runs"),
    /,
    *,
    port: Annotated[int, number(0, 65_535, "", "Of the page; 0 takes any free one.")] = 8470,
    host: Annotated[
        str,
        Parameter(
            help="Address to listen on; elsewhere than on this machine only who has the printed token is "
            "served."
        ),
    ] = "127.0.0.1",
    browse: Annotated[bool, flag("Open the page in the default browser."), Parameter(name="--open")] = False,
) -> None:
    """The live bench: start runs in a browser, steer them, and compare them with stored ones.

    Drop a path file, pick a process and a controller, press run; change window or absorptivity on the way,
    keep what is worth it. Runs that are added to the folder while the page is open appear. Ends with Ctrl-C.

    For example:

        laserloop view
        laserloop demo --out out/demo
        laserloop view out/demo --open
    """
    from laserloop.live.server import open_server

    with open_server(directory, port, host=host) as server:
        try:
            count = len(server.index.runs)
            show(f"Live bench, {count} runs of {directory}: {server.address} (Ctrl-C ends)")
            show(f"Next, in another terminal: laserloop control diagonal --json {directory / 'mine.json'}")
            if browse:
                webbrowser.open(server.address)
            server.serve_forever()
        except KeyboardInterrupt:
            show("Done.")


def doctor(*, json_file: Json = None) -> None:
    """Say what is installed, which compiler and caches there are, and try plant and controller for seconds.

    A dash marks what is missing but not needed to simulate and control; a cross what is broken. Ends with
    exit code 2 if something is broken. Put its output into a bug report.

    For example:

        laserloop doctor
        laserloop doctor --json doctor.json
    """
    from laserloop.doctor import examine
    from laserloop.report.tables import tabulate_numbers
    from laserloop.versions import find_versions

    versions = find_versions()
    checks = list(examine())
    shown = versions | {check.what: f"{MARKS[check.state]} {check.found}" for check in checks}
    record = {"versions": versions, "checks": [asdict(check) for check in checks]}
    broken = [check for check in checks if check.state == "failed"]
    publish(record, json_file, tabulate_numbers(shown), *([] if broken else ["Next: laserloop demo"]))
    if broken:
        raise BadInput(
            f"{len(broken)} of {len(checks)} checks failed: {'; '.join(check.found for check in broken)}; "
            "reinstall laserloop, or report this with what is printed above"
        )
