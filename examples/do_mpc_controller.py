"""A controller of do-mpc (pip install do-mpc) whose states are the peak and what its model missed of it."""

from do_mpc.controller import MPC
from do_mpc.model import Model

import laserloop as ll
from laserloop.loop.adapters import MakeStepController

KEPT, PER_WATT, AMBIENT = 0.5, 43.0, 300.0  # of the heat from tick to tick; K/W in the long run; K


def heat(T: float, P: float) -> float:
    """The peak a tick later, K, as a plate would have it that is one lump."""
    return KEPT * T + (1.0 - KEPT) * (AMBIENT + PER_WATT * P)


def make_planner() -> MPC:
    """Five ticks ahead, the middle of the window, a price on changes of power."""
    model = Model("discrete")
    T, missed = model.set_variable("_x", "T"), model.set_variable("_x", "missed")
    P = model.set_variable("_u", "P")
    model.set_rhs("T", heat(T, P) + missed)
    model.set_rhs("missed", missed)
    model.setup()
    mpc = MPC(model)
    mpc.settings.n_horizon, mpc.settings.t_step = 5, 125e-6
    mpc.settings.supress_ipopt_output()
    mpc.set_objective(lterm=(T - 780.0) ** 2, mterm=(T - 780.0) ** 2)
    mpc.set_rterm(P=10.0)
    mpc.bounds["lower", "_u", "P"], mpc.bounds["upper", "_u", "P"] = 0.0, 20.0
    mpc.setup()
    return mpc


def main(picture: str | None = None) -> float:
    """Returns the highest peak on a path with a sharp turn, K."""
    peaks = [AMBIENT]

    def describe(image: ll.Image, preview: ll.Preview) -> list[float]:
        peaks.append(image.peak.temperature)
        return [peaks[-1], peaks[-1] - heat(peaks[-2], preview.power)]

    controller = MakeStepController(make_planner(), describe, name="do-mpc", memory=1)  # the last power
    path = ll.find_path("diagonal", ticks=100)
    runs = [ll.close_loop(controller, path), ll.close_loop("twin", path)]
    for run, found in zip(runs, scores := [ll.score(run) for run in runs], strict=True):
        print(f"{run.controller}: {found['t_min_k']:.0f} to {found['t_max_k']:.0f} K")
    if picture:
        ll.plot(runs[0], picture)
    return float(scores[0]["t_max_k"])


if __name__ == "__main__":
    main("do_mpc_controller.png")
