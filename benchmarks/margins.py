"""Are margins kept as often as they are promised, also while the plant drifts?

    python benchmarks/margins.py                # an hour on two cores; may be stopped and goes on
    python benchmarks/margins.py --page         # writes from what is there, runs nothing

Calibrates the margins of a process with a noisy, late camera on 39 runs, then tries them on 300 new runs drawn
alike, and on 300 more during which the laser grows slower from run to run, which nobody knows: with these
margins, and every third also with those that follow what the camera sees. Where the 300 disturbed runs of
benchmarks/twin.py are on disk, these are split at random, 39 to calibrate on and the others to be covered.
Writes docs/results/margins.json, .md and .png.
"""

import argparse
import warnings
from dataclasses import replace
from pathlib import Path
from time import monotonic
from typing import Any

import numpy as np
from margins_page import write_page
from numpy.typing import NDArray
from twin_trials import UNSEEN, disturb, on

from laserloop.control.margins import AdaptiveMargin, AdaptiveSettings, Margins
from laserloop.jobs import check_workers, open_cluster, share_out
from laserloop.loop.scenario import Scenario, keep_case
from laserloop.loop.tune import RUNS, Draws, find_margins_of
from laserloop.paths.path import mark_settled
from laserloop.process import Process
from laserloop.report.figures import save_figure
from laserloop.store import dump, has_case, save
from laserloop.versions import find_versions, hash_code

ROOT = Path(__file__).parent.parent
PROCESS = Process().change(noise_k=5.0, delay_ticks=1)
CALIBRATION, TRIALS = Draws(process=PROCESS), Draws(process=PROCESS, seed=1)
COUNT = 300
SLOWEST_US = 60.0  # lag of the laser in the last run of the drift
BY_RUN = AdaptiveSettings(rate=0.02, memory=100)  # of margins that follow from run to run
SETS = ("plain", "drift")
EVERY, SPLITS = 3, 2000  # of the runs also with margins that follow; random splits
FloatArray = NDArray[np.float64]


def main() -> None:
    """Run what is missing, then write."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--count", type=int, default=COUNT, help="runs of each kind")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--minutes", type=float, default=1e6, help="start no run after this time")
    parser.add_argument("--out", type=Path, default=ROOT / "out" / "margins")
    parser.add_argument("--twin", type=Path, default=ROOT / "out" / "twin", help="runs of benchmarks/twin.py")
    parser.add_argument("--results", type=Path, default=ROOT / "docs" / "results")
    parser.add_argument("--page", action="store_true", help="run nothing")
    options = parser.parse_args()
    file = options.results / "margins.json"
    if not options.page:
        until = monotonic() + 60.0 * options.minutes
        workers = check_workers(options.workers, None)
        first = run_all([CALIBRATION.draw(k) for k in range(RUNS)], options.out, workers, until)
        known = np.array([score(record) for record in first])
        margins = find_margins_of(known)
        found: dict[str, Any] = {"versions": find_versions(), "code": hash_code()}
        found |= {"process": PROCESS.to_json(), "margins": margins.to_json(), "count": options.count}
        for name in SETS:
            fixed = [make_case(name, k, options.count, margins) for k in range(options.count)]
            moving = [replace(case, adaptive=True) for case in fixed[::EVERY]]
            records = run_all([*fixed, *moving], options.out, workers, until)
            found[name] = judge(records[: len(fixed)], records[len(fixed) :], known)
        found["splits"] = split(options.twin)
        save(file, dump(found))
    page, figure = write_page(file)
    save(options.results / "margins.md", page)
    save_figure(options.results / "margins.png", figure)


def make_case(name: str, k: int, count: int, margins: Margins) -> Scenario:
    """Run k with the calibrated margins."""
    case = replace(TRIALS.draw(k), delta_k=None, margins=margins)
    if name == "drift" and k:
        lag = ("laser-lag-us", SLOWEST_US * k / (count - 1))
        case = replace(case, mismatch=tuple(sorted((*case.mismatch, lag))))
    return case


def run_all(cases: list[Scenario], out: Path, workers: int, until: float) -> list[dict[str, Any]]:
    """Their records, in order; those that this code has not run yet are run."""
    missing = [case for case in cases if not has_case(out / "runs", case.settings())]
    print(f"{len(missing)} of {len(cases)} runs are missing", flush=True)
    if missing:
        with open_cluster(workers) as client:
            tasks = [(case, out, until) for case in missing]
            for n, _ in enumerate(share_out(client, keep, tasks), start=1):
                if n % 20 == 0:
                    print(f"{n} of {len(missing)}", flush=True)
    if not all(has_case(out / "runs", case.settings()) for case in cases):
        raise SystemExit("the time is over; run this again to go on")
    return [keep_case(case, out) for case in cases]


def keep(case: Scenario, out: Path, until: float) -> None:
    """The run of a case on disk, unless the time is over."""
    if monotonic() < until:
        warnings.filterwarnings("ignore", "temperatures of .* the range of material")
        keep_case(case, out)


def read(record: dict[str, Any]) -> tuple[FloatArray, FloatArray]:
    """T_max over its prediction in each settled tick, and the margins then, K, if they may change."""
    series = {name: np.array(values, dtype=float) for name, values in record["series"].items()}
    residual = series["t_true_k"] - series["t_predicted_k"]
    told = mark_settled(series["lit"] > 0) & np.isfinite(residual)
    margins = [series.get(f"margin_{side}_k", np.full(len(told), np.nan)) for side in ("above", "below")]
    return residual[told], np.array(margins)[:, told]


def score(record: dict[str, Any]) -> tuple[float, float]:
    """As of a run."""
    residual, _ = read(record)
    return float(residual.max()), float(-residual.min())


def split(out: Path) -> dict[str, Any] | None:
    """How often margins of 39 random runs of the twin's 300 disturbed ones cover the others; None if not run."""
    cases = [disturb(on(path)) for path in UNSEEN]
    if not all(has_case(out / "runs", case.settings()) for case in cases):
        return None
    scores = np.array([score(keep_case(case, out)) for case in cases])
    rng, covered, widths = np.random.default_rng(0), [], []
    for _ in range(SPLITS):
        order = rng.permutation(len(scores))
        margins = find_margins_of(scores[order[:RUNS]])
        widths.append((margins.above, margins.below))
        covered.append((scores[order[RUNS:]] <= widths[-1]).mean(axis=0))
    return {
        "runs": len(scores),
        "splits": SPLITS,
        "covered": np.mean(covered, axis=0).tolist(),
        "worst_tenth": np.quantile(covered, 0.1, axis=0).tolist(),
        "margins_k": np.mean(widths, axis=0).tolist(),
    }


def judge(fixed: list[dict[str, Any]], moving: list[dict[str, Any]], known: FloatArray) -> dict[str, Any]:
    """Which runs kept their margins, and which share of ticks those that follow."""
    scores = np.array([score(record) for record in fixed])
    ticks = [count_ticks(record) for record in moving]
    records = (*fixed, *moving)
    return {
        "scores_k": scores.tolist(),
        "follow_k": follow(known, scores).tolist(),
        "ticks": [n for n, _, _ in ticks],
        "beyond": [beyond for _, beyond, _ in ticks],
        "margin_k": [width for _, _, width in ticks],
        "lowest_k": min(record["t_min_k"] for record in records),
        "highest_k": max(record["t_max_k"] for record in records),
    }


def count_ticks(record: dict[str, Any]) -> tuple[int, list[int], list[float]]:
    """Settled ticks of an adaptive run, those beyond the margin above and below, and the mean margins, K."""
    residual, margins = read(record)
    beyond = np.array([residual, -residual]) > margins
    return len(residual), beyond.sum(axis=1).tolist(), margins.mean(axis=1).tolist()


def follow(known: FloatArray, scores: FloatArray) -> FloatArray:
    """The margins of each run when they follow the scores of the runs before it, K; at most half the window."""
    sides = [AdaptiveMargin(BY_RUN, scores=known[:, side].tolist()) for side in (0, 1)]
    most = 0.5 * (PROCESS.window[1] - PROCESS.window[0])
    margins = []
    for row in scores:
        margins.append([min(side.margin, most) for side in sides])
        for side, value in zip(sides, row, strict=True):
            side.learn(float(value))
    return np.array(margins)


if __name__ == "__main__":
    main()
