"""The reward of a tick: how far the peak is from the middle of the window.

e  (T_max − middle) / half the window's width, so that |e| = 1 on its edges
"""

import numpy as np
from numpy.typing import NDArray

from laserloop.control.policy import Scales

FloatArray = NDArray[np.float64]

WORST = 10.0  # of a tick: whoever is further away loses no more, so that the start is no catastrophe


def find_reward(T: FloatArray, lit: NDArray[np.bool_], scales: Scales) -> FloatArray:
    """−min(e², WORST) of each lit tick; a dark one gives nothing."""
    e = (T - scales.middle) / scales.half_width
    reward: FloatArray = np.where(lit, -np.minimum(e**2, WORST), 0.0)
    return reward
