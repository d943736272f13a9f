"""Train those who learn; stopped at any time, it goes on when called again.

    python -m laserloop.studies.arena.training_set --out out/arena/lessons
    python -m laserloop.studies.arena.train --lessons out/arena/lessons                   # all, three seeds
    python -m laserloop.studies.arena.train koopman --seeds 0 --lessons out/arena/lessons     # one

Seed 0 is written to the models of the package, the others beside the training set, where the arena finds them
as NAME@SEED. A model that is there is left as it is: delete its folder to train it anew. Who learns by trial
and reward is trained by benchmarks/train_rl.py.
"""

import argparse
import io
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from time import process_time

import numpy as np

from laserloop.bad_input import BadInput
from laserloop.control import Controller, make_twin_problem
from laserloop.data import COLUMNS, Windows, cut_episode, join_windows
from laserloop.loop import Context, prepare
from laserloop.paths import FAMILIES
from laserloop.predict import (
    AffineNet,
    FitSettings,
    Fno,
    HeatCorrection,
    HeatSamples,
    Lstm,
    MsDeepONet,
    SequenceNetwork,
    Sequences,
    SsAr,
    Tide,
    TideQuantile,
    TrainedFor,
    fit,
    fit_correction,
    fit_koopman,
    fit_sequences,
    gather_samples,
    join_samples,
    join_sequences,
    read_record,
    save_correction,
    save_koopman,
)
from laserloop.process import find_process
from laserloop.store import save
from laserloop.studies.arena.entrant import COST_FILE, OUT, Cost
from laserloop.studies.arena.entrants import correct_twin, find_model_folder
from laserloop.studies.arena.tasks import SPLITS, Task
from laserloop.studies.arena.training_set import NEAR, PLANT, PROCESS, TICKS, hash_lessons, read_lessons

RANGE = (500.0, 1100.0)  # K, within which a window must stay to be learned from
RATE, BATCH, HALVE = 2e-3, 512, 4  # of Adam; epochs without progress until the rate is halved
PAPER_HALVE, PATIENCE = 30, 60  # of the paper's networks, and epochs without progress until the end
RIDGE = 1e-3  # of all between 1e-2 and 1e-5 about the same on episodes left out
ROUNDS, LAPS = 2, 2  # of aggregation; runs on every family in each of them
FIRST = 200  # public seeds before those of the rounds; each training seed has its own

Train = Callable[[Path, int, Path], int]
"""Training set, seed and folder of the model in, where the model is written; ticks of the plant out."""


def train_koopman(lessons: Path, seed: int, folder: Path) -> int:
    """Two regressions; a seed chooses with which episodes: as many as there are, drawn with replacement."""
    records = [record for _, record in read_lessons(lessons)]
    drawn = np.random.default_rng(seed).integers(len(records), size=len(records))
    fitted = fit_koopman([records[k] for k in drawn] if seed else records, find_process(PROCESS))
    page = {
        "trained_for": {"plant": PLANT, "process": PROCESS},
        "data": {"lessons": hash_lessons(lessons), "seed": seed},
    }
    save_koopman(fitted, folder, page)
    return TICKS * len(records)


def train_sequence_network(net: SequenceNetwork, epochs: int, lessons: Path, seed: int, folder: Path) -> int:
    """So many epochs; a training that was interrupted goes on."""
    table, episodes = read_table(lessons)
    settings = FitSettings(
        learning_rate=RATE, batch=BATCH, halve_after=HALVE, patience=epochs, max_epochs=epochs, seed=seed
    )
    data = {"lessons": hash_lessons(lessons), "plant": PLANT, "process": PROCESS, "range_k": RANGE}
    fit_sequences(table, net, settings, out=folder, data=data)
    return TICKS * episodes


def read_table(lessons: Path) -> tuple[Sequences, int]:
    """All windows of the training set that stay within the range, and from how many episodes."""
    sigma = find_process(PROCESS).beam.sigma
    parts = [read_record(record, sigma, episode=lesson.index) for lesson, record in read_lessons(lessons)]
    table = join_sequences(parts)
    heat = np.column_stack((table.features[:, 0], table.target))
    inside = np.flatnonzero(((heat >= RANGE[0]) & (heat <= RANGE[1])).all(axis=1))
    return table.take(inside), len(parts)


def train_window_network(
    architecture: MsDeepONet | SsAr | Lstm, epochs: int, lessons: Path, seed: int, folder: Path
) -> int:
    """One of the paper's, with its optimiser and features, but T_max is the peak between the nodes."""
    windows, episodes = cut_lessons(lessons, architecture.horizon)
    settings = FitSettings(
        seed=seed, split="episode", halve_after=PAPER_HALVE, patience=PATIENCE, max_epochs=epochs
    )
    way = windows.branch[:, 0, 1:3]
    (x_low, y_low), (x_high, y_high) = way.min(axis=0), way.max(axis=0)
    made_for = TrainedFor(
        process=find_process(PROCESS),
        plant=PLANT,
        reading="peak",
        sampling="smooth",
        area=(float(x_low), float(x_high), float(y_low), float(y_high)),
        temperatures=(float(windows.target.min()), float(windows.target.max())),
    )
    origin = {"lessons": hash_lessons(lessons)}
    fit(windows, architecture, settings, out=folder, data=origin, trained_for=made_for)
    return TICKS * episodes


def cut_lessons(lessons: Path, horizon: int) -> tuple[Windows, int]:
    """All windows of the training set, and from how many episodes."""
    parts = []
    for lesson, record in read_lessons(lessons):
        part = cut_episode(record, horizon=horizon, reading="peak", sampling="smooth")
        part.episode[:] = lesson.index
        parts.append(part)
    return join_windows(parts), len(parts)


def train_correction(lessons: Path, seed: int, folder: Path) -> int:
    """The twin's correction, of what the twin did itself.

    First on the episodes near the window, then by rounds of aggregation: it closes the loop on public paths
    with an exact camera, what it met there is added to all before, and it is fitted anew. What was gathered
    is kept, so that a stopped training goes on.
    """
    process, peak = find_process(PROCESS), COLUMNS.index("t_peak_k")
    kept = lessons.parent / "samples" / f"twin-corrected-{seed}"
    samples = [
        gather_samples(process, lesson.find_path(process), record[1:, 0], record[1:, peak])
        for lesson, record in read_lessons(lessons)
        if lesson.shake == NEAR
    ]
    steps, errors = TICKS * len(samples), list[float]()
    start = SPLITS["public"].start + FIRST + LAPS * ROUNDS * seed
    for lap in range(ROUNDS):
        correction = _fit(samples)
        seeds = range(start + LAPS * lap, start + LAPS * (lap + 1))
        tasks = [Task(family=family, seed=place) for place in seeds for family in FAMILIES]
        fresh = [_collect(task, correction, kept / f"{lap}-{k:02d}.npz") for k, task in enumerate(tasks)]
        errors.append(_measure(join_samples(fresh), correction))
        samples += fresh
        steps += sum(task.ticks for task in tasks)
    page = {
        "trained_for": {"plant": PLANT, "process": PROCESS},
        "data": {"lessons": hash_lessons(lessons), "near_only": True, "seed": seed, "rounds": ROUNDS},
        "metrics": {"rms_of_ln_u_before_each_round": errors, "samples": sum(len(s.ratio) for s in samples)},
    }
    save_correction(_fit(samples), folder, page)
    return steps


def _fit(samples: list[HeatSamples]) -> HeatCorrection:
    joined = join_samples(samples)
    return fit_correction(joined.features, joined.ratio, joined.weight, ridge=RIDGE)


def _measure(samples: HeatSamples, correction: HeatCorrection) -> float:
    """Root mean square of ln u, true over predicted, on runs that were not yet learned from."""
    missed = np.log(samples.ratio) - correction.log_factors(samples.features)
    return float(np.sqrt(np.average(missed**2, weights=samples.weight)))


def _collect(task: Task, correction: HeatCorrection, file: Path) -> HeatSamples:
    """What it met on a path; from disk if it was there before."""

    def make(context: Context) -> Controller:
        assert context.process is not None
        return correct_twin(context.process, make_twin_problem(context.problem), correction)

    if not file.exists():
        case = task.make_case()
        run = prepare(replace(case, controller="twin-corrected"), make).run()
        found = gather_samples(case.process, case.find_path(), run.power, run.t_peak)
        stream = io.BytesIO()
        np.savez(stream, **{name: getattr(found, name) for name in HeatSamples.__slots__})
        save(file, stream.getvalue())
    with np.load(file, allow_pickle=False) as stored:
        return HeatSamples(*(stored[name] for name in HeatSamples.__slots__))


def train_distilled(lessons: Path, seed: int, folder: Path) -> int:
    """On loops of twins alone; the training set is not needed."""
    from laserloop.studies.arena.distil import SAMPLES, Distillation, distil

    distil(Distillation(seed=seed), folder)
    for file in folder.glob(f"*{SAMPLES}"):
        file.unlink()
    return 0


TRAININGS: Mapping[str, Train] = {
    "twin-corrected": train_correction,
    "koopman": train_koopman,
    "affine-history": partial(train_sequence_network, AffineNet(), 60),
    "tide": partial(train_sequence_network, Tide(), 40),
    "tide-quantile": partial(train_sequence_network, TideQuantile(), 40),
    "fno": partial(train_sequence_network, Fno(), 15),
    "graded-ms-deeponet": partial(train_window_network, MsDeepONet(), 500),
    "graded-ss-ar": partial(train_window_network, SsAr(), 500),
    "graded-lstm": partial(train_window_network, Lstm(), 100),
    "distilled": train_distilled,
}


def train_one(name: str, seed: int, lessons: Path) -> Cost:
    """Train an entrant unless that is done; the cost."""
    folder, began = find_model_folder(name, seed, lessons.parent), process_time()
    if not (folder / COST_FILE).exists():
        steps = TRAININGS[name](lessons, seed, folder)
        if not (folder / COST_FILE).exists():  # rounds that go on tell their own
            Cost(core_minutes=(process_time() - began) / 60.0, plant_steps=steps).write(folder)
    return Cost.read(folder)


def main() -> None:
    """Train what is missing."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("names", nargs="*", help=f"of {', '.join(TRAININGS)}; all unless given")
    parser.add_argument("--seeds", type=int, nargs="*", default=[0, 1, 2])
    parser.add_argument("--lessons", type=Path, default=OUT / "lessons")
    options = parser.parse_args()
    if unknown := set(options.names) - set(TRAININGS):
        parser.error(f"those who learn are {', '.join(TRAININGS)}, not {', '.join(sorted(unknown))}")
    try:
        for seed in options.seeds:
            for name in options.names or TRAININGS:
                cost = train_one(name, seed, options.lessons)
                print(f"{name} {seed}: {cost.core_minutes:.2f} core minutes, {cost.plant_steps} plant steps")
    except BadInput as problem:
        parser.exit(2, f"{problem}\n")


if __name__ == "__main__":
    main()
