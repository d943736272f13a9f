"""A layer hatched by PySLM, told as a Common Layer Interface file.

pip install PythonSLM==0.6
python benchmarks/pyslm_layer.py examples/pyslm_layer.cli
"""

import sys
from pathlib import Path

import numpy as np
from pyslm import hatching
from pyslm.geometry import HatchGeometry


def main() -> None:
    """An ellipse of 2.8 × 1.6 mm: one contour, and hatches 0.1 mm apart."""
    hatcher = hatching.Hatcher()
    hatcher.hatchDistance, hatcher.hatchAngle = 0.1, 20.0
    hatcher.volumeOffsetHatch = hatcher.spotCompensation = 0.05
    hatcher.numInnerContours, hatcher.numOuterContours = 0, 1
    t = np.linspace(0, 2 * np.pi, 60)
    layer = hatcher.hatch([np.column_stack([1.4 * np.cos(t), 0.8 * np.sin(t)])])
    lines = [
        "$$HEADERSTART",
        "$$ASCII",
        "$$UNITS/1",
        "$$LAYERS/1",
        "// made with PySLM 0.6 //",
        "$$HEADEREND",
    ]
    lines += ["$$GEOMETRYSTART", "$$LAYER/0.04"]
    for part in layer.geometry:
        numbers = ",".join(f"{value:.4f}" for value in part.coords.ravel())
        count = len(part.coords)
        is_hatch = isinstance(part, HatchGeometry)
        lines.append(
            f"$$HATCHES/1,{count // 2},{numbers}" if is_hatch else f"$$POLYLINE/1,1,{count},{numbers}"
        )
    Path(sys.argv[1]).write_text("\n".join([*lines, "$$GEOMETRYEND", ""]), encoding="utf-8")


if __name__ == "__main__":
    main()
