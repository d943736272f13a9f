"""5 K of noise, images a tick late, 10 % less absorbed: the twin beside a PI loop tuned without any of it."""

from pathlib import Path

import laserloop as ll
from laserloop.loop.scenario import Scenario, prepare
from laserloop.report.figures import save_figure
from laserloop.report.run_figures import draw_comparison


def main(picture: str | None = None) -> float:
    """Returns the highest temperature under the twin, K."""
    process = ll.find_process("paper").change(noise_k=5.0, delay_ticks=1)
    records = {}
    for controller in ("twin", "pi"):
        case = Scenario(
            path="zigzag:7",
            controller=controller,
            plant="graded",
            process=process,
            ticks=160,
            mismatch=(("absorptivity", 0.9),),
        )
        records[controller] = found = prepare(case).run().to_json()
        print(
            f"{controller}: {found['t_min_k']:.1f} to {found['t_max_k']:.1f} K, {found['n_over']} ticks above"
        )
    if picture:
        save_figure(Path(picture), draw_comparison(list(records.values())))
    return float(records["twin"]["t_max_k"])


if __name__ == "__main__":
    main("noise_and_delay.png")
