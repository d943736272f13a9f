"""No camera at all: how far off is the twin if the process is right, and if the plate absorbs 3 % more?"""

from pathlib import Path

from laserloop.loop.disturbances import Fault
from laserloop.loop.scenario import Scenario, prepare
from laserloop.report.figures import save_figure
from laserloop.report.run_figures import draw_comparison


def main(picture: str | None = None) -> float:
    """Returns the highest temperature with 3 % more absorbed than the process says, K."""
    records = []
    for absorbed in (1.0, 1.03):
        case = Scenario(
            path="star:7",
            controller="twin",
            plant="graded",
            ticks=120,
            faults=(Fault(kind="drop"),),  # every image, from the first tick on
            mismatch=(("absorptivity", absorbed),),
        )
        record = prepare(case).run().to_json()
        print(f"absorptivity × {absorbed}: {record['t_min_k']:.1f} to {record['t_max_k']:.1f} K")
        records.append({"label": f"absorptivity × {absorbed}", **record})
    if picture:
        save_figure(Path(picture), draw_comparison(records))
    return float(records[-1]["t_max_k"])


if __name__ == "__main__":
    main("no_camera.png")
