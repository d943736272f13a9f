"""WHAT WE BELIEVE: networks that predict T_max over the horizon, how they are fitted, kept and judged."""

from laserloop.surrogates.checkpoint import find_model, load_model, save_model, shipped_models
from laserloop.surrogates.errors import Errors, evaluate
from laserloop.surrogates.fit import fit
from laserloop.surrogates.fit_settings import FitSettings
from laserloop.surrogates.lstm import Lstm
from laserloop.surrogates.model import Model, Scalers
from laserloop.surrogates.ms_deeponet import MsDeepONet
from laserloop.surrogates.predictor import make_predictor
from laserloop.surrogates.ss_ar import SsAr
from laserloop.surrogates.train import train

__all__ = [
    "Errors",
    "FitSettings",
    "Lstm",
    "Model",
    "MsDeepONet",
    "Scalers",
    "SsAr",
    "evaluate",
    "find_model",
    "fit",
    "load_model",
    "make_predictor",
    "save_model",
    "shipped_models",
    "train",
]
