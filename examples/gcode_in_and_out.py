"""G-code in, the same G-code with better powers out: planned by the twin, then simulated as written."""

from pathlib import Path
from tempfile import TemporaryDirectory

import laserloop as ll
from laserloop.paths.scan_file import ScanFile
from laserloop.plan.job import Job, plan_job
from laserloop.plan.verify import score_layers, simulate_job
from laserloop.report.plan_figures import draw_plan
from laserloop.report.save import save_figure

FILE = Path(__file__).parent / "bracket.gcode"


def main(picture: str | None = None) -> float:
    """Returns the highest temperature of the planned file on the plant, K."""
    process = ll.find_process("304")
    job = Job(file=ScanFile(str(FILE), None, process.laser.power[1]), process=process)
    planned = plan_job(job)
    with TemporaryDirectory() as folder:
        out = Path(folder) / "planned.gcode"
        out.write_bytes(planned.write())
        print(f"{len(FILE.read_bytes().splitlines())} lines in, {len(out.read_bytes().splitlines())} out:")
        print("\n".join(out.read_text().splitlines()[6:11]))
        (layer,) = simulate_job(job.again(str(out)))
    found = score_layers([layer], process.window)
    print(f"simulated: {found['t_min_k']:.1f} to {found['t_max_k']:.1f} K")
    if picture:
        (plan,) = planned.layers
        save_figure(Path(picture), draw_plan(plan.series(), process.window, layer.temperature))
    return float(found["t_max_k"])


if __name__ == "__main__":
    main("gcode_in_and_out.png")
