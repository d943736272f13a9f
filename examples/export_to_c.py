"""The twin as C, compiled with one command, in the loop with the simulated plate: a peak in, a power out."""

import ctypes
import subprocess
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

import laserloop as ll
from laserloop.control.problem import make_twin_problem
from laserloop.native import export_twin
from laserloop.native.build import find_compiler
from laserloop.native.deployed import Deployed, TickInput


class Exported:
    """What a machine does with the exported functions, once per tick."""

    name, horizon, memory = "exported C", 5, 1  # ticks ahead and behind that it wants to see

    def __init__(self, library: Path) -> None:
        self.c = Deployed(ctypes.CDLL(str(library)), self.horizon)

    def reset(self) -> None:
        """A plate at rest."""
        self.c.init()
        self.begun = False

    def act(self, image: ll.Image | None, preview: ll.Preview) -> ll.Action:
        """The power of the coming tick, W."""
        way = preview.ahead[: self.horizon + 1]  # m, where the beam is now and will be
        self.begun = self.begun or self.c.begin(*way[0])
        tick = TickInput(way=way, dark=[not lit for lit in preview.lit], commanded=preview.power)
        if image is not None and len(preview.powers):
            tick = replace(tick, peak=image.peak.temperature)  # K; no picture is needed
        return ll.Action(power=self.c.step(tick).power, status=ll.Status.SOLVED)


def main(picture: str | None = None) -> float:
    """Returns the highest temperature under the exported controller, K."""
    process = ll.find_process("304")
    problem = make_twin_problem(ll.MpcProblem(window=process.window, power=process.laser.power))
    with TemporaryDirectory() as folder:
        export_twin(process, problem, Path(folder) / "firmware")
        unit, library = Path(folder) / "firmware" / "twin.c", Path(folder) / "twin.so"
        command = (find_compiler(), "-std=c99", "-O2", "-fPIC", "-shared", unit, "-o", library, "-lm")
        subprocess.run(command, check=True)
        run = ll.close_loop(Exported(library), ll.find_path("diagonal", ticks=80), process)
    print(f"{run.controller}: {ll.score(run)['t_min_k']:.1f} to {ll.score(run)['t_max_k']:.1f} K")
    if picture:
        ll.plot(run, picture)
    return float(ll.score(run)["t_max_k"])


if __name__ == "__main__":
    main("export_to_c.png")
