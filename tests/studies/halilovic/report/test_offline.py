"""The figure of offline validation."""

import numpy as np

from laserloop.studies.halilovic.figures import draw_tracking


def test_each_trajectory_has_its_panel_with_its_error() -> None:
    row = {"path": "spiral", "excitation": "persistent", "horizon": 5}
    true = np.linspace(700.0, 800.0, 20)
    row |= {"tick": list(range(2, 22)), "true_k": true.tolist(), "predicted_k": (true + 3.0).tolist()}
    figure = draw_tracking([row, {**row, "path": "diagonal"}], title="corner")
    first, second = figure.axes
    assert first.get_title(loc="left") == "spiral, persistent: RMSE 3.0 K"
    assert second.get_title(loc="left").startswith("diagonal")
    plant, model, begins = first.lines
    assert np.allclose(np.asarray(model.get_ydata()) - np.asarray(plant.get_ydata()), 3.0)
    assert np.asarray(begins.get_xdata()).shape == (4,)
