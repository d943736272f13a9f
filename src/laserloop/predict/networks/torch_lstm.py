"""The LSTM's loss and its gradient by hand: matrix products and gates in buffers kept for all batches.

Symbols as in lstm.py; time comes first, so that the gradients of U and W are one product over all ticks.
a  gates after σ and tanh (ticks, n, 4H)      d  ∂loss/∂(gates before them)      t  tanh c
PyTorch's own layer under autograd takes twice as long.
"""

import torch
from torch import Tensor

from laserloop.predict.networks.architecture import ROW

BUFFERS = {"a": 4, "d": 4, "h": 1, "c": 1, "t": 1}  # widths, in hidden units


class TorchLstm:
    """An LSTM for training. `weights` and `gradient` are views into flat vectors, by name."""

    def __init__(self, weights: dict[str, Tensor], gradient: dict[str, Tensor], batch: int) -> None:
        self.weights, self.gradient = weights, gradient
        self.hidden = weights["hidden.weight"].shape[1]
        self.ticks = (
            weights["input.weight"].shape[1] - ROW - 1
        )  # the trunk shows T_max and one preview a tick
        like, rows = weights["input.bias"], self.ticks * batch
        self.room = {name: like.new_empty(rows, width * self.hidden) for name, width in BUFFERS.items()}

    def predict(self, x: Tensor, y: Tensor) -> Tensor:
        """Standardised predictions (n, N_h) of at most `batch` windows."""
        n, H = len(x), self.hidden
        a, h, c, t = (self._view(name, n) for name in ("a", "h", "c", "t"))
        W, U = self.weights["input.weight"], self.weights["hidden.weight"]
        bias = self.weights["input.bias"] + self.weights["hidden.bias"]
        state = torch.addmm(bias, y, W[:, ROW:].T)  # the same at every tick
        for k in range(self.ticks):
            torch.addmm(state, x[:, ROW * k : ROW * (k + 1)], W[:, :ROW].T, out=a[k])
            if k:
                a[k].addmm_(h[k - 1], U.T)
            i, f, g, o = a[k].chunk(4, 1)
            a[k][:, : 2 * H].sigmoid_()
            g.tanh_()
            o.sigmoid_()
            torch.mul(i, g, out=c[k])
            if k:
                c[k].addcmul_(f, c[k - 1])
            torch.tanh(c[k], out=t[k])
            torch.mul(o, t[k], out=h[k])
        return (h @ self.weights["readout.weight"][0] + self.weights["readout.bias"]).T

    def measure(self, x: Tensor, y: Tensor, s: Tensor) -> Tensor:
        """The sum of squared errors, without learning from it."""
        return self.predict(x, y).sub_(s).square_().sum()

    def learn(self, x: Tensor, y: Tensor, s: Tensor) -> Tensor:
        """The mean squared error of a batch; its gradient is left in `gradient`."""
        residual = self.predict(x, y) - s
        loss = residual.square().mean()
        slope = residual.mul_(2.0 / residual.numel()).T.contiguous()
        self._backward(slope)
        n, H, gradient = len(x), self.hidden, self.gradient
        d, h = self._view("d", n), self._view("h", n)
        torch.mm(slope.view(1, -1), h.view(-1, H), out=gradient["readout.weight"])
        torch.sum(slope.view(-1), 0, keepdim=True, out=gradient["readout.bias"])
        torch.mm(d[1:].view(-1, 4 * H).T, h[:-1].view(-1, H), out=gradient["hidden.weight"])
        rows = x.view(n, self.ticks, ROW).transpose(0, 1).reshape(-1, ROW)
        gradient["input.weight"][:, :ROW] = (rows.T @ d.view(-1, 4 * H)).T  # dᵀ rows takes 8 times as long
        total = d.sum(0)
        gradient["input.weight"][:, ROW:] = (y.T @ total).T
        torch.sum(total, 0, out=gradient["input.bias"])
        gradient["hidden.bias"].copy_(gradient["input.bias"])
        return loss

    def _backward(self, slope: Tensor) -> None:
        """From ∂ of the predictions (ticks, n) to ∂ of the gates, which is left in d."""
        n = slope.shape[1]
        a, d, c, t = (self._view(name, n) for name in ("a", "d", "c", "t"))
        U, readout = self.weights["hidden.weight"], self.weights["readout.weight"]
        memory = torch.zeros_like(t[0])  # ∂c that comes from the tick after
        for k in reversed(range(self.ticks)):
            i, f, g, o = a[k].chunk(4, 1)
            di, df, dg, do = d[k].chunk(4, 1)
            dh = slope[k][:, None] * readout
            if k + 1 < self.ticks:
                dh.addmm_(d[k + 1], U)
            torch.mul(dh, t[k], out=do)
            memory += torch.ops.aten.tanh_backward(dh.mul_(o), t[k])
            torch.mul(memory, g, out=di)
            torch.mul(memory, i, out=dg)
            if k:
                torch.mul(memory, c[k - 1], out=df)
            else:
                df.zero_()
            memory *= f
            for gate, value in ((di, i), (df, f), (do, o)):
                torch.ops.aten.sigmoid_backward.grad_input(gate, value, grad_input=gate)
            torch.ops.aten.tanh_backward.grad_input(dg, g, grad_input=dg)

    def _view(self, name: str, n: int) -> Tensor:
        """A buffer for n windows, (ticks, n, width), without gaps."""
        buffer = self.room[name]
        return buffer[: self.ticks * n].view(self.ticks, n, buffer.shape[1])
