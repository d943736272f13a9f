"""WHAT WE BELIEVE: networks that predict T_max over the horizon, how they are fitted, kept and judged."""

from laserloop.predict.networks.checkpoint import find_model, load_model, save_model, shipped_models
from laserloop.predict.networks.errors import Errors, evaluate
from laserloop.predict.networks.fit import fit
from laserloop.predict.networks.fit_settings import FitSettings
from laserloop.predict.networks.forecast import NetworkForecast, NetworkPredictor
from laserloop.predict.networks.lstm import Lstm
from laserloop.predict.networks.model import Model, Scalers
from laserloop.predict.networks.ms_deeponet import MsDeepONet
from laserloop.predict.networks.predictor import make_predictor
from laserloop.predict.networks.ss_ar import SsAr
from laserloop.predict.networks.ss_ar_loc import SsArLoc
from laserloop.predict.networks.train import train

__all__ = [
    "Errors",
    "FitSettings",
    "Lstm",
    "Model",
    "MsDeepONet",
    "NetworkForecast",
    "NetworkPredictor",
    "Scalers",
    "SsAr",
    "SsArLoc",
    "evaluate",
    "find_model",
    "fit",
    "load_model",
    "make_predictor",
    "save_model",
    "shipped_models",
    "train",
]
