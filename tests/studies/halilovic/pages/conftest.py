"""Results of a reproduction that found exactly what the paper says, on disk as `laserloop reproduce` "
"leaves them."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from laserloop.data.episode import find_turns
from laserloop.paths import find_path
from laserloop.studies.halilovic.cases import AXES, GRADED, PAPER, VARIANTS
from laserloop.studies.halilovic.measures import judge_corner
from laserloop.studies.halilovic.published import (
    ABLATIONS,
    BELOW,
    CORNER_FAILURE,
    DEEPEST,
    DELTA,
    FLAT_STEPS,
    GRADIENT,
    SS_AR_DIAGONAL,
    TABLE_1,
    TABLE_2,
    TABLE_3,
    TIMING,
)

Found = dict[str, Any]

TICKS = 100  # beyond the first turns of the diagonal and of the vertical path
WINDOW = (760.0, 800.0)
ANGLES = ("0", "45")
UNSAID = {  # figures that the paper has in no number, so that all its sentences hold
    ("horizon", "3"): (6.0, 20.2),
    ("horizon", "7"): (6.0, 11.0),
    ("horizon", "10"): (6.0, 9.8),
    ("width", "256"): (6.8, 13.0),
    ("noise on loc", "10"): (11.9, 53.2),
    ("structure", "SS-AR"): (40.0, 60.0),
}


def invent_run(label: str, path: str, **scores: Any) -> Found:
    """A record with its series: as many ticks too hot from the first turn on, by as much, as the scores say.

    The hottest tick is the one predicted worst; those of the baseline on the diagonal lie in a row.
    """
    over, overshoot = scores.get("n_over", 0), scores.get("overshoot_k", 0.0)
    positions = 1e3 * find_path(path, ticks=TICKS).positions[1:]
    turns = find_turns(positions)
    begin = 40 if path == "spiral" else int(turns[0])
    true = 780.0 + 10.0 * np.sin(np.arange(TICKS))
    apart = 1 if (label, path) == ("baseline", "diagonal") else 2
    true[begin : begin + apart * over : apart] = WINDOW[1] + np.linspace(overshoot, 1e-3, over)
    predicted = true - 0.5
    worst = scores.get("worst_residual", {"residual_k": -scores.get("residual_max_k", 9.0)})["residual_k"]
    predicted[begin] = true[begin] + worst
    return {
        "label": label,
        "path": path,
        "controller": "ipopt",
        "plant": "paper",
        "model": "paper-base" if label == "baseline" else "paper-corner",
        "ticks": TICKS,
        "settled_from": 10,
        "window_k": list(WINDOW),
        "delta_k": 13.0 if label.endswith("δ") else 0.0,
        "t_max_k": float(true.max()),
        "overshoot_k": overshoot,
        "n_over": over,
        "over_ms": 0.125 * over,
        "below_fraction": BELOW.get((label, path), 0.1),
        "deepest_below_k": DEEPEST.get((label, path), 3.0),
        "residual_rms_k": 3.0,
        "residual_max_k": 9.0,
        "residual_mean_k": 0.5,
        "power_mean_w": 13.9,
        "power_step_mean_w": 0.4,
        "iterations": {"mean": 15.0, "max": 20},
        "statuses": {"solved": TICKS},
        "ending": "path completed",
        "worst_residual": {"residual_k": -9.0, "t_ms": 4.0, "x_mm": 0.0, "y_mm": 0.0},
        **scores,
        "series": {
            "t_s": (1.25e-4 * np.arange(1, TICKS + 1)).tolist(),
            "x_mm": positions[:, 0].tolist(),
            "y_mm": positions[:, 1].tolist(),
            "power_w": (14.0 + np.cos(np.arange(TICKS))).tolist(),
            "t_true_k": true.tolist(),
            "t_predicted_k": predicted.tolist(),
            "iterations": ([500] * 2 + [16] * (TICKS - 3)) + [22],
        },
    }


def invent_table_2() -> list[Found]:
    fields = ("overshoot_k", "n_over", "over_ms", "residual_rms_k", "residual_max_k", "residual_mean_k")
    rows = []
    for (label, path), row in TABLE_2.items():
        scores: Found = dict(zip((*fields, "power_mean_w", "power_step_mean_w"), row, strict=True))
        if (label, path) == ("baseline", "diagonal"):
            scores["worst_residual"] = CORNER_FAILURE
        if (label, path) == ("corner", "diagonal"):
            scores["worst_residual"] = {"residual_k": 37.7, "t_ms": 6.0, "x_mm": -1.2, "y_mm": -1.2}
        rows.append(invent_run(label, path, **scores))
    return rows


def invent_table_3() -> list[Found]:
    rows = []
    for (label, path), (top, overshoot, over, below, rms, _) in TABLE_3.items():
        row = invent_run(label, path, overshoot_k=overshoot, n_over=over, residual_rms_k=rms)
        rows.append({**row, "below_fraction": below, "t_max_k": top, "controller": "ipopt-plain"})
        if path == "diagonal":
            ss_ar, told = label == "SS-AR", SS_AR_DIAGONAL
            rows[-1]["power_step_mean_w"] = told["step_w" if ss_ar else "one_shot_step_w"]
            rows[-1]["residual_mean_k"] = told["bias_k"] if ss_ar else 9.3
            rows[-1]["deepest_below_k"] = WINDOW[0] - told["lowest_k"] if ss_ar else 34.0
        if (label, path) != ("SS-AR", "diagonal"):
            del rows[-1]["series"]
    return rows


def invent_ablations() -> Found:
    points, rows = [], {}
    for axis, trials in AXES.items():
        for value, trial in trials.items():
            paper = ABLATIONS.get((axis, value), (None, None))
            seen, unseen = UNSAID.get((axis, value), (paper[0] or 6.1, paper[1] or 13.2))
            steps = (29.0, 40.0, 55.0, 70.0, 80.0) if value == "SS-AR" else (15.0,) * 5
            points.append(
                {
                    **{"axis": axis, "value": value, "model": trial.model, "seen": seen, "seen_std": 0.5},
                    **{"unseen": unseen, "seen_per_step": steps, "unseen_per_step": steps},
                    **{"paper_seen": paper[0], "paper_unseen": paper[1]},
                }
            )
            scores = {
                path: invent_scores(path, 6.1) for path in ("horizontal", "vertical", "spiral", "diagonal")
            }
            rows[trial] = {
                **{
                    "model": trial.model,
                    "noise_k": trial.noise,
                    "noise_shared": trial.shared,
                    "seen_k": seen,
                },
                **{"seen_std_k": 0.5, "unseen_k": unseen, "scores": scores},
            }
    schedule = {"halve_after": 20, "patience": 60, "max_epochs": 200}
    return {"schedule": schedule, "rows": list(rows.values()), "points": points, "differences": []}


def invent_scores(path: str, mean: float, worst: float = 30.0) -> Found:
    kinds = ("persistent", "hf-random", "bang-bang")
    return {
        **{"path": path, "rmse_k": dict.fromkeys(kinds, mean), "rmse_mean_k": mean, "max_error_k": worst},
        **{"rmse_per_step_k": [mean] * 5, "realisations": 3, "rmse_std_k": dict.fromkeys(kinds, 1.0)},
        "rmse_per_step_of_k": {"persistent": list(FLAT_STEPS)},
    }


def invent_table_1() -> Found:
    rows = []
    for (path, model), (slow, fast, bang, mean, worst) in TABLE_1.items():
        kinds = {"persistent": slow, "hf-random": fast, "bang-bang": bang}
        rows.append({"model": model, **invent_scores(path, mean, worst), "rmse_k": kinds})
    spread = {"persistent": 130.0, "hf-random": 60.0, "bang-bang": 140.0}
    excitations = [{"excitation": k, "t_max_std_k": s, "power_change_w": 1.0} for k, s in spread.items()]
    ticks = list(range(1, 21))
    line = {"tick": ticks, "true_k": [700.0] * 20, "predicted_k": [701.0] * 20, "horizon": 5}
    tracking = [{"path": path, "excitation": "persistent", **line} for path in ("spiral", "diagonal")]
    return {"rows": rows, "excitations": excitations, "tracking": tracking}


def invent_closed_loop() -> Found:
    slope = {"points": 63, **GRADIENT}
    corners = []
    for variant in VARIANTS:
        for label in ("baseline", "corner"):
            run = invent_run(label, "diagonal", overshoot_k=12.0, n_over=3)
            corners.append({**run, "variant": variant, **judge_corner(run)})
    return {
        "delta_k": 13.0,
        "table_2": [*invent_table_2(), *(invent_run("oracle", p) for p in ("vertical", "diagonal"))],
        "table_3": invent_table_3(),
        "seeds": [invent_run("base seed 1", "diagonal", n_over=20, overshoot_k=48.0)],
        "corners": corners,
        "horizon_seeds": [],
        "gradient": {"paper-base": slope, "paper-corner": slope},
        "realtime": invent_table_2(),
        "gains": {},
    }


def invent_plant() -> Found:
    cell = {"node_min_k": 745.0, "node_max_k": 780.0, "peak_min_k": 776.0, "peak_max_k": 780.0}
    paper = {
        **cell,
        "node_ripple_k": 35.0,
        "peak_ripple_k": 4.0,
        "node_bias_k": -130.0,
        "peak_bias_k": -120.0,
    }
    graded = {**paper, "peak_ripple_k": 0.1, "peak_bias_k": -0.7}
    line = {"node": [760.0, 770.0, 765.0], "peak": [779.0, 780.0, 779.5]}
    return {
        "reference": {
            a: {"divided_by_1_k": 898.0, "divided_by_2_k": 898.6, "limit_k": 898.8} for a in ANGLES
        },
        "plants": {PAPER: dict.fromkeys(ANGLES, paper), GRADED: dict.fromkeys(ANGLES, graded)},
        "lines": {name: dict.fromkeys(ANGLES, line) for name in ("paper", "graded")},
        "distance_mm": [1.5, 1.54, 1.58],
    }


def invent_trainings() -> Found:
    ensemble = {"kind": "corner", "geometry": "fixed", "runs": 320, "seed": 0}
    one = {
        "identity": "ab" * 32,
        "architecture": {"name": "ms-deeponet", "horizon": 5},
        "training": {"batch": 1024, "halve_after": 100, "patience": 300, "seed": 0, "split": "window"},
        "data": {"ensemble": ensemble},
        "metrics": {"epochs": 200, "best_epoch": 199, "validation_rmse_k": 11.1},
        "sampling": "nearest",
        "weights_sha256": "cd" * 32,
    }
    return dict.fromkeys(("paper-base", "paper-corner", "corner-lstm"), one)


def invent_timing() -> Found:
    spread = {"median": 40.0, "mean": TIMING["solve_mean_ms"], "p95": 59.6, "p99": 65.0, "max": 71.7}
    rung = {"median_us": 37000.0, "p99_us": 60000.0, "p999_us": 70000.0, "p99_quiet_us": 59000.0}
    fast = {"median_us": 20.0, "p99_us": 60.0, "p999_us": 90.0, "p99_quiet_us": 58.0}
    apart = {"median": 0.0, "p99": 0.01, "max": 0.02}
    solver = {
        **{"solve_ms": spread, "tick_ms": spread, "evaluation_share": 0.5, "solver_share": 0.4},
        "iterations": {"mean": 16.0, "max": 22},
    }
    loop = {
        "label": "corner",
        "path": "diagonal",
        "controller": "ipopt",
        "tick_ms": spread,
        "solve_ms": spread,
    }
    scenario = invent_run("8 kHz, no delay", "diagonal")
    del scenario["series"]
    return {
        "forward": {
            "numpy_us": 420.0,
            "plant_5_steps_ms": 515.0,
            "ratio_numpy": 1200.0,
        },
        "solvers": {"folded": solver, "plain": solver},
        "latency": {
            "ms-deeponet": {"numpy_us": 50.0},
            "lstm": {"numpy_us": 300.0},
        },
        "bench": {
            **{
                "problems": 600,
                "feasible": 598,
                "slack_free": 428,
                "over_tick_fraction": 0.0,
                "over_tick_fraction_quiet": 0.0,
                "over_ceiling_k": 0.0,
            },
            **{
                "reference": rung,
                "folded": rung,
                "exported_c": fast,
                "statuses": {"reference": {"solved": 600}},
            },
            "first_move_difference_w": apart,
            "first_move_difference_slack_free_w": apart,
            "first_move_difference_unique_w": apart | {"problems": 590},
            "other_first_moves": {
                **{"beyond_w": 0.1, "problems": 6, "not_dearer_than_ipopt": 2},
                **{"ipopt_not_unique": 0, "largest_extra_cost": 0.0015, "local_minima": 5},
            },
            "heat_up": {
                **{"problems": 170, "worse_than_ipopt_starts": 73, "worse_by_0.02_k": 41},
                "worse_by_0.02_k_local_minima": 40,
                **{"worse_by_1_k": 10, "cheaper_than_ipopt": 42, "first_move_difference_w": apart},
            },
        },
        "loops": [
            {**loop, "table": "table_2", "series_tick_ms": [10.0, 12.0]},
            *(
                loop
                | {"table": "table_3", "label": f"N_h = {n}", "controller": "ipopt-plain"}
                | {"solve_ms": spread | {"mean": TABLE_3[f"N_h = {n}", "diagonal"][5]}}
                for n in (3, 10)
            ),
        ],
        "scenarios": [scenario],
    }


def invent_results() -> dict[str, Found]:
    margin: Found = {
        "delta_one_sided_k": DELTA["one-sided"],
        "delta_symmetric_k": DELTA["symmetric"],
        "quantile": 0.95,
    }
    margin |= {"windows": 25280, "per_excitation": {"persistent": {"delta_one_sided_k": 12.0}}}
    margin |= {"largest_under_prediction_k": 43.0}
    return {
        "plant": invent_plant(),
        "ensembles": {
            "corner-fixed": {
                "episodes": 320,
                "windows": 126400,
                "data_hash": "ef" * 32,
                "settings": {"seed": 0},
            }
        },
        "trainings": invent_trainings(),
        "table_1": invent_table_1(),
        "calibration": {"paper-base": margin, "paper-corner": margin},
        "closed_loop": invent_closed_loop(),
        "ablations": invent_ablations(),
        "clock/timing": invent_timing(),
        "clock/stages": {
            "stages": [
                {"name": "plant", "title": "Verify the plant", "seconds": 70.0, "tasks": 9},
                {"name": "loops", "title": "Close the loops", "seconds": 4000.0, "tasks": 57},
            ],
            "sessions": [{"began": "2026-01-01T00:00:00", "workers": 2}],
            "machine": {"cpu": "some", "cores": 2},
            "versions": {"numpy": "2.0"},
            "commit": "0" * 40,
        },
    }


def put(root: Path, found: dict[str, Found], size: str = "full") -> Path:
    """Write results as a reproduction does."""
    (root / "results" / "clock").mkdir(parents=True)
    settings = {"name": size, "ensemble_runs": 24, "ticks": TICKS}
    (root / "settings.json").write_text(json.dumps(settings))
    for name, content in found.items():
        (root / "results" / f"{name}.json").write_text(json.dumps(content))
    return root


@pytest.fixture
def found() -> dict[str, Found]:
    """All results, to be changed as a test likes."""
    return invent_results()


@pytest.fixture(scope="session")
def put_results() -> Callable[..., Path]:
    return put


@pytest.fixture(scope="session")
def make_results() -> Callable[[], dict[str, Found]]:
    return invent_results
