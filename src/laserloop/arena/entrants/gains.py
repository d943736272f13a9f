"""Shipped gains for a task, tuned on the training paths of the undisturbed plant."""

from laserloop.arena.entrant import Seat
from laserloop.bad_input import BadInput
from laserloop.control.simple import FeedforwardGains, Gains, PiGains, find_gains


def find_seat_gains(seat: Seat) -> Gains:
    """Those of the process, whatever the path's speed."""
    gains = find_gains("graded", seat.process)
    if gains is None:
        raise BadInput(
            f"no gains ship for the process {seat.process.name}: run benchmarks/tune_baselines.py graded "
            f"--process {seat.process.name}"
        )
    return gains


def find_pi_gains(seat: Seat) -> PiGains:
    """Of them, those of PI."""
    gains = find_seat_gains(seat).pi
    assert gains is not None  # what ships was tuned whole
    return gains


def find_feedforward_gains(seat: Seat) -> FeedforwardGains:
    """Of them, those of feed-forward."""
    gains = find_seat_gains(seat).feedforward
    assert gains is not None  # likewise
    return gains
