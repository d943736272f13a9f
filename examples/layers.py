"""Two layers of a small square: the plate cools, 50 µm of fresh metal come on top, the twin goes on."""

import laserloop as ll
from laserloop.control.problem import make_twin_problem
from laserloop.loop.adapters import Recoating, run_layers


def hatch(width: float = 0.8, distance: float = 0.1, lines: int = 3) -> ll.ScanPath:
    """To and fro over a square, mm."""
    rows = [((-width / 2, k * distance), (width / 2, k * distance)) for k in range(lines)]
    ends = [point for k, row in enumerate(rows) for point in (row if k % 2 == 0 else row[::-1])]
    return ll.ScanPath.from_mm(ends, speed_mm_s=304, name="hatch")


def main(picture: str | None = None) -> float:
    """Returns the highest temperature of the second layer, K."""
    process = ll.find_process("304")
    plant = ll.make_plant("graded", process)
    problem = make_twin_problem(ll.MpcProblem(window=process.window, power=process.laser.power))
    twin = ll.make_controller("twin", problem, plant=plant, process=process)
    recoating = Recoating(pause=0.1, thickness=50e-6)  # s, m
    runs = run_layers(plant, ll.Camera(), twin, [hatch(), hatch()], recoating)
    for number, run in enumerate(runs, 1):
        found = ll.score(run)
        print(f"layer {number}: {found['t_min_k']:.1f} to {found['t_max_k']:.1f} K")
    if picture:
        ll.plot(runs[-1], picture)
    return float(ll.score(runs[-1])["t_max_k"])


if __name__ == "__main__":
    main("layers.png")
