"""A controller of your own for the arena: PI, with a little less power where the path turns.

laserloop arena --quick --controller examples/arena_controller.py:Cautious --out out/mine
"""

from pathlib import Path

import numpy as np

import laserloop as ll


class Cautious:
    """PI on the error of the peak; eases off before a corner."""

    horizon, memory = 4, 0  # ticks ahead and behind that it wants to see

    def __init__(self, problem: ll.MpcProblem) -> None:
        self.middle, self.power = sum(problem.window) / 2, 0.52 * problem.power[1]

    def act(self, image: ll.Image | None, preview: ll.Preview) -> float:
        """W for the coming tick."""
        error = 0.0 if image is None else self.middle - image.peak.temperature
        if preview.lit[0] and abs(error) < 100.0:
            self.power += 0.004 * error
        way = np.diff(preview.ahead, axis=0)
        straight = np.hypot(*way.sum(axis=0)) / max(np.hypot(*way.T).sum(), 1e-12)  # 1 on a line
        return float((self.power + 0.03 * error) * (0.9 + 0.1 * straight))


def main(picture: str | None = None) -> float:
    """Returns its RMS from the window's middle on one public task, K; the twin meets it there."""
    from laserloop.report import save_figure
    from laserloop.report.run_figures import draw_comparison
    from laserloop.studies.arena.benchmark import run_entrant
    from laserloop.studies.arena.entrants import find_entrant
    from laserloop.studies.arena.scores import score_record
    from laserloop.studies.arena.tasks import find_task

    task = find_task("zigzag-304-nominal-v1:10000@60")
    records = [run_entrant(task, find_entrant(name)) for name in (f"{__file__}:Cautious", "twin")]
    found = [float(score_record(record)["rms_k"]) for record in records]
    print(f"{task.name}: Cautious {found[0]:.1f} K from the middle, twin {found[1]:.1f} K")
    if picture:
        save_figure(Path(picture), draw_comparison(records))
    return found[0]


if __name__ == "__main__":
    main("arena_controller.png")
