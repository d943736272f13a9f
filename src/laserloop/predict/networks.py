"""Networks: frozen settings that know their weights, what they read and one formula, for NumPy and PyTorch.

xp  numpy or torch      x, y  features      s  outputs, all (n, features) and standardised
n  windows      N  horizon, ticks      w  units of a layer
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from itertools import accumulate, pairwise
from math import prod
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from laserloop.bad_input import BadInput
from laserloop.data.store import PATCH_SIZE

FloatArray = NDArray[np.float64]
Weights = Mapping[str, Any]  # float32 as trained and stored, double in `Model`
Shapes = dict[str, tuple[int, ...]]
Evaluate = Callable[[FloatArray, FloatArray], FloatArray]

ROW = 5  # power, position, velocity: one row of the branch input
PLACE = slice(1, 3)  # of the beam in a row
LONGEST_HORIZON = 100  # ticks
WIDEST = 4096  # units of a layer
TRUNKS = ("temps", "loc", "both")
BRANCH, TRUNK = (  # the layers of both parts of a DeepONet
    tuple((f"{part}.{layer}.weight", f"{part}.{layer}.bias") for layer in range(3))
    for part in ("branch", "trunk")
)

# What a network with a history reads, side by side (sequence.py says how).
HISTORY, HORIZON = 10, 8  # ticks
SIZES = {
    "heat": HISTORY,
    "powers": HISTORY,
    "behind": 2 * HISTORY,
    "ahead": 2 * HORIZON,
    "coming": HORIZON,
    "patch": PATCH_SIZE**2,
}
PLACES = {
    name: slice(last - size, last)
    for (name, size), last in zip(SIZES.items(), accumulate(SIZES.values()), strict=True)
}
FEATURES = sum(SIZES.values())
KNOWN = 4  # numbers of a coming tick: power, way along and aside, temperature there
PAD = 2  # points by which a patch is widened on either side
SIDE = PATCH_SIZE + 2 * PAD


class Network:
    """The weights are kept outside and handed in."""

    __slots__ = ()
    name: ClassVar[str]
    quantiles: ClassVar[tuple[float, ...]] = ()  # of each tick, one after another in s; none: the mean

    def shapes(self) -> Shapes:
        """The shape of every weight, by name, in the order they are drawn and stored."""
        raise NotImplementedError

    def forward(self, xp: Any, weights: Weights, x: Any, y: Any) -> Any:
        """One evaluation, s."""
        raise NotImplementedError

    def sizes(self) -> tuple[int, int, int]:
        """How many features x and y, and how many outputs."""
        raise NotImplementedError

    def draw_weights(self, rng: np.random.Generator) -> dict[str, NDArray[np.float32]]:
        """Fresh weights, uniform in ±1/√inputs as in PyTorch; a bias of the outputs alone starts at zero."""
        shapes, drawn = self.shapes(), {}
        for name, shape in shapes.items():
            if name == "bias":
                drawn[name] = np.zeros(shape, np.float32)
            else:
                inputs = shapes[name.removesuffix("bias") + "weight"] if name.endswith("bias") else shape
                drawn[name] = _draw_uniform(rng, shape, prod(inputs[1:]))
        return drawn


class WindowNetwork(Network):
    """Predicts T_max over the horizon from a plan and the thermal state now: the paper's kind."""

    __slots__ = ()
    horizon: int  # ticks

    def sizes(self) -> tuple[int, int, int]:
        """Branch features, trunk features and outputs of one evaluation."""
        n = self.horizon
        x, y = self.select(np.zeros((1, n, ROW)), np.zeros((1, 1 + n)), np.zeros((1, 2)))
        return x.shape[1], y.shape[1], self.select_target(np.zeros((1, n)), np.zeros((1, n, 2))).shape[1]

    def select(self, branch: FloatArray, temps: FloatArray, location: FloatArray) -> tuple[FloatArray, ...]:
        """The features x and y that one evaluation reads from windows."""
        raise NotImplementedError

    def select_target(self, target: FloatArray, offsets: FloatArray) -> FloatArray:
        """What one evaluation is trained to give for windows with this target: all of the horizon.

        `offsets` (n, N, 2), m: where T_max(t_{k+i}) is, seen from ξ_{k+i−1}.
        """
        return target

    def predict(
        self, evaluate: Evaluate, branch: FloatArray, temps: FloatArray, location: FloatArray
    ) -> FloatArray:
        """The whole horizon (n, N), K, by as many evaluations (raw features in, K out) as it takes."""
        return evaluate(*self.select(branch, temps, location))


@dataclass(frozen=True, slots=True, kw_only=True)
class _DeepONet(WindowNetwork):
    """A branch of the planned actuation times a trunk of the thermal state.

    B = branch(x) (n, m, p)      T = trunk(y) (n, p)      s_i = Σ_j B_ij T_j + b_i
    """

    horizon: int = 5  # ticks; of one that is fed its own predictions, only `predict` knows it
    width: int = 128  # units of each hidden layer
    basis: int = 100  # p, terms of the inner product

    def __post_init__(self) -> None:
        _check_sizes(self)

    def shapes(self) -> Shapes:
        """Branch and trunk, two hidden layers each, then the bias."""
        (a, b, m), w, p = self.sizes(), self.width, self.basis
        layers = _dense_shapes("branch", a, w, w, m * p) | _dense_shapes("trunk", b, w, w, p)
        return {**layers, "bias": (m,)}

    def forward(self, xp: Any, weights: Weights, x: Any, y: Any) -> Any:
        """s_i = Σ_j B_ij(x) T_j(y) + b_i."""
        B, T = (_dense(xp, weights, name, z, 3, _rectify) for name, z in (("branch", x), ("trunk", y)))
        bias = weights["bias"]
        return (B.reshape(-1, len(bias), T.shape[1]) * T[:, None]).sum(2) + bias


@dataclass(frozen=True, slots=True, kw_only=True)
class MsDeepONet(_DeepONet):
    """MS-DeepONet, the paper's: the whole horizon from all rows of actuation and the thermal state now."""

    name: ClassVar[str] = "ms-deeponet"
    trunk: str = "temps"  # temps: T_max and previews; loc: T_max and where it is; both: all of these

    def __post_init__(self) -> None:
        _DeepONet.__post_init__(self)
        if self.trunk not in TRUNKS:
            raise BadInput(f"the trunk must be one of {', '.join(TRUNKS)}, got {self.trunk!r}: choose one")

    @property
    def seen(self) -> range | tuple[int, ...]:
        """The entries that the trunk reads of temperatures (1 + N) and peak (2), side by side."""
        if self.trunk == "loc":
            return 0, 1 + self.horizon, 2 + self.horizon
        return range(3 + self.horizon if self.trunk == "both" else 1 + self.horizon)

    def select(self, branch: FloatArray, temps: FloatArray, location: FloatArray) -> tuple[FloatArray, ...]:
        """All branch rows side by side; the trunk's temperatures and, if it wants it, the peak's place."""
        state = np.concatenate((temps, location), axis=1)
        return branch.reshape(-1, ROW * self.horizon), state.take(self.seen, axis=1)


@dataclass(frozen=True, slots=True, kw_only=True)
class SsAr(_DeepONet):
    """SS-AR: reads one row of actuation and T_max, and is fed its own predictions, so errors compound."""

    name: ClassVar[str] = "ss-ar"

    def select(self, branch: FloatArray, temps: FloatArray, location: FloatArray) -> tuple[FloatArray, ...]:
        """The first row and T_max."""
        return branch[:, 0], temps[:, :1]

    def select_target(self, target: FloatArray, offsets: FloatArray) -> FloatArray:
        """The first tick."""
        return target[:, :1]

    def predict(
        self, evaluate: Evaluate, branch: FloatArray, temps: FloatArray, location: FloatArray
    ) -> FloatArray:
        """Tick by tick, each from the prediction of the one before."""
        hottest, ticks = temps[:, :1], []
        for i in range(self.horizon):
            hottest = evaluate(branch[:, i], hottest)
            ticks.append(hottest)
        return np.concatenate(ticks, axis=1)


@dataclass(frozen=True, slots=True, kw_only=True)
class SsArLoc(_DeepONet):
    """The paper's outlook: gives (T_max, X_max, Y_max), so that a rollout follows the moving peak.

    Places are those of the peak seen from where the beam is when a tick begins.
    """

    name: ClassVar[str] = "ss-ar-loc"

    def select(self, branch: FloatArray, temps: FloatArray, location: FloatArray) -> tuple[FloatArray, ...]:
        """The first row; T_max and where it is from the beam."""
        return branch[:, 0], np.concatenate((temps[:, :1], location - branch[:, 0, PLACE]), axis=1)

    def select_target(self, target: FloatArray, offsets: FloatArray) -> FloatArray:
        """The first tick: T_max and where it is."""
        return np.concatenate((target[:, :1], offsets[:, 0]), axis=1)

    def predict(
        self, evaluate: Evaluate, branch: FloatArray, temps: FloatArray, location: FloatArray
    ) -> FloatArray:
        """Tick by tick, each from the peak that the one before predicts, seen from the beam."""
        hottest, place, ticks = temps[:, :1], location, []
        for i in range(self.horizon):
            beam = branch[:, i, PLACE]
            state = evaluate(branch[:, i], np.concatenate((hottest, place - beam), axis=1))
            hottest, place = state[:, :1], beam + state[:, 1:]
            ticks.append(hottest)
        return np.concatenate(ticks, axis=1)


@dataclass(frozen=True, slots=True, kw_only=True)
class Lstm(WindowNetwork):
    """One recurrent layer reads the plan row by row, the thermal state beside each; a linear read-out.

    z  one row and the trunk's temperatures      h, c (n, hidden) output and memory
    i, f, g, o = W z + U h + b + b′, four gates of `hidden` rows each, in this order
    c ← σ(f) c + σ(i) tanh(g)      h ← σ(o) tanh(c)      s_k = r · h_k + q
    """

    name: ClassVar[str] = "lstm"
    horizon: int = 5  # ticks
    hidden: int = 128  # units of the layer

    def __post_init__(self) -> None:
        _check_sizes(self)

    def shapes(self) -> Shapes:
        """The shape of every weight, by name."""
        gates = 4 * self.hidden
        return {
            "input.weight": (gates, ROW + 1 + self.horizon),
            "hidden.weight": (gates, self.hidden),
            "input.bias": (gates,),
            "hidden.bias": (gates,),
            "readout.weight": (1, self.hidden),
            "readout.bias": (1,),
        }

    def select(self, branch: FloatArray, temps: FloatArray, location: FloatArray) -> tuple[FloatArray, ...]:
        """All branch rows side by side, and the trunk's temperatures."""
        return branch.reshape(-1, ROW * self.horizon), temps

    def draw_weights(self, rng: np.random.Generator) -> dict[str, NDArray[np.float32]]:
        """Fresh weights, all by the size of the layer."""
        return {name: _draw_uniform(rng, shape, self.hidden) for name, shape in self.shapes().items()}

    def forward(self, xp: Any, weights: Weights, x: Any, y: Any) -> Any:
        """s_k = r · h_k + q for every tick k."""
        W, U, H = weights["input.weight"], weights["hidden.weight"], self.hidden
        # The state is the same at every tick.
        state = _linear(xp, y, W[:, ROW:], weights["input.bias"] + weights["hidden.bias"])
        ticks, h, c = [], None, None
        for k in range(self.horizon):
            gates = _linear(xp, x[:, ROW * k : ROW * (k + 1)], W[:, :ROW], state)
            gates = gates if h is None else _linear(xp, h, U, gates)
            i, f, o = (_logistic(xp, gates[:, n * H : (n + 1) * H]) for n in (0, 1, 3))
            entering = i * xp.tanh(gates[:, 2 * H : 3 * H])
            c = entering if c is None else f * c + entering
            h = o * xp.tanh(c)
            ticks.append(_linear(xp, h, weights["readout.weight"], weights["readout.bias"]))
        return xp.concatenate(ticks, 1)


class SequenceNetwork(Network):
    """Predicts T_max over `HORIZON` from a plan and what sequence.py sees of the past and of the way."""

    __slots__ = ()
    affine: ClassVar[bool]  # s is affine in x

    def sizes(self) -> tuple[int, int, int]:
        """Powers of the plan, features and outputs."""
        return HORIZON, FEATURES, HORIZON * max(1, len(self.quantiles))


@dataclass(frozen=True, slots=True, kw_only=True)
class AffineNet(SequenceNetwork):
    """Two hidden layers read all but the patch, and give a base and slopes: one QP a tick."""

    name: ClassVar[str] = "affine-history"
    affine: ClassVar[bool] = True
    width: int = 96  # units of a hidden layer

    def shapes(self) -> Shapes:
        """The shape of every weight, by name."""
        return _dense_shapes("net", FEATURES - SIZES["patch"], self.width, self.width, _AFFINE)

    def forward(self, xp: Any, weights: Weights, x: Any, y: Any) -> Any:
        """b(y) + G(y) x."""
        seen = xp.concatenate(_pick(y, "heat", "powers", "behind", "ahead", "coming"), 1)
        return _apply_affine(xp, _dense(xp, weights, "net", seen, 3), x)


@dataclass(frozen=True, slots=True, kw_only=True)
class Fno(SequenceNetwork):
    """A small Fourier neural operator on the surface patch, with a control-affine head.

    v ← tanh(W v + F⁻¹ R F v)      v (n, channels, 9, 9)      F the lowest modes of the patch, R learned

    The patch is not periodic: it is widened by holding its edge, as operators for such fields do. A hidden
    layer reads both Fourier layers together with path and powers.
    """

    name: ClassVar[str] = "fno"
    affine: ClassVar[bool] = True
    channels: int = 4
    modes: int = 2  # of each sign along a side
    width: int = 64

    def shapes(self) -> Shapes:
        """The shape of every weight, by name."""
        waves, c = 2 * self.modes + 1, self.channels
        spectral: Shapes = {}
        for layer in range(2):
            spectral[f"fourier.{layer}.weight"] = waves * waves, c, c
            spectral |= _dense_shapes(f"local.{layer}", c, c)
        into = c * waves * waves + sum(SIZES[name] for name in ("heat", "powers", "ahead", "coming"))
        return {
            **_dense_shapes("lift", 1, c),
            **spectral,
            **_dense_shapes("net", into, self.width, self.width, _AFFINE),
        }

    def forward(self, xp: Any, weights: Weights, x: Any, y: Any) -> Any:
        """b(y) + G(y) x."""
        (patch,) = _pick(y, "patch")
        n = len(y)
        pad, modes = (_as(xp, array, y) for array in (_make_pad(), _make_modes(self.modes)))
        field = pad @ patch.reshape(n, PATCH_SIZE, PATCH_SIZE) @ pad.T
        v = _dense(xp, weights, "lift", field.reshape(n, -1, 1), 1)  # (n, points, channels)
        for layer in range(2):
            v = xp.tanh(_dense(xp, weights, f"local.{layer}", v, 1) + self._filter(weights, layer, v, modes))
        spectrum = self._transform(v, modes).reshape(n, -1)
        seen = xp.concatenate((spectrum / SIDE, *_pick(y, "heat", "powers", "ahead", "coming")), 1)
        return _apply_affine(xp, _dense(xp, weights, "net", seen, 3), x)

    def _filter(self, weights: Weights, layer: int, v: Any, modes: Any) -> Any:
        """F⁻¹ R F v."""
        spectrum = self._transform(v, modes)  # (n, waves², channels)
        turned = (spectrum[:, :, None, :] @ weights[f"fourier.{layer}.weight"].swapaxes(1, 2))[:, :, 0]
        n, waves, c = len(v), modes.shape[0], v.shape[2]
        along = (modes.T @ turned.reshape(n, waves, waves * c)).reshape(n, SIDE, waves, c)
        return (modes.T @ along).reshape(n, SIDE * SIDE, c)

    def _transform(self, v: Any, modes: Any) -> Any:
        """F v (n, waves², channels) of v (n, points, channels)."""
        n, c = len(v), v.shape[2]
        along = (modes @ v.reshape(n, SIDE, SIDE * c)).reshape(n, modes.shape[0], SIDE, c)
        return (modes @ along).reshape(n, -1, c)


@dataclass(frozen=True, slots=True, kw_only=True)
class Tide(SequenceNetwork):
    """TiDE, the time-series dense encoder: the past and what is known of the future in, the horizon out.

        e = encoder(past T, past P, c(known at each tick))
        d = decoder(e), some numbers for each coming tick
        s_i = temporal decoder(d_i, known at tick i) + a line through the past

    Known of the coming ticks are the planned power, the way and the temperature there now. Every block is a
    hidden layer with a bypass. This one gives the mean of every coming tick.
    """

    name: ClassVar[str] = "tide"
    affine: ClassVar[bool] = False
    width: int = 96  # of hidden layers
    code: int = 8  # numbers for each coming tick

    def shapes(self) -> Shapes:
        """The shape of every weight, by name."""
        return _tide_shapes(self.width, self.code, 1)

    def forward(self, xp: Any, weights: Weights, x: Any, y: Any) -> Any:
        """One shot."""
        return _tide(xp, weights, x, y, self.code)[..., 0]


@dataclass(frozen=True, slots=True, kw_only=True)
class TideQuantile(SequenceNetwork):
    """The median and an upper quantile of every coming tick, by the pinball loss; all medians first."""

    name: ClassVar[str] = "tide-quantile"
    affine: ClassVar[bool] = False
    quantiles: ClassVar[tuple[float, ...]] = (0.5, 0.95)
    width: int = 96  # of hidden layers
    code: int = 8  # numbers for each coming tick

    def shapes(self) -> Shapes:
        """The shape of every weight, by name."""
        return _tide_shapes(self.width, self.code, 2)

    def forward(self, xp: Any, weights: Weights, x: Any, y: Any) -> Any:
        """One shot; the upper quantile lies above the median by a number that cannot be negative."""
        both = _tide(xp, weights, x, y, self.code)
        median, raw = both[..., 0], both[..., 1]
        return xp.concatenate((median, median + 0.5 * (raw + (raw * raw + 0.01) ** 0.5)), 1)


NETWORKS: dict[str, type[Network]] = {
    kind.name: kind for kind in (MsDeepONet, SsAr, SsArLoc, Lstm, AffineNet, Tide, TideQuantile, Fno)
}


def _draw_uniform(rng: np.random.Generator, shape: tuple[int, ...], inputs: int) -> NDArray[np.float32]:
    """Uniform in ±1/√inputs, PyTorch's default for linear and recurrent layers."""
    bound = 1.0 / np.sqrt(inputs)
    return rng.uniform(-bound, bound, shape).astype(np.float32)


def split_flat(shapes: Shapes, flat: Any) -> dict[str, Any]:
    """The weights of one flat vector, an array or a tensor, by name; views, not copies."""
    ends = accumulate((prod(shape) for shape in shapes.values()), initial=0)
    parts = zip(shapes.items(), pairwise(ends), strict=True)
    return {name: flat[first:last].reshape(shape) for (name, shape), (first, last) in parts}


def _check_sizes(network: Any) -> None:
    """Refuse sizes that are no whole numbers within their limits."""
    for name, what, most in (
        ("horizon", "horizon", LONGEST_HORIZON),
        ("width", "width", WIDEST),
        ("basis", "basis", WIDEST),
        ("hidden", "hidden size", WIDEST),
    ):
        check_size(getattr(network, name, 1), what, most)


def check_size(value: object, what: str, most: int) -> None:
    """Refuse a size that is no whole number from 1 to `most`."""
    if isinstance(value, bool) or not isinstance(value, int) or not 1 <= value <= most:
        raise BadInput(f"the {what} must be a whole number from 1 to {most}, got {value!r}: choose another")


def _linear(xp: Any, z: Any, weight: Any, bias: Any) -> Any:
    """W z + b; PyTorch does both at once where z is a matrix."""
    if xp is np or z.ndim > 2:
        return z @ weight.T + bias
    return xp.addmm(bias, z, weight.T)


def _rectify(xp: Any, z: Any) -> Any:
    """The larger of z and 0; torch.maximum has a dearer gradient."""
    return np.maximum(z, 0.0) if xp is np else xp.relu(z)


def _logistic(xp: Any, z: Any) -> Any:
    """1/(1 + e⁻ᶻ) = (1 + tanh(z/2))/2, which cannot overflow."""
    return 0.5 * np.tanh(0.5 * z) + 0.5 if xp is np else xp.sigmoid(z)


def _dense_shapes(name: str, *widths: int) -> Shapes:
    """The weights of layers of these widths, one after another."""
    shapes: Shapes = {}
    for k, (into, out) in enumerate(pairwise(widths)):
        shapes[f"{name}.{k}.weight"] = out, into
        shapes[f"{name}.{k}.bias"] = (out,)
    return shapes


def _dense(xp: Any, weights: Weights, name: str, z: Any, layers: int, bend: Any = None) -> Any:
    """Layers with a nonlinear function between them: tanh unless given."""
    for k in range(layers):
        z = _linear(xp, z, weights[f"{name}.{k}.weight"], weights[f"{name}.{k}.bias"])
        if k + 1 < layers:
            z = xp.tanh(z) if bend is None else bend(xp, z)
    return z


def _pick(y: Any, *names: str) -> list[Any]:
    """Parts of the features."""
    return [y[:, PLACES[name]] for name in names]


_AFFINE = HORIZON + HORIZON * (HORIZON + 1) // 2  # outputs of a head: a base and the slopes of a causal plan


def _apply_affine(xp: Any, head: Any, x: Any) -> Any:
    """b + G x, G lower triangular and without a negative slope: more power is never colder."""
    base, raw = head[:, :HORIZON], head[:, HORIZON:]
    slopes = 0.5 * (raw + (raw * raw + 1.0) ** 0.5)
    ticks, start = [], 0
    for i in range(HORIZON):
        ticks.append(base[:, i] + (slopes[:, start : start + i + 1] * x[:, : i + 1]).sum(-1))
        start += i + 1
    return xp.stack(ticks, -1)


def _tide_shapes(width: int, code: int, outputs: int) -> Shapes:
    """The weights of all blocks."""
    into = 2 * HISTORY + SIZES["behind"] + KNOWN * HORIZON
    blocks = {
        "encoder": (into, width, width),
        "decoder": (width, width, code * HORIZON),
        "tick": (code + KNOWN, width // 3, outputs),
    }
    shapes: Shapes = {}
    for name, (first, middle, last) in blocks.items():
        shapes |= _dense_shapes(name, first, middle, last) | _dense_shapes(f"{name}.bypass", first, last)
    return shapes | _dense_shapes("line", HISTORY, HORIZON)


def _tide(xp: Any, weights: Weights, x: Any, y: Any, code: int) -> Any:
    """(n, N, outputs)."""

    def run_block(name: str, z: Any) -> Any:
        return _dense(xp, weights, name, z, 2) + _dense(xp, weights, f"{name}.bypass", z, 1)

    heat, powers, behind, ahead, coming = _pick(y, "heat", "powers", "behind", "ahead", "coming")
    known = xp.stack((x, ahead[:, :HORIZON], ahead[:, HORIZON:], coming), -1)
    n = len(x)
    seen = xp.concatenate((heat, powers, behind, known.reshape(n, -1)), 1)
    decoded = xp.tanh(run_block("decoder", xp.tanh(run_block("encoder", seen)))).reshape(n, HORIZON, code)
    ticks = run_block("tick", xp.concatenate((decoded, known), -1))
    return ticks + _dense(xp, weights, "line", heat, 1)[..., None]


def _make_modes(count: int) -> NDArray[np.float32]:
    """(waves, points): the constant and the lowest `count` cosines and sines along a side, orthonormal."""
    place = np.arange(SIDE) / SIDE
    rows = [np.full(SIDE, 1.0 / np.sqrt(SIDE))]
    for k in range(1, count + 1):
        rows += [np.sqrt(2.0 / SIDE) * wave(2.0 * np.pi * k * place) for wave in (np.cos, np.sin)]
    return np.stack(rows).astype(np.float32)


def _make_pad() -> NDArray[np.float32]:
    """(padded, points): holds the edge."""
    chosen = np.clip(np.arange(SIDE) - PAD, 0, PATCH_SIZE - 1)
    return np.eye(PATCH_SIZE, dtype=np.float32)[chosen]


def _as(xp: Any, array: NDArray[np.float32], like: Any) -> Any:
    """A constant where the weights are."""
    return array.astype(np.float64) if xp is np else xp.from_numpy(array).to(like.dtype)
