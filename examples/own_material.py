"""Your own alloy from a table, your own path from waypoints, and what a 50 µm camera with noise would see."""

import numpy as np

import laserloop as ll


def main() -> float:
    """Returns the temperature the camera reads at the last tick, K."""
    alloy = ll.Material.from_table(
        T=[300.0, 600.0, 900.0, 1200.0],
        k=[12.0, 16.5, 21.0, 25.0],  # W/mK
        rho=[8000.0, 7870.0, 7730.0, 7580.0],  # kg/m³
        cp=[490.0, 550.0, 590.0, 640.0],  # J/kgK
        name="my alloy",
        source="measured here",
    )
    corners = np.array([[-1.0, 0.0], [0.5, 0.0], [0.5, 0.4], [-1.0, 0.4]]) * 1e-3
    path = ll.sample_polyline(corners, name="hairpin", speed=0.25)
    plant = ll.make_plant("graded", path, ll.Process(material=alloy))
    camera = ll.Camera(ll.CameraSettings(pixel=50e-6, noise=2.0, delay=1, seed=7))
    image = camera.see(plant.reset())
    for k in range(len(path)):
        image = camera.see(plant.step(11.0, path.spot(k)))  # W
    print(f"camera: {image.peak.temperature:.1f} K after {len(path)} ticks on {alloy.name}")
    return image.peak.temperature


if __name__ == "__main__":
    main()
