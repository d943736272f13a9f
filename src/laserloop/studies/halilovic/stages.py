"""The stages, in their order: tasks that leave files behind, and a conclusion that is drawn from them."""

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any

from laserloop.bench.laps import one_core
from laserloop.bench.mpc import collect_questions, run_mpc_bench
from laserloop.control.simple import find_gains
from laserloop.data.ensemble import EnsembleSettings, Excitation
from laserloop.data.store import create_store, data_hash, make_episode, missing, open_store, read_episode
from laserloop.data.windows import cut_episode
from laserloop.evaluation import Trajectories, calibrate, measure_latency, track
from laserloop.loop.scenario import Scenario, keep_case
from laserloop.paths import find_path
from laserloop.plant import make_plant
from laserloop.predict.model import MODEL_FILE, WEIGHTS_FILE, Model, describe, find_model
from laserloop.predict.training import peek_epochs
from laserloop.process import Process
from laserloop.store import has_case, solve_case, write_json
from laserloop.studies.halilovic.cases import (
    DEPLOYED,
    HORIZON_SEEDS,
    NOISY,
    OUTLOOK,
    SEED_LOOPS,
    SEEN,
    TABLE_3,
    UNSEEN,
    Entry,
    Recipe,
    Size,
    find_models,
    list_lines,
    list_others,
    list_scenarios,
    list_seeds,
    list_table_2,
    list_table_3,
    train_recipes,
)
from laserloop.studies.halilovic.measures import (
    compare_gradients,
    judge_plants,
    measure_excitations,
    name_corner,
    run_ablations,
    run_corner,
    run_line,
    run_rollouts,
    run_table_1,
    time_forward,
    time_solvers,
)
from laserloop.studies.halilovic.results import compare, place_points, read_object


@dataclass(frozen=True, slots=True, kw_only=True)
class Folder:
    """One reproduction on disk."""

    root: Path
    size: Size

    @property
    def ensembles(self) -> Path:
        """Stores of episodes, named kind-geometry."""
        return self.root / "ensembles"

    @property
    def models(self) -> Path:
        """Trained models by name."""
        return self.root / "models"

    @property
    def cases(self) -> Path:
        """Cases of all studies: trajectories, scores, runs."""
        return self.root / "cases"

    @property
    def results(self) -> Path:
        """What the stages concluded; clock/ holds whatever depends on a clock."""
        return self.root / "results"

    def model(self, name: str) -> str:
        """The folder of a model, as studies name it."""
        return str(self.models / name)

    def save(self, name: str, content: Mapping[str, Any]) -> None:
        """Keep the conclusion of a stage, in one piece."""
        file = self.results / f"{name}.json"
        file.parent.mkdir(parents=True, exist_ok=True)
        write_json(file, content, sort=False)

    def read(self, name: str) -> dict[str, Any]:
        """A conclusion; empty if there is none yet."""
        return read_object(self.results / f"{name}.json") or {}


@dataclass(frozen=True, slots=True)
class Task:
    """Work for one worker: a function of plain arguments that leaves its result on disk."""

    function: Callable[..., Any]
    arguments: tuple[Any, ...]
    done: bool  # when it was listed


@dataclass(frozen=True, slots=True, kw_only=True)
class Stage:
    """What a stage has to do when those before it are done, and what it then says."""

    name: str
    title: str
    list_tasks: Callable[[Folder], Sequence[Task]]
    conclude: Callable[[Folder], Mapping[str, Mapping[str, Any]]]  # name of the result → result
    progress: Callable[[Folder], float] | None = None  # how much of the tasks' work is done, 0 to 1
    quiet: bool = False  # its tasks read a clock: last, one at a time, when the workers are gone


def list_plant_tasks(folder: Folder) -> list[Task]:
    """One line each."""
    return [
        Task(run_line, (line, folder.cases), has_case(folder.cases / "lines", line.settings()))
        for line in list_lines(folder.size.parts, folder.size.between)
    ]


def conclude_plant(folder: Folder) -> dict[str, dict[str, Any]]:
    """Limits, bias and ripple."""
    return {"plant": judge_plants(folder.cases, folder.size.parts, folder.size.between)}


PLANT = Stage(name="plant", title="Verify the plant", list_tasks=list_plant_tasks, conclude=conclude_plant)


def list_ensembles(folder: Folder) -> dict[str, EnsembleSettings]:
    """Name of the store → settings, each once."""
    return {recipe.store: recipe.ensemble for recipe in folder.size.recipes()}


def list_ensembles_tasks(folder: Folder) -> list[Task]:
    """One episode each."""
    tasks = []
    for name, settings in list_ensembles(folder).items():
        store = create_store(folder.ensembles / name, settings)
        lacking = set(missing(store))
        tasks += [
            Task(make_episode, (str(store.directory), settings.to_json(), index), index not in lacking)
            for index in range(settings.runs)
        ]
    return tasks


def conclude_ensembles(folder: Folder) -> dict[str, dict[str, Any]]:
    """How many episodes and windows each store holds, and the hash of all of it."""
    found = {}
    for name, settings in list_ensembles(folder).items():
        store = open_store(folder.ensembles / name)
        windows = len(cut_episode(read_episode(store, 0), store.columns))
        found[name] = {
            "episodes": settings.runs,
            "windows": settings.runs * windows,
            "data_hash": data_hash(store),
            "settings": settings.to_json(),
        }
    return {"ensembles": found}


ENSEMBLES = Stage(
    name="ensembles", title="Run the ensembles", list_tasks=list_ensembles_tasks, conclude=conclude_ensembles
)


TRAINING_CLOCK = ("seconds", "windows_per_s")

# only for the time left, from a full run: where early stopping ends a training, and what one of its epochs
# costs beside one of most others
USUAL_EPOCHS = {"paper-base": 2630, "paper-corner": 711}
COSTS = {"corner-lstm": 5.0, "corner-w256": 2.2, "corner-nh10": 1.6}


def list_trainings_tasks(folder: Folder) -> list[Task]:
    """One training each; one that was begun goes on."""
    return [
        Task(
            train_one,
            (recipe, folder.ensembles, folder.models),
            (folder.models / recipe.name / MODEL_FILE).exists(),
        )
        for recipe in folder.size.recipes()
    ]


def train_one(recipe: Recipe, ensembles: Path, models: Path) -> None:
    """The task of a worker."""
    train_recipes([recipe], ensembles, models)


def measure_progress(folder: Folder) -> float:
    """The share of the work that is done."""
    done = total = 0.0
    for recipe in folder.size.recipes():
        home = folder.models / recipe.name
        usual = min(recipe.settings.max_epochs, USUAL_EPOCHS.get(recipe.name, recipe.settings.max_epochs))
        cost = COSTS.get(recipe.name, 1.0)
        total += cost * usual
        done += cost * (usual if (home / MODEL_FILE).exists() else min(peek_epochs(home), usual))
    return done / total


def conclude_trainings(folder: Folder) -> dict[str, dict[str, Any]]:
    """What each model was made from and how well it does on its held-out part; times apart."""
    models = find_models(folder.size.recipes(), folder.models)
    return {
        "trainings": {
            name: _describe_training(folder.models / name, model) for name, model in models.items()
        },
        "clock/trainings": {
            name: {key: model.provenance["metrics"][key] for key in TRAINING_CLOCK}
            for name, model in models.items()
        },
    }


def _describe_training(home: Path, model: Model) -> Mapping[str, Any]:
    origin = model.provenance
    return {
        "architecture": describe(model.architecture),
        "metrics": {key: value for key, value in origin["metrics"].items() if key not in TRAINING_CLOCK},
        "sampling": model.sampling,
        "weights_sha256": hashlib.sha256((home / WEIGHTS_FILE).read_bytes()).hexdigest(),
        **{key: origin[key] for key in ("identity", "training", "data")},
    }


TRAININGS = Stage(
    name="trainings",
    title="Train the surrogates",
    list_tasks=list_trainings_tasks,
    conclude=conclude_trainings,
    progress=measure_progress,
)


TRACKED = tuple(product(("spiral", "diagonal"), (Excitation.PERSISTENT, Excitation.BANG_BANG)))


def find_trajectories(folder: Folder) -> Trajectories:
    """Those of this reproduction; all studies share them."""
    return Trajectories(folder=folder.cases / "trajectories")


def list_offline_tasks(folder: Folder) -> list[Task]:
    """One trajectory each."""
    kept = find_trajectories(folder)
    wanted = product((*SEEN, UNSEEN), Excitation, range(folder.size.realisations))
    return [Task(record, (kept, *which), _is_there(kept.find_file(*which))) for which in wanted]


def record(trajectories: Trajectories, path: str, excitation: Excitation, realisation: int) -> None:
    """The task of a worker."""
    trajectories.get(path, excitation, realisation)


def _is_there(file: Path | None) -> bool:
    return file is not None and file.exists()


def conclude_offline(folder: Folder) -> dict[str, dict[str, Any]]:
    """Table 1, what each excitation asks for, and the truth beside the prediction."""
    models = {name: find_model(folder.model(name)) for name in DEPLOYED.values()}
    kept = find_trajectories(folder)
    return {
        "table_1": {
            "rows": run_table_1(models, folder.cases, realisations=folder.size.realisations),
            "excitations": measure_excitations(folder.cases, realisations=folder.size.realisations),
            "tracking": [
                track(models[DEPLOYED["corner"]], path, kind, trajectories=kept) for path, kind in TRACKED
            ],
        }
    }


OFFLINE = Stage(
    name="offline", title="Score the surrogates", list_tasks=list_offline_tasks, conclude=conclude_offline
)


def list_calibration_tasks(folder: Folder) -> list[Task]:
    """One model each."""
    return [
        Task(
            calibrate_one,
            (folder.model(name), folder.ensembles / f"{kind}-fixed", folder.cases),
            has_case(folder.cases / "margins", _name_calibration(folder.model(name))),
        )
        for kind, name in DEPLOYED.items()
    ]


def calibrate_one(model: str, store: Path, root: Path) -> dict[str, Any]:
    """The margin of a model, from disk if it is there: the task of a worker."""
    return solve_case(
        root / "margins", _name_calibration(model), partial(calibrate, find_model(model), store)
    )


def _name_calibration(model: str) -> dict[str, Any]:
    return {"study": "margin", "model": find_model(model).provenance["identity"]}


def conclude_calibration(folder: Folder) -> dict[str, dict[str, Any]]:
    """The margins by model."""
    return {
        "calibration": {
            name: calibrate_one(folder.model(name), folder.ensembles / f"{kind}-fixed", folder.cases)
            for kind, name in DEPLOYED.items()
        }
    }


def find_margin(folder: Folder) -> float:
    """δ of the deployed corner model, one-sided, to a tenth of a kelvin."""
    found = folder.read("calibration")[DEPLOYED["corner"]]
    return round(float(found["delta_one_sided_k"]), 1)


CALIBRATION = Stage(
    name="calibration",
    title="Calibrate the margin",
    list_tasks=list_calibration_tasks,
    conclude=conclude_calibration,
)


CLOCKED = ("solve_ms", "tick_ms")
WITH_SERIES = ("table_2", "realtime")
OTHER = {"plain": "folded", "folded": "plain"}  # the graph that one run is repeated with

Record = dict[str, Any]


def list_entries(folder: Folder) -> dict[str, list[Entry]]:
    """The runs of each table."""
    ticks, delta, graph = folder.size.ticks, find_margin(folder), folder.size.graph
    deployed = folder.model(DEPLOYED["base"]), folder.model(DEPLOYED["corner"])
    seeds = {row: folder.model(SEED_LOOPS[row]) for row in folder.size.seeds}
    horizons = {row: folder.model(m) for row, m in HORIZON_SEEDS.items() if folder.size.spread}
    settings = TABLE_3 | (OUTLOOK if folder.size.spread else {})
    rows = {row: folder.model(m) for row, m in settings.items()}
    usual: dict[str, Any] = {"ticks": ticks, "graph": graph}
    other = Scenario(path="diagonal", controller="ipopt", model=deployed[1], graph=OTHER[graph], ticks=ticks)
    return {
        "table_2": list_table_2(delta_k=delta, models=deployed, **usual) + list_others(ticks=ticks),
        "table_3": list_table_3(rows, **usual),
        "horizon_seeds": list_table_3(horizons, **usual),
        "seeds": list_seeds(seeds, delta_k=delta, **usual),
        "other_graph": [Entry("corner", other)],
        "realtime": list_table_2("realtime", delta, models=deployed, ticks=ticks),
    }


def list_loops_tasks(folder: Folder) -> list[Task]:
    """One run each, one corner each; the same run in two tables is done once."""
    cases = {entry.case: None for entries in list_entries(folder).values() for entry in entries}
    runs = [
        Task(keep_case, (case, folder.cases), has_case(folder.cases / "runs", case.settings()))
        for case in cases
    ]
    size = folder.size
    corners = [
        Task(
            turn,
            (variant, model, folder.cases, size.ticks, size.graph),
            has_case(folder.cases / "corners", name_corner(variant, model, size.ticks, size.graph)),
        )
        for variant in size.corners
        for model in _deployed(folder).values()
    ]
    return runs + corners


def turn(variant: str, model: str, root: Path, ticks: int, graph: str) -> None:
    """The task of a worker."""
    run_corner(variant, model, root, ticks=ticks, graph=graph)


def _deployed(folder: Folder) -> dict[str, str]:
    return {"baseline": folder.model(DEPLOYED["base"]), "corner": folder.model(DEPLOYED["corner"])}


def read_runs(folder: Folder) -> dict[str, list[Record]]:
    """The records of each table, clock and series included; models by their names."""
    return {
        table: [{"label": entry.label, **_rename(keep_case(entry.case, folder.cases))} for entry in entries]
        for table, entries in list_entries(folder).items()
    }


def _rename(record: Record) -> Record:
    model = record["model"]
    return record | {"model": None if model is None else Path(model).name}


def conclude_loops(folder: Folder) -> dict[str, dict[str, Any]]:
    """All tables without clocks; what the clocks said apart."""
    runs = read_runs(folder)
    size = folder.size
    corners = [
        {
            "label": label,
            "variant": variant,
            **_rename(run_corner(variant, model, folder.cases, ticks=size.ticks, graph=size.graph)),
        }
        for variant in size.corners
        for label, model in _deployed(folder).items()
    ]
    tables = {
        table: [drop_clock(record, series=table in WITH_SERIES or _is_drawn(record)) for record in records]
        for table, records in {**runs, "corners": corners}.items()
        if table != "other_graph"
    }
    return {
        "closed_loop": {
            "delta_k": find_margin(folder),
            **tables,
            "gradient": {name: _compare(folder, name, runs["table_2"]) for name in DEPLOYED.values()},
            "gains": _tell_gains(),
        },
        "clock/loops": {"loops": list_clocks(runs)},
    }


def _tell_gains() -> dict[str, Any]:
    """Those that PI, feed-forward and constant power ran with."""
    gains = find_gains("paper", Process())
    assert gains is not None
    return gains.to_json()


def _is_drawn(record: Record) -> bool:
    """The report has a figure of the autoregressive model's run."""
    return (record["label"], record["path"]) == ("SS-AR", "diagonal")


def drop_clock(record: Record, *, series: bool) -> Record:
    """A record without what a clock said, and without its series unless asked for."""
    kept = {key: value for key, value in record.items() if key not in (*CLOCKED, "series")}
    if series:
        kept["series"] = {k: v for k, v in record["series"].items() if k not in CLOCKED}
    return kept


def list_clocks(runs: dict[str, list[Record]]) -> list[Record]:
    """Of each run, what the clock said."""
    rows = []
    for table, records in runs.items():
        for record in records:
            row = {key: record[key] for key in ("label", "path", "controller", *CLOCKED)} | {"table": table}
            if (record["label"], record["path"]) == ("corner", "diagonal"):
                row["series_tick_ms"] = record["series"]["tick_ms"]
            rows.append(row)
    return rows


def _compare(folder: Folder, name: str, table_2: Sequence[Record]) -> dict[str, Any]:
    """Along the spiral, under the power that the closed loop of the model gave."""
    record = next(r for r in table_2 if (r["model"], r["path"]) == (name, "spiral"))
    model, power = find_model(folder.model(name)), record["series"]["power_w"]
    settings = {"study": "gradient", "model": model.provenance["identity"], "power_w": power}
    path = find_path("spiral", ticks=record["ticks"])
    plant = make_plant("paper")
    compute = partial(compare_gradients, model, plant, path, power)
    return solve_case(folder.cases / "gradients", settings, compute)


LOOPS = Stage(name="loops", title="Close the loops", list_tasks=list_loops_tasks, conclude=conclude_loops)


def list_ablations_tasks(folder: Folder) -> list[Task]:
    """One model each; scores that are on disk are not taken again."""
    return [Task(score_one, (name, model, folder), False) for name, model in _models(folder).items()]


def score_one(name: str, model: Model, folder: Folder) -> None:
    """The task of a worker."""
    _score({name: model}, folder)


def _models(folder: Folder) -> dict[str, Model]:
    return find_models(folder.size.recipes(), folder.models)


def _score(models: dict[str, Model], folder: Folder) -> list[dict[str, Any]]:
    return run_ablations(models, folder.cases, noisy=NOISY, realisations=folder.size.realisations)


def conclude_ablations(folder: Folder) -> dict[str, dict[str, Any]]:
    """The rows, their places on the paper's axes, and where ours differ from the paper's."""
    rows = _score(_models(folder), folder)
    points = place_points(rows)
    return {
        "ablations": {
            "schedule": asdict(folder.size.short),
            "rows": rows,
            "rollouts": run_rollouts(_models(folder), folder.cases, realisations=folder.size.realisations),
            "points": [asdict(point) for point in points],
            "differences": [asdict(one) | {"ratio": one.ratio} for one in compare(points)],
        }
    }


ABLATIONS = Stage(
    name="ablations",
    title="Score the ablations",
    list_tasks=list_ablations_tasks,
    conclude=conclude_ablations,
)


RACERS = {"ms-deeponet": "corner-nh5-seed0", "lstm": "corner-lstm"}


def time_one(folder: Folder, what: str) -> dict[str, Any]:
    """One measurement, from disk if it was taken before."""
    return solve_case(
        folder.cases / "timing", _name_timing(folder, what), partial(MEASUREMENTS[what], folder)
    )


def _name_timing(folder: Folder, what: str) -> dict[str, Any]:
    model = find_model(folder.model(DEPLOYED["corner"]))
    return {
        "study": "timing",
        "what": what,
        "model": model.provenance["identity"],
        "problems": folder.size.problems,
    }


def _time_forward(folder: Folder) -> dict[str, Any]:
    with one_core():
        return dict(time_forward(find_model(_corner(folder)), repeats=folder.size.repeats))


def _time_solvers(folder: Folder) -> dict[str, Any]:
    model = find_model(_corner(folder))
    questions = collect_questions(_corner(folder), ("diagonal",), folder.size.ticks)
    with one_core():
        return dict(time_solvers(model, questions))


def _race(folder: Folder) -> dict[str, Any]:
    racers = {net: find_model(folder.model(name)) for net, name in RACERS.items()}
    record = find_trajectories(folder).get("spiral", Excitation.PERSISTENT, 0)
    with one_core():
        return dict(measure_latency(racers, cut_episode(record)))


def _bench(folder: Folder) -> dict[str, Any]:
    return run_mpc_bench(problems=folder.size.problems, model=_corner(folder))


def _meet_deadlines(folder: Folder) -> dict[str, Any]:
    """Answers are charged with times that the same loops take here, where nothing runs beside them."""
    usual: dict[str, Any] = {
        "model": _corner(folder),
        "delta_k": find_margin(folder),
        "ticks": folder.size.ticks,
    }
    free = {one.label: one.case for one in list_scenarios(**usual)}
    slow = _take_times(free["IPOPT, not charged"], folder, "tick_ms")
    quick, alone = (_take_times(free["8 kHz, no delay"], folder, what) for what in ("tick_ms", "solve_ms"))
    scenarios = list_scenarios(slow, quick, alone, **usual)
    found = [{"label": one.label, **_run(one.case, folder)} for one in scenarios]
    return {"runs": [{k: v for k, v in run.items() if k not in ("series", "model")} for run in found]}


def _run(case: Scenario, folder: Folder) -> dict[str, Any]:
    """Not the run of the tables: this one has the machine to itself."""
    return keep_case(case, folder.cases / "scenarios")


def _take_times(case: Scenario, folder: Folder, what: str) -> tuple[float, ...]:
    """Seconds of each tick, or of each call, but the first of a run that is not charged."""
    return tuple(1e-3 * t for t in _run(case, folder)["series"][what][1:])


def _corner(folder: Folder) -> str:
    return folder.model(DEPLOYED["corner"])


MEASUREMENTS: dict[str, Callable[[Folder], dict[str, Any]]] = {
    "forward": _time_forward,
    "latency": _race,
    "solvers": _time_solvers,
    "bench": _bench,
    "deadlines": _meet_deadlines,
}


def list_timing_tasks(folder: Folder) -> list[Task]:
    """One measurement each."""
    return [
        Task(time_one, (folder, what), has_case(folder.cases / "timing", _name_timing(folder, what)))
        for what in MEASUREMENTS
    ]


def conclude_timing(folder: Folder) -> dict[str, dict[str, Any]]:
    """Everything that a clock said."""
    found = {what: time_one(folder, what) for what in MEASUREMENTS}
    return {
        "clock/timing": {
            **{what: found[what] for what in ("forward", "latency", "solvers", "bench")},
            "scenarios": found["deadlines"]["runs"],
            "loops": folder.read("clock/loops").get("loops", []),
        }
    }


TIMING = Stage(
    name="timing",
    title="Time the solvers",
    list_tasks=list_timing_tasks,
    conclude=conclude_timing,
    quiet=True,
)


STAGES = (PLANT, ENSEMBLES, TRAININGS, OFFLINE, CALIBRATION, LOOPS, ABLATIONS, TIMING)
