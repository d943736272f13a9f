"""What is measured of plants, models and loops: lines, errors, rollouts, gradients, failures and times."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import partial
from itertools import product
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from numpy.typing import NDArray

from laserloop.control.ipopt import IpoptSolver, embed
from laserloop.control.problem import MpcProblem, Question
from laserloop.data.ensemble import Excitation
from laserloop.data.episode import find_turns
from laserloop.data.store import COLUMNS as RECORDED
from laserloop.data.windows import BRANCH_COLUMNS, FIRST, cut_episode
from laserloop.evaluation import REALISATIONS, TICKS, Trajectories, evaluate
from laserloop.loop.controllers import choose_camera
from laserloop.loop.record import spread
from laserloop.loop.run import look_ahead
from laserloop.loop.scenario import TICKS as LOOP_TICKS
from laserloop.loop.scenario import Scenario, prepare
from laserloop.paths import ScanPath, find_path
from laserloop.plant import Camera, Plant, PlantSettings, make_plant
from laserloop.plant.paper import Grid, PaperHeat
from laserloop.predict.model import Model, find_model
from laserloop.process import Process
from laserloop.process.heat_table import tabulate
from laserloop.store import solve_case
from laserloop.studies.halilovic.cases import (
    ANGLES,
    BETWEEN,
    GRADED,
    NOISES,
    PAPER,
    PARTS,
    PATHS,
    SEEN,
    UNSEEN,
    Line,
    Trial,
    make_path,
)
from laserloop.studies.halilovic.check import is_near
from laserloop.studies.halilovic.published import CORNER_FAILURE, TABLE_2

FloatArray = NDArray[np.float64]
Row = dict[str, Any]

LINE_POWER, LINE_SPEED, LINE_TICK = 14.0, 0.3, 1.25e-4  # W, m/s, s
LINE_TICKS, LINE_SETTLED = 64, 40  # 2.4 mm; T_max is steady to 0.01 K per tick after 1.5 mm


def run_line(line: Line, root: Path) -> dict[str, Any]:
    """T_max over the settled ticks, on the hottest node and between the nodes; from disk if it is there."""
    return solve_case(root / "lines", line.settings(), partial(_drive_line, line))


def judge_plants(
    root: Path, parts: Sequence[int] = PARTS, between: Sequence[str] = tuple(BETWEEN)
) -> dict[str, Any]:
    """Limit and order for each angle, bias and ripple of every plant, and the lines of two of them."""
    reference = {str(angle): _extrapolate(root, angle, parts) for angle in ANGLES}
    rows = {
        plant: {
            str(a): _summarise_line(run_line(Line(plant=plant, angle=a), root), reference[str(a)]["limit_k"])
            for a in ANGLES
        }
        for plant in (PAPER, *between, GRADED)
    }
    lines = {
        short: {str(a): run_line(Line(plant=plant, angle=a), root) for a in ANGLES}
        for short, plant in (("paper", PAPER), ("graded", GRADED))
    }
    distance = [1e3 * (k + 1) * LINE_SPEED * LINE_TICK for k in range(LINE_SETTLED, LINE_TICKS)]
    return {"reference": reference, "plants": rows, "lines": lines, "distance_mm": distance}


def _drive_line(line: Line) -> dict[str, Any]:
    plant, substeps = _make_line_plant(line)
    direction = np.array([np.cos(np.deg2rad(line.angle)), np.sin(np.deg2rad(line.angle))])
    node, peak = [], []
    for k in range(LINE_TICKS * substeps):
        at = (np.array([k, k + 1]) * LINE_SPEED * LINE_TICK / substeps - 1.2e-3)[:, None] * direction
        surface = plant.step(LINE_POWER, at)
        if (k + 1) % substeps == 0 and k >= LINE_SETTLED * substeps:
            node.append(surface.node.temperature)
            peak.append(surface.peak.temperature)
    return {"node": node, "peak": peak}


def _make_line_plant(line: Line) -> tuple[Plant, int]:
    """The plant, and the substeps of a tick."""
    if line.plant not in BETWEEN:
        name = "paper" if line.plant == PAPER else "graded"
        process = Process(tick=LINE_TICK / line.parts, speed=LINE_SPEED)
        return Plant(PlantSettings(name=name, process=process, refine=line.parts)), line.parts
    in_plane, first, growth, substeps = BETWEEN[line.plant]
    process = Process(tick=LINE_TICK / substeps, speed=LINE_SPEED)
    grid, table = _stack(in_plane, first, growth), tabulate(process.material, process.ambient)
    return Plant(PlantSettings(name="paper", process=process), PaperHeat(process, table, grid=grid)), substeps


def _stack(in_plane: float, first: float, growth: float) -> Grid:
    """In-plane spacing over the scan area, geometric depth: the grids between the paper's and the graded."""
    spacings = [first]
    while sum(spacings) < 2e-3:
        spacings.append(spacings[-1] * growth)
    z = np.concatenate(([0.0], np.cumsum(spacings) * (2e-3 / sum(spacings))))
    half = round(3e-3 / in_plane)
    side = np.linspace(-half * in_plane, half * in_plane, 2 * half + 1)
    return Grid(x=side, y=side.copy(), z=z)


def _extrapolate(root: Path, angle: int, parts: Sequence[int]) -> dict[str, float]:
    """Mean peak on each grid, its limit by Richardson for order 2, and the order seen over three grids."""
    means = {
        n: float(np.mean(run_line(Line(plant=GRADED, angle=angle, parts=n), root)["peak"])) for n in parts
    }
    coarse, fine = means[parts[-2]], means[parts[-1]]
    row = {f"divided_by_{n}_k": mean for n, mean in means.items()}
    row["limit_k"] = fine + (fine - coarse) / 3.0
    if len(parts) == 3:
        row["order"] = float(np.log2(abs((coarse - means[parts[0]]) / (fine - coarse))))
    return row


def _summarise_line(line: dict[str, Any], limit: float) -> dict[str, float]:
    node, peak = np.array(line["node"]), np.array(line["peak"])
    return {
        "node_min_k": float(node.min()),
        "node_max_k": float(node.max()),
        "peak_min_k": float(peak.min()),
        "peak_max_k": float(peak.max()),
        "node_ripple_k": float(np.ptp(node)),
        "peak_ripple_k": float(np.ptp(peak)),
        "node_bias_k": float(node.mean() - limit),
        "peak_bias_k": float(peak.mean() - limit),
    }


WHERE = {"vertical": "seen", "spiral": "seen", "diagonal": "unseen"}
COLUMNS = (*(str(kind) for kind in Excitation), "mean", "worst")


def run_table_1(
    models: Mapping[str, Model], root: Path, *, realisations: int = REALISATIONS
) -> list[dict[str, Any]]:
    """One row per path and model; cases that are on disk are not run again."""
    trajectories = Trajectories(folder=root / "trajectories")
    rows = []
    for path in PATHS:
        for name, model in models.items():
            settings = {
                "study": "table 1",
                "path": path,
                "model": model.provenance.get("identity", name),
                "realisations": realisations,
            }
            compute = partial(evaluate, model, path, trajectories=trajectories, realisations=realisations)
            scores = solve_case(root / "cases", settings, compute)
            rows.append({"model": name, **scores})
    return rows


def measure_excitations(
    root: Path, path: str = "vertical", *, ticks: int = TICKS, realisations: int = REALISATIONS
) -> list[dict[str, Any]]:
    """How much each class moves: the spread of T_max, K, and the mean change of power in a tick, W."""
    trajectories = Trajectories(folder=root / "trajectories", ticks=ticks)
    rows = []
    for kind in Excitation:
        windows = [cut_episode(trajectories.get(path, kind, n), horizon=1) for n in range(realisations)]
        spread = [one.target.std() for one in windows]
        change = [np.abs(np.diff(one.branch[:, 0, 0])).mean() for one in windows]
        rows.append(
            {
                "excitation": str(kind),
                "t_max_std_k": float(np.mean(spread)),
                "power_change_w": float(np.mean(change)),
            }
        )
    return rows


def figures_of(row: Mapping[str, Any]) -> list[float]:
    """The five columns of the table."""
    return [*(row["rmse_k"][str(kind)] for kind in Excitation), row["rmse_mean_k"], row["max_error_k"]]


def run_ablations(
    models: Mapping[str, Model],
    root: Path,
    *,
    noisy: Iterable[str] = (),
    realisations: int = REALISATIONS,
    ticks: int = TICKS,
) -> list[Row]:
    """One row per model, more with noise for those in `noisy`; cases that are on disk are not run again."""
    trajectories = Trajectories(folder=root / "trajectories", ticks=ticks)
    shaken = set(noisy)
    rows = []
    for name, model in models.items():
        trials = [Trial(name)]
        if name in shaken:
            trials += [Trial(name, noise, shared) for shared in (False, True) for noise in NOISES[1:]]
        for trial in trials:
            scores = {}
            for path in (*SEEN, UNSEEN):
                settings = {
                    "study": "ablations",
                    "path": path,
                    "model": model.provenance.get("identity", name),
                    "noise_k": trial.noise,
                    "noise_shared": trial.shared,
                    "realisations": realisations,
                    "ticks": ticks,
                }
                compute = partial(
                    evaluate,
                    model,
                    path,
                    trajectories=trajectories,
                    realisations=realisations,
                    noise=trial.noise,
                    shared=trial.shared,
                )
                scores[path] = solve_case(root / "cases", settings, compute)
            rows.append(summarise_trial(trial, scores))
    return rows


def summarise_trial(trial: Trial, scores: Mapping[str, Mapping[str, Any]]) -> Row:
    """Horizon RMSE over the seen paths, its spread from path to path, and that of the unseen path, K."""
    seen = [scores[path]["rmse_mean_k"] for path in SEEN]
    steps = np.array([scores[path]["rmse_per_step_k"] for path in SEEN])
    return {
        "model": trial.model,
        "noise_k": trial.noise,
        "noise_shared": trial.shared,
        "seen_k": float(np.mean(seen)),
        "seen_std_k": float(np.std(seen)),
        "unseen_k": scores[UNSEEN]["rmse_mean_k"],
        "seen_per_step_k": np.sqrt(np.mean(steps**2, axis=0)).tolist(),
        "unseen_per_step_k": list(scores[UNSEEN]["rmse_per_step_k"]),
        "scores": {path: dict(score) for path, score in scores.items()},
    }


LENGTHS = (5, 20, 50)  # ticks
ROLLOUT_MODELS = {
    "one-shot": "corner-nh5-seed0",
    "one-shot, N_h = 10": "corner-nh10",
    "SS-AR": "corner-ss-ar",
    "SS-AR with place": "corner-ss-ar-loc",
}
AT = {name: i for i, name in enumerate(RECORDED)}


def run_rollouts(
    models: Mapping[str, Model], root: Path, *, realisations: int = REALISATIONS
) -> list[dict[str, Any]]:
    """RMSE of each length over seen paths and the unseen one, K, of the models that are there."""
    trajectories = Trajectories(folder=root / "trajectories")
    rows = []
    for label, name in ROLLOUT_MODELS.items():
        if name not in models:
            continue
        settings = {
            "study": "long rollouts",
            "model": models[name].provenance.get("identity", name),
            "realisations": realisations,
        }
        compute = partial(_measure_rollouts, models[name], trajectories, realisations)
        rows.append({"label": label, "model": name, **solve_case(root / "cases", settings, compute)})
    return rows


def _measure_rollouts(model: Model, trajectories: Trajectories, realisations: int) -> dict[str, Any]:
    found: dict[str, dict[str, float]] = {}
    for where, paths in (("seen", SEEN), ("unseen", (UNSEEN,))):
        records = [trajectories.get(*which) for which in product(paths, Excitation, range(realisations))]
        found[where] = {str(n): error_of(model, records, n) for n in LENGTHS if can_last(model, n)}
    return {"rmse_k": found}


def can_last(model: Model, ticks: int) -> bool:
    """Whether a model says anything of so many ticks: those that feed themselves always do."""
    return bool(ticks <= model.architecture.horizon or model.architecture.name.startswith("ss-ar"))


def error_of(model: Model, records: Sequence[FloatArray], ticks: int) -> float:
    """RMSE of the last 5 of so many ticks, K, over rollouts that begin where the last one ends."""
    squares = [_roll_out(model, record, ticks)[:, -5:] ** 2 for record in records]
    return float(np.sqrt(np.mean(np.concatenate(squares))))


def _roll_out(model: Model, record: FloatArray, ticks: int) -> FloatArray:
    """Prediction minus truth (n, ticks), K; previews are only there for a model's own horizon."""
    horizon: int = model.architecture.horizon
    longest = max(ticks, horizon)
    starts = np.arange(FIRST, len(record) - longest, ticks)

    def ahead(name: str, offset: int) -> FloatArray:
        return sliding_window_view(record[:, AT[name]], longest)[starts + offset]

    power, *kinematics = BRANCH_COLUMNS
    branch = np.stack([ahead(power, 1), *(ahead(name, 0) for name in kinematics)], axis=-1)
    previews = [record[starts, AT[f"preview_{model.sampling}_{i}_k"]] for i in range(1, horizon + 1)]
    temps = np.stack([record[starts, AT["t_node_k"]], *previews], axis=-1)
    if longest > horizon:  # a model that feeds itself looks at T_max alone
        temps = np.pad(temps, ((0, 0), (0, longest - horizon)))
        model = replace(model, architecture=replace(model.architecture, horizon=longest))
    place = np.stack([record[starts, AT[name]] for name in ("node_x_m", "node_y_m")], axis=-1)
    return (model.predict(branch, temps, place) - ahead("t_node_k", 1))[:, :ticks]


NUDGE = 0.5  # W to each side


def compare_gradients(
    model: Model, plant: Plant, path: ScanPath, power: Sequence[float], *, every: int = 5
) -> dict[str, Any]:
    """Both sensitivities at every so many ticks of `path`, driven by `power`, W; K/W."""
    import casadi

    horizon = model.architecture.horizon
    network = embed(model)
    slope = network.factory("slope", network.name_in(), [f"jac:{network.name_out(0)}:{network.name_in(0)}"])
    camera = Camera(choose_camera(plant, model))  # previews as the model learned to read them
    surface = plant.reset()
    ticks, ours, true = [], [], []
    for k in range(len(path)):
        image = camera.see(surface)
        if k > 0 and k % every == 0:
            preview = look_ahead(path, k, list(power[:k]), horizon)
            plan = np.full(horizon, power[k])
            temps = np.concatenate(([image.peak.temperature], image.sample(preview.ahead[1:])))
            jacobian = casadi.DM(
                slope(plan, preview.kinematics(horizon), temps, np.array([image.peak.x, image.peak.y]))
            )
            ticks.append(k)
            ours.append(float(jacobian[0, 0]))
            true.append(_differentiate(plant, float(power[k]), path.spot(k)))
        surface = plant.step(float(power[k]), path.spot(k))
    return summarise_gradient(np.array(ticks), np.array(ours), np.array(true))


def _differentiate(plant: Plant, power: float, spot: FloatArray) -> float:
    """The plant's own sensitivity by a central difference, K/W; it stays where it is."""
    now = plant.snapshot()
    low, high = max(power - NUDGE, 0.0), power + NUDGE
    ends = []
    for nudged in (low, high):
        ends.append(plant.t_max(plant.step(nudged, spot)).temperature)
        plant.restore(now)
    return (ends[1] - ends[0]) / (high - low)


def summarise_gradient(ticks: NDArray[np.intp], ours: FloatArray, true: FloatArray) -> dict[str, Any]:
    """Agreement of sign, mean and median discrepancy, and the points themselves."""
    off = np.abs(ours - true)
    agree = np.sign(ours) == np.sign(true)
    return {
        "points": len(ticks),
        "sign_agreement": float(agree.mean()),
        "disagreeing_ticks": ticks[~agree].tolist(),
        "typical_k_w": float(true.mean()),
        "mean_k_w": float(off.mean()),
        "median_k_w": float(np.median(off)),
        "ticks": ticks.tolist(),
        "surrogate_k_w": ours.tolist(),
        "plant_k_w": true.tolist(),
    }


NEAR_CORNER = 0.3  # mm, two hops of a plan's horizon
OVERSHOOT_WITHIN, RUN_WITHIN = 15.0, 7  # K, ticks: how far another implementation may be
REVERSAL = 10  # ticks after the vertex in which an excess that belongs to it has begun


@dataclass(frozen=True, slots=True, kw_only=True)
class Failure:
    """Of one run along a path with sharp turns, over the ticks that count; without a turn all is far away."""

    ticks_over: int
    at_first: int  # of the longest unbroken run of ticks above the bound that begins at the first turn
    peak_to_worst: int  # ticks between the hottest one and the one that is under-predicted most
    worst_k: float  # the largest residual by size, prediction minus truth
    worst_from_first: float  # mm, its distance to the first turn
    worst_from_turns: float  # mm, to the nearest turn
    rms_k: float
    rms_elsewhere_k: float  # beyond `NEAR_CORNER` of every turn
    bias_elsewhere_k: float


def describe_failure(record: Mapping[str, Any]) -> Failure:
    """What a record with its series shows; without a series a KeyError."""
    series, first = record["series"], record["settled_from"]
    places = np.column_stack([series["x_mm"], series["y_mm"]])
    turns = find_turns(places)
    true, predicted = (
        np.array(series[name], dtype=np.float64)[first:] for name in ("t_true_k", "t_predicted_k")
    )
    residual = predicted - true
    away = np.hypot(*(places[first:, :, np.newaxis] - places[turns].T[np.newaxis]).transpose(1, 0, 2))
    nearest = away.min(axis=1, initial=np.inf)  # a run that ended before its first turn has none
    worst, elsewhere = int(np.nanargmax(np.abs(residual))), nearest > NEAR_CORNER
    above = true > record["window_k"][1]
    return Failure(
        ticks_over=int(above.sum()),
        at_first=_count_run(above, int(turns[0]) - first) if turns.size else 0,
        peak_to_worst=abs(int(np.argmax(true)) - int(np.nanargmin(residual))),
        worst_k=float(residual[worst]),
        worst_from_first=float(away[worst, 0]) if turns.size else np.inf,
        worst_from_turns=float(nearest[worst]),
        rms_k=float(np.sqrt(np.nanmean(residual**2))),
        rms_elsewhere_k=float(np.sqrt(np.nanmean(residual[elsewhere] ** 2))),
        bias_elsewhere_k=float(np.nanmean(residual[elsewhere])),
    )


def find_longest(above: NDArray[np.bool_]) -> int:
    """The most ticks in a row."""
    return max((end - begin for begin, end in _find_runs(above)), default=0)


def _count_run(above: NDArray[np.bool_], vertex: int) -> int:
    """The longest run that begins when the beam is at a vertex or soon after."""
    runs = [(begin, end) for begin, end in _find_runs(above) if abs(begin - vertex) <= REVERSAL]
    return max((end - begin for begin, end in runs), default=0)


def _find_runs(above: NDArray[np.bool_]) -> list[tuple[int, int]]:
    edges = np.flatnonzero(np.diff(np.concatenate(([False], above, [False])).astype(np.int8)))
    return [(int(begin), int(end)) for begin, end in edges.reshape(-1, 2)]


def run_corner(
    variant: str, name: str, root: Path, *, ticks: int = LOOP_TICKS, graph: str = "plain"
) -> dict[str, Any]:
    """A model without a margin on the path that turns so, judged; from disk if it is there."""
    settings = name_corner(variant, name, ticks, graph)
    return solve_case(root / "corners", settings, partial(_run_corner, variant, name, ticks, graph))


def name_corner(variant: str, name: str, ticks: int, graph: str) -> dict[str, Any]:
    """What names the case."""
    model = find_model(name).provenance["identity"]
    return {"study": "corners", "variant": variant, "model": model, "ticks": ticks, "graph": graph}


def _run_corner(variant: str, name: str, ticks: int, graph: str) -> dict[str, Any]:
    path = make_path(variant, ticks)
    case = Scenario(path=path, controller="ipopt", model=name, ticks=ticks, graph=graph)
    record = prepare(case).run().to_json()
    return {**record, **judge_corner(record)}


def judge_corner(record: Mapping[str, Any]) -> dict[str, Any]:
    """The failure of a run, and how many of the paper's five sentences about its baseline it meets."""
    found, paper = describe_failure(record), TABLE_2["baseline", "diagonal"]
    met = (
        abs(record["overshoot_k"] - paper[0]) <= OVERSHOOT_WITHIN,
        abs(found.at_first - paper[1]) <= RUN_WITHIN,
        found.worst_k < 0 and found.worst_from_first <= NEAR_CORNER,
        is_near(found.worst_k, CORNER_FAILURE["residual_k"]),
        found.peak_to_worst <= 1,
    )
    kept = {name: value if np.isfinite(value) else None for name, value in asdict(found).items()}
    return {"failure": kept, "met": sum(map(bool, met)), "of": len(met)}


def explains(row: Mapping[str, Any]) -> bool:
    """Whether a corner meets most of the paper's sentences, so that it may be the paper's."""
    return bool(row["met"] > row["of"] / 2)


def find_best(rows: Iterable[Mapping[str, Any]]) -> Mapping[str, Any]:
    """The baseline's run that meets most of the paper's sentences; of several the nearest in overshoot."""
    paper = TABLE_2["baseline", "diagonal"][0]
    base = (row for row in rows if row["label"] == "baseline")
    return max(base, key=lambda row: (row["met"], -abs(row["overshoot_k"] - paper)))


WARM_UP = 60  # ticks until the plate is as warm as in a run


def time_forward(model: Model, *, repeats: int = 400) -> dict[str, float]:
    """One forecast of the whole horizon, in NumPy, and the plant's own; medians."""
    horizon = model.architecture.horizon
    path = find_path("spiral", ticks=WARM_UP + horizon)
    plant = make_plant("paper")
    surface = plant.reset()
    for k in range(WARM_UP):
        surface = plant.step(14.0, path.spot(k))
    kinematics = np.concatenate((path.positions, path.velocities), axis=1)[WARM_UP : WARM_UP + horizon]
    branch = np.concatenate((np.full((horizon, 1), 14.0), kinematics), axis=1)
    temps = np.full(1 + horizon, surface.node.temperature)
    location = np.array([surface.node.x, surface.node.y])
    now = plant.snapshot()

    def step() -> None:
        for k in range(WARM_UP, WARM_UP + horizon):
            plant.step(14.0, path.spot(k))

    laps: dict[str, list[float]] = {"numpy": [], "plant": []}
    for n in range(repeats):
        laps["numpy"].append(_time(lambda: model.predict(branch[None], temps[None], location[None])))
        if n % 10 == 0:
            laps["plant"].append(_time(step))
            plant.restore(now)
    numpy_s, plant_s = (float(np.median(laps[name])) for name in ("numpy", "plant"))
    return {
        "numpy_us": 1e6 * numpy_s,
        "plant_5_steps_ms": 1e3 * plant_s,
        "ratio_numpy": plant_s / numpy_s,
    }


def time_solvers(model: Model, questions: Sequence[Question]) -> dict[str, Any]:
    """Both graphs on the same questions, in turn: solve time, whole time and its shares, iterations."""
    problem = MpcProblem(horizon=model.architecture.horizon)
    solvers = {graph: IpoptSolver(model, problem, graph=graph) for graph in ("folded", "plain")}
    laps: dict[str, list[tuple[float, float, float, int]]] = {graph: [] for graph in solvers}
    for question in questions:
        for graph, solver in solvers.items():
            began = perf_counter()
            answer = solver.solve(question)
            whole = perf_counter() - began
            laps[graph].append((answer.solve_s, whole, solver.last_times.functions, answer.iterations))
    found = {}
    for graph, rows in laps.items():
        solve, whole, functions, iterations = np.array(rows).T
        found[graph] = {
            "questions": len(rows),
            "solve_ms": spread(1e3 * solve),
            "tick_ms": spread(1e3 * whole),
            "evaluation_share": float(functions.sum() / whole.sum()),
            "solver_share": float((solve - functions).sum() / whole.sum()),
            "iterations": {"mean": float(iterations.mean()), "max": int(iterations.max())},
        }
    return found


def _time(call: Callable[[], object]) -> float:
    began = perf_counter()
    call()
    return perf_counter() - began
