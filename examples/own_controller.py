"""An integral controller of your own beside the PI loop that ships, on the plant graded."""

import laserloop as ll


class Integral:
    """Raises the power while the peak is colder than wanted, and lowers it while it is hotter."""

    name = "integral"
    horizon, memory = 1, 0  # ticks ahead and behind that it wants to see

    def __init__(self, wanted: float, gain: float) -> None:
        self.wanted, self.gain = wanted, gain  # K, W/K and tick
        self.reset()

    def reset(self) -> None:
        """Begin with what a straight line needs."""
        self.power = 11.0  # W

    def act(self, image: ll.Image | None, preview: ll.Preview) -> ll.Action:
        """Without an image, as before."""
        if image is not None:
            self.power += self.gain * (self.wanted - image.peak.temperature)
        return ll.Action(power=self.power, status=ll.Status.SOLVED)


def main(picture: str | None = None) -> float:
    """Returns the highest temperature under the own controller, K."""
    path = ll.find_path("diagonal", ticks=80)
    found = {}
    for controller in (Integral(wanted=780.0, gain=0.02), "pi"):
        run = ll.close_loop(controller, path, plant="graded")
        found[run.controller] = ll.score(run)["t_max_k"]
        print(f"{run.controller}: at most {found[run.controller]:.1f} K")
        if picture and run.controller == "integral":
            ll.plot(run, picture)
    return float(found["integral"])


if __name__ == "__main__":
    main("own_controller.png")
