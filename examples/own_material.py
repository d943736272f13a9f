"""Your own alloy from a table, your own path from waypoints: the twin holds the window, untrained."""

import laserloop as ll


def main(picture: str | None = None) -> float:
    """Returns the highest temperature, K."""
    alloy = ll.Material.from_table(
        T=[300.0, 600.0, 900.0, 1200.0],  # K
        k=[12.0, 16.5, 21.0, 25.0],  # W/mK
        rho=[8000.0, 7870.0, 7730.0, 7580.0],  # kg/m³
        cp=[490.0, 550.0, 590.0, 640.0],  # J/kgK
        name="my alloy",
        source="measured here",
    )
    process = ll.Process(material=alloy, speed=0.25, window=(860.0, 900.0))  # m/s, K
    corners = [[-1.0, 0.0], [0.5, 0.0], [0.5, 0.1], [-1.0, 0.1]]
    path = ll.ScanPath.from_mm(corners, process=process, name="hairpin")
    run = ll.close_loop("twin", path, process)
    found = ll.score(run)
    print(f"{alloy.name}: {found['t_min_k']:.1f} to {found['t_max_k']:.1f} K in {len(run)} ticks")
    if picture:
        ll.plot(run, picture)
    return float(found["t_max_k"])


if __name__ == "__main__":
    main("own_material.png")
