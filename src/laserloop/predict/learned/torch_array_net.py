"""An array network in PyTorch: the same formula, its gradient by autograd."""

import torch
from torch import Tensor

from laserloop.predict.learned.array_net import ArrayNet


class TorchArrayNet:
    """For training. `weights` and `gradient` are views into flat vectors, by name."""

    def __init__(self, net: ArrayNet, weights: dict[str, Tensor], gradient: dict[str, Tensor]) -> None:
        self.net, self.weights, self.gradient = net, weights, gradient

    def predict(self, x: Tensor, y: Tensor) -> Tensor:
        """Standardised predictions (n, outputs)."""
        found: Tensor = self.net.forward(torch, self.weights, x, y)
        return found

    def learn(self, x: Tensor, y: Tensor, s: Tensor) -> Tensor:
        """The mean loss of a batch; its gradient is left in `gradient`."""
        with torch.enable_grad():
            leaves = {name: weight.detach().requires_grad_() for name, weight in self.weights.items()}
            loss = self._weigh(self.net.forward(torch, leaves, x, y), s).mean()
            slopes = torch.autograd.grad(loss, list(leaves.values()))
        for name, slope in zip(leaves, slopes, strict=True):
            self.gradient[name].copy_(slope)
        return loss.detach()

    def measure(self, x: Tensor, y: Tensor, s: Tensor) -> Tensor:
        """The sum of the losses, without learning from it."""
        return self._weigh(self.predict(x, y), s).sum()

    def _weigh(self, found: Tensor, s: Tensor) -> Tensor:
        """The squared error, or the pinball loss of each quantile."""
        if not self.net.quantiles:
            return (found - s).square()
        under = s - found
        width = s.shape[1] // len(self.net.quantiles)
        level = torch.tensor(self.net.quantiles, dtype=s.dtype).repeat_interleave(width)
        return torch.maximum(level * under, (level - 1.0) * under)
