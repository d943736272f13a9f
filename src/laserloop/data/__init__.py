"""WHAT WE SAW: ensembles of episodes, their store on disk, and the windows that a surrogate learns from."""

from typing import TYPE_CHECKING

from laserloop.lazy import fetch_from

if TYPE_CHECKING:
    from laserloop.data.ensemble import EnsembleSettings, EpisodePlan, Geometry, lay_out, plan_episode
    from laserloop.data.ensemble_file import read_settings
    from laserloop.data.record import COLUMNS, EpisodeRecord, record_episode, record_path
    from laserloop.data.run import Tally, run_ensemble
    from laserloop.data.scaling import Scaler, fit_scaler
    from laserloop.data.store import (
        EpisodeStore,
        create_store,
        data_hash,
        missing,
        open_store,
        read_episode,
        write_episode,
    )
    from laserloop.data.windows import Windows, cut_episode, cut_windows, split_windows

__all__ = [
    "COLUMNS",
    "EnsembleSettings",
    "EpisodePlan",
    "EpisodeRecord",
    "EpisodeStore",
    "Geometry",
    "Scaler",
    "Tally",
    "Windows",
    "create_store",
    "cut_episode",
    "cut_windows",
    "data_hash",
    "fit_scaler",
    "lay_out",
    "missing",
    "open_store",
    "plan_episode",
    "read_episode",
    "read_settings",
    "record_episode",
    "record_path",
    "run_ensemble",
    "split_windows",
    "write_episode",
]

__getattr__ = fetch_from(
    __name__,
    {
        "ensemble": ("EnsembleSettings", "EpisodePlan", "Geometry", "lay_out", "plan_episode"),
        "ensemble_file": ("read_settings",),
        "record": ("COLUMNS", "EpisodeRecord", "record_episode", "record_path"),
        "run": ("Tally", "run_ensemble"),
        "scaling": ("Scaler", "fit_scaler"),
        "store": (
            "EpisodeStore",
            "create_store",
            "data_hash",
            "missing",
            "open_store",
            "read_episode",
            "write_episode",
        ),
        "windows": ("Windows", "cut_episode", "cut_windows", "split_windows"),
    },
)
