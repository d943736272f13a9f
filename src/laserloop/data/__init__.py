"""WHAT WE SAW: episodes, ensembles of them, their store on disk, and the windows that networks learn from.

May import process, paths, plant and the workers. Names are fetched from their files when first used, so that
one episode needs no store.
"""

from typing import TYPE_CHECKING

from laserloop.lazy import fetch_from

if TYPE_CHECKING:
    from laserloop.data.ensemble import (
        HOLD,
        PREVIEW,
        EnsembleSettings,
        Excitation,
        draw_power,
        lay_out,
        plan_episode,
        read_settings,
    )
    from laserloop.data.episode import Episode, simulate
    from laserloop.data.store import (
        COLUMNS,
        EpisodeStore,
        create_store,
        data_hash,
        missing,
        open_store,
        read_episode,
        record_episode,
        record_path,
        run_ensemble,
        write_episode,
    )
    from laserloop.data.windows import (
        Scaler,
        Windows,
        cut_episode,
        cut_windows,
        fit_scaler,
        join_windows,
        split_windows,
    )

__all__ = [
    "COLUMNS",
    "HOLD",
    "PREVIEW",
    "EnsembleSettings",
    "Episode",
    "EpisodeStore",
    "Excitation",
    "Scaler",
    "Windows",
    "create_store",
    "cut_episode",
    "cut_windows",
    "data_hash",
    "draw_power",
    "fit_scaler",
    "join_windows",
    "lay_out",
    "missing",
    "open_store",
    "plan_episode",
    "read_episode",
    "read_settings",
    "record_episode",
    "record_path",
    "run_ensemble",
    "simulate",
    "split_windows",
    "write_episode",
]

__getattr__ = fetch_from(__name__)
