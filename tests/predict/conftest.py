"""Windows of a toy plant: T_max follows the power with a lag, and a turn of the path heats."""

import numpy as np
import pytest

from laserloop.data.windows import Windows


@pytest.fixture(scope="session")
def windows() -> Windows:
    """Four episodes of 60 states, horizon 5."""
    rng = np.random.default_rng(7)
    horizon, states, episodes = 5, 60, 4
    k = np.arange(1, states - horizon)
    ahead = k[:, None] + np.arange(horizon)
    parts = []
    for _ in range(episodes):
        power = np.clip(14 + np.cumsum(rng.normal(0, 1, states)), 0, 20)
        heading = np.cumsum(rng.normal(0, 0.2, states))
        velocity = 0.3 * np.stack((np.cos(heading), np.sin(heading)), axis=1)
        place = np.cumsum(velocity, axis=0) * 1.25e-4
        hottest = np.full(states, 600.0)
        for i in range(1, states):
            hottest[i] = 0.7 * hottest[i - 1] + 0.3 * (300 + 30 * power[i] + 40 * np.sin(2 * heading[i]))
        branch = np.concatenate((power[ahead + 1][:, :, None], place[ahead], velocity[ahead]), axis=2)
        previews = hottest[k, None] - 30.0 * np.arange(1, horizon + 1) + rng.normal(0, 3, (len(k), horizon))
        coming = hottest[ahead + 1], place[ahead + 1]
        parts.append((branch, np.column_stack((hottest[k], previews)), place[k], *coming))
    branch, temps, location, target, places = (np.concatenate(part) for part in zip(*parts, strict=True))
    return Windows(
        branch=branch,
        temps=temps,
        location=location,
        target=target,
        places=places,
        episode=np.repeat(np.arange(episodes), len(k)),
        tick=np.tile(k, episodes),
        excitation=np.zeros(len(branch), np.int64),
        geometry=np.zeros(len(branch), np.int64),
    )
