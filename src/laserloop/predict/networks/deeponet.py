"""The operator network under both DeepONets: a branch, a trunk, and their inner product.

x (n, a) branch features      y (n, b) trunk features      w width      p basis      m outputs
B = branch(x) (n, m, p)       T = trunk(y) (n, p)          s_i = Σ_j B_ij T_j + b_i
"""

import numpy as np
from numpy.typing import NDArray

from laserloop.predict.networks.architecture import FloatArray, Weights, draw_uniform

LAYERS = 3  # two hidden ones with ReLU and a linear one
BRANCH, TRUNK = (
    tuple((f"{net}.{layer}.weight", f"{net}.{layer}.bias") for layer in range(LAYERS))
    for net in ("branch", "trunk")
)


def deeponet_shapes(a: int, b: int, m: int, w: int, p: int) -> dict[str, tuple[int, ...]]:
    """Weights (out, in) and biases of both networks, then the bias b."""
    shapes: dict[str, tuple[int, ...]] = {}
    for net, sizes in (("branch", (a, w, w, m * p)), ("trunk", (b, w, w, p))):
        for layer in range(LAYERS):
            shapes[f"{net}.{layer}.weight"] = (sizes[layer + 1], sizes[layer])
            shapes[f"{net}.{layer}.bias"] = (sizes[layer + 1],)
    return {**shapes, "bias": (m,)}


def draw_deeponet(
    rng: np.random.Generator, shapes: dict[str, tuple[int, ...]]
) -> dict[str, NDArray[np.float32]]:
    """Fresh layers, each uniform in ±1/√inputs; b starts at zero."""
    weights = {"bias": np.zeros(shapes["bias"], np.float32)}
    for name, shape in shapes.items():
        if name != "bias":
            fan_in = shapes[name.replace("bias", "weight")][1]
            weights[name] = draw_uniform(rng, shape, fan_in)
    return {name: weights[name] for name in shapes}


def deeponet(weights: Weights, x: FloatArray, y: FloatArray) -> FloatArray:
    """s (n, m) of standardised features."""
    B = perceptron(weights, BRANCH, x)
    T = perceptron(weights, TRUNK, y)
    bias = weights["bias"]
    s: FloatArray = (B.reshape(-1, len(bias), T.shape[1]) @ T[:, :, np.newaxis])[:, :, 0]
    s += bias
    return s


def perceptron(weights: Weights, layers: tuple[tuple[str, str], ...], x: FloatArray) -> FloatArray:
    """W₂ ReLU(W₁ ReLU(W₀ x + b₀) + b₁) + b₂."""
    for weight, bias in layers:
        x = x @ weights[weight].T
        x += weights[bias]
        if weight is not layers[-1][0]:
            np.maximum(x, 0.0, out=x)
    return x
