"""The DeepONets' loss and its gradient by hand: a dozen matrix products into buffers kept for all batches.

x, y features      s target      g ∂loss/∂prediction      B (n, m, p) branch      T (n, p) trunk
loss = mean (B·T + b − s)²      ∂B_ij = g_i T_j      ∂T_j = Σ_i g_i B_ij
Autograd on the same network spends a third of its time on bookkeeping and fresh memory.
"""

import torch
from torch import Tensor

from laserloop.predict.networks.deeponet import LAYERS

HIDDEN = LAYERS - 1


class TorchDeepONet:
    """A DeepONet for training. `weights` and `gradient` are views into flat vectors, by name."""

    def __init__(self, weights: dict[str, Tensor], gradient: dict[str, Tensor], batch: int) -> None:
        self.weights, self.gradient = weights, gradient
        self.m, self.p = len(weights["bias"]), len(weights["trunk.2.bias"])
        like = weights["bias"]
        self.outputs = {
            f"{net}.{layer}": like.new_empty(batch, len(weights[f"{net}.{layer}.bias"]))
            for net in ("branch", "trunk")
            for layer in range(LAYERS)
        }
        self.backward = {name: torch.empty_like(output) for name, output in self.outputs.items()}
        self.products = like.new_empty(batch, self.m, self.p)

    def predict(self, x: Tensor, y: Tensor) -> Tensor:
        """Standardised predictions (n, m) of at most `batch` windows."""
        n = len(x)
        B = self._forward("branch", x).view(n, self.m, self.p)
        T = self._forward("trunk", y)
        torch.mul(B, T[:, None], out=self.products[:n])
        return self.products[:n].sum(2).add_(self.weights["bias"])

    def measure(self, x: Tensor, y: Tensor, s: Tensor) -> Tensor:
        """The sum of squared errors, without learning from it."""
        return self.predict(x, y).sub_(s).square_().sum()

    def learn(self, x: Tensor, y: Tensor, s: Tensor) -> Tensor:
        """The mean squared error of a batch; its gradient is left in `gradient`."""
        n = len(x)
        residual = self.predict(x, y).sub_(s)
        loss = residual.square().mean()
        g = residual.mul_(2.0 / residual.numel())
        B = self.outputs["branch.2"][:n].view(n, self.m, self.p)
        T = self.outputs["trunk.2"][:n]
        torch.mul(g[:, :, None], T[:, None], out=self.backward["branch.2"][:n].view(n, self.m, self.p))
        torch.bmm(g[:, None], B, out=self.backward["trunk.2"][:n, None])
        torch.sum(g, 0, out=self.gradient["bias"])
        self._backward("branch", x)
        self._backward("trunk", y)
        return loss

    def _forward(self, net: str, x: Tensor) -> Tensor:
        for layer in range(LAYERS):
            name = f"{net}.{layer}"
            weight, bias = self.weights[f"{name}.weight"], self.weights[f"{name}.bias"]
            x = torch.addmm(bias, x, weight.T, out=self.outputs[name][: len(x)])
            if layer < HIDDEN:
                torch.relu_(x)
        return x

    def _backward(self, net: str, x: Tensor) -> None:
        """From ∂ of the net's output, which lies in `backward`, to ∂ of its weights."""
        n = len(x)
        for layer in reversed(range(LAYERS)):
            name, below = f"{net}.{layer}", f"{net}.{layer - 1}"
            d = self.backward[name][:n]
            torch.sum(d, 0, out=self.gradient[f"{name}.bias"])
            slope = self.gradient[f"{name}.weight"]
            if not layer:
                slope.copy_((x.T @ d).T)  # dᵀx takes up to 8 times as long where x is narrow
                return
            entering = self.outputs[below][:n]
            torch.mm(d.T, entering, out=slope)
            passed = torch.mm(d, self.weights[f"{name}.weight"], out=self.backward[below][:n])
            torch.ops.aten.threshold_backward.grad_input(passed, entering, 0, grad_input=passed)
