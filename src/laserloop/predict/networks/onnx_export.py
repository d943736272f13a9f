"""Export to ONNX: the model with its standardisation as one graph, built from the weights alone.

Inputs  branch (n, N_h, 5), temps (n, 1 + N_h), K, location (n, 2), m      Output  t_max (n, N_h), K
All are doubles, so that nothing is lost before standardisation; the network inside is float32.
"""

from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from laserloop.bad_input import BadInput
from laserloop.data.scaling import Scaler
from laserloop.predict.networks.architecture import ROW, feature_sizes
from laserloop.predict.networks.deeponet import LAYERS
from laserloop.predict.networks.lstm import Lstm
from laserloop.predict.networks.model import Model
from laserloop.predict.networks.ms_deeponet import MsDeepONet
from laserloop.predict.networks.save import save
from laserloop.predict.networks.ss_ar import SsAr

if TYPE_CHECKING:
    import onnx

OPSET = 17
IR_VERSION = 8  # what runtimes of 2022 read


def export_onnx(model: Model, file: str | Path) -> None:
    """Write the model as one ONNX file."""
    save(Path(file), build_onnx(model).SerializeToString())


def build_onnx(model: Model) -> "onnx.ModelProto":
    """The model as an ONNX graph."""
    if find_spec("onnx") is None:
        raise BadInput("the export needs onnx, which is not installed: run pip install 'laserloop[onnx]'")
    from onnx import TensorProto, checker, helper

    horizon = model.architecture.horizon
    draft = Draft(model)
    draft.rename(_predict(draft, model), "t_max")
    sizes = {"branch": (horizon, ROW), "temps": (1 + horizon,), "location": (2,), "t_max": (horizon,)}
    *inputs, output = (
        helper.make_tensor_value_info(name, TensorProto.DOUBLE, ["n", *size]) for name, size in sizes.items()
    )
    graph = helper.make_graph(draft.nodes, model.architecture.name, inputs, [output], draft.constants)
    opset = helper.make_opsetid("", OPSET)
    built = helper.make_model(graph, opset_imports=[opset], ir_version=IR_VERSION, producer_name="laserloop")
    checker.check_model(built)
    return built


class Draft:
    """A graph under construction; every method adds nodes and returns the name of their result."""

    def __init__(self, model: Model) -> None:
        self.model = model
        self.nodes: list[onnx.NodeProto] = []
        self.constants: list[onnx.TensorProto] = []

    def weight(self, name: str) -> str:
        """A weight of the model as it is."""
        return self.constant(name, self.model.weights[name])

    def constant(self, name: str, value: NDArray[Any]) -> str:
        """A named array, kept once however often it is asked for."""
        from onnx import numpy_helper

        if all(entry.name != name for entry in self.constants):
            self.constants.append(numpy_helper.from_array(np.ascontiguousarray(value), name))
        return name

    def add(self, kind: str, *inputs: str, outputs: int = 1, **settings: Any) -> str:
        """A node; the name of its last output."""
        from onnx import helper

        names = [f"{kind}_{len(self.nodes)}_{i}" for i in range(outputs)]
        self.nodes.append(helper.make_node(kind, list(inputs), names, **settings))
        return names[-1]

    def rename(self, result: str, name: str) -> None:
        """Give a result its final name."""
        from onnx import helper

        self.nodes.append(helper.make_node("Identity", [result], [name]))

    def shape(self, x: str, *sizes: int) -> str:
        """x in another shape; 0 keeps a size, −1 takes what is left."""
        name = "shape_" + "_".join(map(str, sizes))
        return self.add("Reshape", x, self.constant(name, np.array(sizes, np.int64)))

    def columns(self, x: str, first: int, last: int, axis: int = 1) -> str:
        """x[:, first:last], or the like along another axis."""
        limits = [self.constant(f"int_{value}", np.array([value], np.int64)) for value in (first, last, axis)]
        return self.add("Slice", x, *limits)

    def scale(self, x: str, name: str, scaler: Scaler) -> str:
        """Standardised, as float32."""
        mean, std = self.constant(f"{name}.mean", scaler.mean), self.constant(f"{name}.std", scaler.std)
        return self.add("Cast", self.add("Div", self.add("Sub", x, mean), std), to=1)

    def unscale(self, x: str, name: str, scaler: Scaler) -> str:
        """In K, as double."""
        mean, std = self.constant(f"{name}.mean", scaler.mean), self.constant(f"{name}.std", scaler.std)
        return self.add("Add", self.add("Mul", self.add("Cast", x, to=11), std), mean)

    def perceptron(self, net: str, x: str) -> str:
        """The branch or the trunk."""
        for layer in range(LAYERS):
            weight, bias = (self.weight(f"{net}.{layer}.{part}") for part in ("weight", "bias"))
            x = self.add("Gemm", x, weight, bias, transB=1)
            if layer < LAYERS - 1:
                x = self.add("Relu", x)
        return x


def _predict(draft: Draft, model: Model) -> str:
    """The whole horizon, K."""
    architecture, horizon = model.architecture, model.architecture.horizon
    match architecture:
        case SsAr():
            hottest, ticks = draft.columns("temps", 0, 1), []
            for k in range(horizon):
                row = draft.shape(draft.columns("branch", k, k + 1), 0, ROW)
                hottest = _evaluate(draft, model, row, hottest)
                ticks.append(hottest)
            return draft.add("Concat", *ticks, axis=1)
        case MsDeepONet(trunk="loc"):
            seen = draft.add("Concat", draft.columns("temps", 0, 1), "location", axis=1)
        case MsDeepONet(trunk="both"):
            seen = draft.add("Concat", "temps", "location", axis=1)
        case _:
            seen = "temps"
    return _evaluate(draft, model, draft.shape("branch", 0, ROW * horizon), seen)


def _evaluate(draft: Draft, model: Model, x: str, y: str) -> str:
    """One evaluation of the network: raw features in, K out."""
    scalers = model.scalers
    x, y = draft.scale(x, "branch", scalers.branch), draft.scale(y, "trunk", scalers.trunk)
    s = _lstm(draft, model, x, y) if isinstance(model.architecture, Lstm) else _deeponet(draft, model, x, y)
    return draft.unscale(s, "target", scalers.target)


def _deeponet(draft: Draft, model: Model, x: str, y: str) -> str:
    outputs = feature_sizes(model.architecture)[2]
    B = draft.shape(draft.perceptron("branch", x), 0, outputs, -1)
    T = draft.shape(draft.perceptron("trunk", y), 0, -1, 1)
    return draft.add("Add", draft.shape(draft.add("MatMul", B, T), 0, outputs), draft.weight("bias"))


def _lstm(draft: Draft, model: Model, x: str, y: str) -> str:
    """ONNX's own operator; it wants time first, and the gates as input, output, forget, memory."""
    weights, ticks = model.weights, model.architecture.horizon
    hidden = weights["hidden.weight"].shape[1]
    rows = draft.shape(x, 0, ticks, ROW)
    width = weights["input.weight"].shape[1] - ROW
    here = draft.add("Expand", draft.shape(y, 0, 1, width), draft.constant("ticks", np.array([1, ticks, 1])))
    entering = draft.add("Transpose", draft.add("Concat", rows, here, axis=2), perm=[1, 0, 2])
    bias = np.concatenate([_reorder(weights[f"{name}.bias"]) for name in ("input", "hidden")])
    layer = (
        draft.constant("onnx.input", _reorder(weights["input.weight"])[np.newaxis]),
        draft.constant("onnx.hidden", _reorder(weights["hidden.weight"])[np.newaxis]),
        draft.constant("onnx.bias", bias[np.newaxis]),
    )
    out = draft.add("LSTM", entering, *layer, hidden_size=hidden)
    out = draft.shape(draft.add("Transpose", out, perm=[2, 0, 1, 3]), 0, ticks, hidden)
    read = draft.add("MatMul", out, draft.constant("onnx.readout", weights["readout.weight"].T))
    return draft.shape(draft.add("Add", read, draft.weight("readout.bias")), 0, ticks)


def _reorder(gates: NDArray[np.float32]) -> NDArray[np.float32]:
    """From input, forget, memory, output to ONNX's input, output, forget, memory."""
    i, f, g, o = np.split(gates, 4)
    return np.concatenate((i, o, f, g))
