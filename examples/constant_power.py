"""Constant power along a path with sharp turns: where does the plate leave its window?"""

from pathlib import Path

import laserloop as ll
from laserloop.report.figures import draw_history, save_figure


def main(picture: str | None = None) -> float:
    """Returns the hottest peak, K."""
    path = ll.find_path("diagonal", ticks=60)
    plant = ll.make_plant("graded")
    episode = ll.simulate(plant, path, [11.0] * len(path))  # W, one for each tick
    worst = int(episode.temperature.argmax())
    x, y = episode.peak_positions[worst] * 1e3
    print(f"hottest: {episode.temperature[worst]:.1f} K at ({x:.2f}, {y:.2f}) mm")
    if picture:
        save_figure(Path(picture), draw_history(episode))
    return float(episode.temperature[worst])


if __name__ == "__main__":
    main("constant_power.png")
