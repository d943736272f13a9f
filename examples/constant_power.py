"""Drive the trusted plant along the unseen diagonal at constant power and see where it leaves the window."""

import laserloop as ll


def main() -> float:
    """Returns the hottest peak, K."""
    path = ll.find_path("diagonal", ticks=60)
    plant = ll.make_plant("graded", path)
    hottest = 0.0
    for k in range(len(path)):
        surface = plant.step(11.0, path.spot(k))  # W
        if surface.peak.temperature > hottest:
            hottest, where = surface.peak.temperature, (surface.peak.x * 1e3, surface.peak.y * 1e3)
    print(f"hottest: {hottest:.1f} K at ({where[0]:.2f}, {where[1]:.2f}) mm")
    return hottest


if __name__ == "__main__":
    main()
