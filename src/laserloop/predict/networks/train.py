"""Training from a store of episodes: cut its windows, fit, keep what the model was made from."""

from pathlib import Path

from laserloop.data.ensemble import EnsembleSettings
from laserloop.data.store import data_hash, open_store
from laserloop.data.windows import Windows, cut_windows
from laserloop.predict.networks.architecture import Architecture
from laserloop.predict.networks.fit import Report, fit
from laserloop.predict.networks.fit_settings import FitSettings
from laserloop.predict.networks.model import Model
from laserloop.predict.trained_for import OWN_READING, TrainedFor
from laserloop.process.camera import Sampling


def train(
    data: str | Path,
    architecture: Architecture,
    settings: FitSettings,
    out: str | Path,
    *,
    reading: str | None = None,
    sampling: Sampling | None = None,
    report: Report | None = None,
) -> Model:
    """Fit `architecture` to all windows of the store `data` and save the model in the folder `out`.

    `reading`: T_max is the hottest node or the peak between nodes, that of the store's plant unless given;
    `sampling`: how previews are read, by the nearest node, or with the peak by the C¹ cubic unless given.
    Started again with the same arguments it goes on, or loads what is finished.
    """
    store = open_store(data)
    reading = reading or OWN_READING[store.settings.plant]
    sampling = sampling or ("smooth" if reading == "peak" else "nearest")
    windows = cut_windows(store, architecture.horizon, reading=reading, sampling=sampling)
    origin = {"ensemble": store.settings.to_json(), "ensemble_hash": data_hash(store)}
    made_for = describe_data(store.settings, windows, reading=reading, sampling=sampling)
    return fit(
        windows, architecture, settings, out=Path(out), report=report, data=origin, trained_for=made_for
    )


def describe_data(
    settings: EnsembleSettings, windows: Windows, *, reading: str = "node", sampling: Sampling = "nearest"
) -> TrainedFor:
    """What a model trained on the windows of an ensemble is made for."""
    x, y = windows.branch[:, 0, 1], windows.branch[:, 0, 2]
    return TrainedFor(
        process=settings.process,
        plant=settings.plant,
        reading=reading,
        sampling=sampling,
        area=(float(x.min()), float(x.max()), float(y.min()), float(y.max())),
        temperatures=(float(windows.target.min()), float(windows.target.max())),
    )
