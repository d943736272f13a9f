"""Training from a store of episodes: cut its windows, fit, keep what the model was made from."""

from pathlib import Path

from laserloop.data.store import data_hash, open_store
from laserloop.data.windows import cut_windows
from laserloop.predict.networks.architecture import Architecture
from laserloop.predict.networks.fit import Report, fit
from laserloop.predict.networks.fit_settings import FitSettings
from laserloop.predict.networks.model import Model


def train(
    data: str | Path,
    architecture: Architecture,
    settings: FitSettings,
    out: str | Path,
    *,
    reading: str = "node",
    smooth: bool = False,
    report: Report | None = None,
) -> Model:
    """Fit `architecture` to all windows of the store `data` and save the model in the folder `out`.

    `reading`: T_max is the hottest node, as in the paper, or the peak between nodes; `smooth`: previews by
    the C¹ cubic. Started again with the same arguments it goes on, or loads what is finished.
    """
    store = open_store(data)
    windows = cut_windows(store, architecture.horizon, reading=reading, smooth=smooth)
    origin = {
        "ensemble": store.settings.to_json(),
        "ensemble_hash": data_hash(store),
        "reading": reading,
        "smooth": smooth,
    }
    return fit(windows, architecture, settings, out=Path(out), report=report, data=origin)
