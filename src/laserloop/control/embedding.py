"""Embedding: a network rebuilt layer by layer as a CasADi graph, which a solver can differentiate.

P (N_h) powers, W      K (N_h, 4) kinematics      T (1 + N_h) temperatures, K      ξ (2) peak, m
σ(z) = ½(z + √(z² + ε)) stands for the rectifier: smooth, and at most √ε/2 above it; σ′ = ½(1 + z/√(z² + ε))
A, a, W, b, C, c  as in predict/networks/folding.py
"""

from typing import TYPE_CHECKING, Any

from laserloop.bad_input import BadInput
from laserloop.predict.networks.architecture import Architecture
from laserloop.predict.networks.deeponet import BRANCH, TRUNK
from laserloop.predict.networks.folding import SMOOTHING, Folder
from laserloop.predict.networks.model import Model
from laserloop.predict.networks.ms_deeponet import MsDeepONet
from laserloop.predict.networks.ss_ar import SsAr
from laserloop.predict.networks.ss_ar_loc import SsArLoc

if TYPE_CHECKING:
    import casadi


def check_embeddable(model: Model) -> MsDeepONet | SsAr | SsArLoc:
    """The architecture of a model that is rectifiers and sums; others are refused."""
    architecture: Architecture = model.architecture
    if not isinstance(architecture, MsDeepONet | SsAr | SsArLoc):
        raise BadInput(
            f"only {MsDeepONet.name}, {SsAr.name} and {SsArLoc.name} can be embedded, got "
            f"{architecture.name}: choose a model of one of these"
        )
    return architecture


def embed(model: Model, *, smoothing: float = SMOOTHING) -> "casadi.Function":
    """(P, K, T, ξ) → T̂ (N_h), K: the whole network as trained, scalers inside, only σ replaced."""
    import casadi

    architecture = check_embeddable(model)
    horizon = architecture.horizon
    powers = casadi.MX.sym("powers", horizon)
    kinematics = casadi.MX.sym("kinematics", horizon, 4)
    temps = casadi.MX.sym("temps", 1 + horizon)
    location = casadi.MX.sym("location", 2)
    rows = casadi.horzcat(powers, kinematics)
    if isinstance(architecture, SsAr):
        predicted = _roll_out(model, rows, temps[0], smoothing)
    elif isinstance(architecture, SsArLoc):
        predicted = _follow(model, rows, temps[0], location, smoothing)
    else:
        seen = casadi.vertcat(temps, location)[list(architecture.seen)]
        predicted = _deeponet(model, casadi.vec(rows.T), seen, smoothing)
    return casadi.Function(
        "predict",
        [powers, kinematics, temps, location],
        [predicted],
        ["powers", "kinematics", "temps", "location"],
        ["predicted"],
    )


def embed_folded(folder: Folder, *, smoothing: float = SMOOTHING) -> "casadi.Function":
    """(P, a, C, c) → T̂ (N_h), K: the network of one tick, N_h → w → w → N_h."""
    return _fold_graph(folder, smoothing, slope=False)


def embed_folded_slope(folder: Folder, *, smoothing: float = SMOOTHING) -> "casadi.Function":
    """(P, a, C, c) → T̂ (N_h), K, and ∂T̂/∂P (N_h, N_h), K/W, carried forward through the layers.

    J = C diag(σ′₂) W diag(σ′₁) A needs one product of W with N_h columns, where CasADi's own forward mode
    takes N_h products with one.
    """
    return _fold_graph(folder, smoothing, slope=True)


def _fold_graph(folder: Folder, smoothing: float, *, slope: bool) -> "casadi.Function":
    import casadi

    width, horizon = folder.A.shape
    powers = casadi.MX.sym("powers", horizon)
    a, c = casadi.MX.sym("a", width), casadi.MX.sym("c", horizon)
    C = casadi.MX.sym("C", horizon, width)
    A, W = casadi.MX(folder.A), casadi.MX(folder.W)
    first, first_slope = _rectify(_times(A, powers) + a, smoothing)
    second, second_slope = _rectify(_times(W, first) + folder.b, smoothing)
    outputs, names = [_times(C, second) + c], ["predicted"]
    if slope:
        carried = _times(W, A * casadi.repmat(first_slope, 1, horizon))
        outputs.append(_times(C, carried * casadi.repmat(second_slope, 1, horizon)))
        names.append("slope")
    return casadi.Function("predict_folded", [powers, a, C, c], outputs, ["powers", "a", "C", "c"], names)


def _roll_out(model: Model, rows: Any, hottest: Any, smoothing: float) -> Any:
    """Tick by tick, each from the prediction of the one before."""
    import casadi

    ticks = []
    for i in range(rows.shape[0]):
        hottest = _deeponet(model, rows[i, :].T, hottest, smoothing)
        ticks.append(hottest)
    return casadi.vertcat(*ticks)


def _follow(model: Model, rows: Any, hottest: Any, place: Any, smoothing: float) -> Any:
    """The same with the peak's place, seen from where the beam is when each tick begins."""
    import casadi

    ticks = []
    for i in range(rows.shape[0]):
        beam = rows[i, 1:3].T
        state = _deeponet(model, rows[i, :].T, casadi.vertcat(hottest, place - beam), smoothing)
        hottest, place = state[0], beam + state[1:3]
        ticks.append(hottest)
    return casadi.vertcat(*ticks)


def _deeponet(model: Model, x: Any, y: Any, smoothing: float) -> Any:
    """One evaluation: raw branch and trunk features in, K out."""
    import casadi

    scalers, weights = model.scalers, model.double
    branch = _perceptron(model, BRANCH, (x - scalers.branch.mean) / scalers.branch.std, smoothing)
    trunk = _perceptron(model, TRUNK, (y - scalers.trunk.mean) / scalers.trunk.std, smoothing)
    outputs = len(weights["bias"])
    basis = casadi.reshape(branch, trunk.shape[0], outputs)  # column i holds the p terms of output i
    return (basis.T @ trunk + weights["bias"]) * scalers.target.std + scalers.target.mean


def _perceptron(model: Model, layers: tuple[tuple[str, str], ...], x: Any, smoothing: float) -> Any:
    import casadi

    for weight, bias in layers:
        x = casadi.DM(model.double[weight]) @ x + model.double[bias]
        if weight is not layers[-1][0]:
            x, _ = _rectify(x, smoothing)
    return x


def _rectify(z: Any, smoothing: float) -> tuple[Any, Any]:
    """σ and σ′."""
    import casadi

    root = casadi.sqrt(z * z + smoothing)
    return 0.5 * (z + root), 0.5 * (1.0 + z / root)


def _times(left: Any, right: Any) -> Any:
    """The product of two matrices by BLAS: 128×128 times 5 columns in 20 µs, by CasADi's own loops in 120.

    CasADi before 3.8 has only its loops.
    """
    import casadi

    if hasattr(casadi, "has_blas") and casadi.has_blas("classic"):
        return casadi.mtimes(left, right, "classic")
    return casadi.mtimes(left, right)
