"""The network of a policy in PyTorch, while it learns."""

from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import nn

from laserloop.control.policy import INPUTS, Layers, Policy

FloatArray = NDArray[np.float32]

LEAST = 0.03  # spread of an input; what varies less is not blown up


def make_network(width: int) -> nn.Sequential:
    """Two hidden layers with tanh."""
    return nn.Sequential(
        nn.Linear(INPUTS, width), nn.Tanh(), nn.Linear(width, width), nn.Tanh(), nn.Linear(width, 1)
    )


def measure(seen: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Mean and spread of each input."""
    return seen.mean(axis=0), np.maximum(seen.std(axis=0), np.float32(LEAST))


def freeze(network: nn.Module, mean: FloatArray, spread: FloatArray, about: dict[str, Any]) -> Policy:
    """The same as a policy that acts without PyTorch, on inputs as they are."""
    linear = [module for module in network.modules() if isinstance(module, nn.Linear)]
    layers = [(to_numpy(module.weight), to_numpy(module.bias)) for module in linear]
    weight, bias = layers[0]
    first = (weight / spread).astype(np.float32)
    layers[0] = first, (bias - first @ mean).astype(np.float32)
    whole: Layers = tuple(layers)
    return Policy(layers=whole, about=about)


def to_numpy(tensor: torch.Tensor) -> FloatArray:
    """A copy that stands alone."""
    return np.array(tensor.detach().cpu().numpy(), np.float32)
