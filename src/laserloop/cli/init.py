"""The verb that writes a process file to start from."""

from os.path import relpath
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from laserloop.bad_input import BadInput, plain
from laserloop.cli.options import OF_PROCESS, ProcessOptions, take_entry, take_file, take_number, tell_notes
from laserloop.cli.output import check_output, writing

if TYPE_CHECKING:
    from laserloop.process import Process


def init(
    target: ProcessOptions | None = None,
    *,
    out: Annotated[Path, take_file("The file to write.")] = Path("process.yaml"),
    window_k: Annotated[tuple[float, float] | None, take_entry("window_k", example="760,800")] = None,
    power_w: Annotated[tuple[float, float] | None, take_entry("power_w", example="0,200")] = None,
    speed_mm_s: Annotated[
        float | None,
        take_number(1e-3, 1e6, "mm/s", "Scan speed in mm/s where a path gives none.", default=OF_PROCESS),
    ] = None,
    force: Annotated[bool, Parameter(help="Replace a file that is already there.", negative="")] = False,
) -> None:
    """Write a process file, with a comment on every number: alloy, plate, beam, laser, window and camera.

    What no option says is as in the built-in process of the alloy, or as in --process. A tick that does not
    suit beam and speed is replaced by one that does, unless --tick-us says it.

    For example:

        laserloop init
        laserloop init --material ti64 --sigma-um 60 --power-w 0,120 --out mine.yaml
    """
    from laserloop.process import shipped_materials, shipped_processes, write_process
    from laserloop.process.material import name_shipped
    from laserloop.report.save import save
    from laserloop.report.terminal import show

    check_output("--out", out)
    if out.exists() and not force:
        raise BadInput(f"--out must be a new file, but {out} is already there; add --force to replace it")
    if out.suffix.lower() not in (".yaml", ".yml"):
        raise BadInput(f"--out must end in .yaml, but is {out.name!r}; rename it")
    target = target or ProcessOptions()
    alloy = target.material
    if alloy is not None and target.process == "paper" and alloy.lower() in shipped_processes():
        target = ProcessOptions(**{**target.__dict__, "process": alloy.lower(), "material": None})
    process = target.find(window_k=window_k, power_w=power_w, speed_mm_s=speed_mm_s)
    chosen = process if target.tick_us is not None else _fit_tick(process)
    process = _rename(chosen, out.stem)
    name = name_shipped(process.material)
    if alloy is not None and alloy.lower() not in shipped_materials():
        name = relpath(alloy, out.parent)
    text = write_process(process, material=name, folder=out.parent)
    with writing("--out"):
        save(out, text)
    low, high = process.window
    show(
        f"{out}: {process.material.name}, {low:g} – {high:g} K, powers are {process.describe_power()}. "
        f"Next: laserloop check {out}"
    )
    if process.beam.absorptivity == 1.0 and target.absorptivity is None:
        tell_notes(
            [
                f"powers planned with {out} are absorbed power; if your laser is told what it emits, give "
                "--absorptivity, of bare metal 0.3 to 0.6"
            ]
        )


def _fit_tick(process: "Process") -> "Process":
    """The same with a tick that suits beam and speed, if its own does not, which is told."""
    from laserloop.planning.window import fit_tick, judge_tick
    from laserloop.report.terminal import show

    judged, fitted = judge_tick(process), fit_tick(process)
    if judged is not None:
        show(
            f"A tick of {1e6 * process.tick:g} µs moves the beam by "
            f"{plain(process.speed * process.tick / process.beam.sigma, 2)} σ, {judged}; "
            f"{1e6 * fitted.tick:g} µs are written."
        )
    return fitted


def _rename(process: "Process", name: str) -> "Process":
    from dataclasses import replace

    return replace(process, name=name)
