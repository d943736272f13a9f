"""G-code in, the same G-code with better powers out: planned by the twin, then simulated as written."""

from pathlib import Path

import laserloop as ll
from laserloop.paths.files import ScanFile
from laserloop.planning.job import Job
from laserloop.planning.verify import plan_refined
from laserloop.report.figures import save_figure
from laserloop.report.plans import draw_plan

FILE = Path(__file__).parent / "bracket.gcode"


def main(picture: str | None = None) -> float:
    """Returns the highest temperature of the planned file on the plant, K."""
    process = ll.find_process("304")
    file = ScanFile.open(str(FILE), None, process.laser.power[1])
    planned = plan_refined(Job(file=file, process=process))
    content = planned.write().decode()
    print(f"{len(file.content.splitlines())} lines in, {len(content.splitlines())} out:")
    print("\n".join(content.splitlines()[6:11]))
    told = planned.tell()
    scores = told["verified"]
    print(f"simulated: {scores['t_min_k']:.1f} to {scores['t_max_k']:.1f} K")
    if picture and planned.results:
        (plan,), (found,) = planned.layers, planned.results
        save_figure(Path(picture), draw_plan(told, plan.series(), found.temperature))
    return float(scores["t_max_k"])


if __name__ == "__main__":
    main("gcode_in_and_out.png")
