"""WHAT WE BELIEVE: predictors, from a process alone (`twin`) or learned from episodes.

May import process, paths, data and of the plant the camera. Names are fetched from their files when first
used, so that the twin needs no network.
"""

from typing import TYPE_CHECKING

from laserloop.lazy import fetch_from

if TYPE_CHECKING:
    from laserloop.predict.correction import (
        HeatCorrection,
        HeatSamples,
        fit_correction,
        gather_samples,
        join_samples,
        load_correction,
        save_correction,
    )
    from laserloop.predict.koopman import KoopmanPredictor, fit_koopman, load_koopman, save_koopman
    from laserloop.predict.model import Model, TrainedFor, find_model, load_model, save_model, shipped_models
    from laserloop.predict.networks import (
        AffineNet,
        Fno,
        Lstm,
        MsDeepONet,
        SequenceNetwork,
        SsAr,
        SsArLoc,
        Tide,
        TideQuantile,
    )
    from laserloop.predict.predictor import AffineForecast, Forecast, Predictor
    from laserloop.predict.sequence import SequencePredictor, Sequences, join_sequences, read_record
    from laserloop.predict.training import FitSettings, fit, fit_sequences, train
    from laserloop.predict.twin import Starts, TwinPredictor, TwinSettings
    from laserloop.predict.twin.gain import GainSettings
    from laserloop.predict.window import WindowPredictor

__all__ = [
    "AffineForecast",
    "AffineNet",
    "FitSettings",
    "Fno",
    "Forecast",
    "GainSettings",
    "HeatCorrection",
    "HeatSamples",
    "KoopmanPredictor",
    "Lstm",
    "Model",
    "MsDeepONet",
    "Predictor",
    "SequenceNetwork",
    "SequencePredictor",
    "Sequences",
    "SsAr",
    "SsArLoc",
    "Starts",
    "Tide",
    "TideQuantile",
    "TrainedFor",
    "TwinPredictor",
    "TwinSettings",
    "WindowPredictor",
    "find_model",
    "fit",
    "fit_correction",
    "fit_koopman",
    "fit_sequences",
    "gather_samples",
    "join_samples",
    "join_sequences",
    "load_correction",
    "load_koopman",
    "load_model",
    "read_record",
    "save_correction",
    "save_koopman",
    "save_model",
    "shipped_models",
    "train",
]

__getattr__ = fetch_from(__name__)
