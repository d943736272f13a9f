"""A shape becomes a layer file: PySLM (pip install PythonSLM) slices and hatches an STL, which is planned."""

import warnings
from math import ceil
from pathlib import Path
from tempfile import TemporaryDirectory

import laserloop as ll
from laserloop.paths import Placement, ScanFile
from laserloop.planning.job import Job, plan_job
from laserloop.report.figures import save_figure
from laserloop.report.plans import draw_plan


def hatch(file: Path, *, layer_um: float = 40.0, hatch_um: float = 100.0, turn_deg: float = 67.0) -> str:
    """The text of a Common Layer Interface file in mm: a contour around hatches, layer by layer."""
    warnings.filterwarnings("ignore", category=DeprecationWarning)  # names of SciPy that PySLM still uses
    from pyslm import Part, hatching

    part = Part("part")
    part.setGeometry(str(file))
    bottom, top = part.boundingBox[2], part.boundingBox[5]  # mm
    lines = ["$$HEADERSTART", "$$ASCII", "$$UNITS/1", "$$HEADEREND", "$$GEOMETRYSTART"]
    for k in range(max(1, ceil(1e3 * (top - bottom) / layer_um - 1e-6))):
        hatcher = hatching.Hatcher()
        hatcher.hatchDistance, hatcher.hatchAngle = hatch_um / 1e3, (k * turn_deg) % 180.0
        hatcher.volumeOffsetHatch = hatcher.spotCompensation = 0.5e-3 * hatch_um
        hatcher.numInnerContours, hatcher.numOuterContours = 0, 1
        hatcher.hatchSortMethod = hatching.AlternateSort()
        outlines = part.getVectorSlice(bottom + (k + 0.5) * layer_um / 1e3)
        lines.append(f"$$LAYER/{bottom + (k + 1) * layer_um / 1e3:.5f}")
        for geometry in hatcher.hatch(outlines).geometry if outlines else []:
            numbers = ",".join(f"{value:.5f}" for value in geometry.coords[:, :2].ravel())
            if type(geometry).__name__ == "HatchGeometry":
                lines.append(f"$$HATCHES/1,{len(geometry.coords) // 2},{numbers}")
            else:
                lines.append(f"$$POLYLINE/1,1,{len(geometry.coords)},{numbers}")
    return "\n".join([*lines, "$$GEOMETRYEND", ""])


def main(picture: str | None = None) -> float:
    """Returns the highest temperature that is planned for a box, K."""
    from trimesh.creation import box

    with TemporaryDirectory() as folder:
        stl = Path(folder) / "box.stl"
        box((1.2, 0.8, 0.04)).export(stl)
        content = hatch(stl)
    file = ScanFile("box.cli", content.encode())
    planned = plan_job(Job(file=file, process=ll.find_process("304"), placement=Placement(centre=True)))
    told = planned.tell()
    print(f"{told['vectors']} vectors, {told['commands']} powers, planned at up to {told['t_max_k']:.1f} K")
    if picture:
        save_figure(Path(picture), draw_plan(told, planned.layers[0].series(), None))
    return float(told["t_max_k"])


if __name__ == "__main__":
    main("hatch_stl.png")
