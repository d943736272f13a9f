"""Model: a network, its weights and scalers, what it was made for, and its folder.

A folder holds weights as safetensors and a JSON page, written last; nothing in it can run code.
"""

import hashlib
import json
import platform
import subprocess
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field
from importlib.metadata import PackageNotFoundError, version
from importlib.resources import as_file, files
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from safetensors.numpy import load as from_safetensors
from safetensors.numpy import save as to_safetensors

from laserloop.bad_input import BadInput, guess
from laserloop.data.windows import Scaler
from laserloop.paths.path import ScanPath
from laserloop.predict.networks import NETWORKS, ROW, FloatArray, Network, Weights, WindowNetwork
from laserloop.process import Process
from laserloop.process.process import Sampling, check_sampling
from laserloop.store import save

MODEL_FILE, WEIGHTS_FILE = "model.json", "weights.safetensors"
FORMAT = 2
LARGEST_PAGE = 1_000_000  # bytes of JSON
LARGEST_WEIGHTS = 200_000_000  # bytes
SCALERS = ("branch", "trunk", "target")
PACKAGES = ("laserloop", "numpy", "torch")  # that decide what a training gives

SPEED_RANGE = 1.05  # times slower or faster than what was learned; 5 % of speed are 12 K
PIXEL_RANGE = 0.5  # of the beam's σ; a wider pixel averages the peak away: 60 K at 1 σ, 194 K at 2 σ
AREA_SLACK = 5e-5  # m
POWER_SLACK = 1.01
SAME = ("material", "plate_mm", "ambient_k", "beam.sigma_um", "beam.absorptivity", "laser.lag_us", "tick_us")
READINGS = {"node": "hottest node", "peak": "peak between the nodes"}
OWN_READING = {"paper": "node", "graded": "peak"}  # of T_max, by plant
Box = tuple[float, float, float, float]


class Misfit(NamedTuple):
    """What a predictor was not made for; both are clauses without their full stop."""

    why: str
    cure: str | None = None  # None: a new training


@dataclass(frozen=True, slots=True, kw_only=True)
class TrainedFor:
    """The process, the plant, how T_max was read, and what the data covered."""

    process: Process
    plant: str
    reading: str = "node"  # T_max is the hottest node, or the peak between nodes
    sampling: Sampling = "nearest"  # how previews were read
    area: Box  # m: x_min, x_max, y_min, y_max of the beam
    temperatures: tuple[float, float]  # K, of T_max

    def to_json(self) -> dict[str, Any]:
        """Plain numbers and words; units are in the names."""
        return {
            "process": self.process.to_json(),
            "plant": self.plant,
            "reading": self.reading,
            "sampling": self.sampling,
            "area_mm": [round(1e3 * side, 6) for side in self.area],
            "temperatures_k": [round(limit, 3) for limit in self.temperatures],
        }

    @classmethod
    def from_json(cls, given: Mapping[str, Any], *, where: str) -> "TrainedFor":
        """What `to_json` wrote; anything else is refused in one sentence."""
        try:
            x_low, x_high, y_low, y_high = (float(side) / 1e3 for side in given["area_mm"])
            coldest, hottest = map(float, given["temperatures_k"])
            words = str(given["plant"]), str(given["reading"])
            sampling = _read_sampling(given)
            process = Process.from_json(given["process"], where=f"the process of {where}")
        except (KeyError, TypeError, ValueError, AttributeError) as problem:
            if isinstance(problem, BadInput):
                raise
            raise BadInput(
                f"{where} must say what it was trained for (process, plant, reading, sampling, area_mm, "
                "temperatures_k), but does not; train it again."
            ) from None
        return cls(
            process=process,
            plant=words[0],
            reading=words[1],
            sampling=sampling,
            area=(x_low, x_high, y_low, y_high),
            temperatures=(coldest, hottest),
        )

    def find_misfits(self, process: Process, plant: str, path: ScanPath) -> list[Misfit]:
        """What of a process, a plant and a path this was not made for."""
        return [
            *self._judge_plant(plant),
            *self.judge_process(process, plant),
            *self._judge_path(path),
        ]

    def judge_process(self, process: Process, plant: str | None = None) -> list[Misfit]:
        """What of a process this was not made for, wherever the beam goes."""
        changed = [key for key in self.process.differences(process) if key in SAME]
        return [
            *(Misfit(f"{key} is another than in its training") for key in changed),
            *self._judge_window(process),
            *self._judge_camera(process, plant or self.plant),
        ]

    def _judge_plant(self, plant: str) -> Iterator[Misfit]:
        if plant != self.plant:
            why = f"it was trained on the {self.plant} plant, not on {plant}"
            yield Misfit(why, f"name its plant with --plant {self.plant}")

    def _judge_window(self, process: Process) -> Iterator[Misfit]:
        (coldest, hottest), (low, high) = self.temperatures, process.window
        if low < coldest or high > hottest:
            yield Misfit(
                f"it saw peaks of {coldest:.0f} to {hottest:.0f} K, but the window is {low:g} to {high:g} K"
            )
        most, learned = process.laser.power[1], self.process.laser.power[1]
        if most > POWER_SLACK * learned:
            yield Misfit(f"it saw powers up to {learned:g} W, but the laser may give {most:g} W")

    def _judge_path(self, path: ScanPath) -> Iterator[Misfit]:
        speed, usual = path.median_speed, self.process.speed
        if not usual / SPEED_RANGE <= speed <= usual * SPEED_RANGE:
            yield Misfit(
                f"it was trained at {1e3 * usual:.0f} mm/s, but the path runs at {1e3 * speed:.0f} mm/s"
            )
        x, y = path.positions[1:][path.lit].T
        x_low, x_high, y_low, y_high = self.area
        inside = (x >= x_low - AREA_SLACK) & (x <= x_high + AREA_SLACK)
        inside &= (y >= y_low - AREA_SLACK) & (y <= y_high + AREA_SLACK)
        if not inside.all():
            yield Misfit(
                f"its beam stayed within {1e3 * x_low:.3g} to {1e3 * x_high:.3g} mm in x and "
                f"{1e3 * y_low:.3g} to {1e3 * y_high:.3g} mm in y, which "
                f"{np.count_nonzero(~inside)} of {len(x)} lit ticks leave",
                "move a file's part there with --centre or --offset-mm",
            )

    def _judge_camera(self, process: Process, plant: str) -> Iterator[Misfit]:
        own = OWN_READING.get(plant, self.reading)
        if self.reading != own:
            yield Misfit(
                f"its T_max is the {READINGS[self.reading]}, but on the {plant} plant it is the "
                f"{READINGS[own]}"
            )
        pixel, most = process.camera.pixel or 0.0, PIXEL_RANGE * process.beam.sigma
        if pixel > most:
            yield Misfit(
                f"it was trained on temperatures at points, but a pixel of {1e6 * pixel:g} µm reads the mean "
                f"over more than {PIXEL_RANGE:g} σ of the beam",
                f"take a camera with --pixel-um {1e6 * most:g} or less",
            )


def _read_sampling(given: Mapping[str, Any]) -> Sampling:
    """How previews were read; models of version 0.2 and before only say whether it was by the cubic."""
    if "sampling" not in given:
        return "smooth" if given["smooth"] else "bilinear"
    sampling: Sampling = given["sampling"]
    check_sampling(sampling)
    return sampling


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Scalers:
    """Standardisation of x, y and s, feature by feature, fitted on the training part."""

    branch: Scaler
    trunk: Scaler
    target: Scaler


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Model:
    """A trained network. Predicts T_max over the horizon, without PyTorch."""

    architecture: Any  # a `WindowNetwork`, or a `SequenceNetwork` of which only `evaluate` is asked
    weights: Weights  # float32, as trained and stored
    scalers: Scalers
    trained_for: TrainedFor | None = None  # None: nobody knows
    provenance: dict[str, Any] = field(default_factory=dict)  # JSON: training, data, metrics, versions
    double: Weights = field(init=False, repr=False)  # the same numbers; float32 sums would differ by 1e-4 K

    def __post_init__(self) -> None:
        object.__setattr__(self, "double", {name: w.astype(np.float64) for name, w in self.weights.items()})

    @property
    def margin(self) -> float | None:
        """δ that was calibrated for it and travels with it, K."""
        delta = self.provenance.get("calibration", {}).get("delta_one_sided_k")
        return None if delta is None else float(delta)

    @property
    def reading(self) -> str:
        """How T_max was read in its training: node or peak."""
        return "node" if self.trained_for is None else self.trained_for.reading

    @property
    def sampling(self) -> Sampling:
        """How previews were read in its training."""
        return "nearest" if self.trained_for is None else self.trained_for.sampling

    def predict(self, branch: FloatArray, temps: FloatArray, location: FloatArray) -> FloatArray:
        """T_max (n, N), K, for plans (n, N, 5), temperatures (n, 1 + N), K, and peaks (n, 2), m."""
        network: WindowNetwork = self.architecture
        horizon = network.horizon
        want = (horizon, ROW), (1 + horizon,), (2,)
        if (branch.shape[1:], temps.shape[1:], location.shape[1:]) != want:
            got = f"{branch.shape}, {temps.shape} and {location.shape}"
            raise BadInput(
                f"a model of horizon {horizon} must be given plans (n, {horizon}, {ROW}), temperatures "
                f"(n, {1 + horizon}) and peaks (n, 2), got {got}: cut windows of its horizon"
            )
        return network.predict(self.evaluate, branch, temps, location)

    def evaluate(self, x: FloatArray, y: FloatArray) -> FloatArray:
        """One evaluation of the network: raw features in, K out."""
        scalers = self.scalers
        scaled = scalers.branch.scale(x), scalers.trunk.scale(y)
        return scalers.target.unscale(self.architecture.forward(np, self.double, *scaled))


def describe(network: Network) -> dict[str, Any]:
    """A network as JSON: its name and its settings."""
    return {"name": network.name, **asdict(network)}  # type: ignore[call-overload]


def save_model(model: Model, folder: Path) -> None:
    """Write the folder of a model."""
    page = {
        "format": FORMAT,
        "architecture": describe(model.architecture),
        "scalers": {name: getattr(model.scalers, name).to_json() for name in SCALERS},
        "trained_for": None if model.trained_for is None else model.trained_for.to_json(),
        **model.provenance,
    }
    save_arrays(folder, model.weights, page)


def save_arrays(folder: Path, arrays: Mapping[str, NDArray[Any]], page: Mapping[str, Any]) -> None:
    """Write both files of a folder; the page names the arrays by their hash."""
    content = to_safetensors({name: np.ascontiguousarray(array) for name, array in arrays.items()})
    text = json.dumps(
        {**page, "weights_sha256": hashlib.sha256(content).hexdigest()}, indent=1, allow_nan=False
    )
    save(folder / WEIGHTS_FILE, content)
    save(folder / MODEL_FILE, (text + "\n").encode())


def shipped_models() -> tuple[str, ...]:
    """The names of the models that come with the package."""
    folder = files("laserloop.predict") / "models"
    if not folder.is_dir():
        return ()
    return tuple(sorted(entry.name for entry in folder.iterdir() if (entry / MODEL_FILE).is_file()))


def find_model(text: str) -> Model:
    """A shipped model by name, or one read from a folder by path."""
    if text in shipped_models():
        with as_file(files("laserloop.predict") / "models" / text) as folder:
            return load_model(folder)
    if Path(text).is_dir():
        return load_model(Path(text))
    known = ", ".join((*shipped_models(), "a folder that `train` wrote"))
    meant = guess(text, shipped_models())
    raise BadInput(f"a model must be {known}, got {text[:80]!r}{meant}: choose one")


def load_model(folder: str | Path) -> Model:
    """Read a model; whatever is wrong with it is said in one sentence."""
    folder = Path(folder)
    page, arrays, is_whole = _read_folder(folder)
    network = _read_network(page.pop("architecture", None), folder)
    scalers = _read_scalers(page.pop("scalers", None), network, folder)
    weights = _read_weights(arrays, network, folder)
    if not is_whole:
        raise _bad(folder, "weights that its JSON page names", "others", "train it again")
    if page.pop("format", None) != FORMAT:
        raise _bad(folder, f"format {FORMAT}", "another", "update laserloop or train it again")
    told = page.pop("trained_for", None)
    return Model(
        architecture=network,
        weights=weights,
        scalers=scalers,
        trained_for=None if told is None else TrainedFor.from_json(told, where=f"the model {str(folder)!r}"),
        provenance=page,
    )


def load_arrays(folder: Path, kind: str) -> tuple[dict[str, NDArray[Any]], dict[str, Any]]:
    """Arrays and page of a folder of this kind that holds no network."""
    page, arrays, is_whole = _read_folder(folder)
    if page.get("kind") != kind or not is_whole:
        raise _bad(folder, f"a trained {kind} and its page", "something else", "train it")
    return arrays, page


def _read_bytes(file: Path, most: int) -> bytes:
    try:
        with file.open("rb") as stream:
            content = stream.read(most + 1)
    except OSError as error:
        raise BadInput(
            f"a model must have a readable {file.name}, got {error.strerror!r} for {str(file)!r}: "
            "check the folder"
        ) from error
    if len(content) > most:
        raise BadInput(
            f"{file.name} of a model must have at most {most} bytes, but {str(file)!r} has more: "
            "check the folder"
        )
    return content


def _read_page(file: Path) -> dict[str, Any]:
    content = _read_bytes(file, LARGEST_PAGE)
    try:
        page = json.loads(content)
    except (ValueError, RecursionError) as error:  # not UTF-8, not JSON, digits or brackets without end
        raise BadInput(
            f"{file.name} of a model must be JSON, but {str(file)!r} cannot be read: train it again"
        ) from error
    if not isinstance(page, dict):
        raise _bad(file.parent, "a JSON object", f"a {type(page).__name__}", "train it again")
    return page


def _read_folder(folder: Path) -> tuple[dict[str, Any], dict[str, NDArray[Any]], bool]:
    """Page and arrays, and whether these are the ones that the page names."""
    page = _read_page(folder / MODEL_FILE)
    content = _read_bytes(folder / WEIGHTS_FILE, LARGEST_WEIGHTS)
    try:
        arrays: dict[str, NDArray[Any]] = from_safetensors(content)
        fine = {name: bool(np.isfinite(array).all()) for name, array in arrays.items()}
    except Exception as error:  # safetensors leaks KeyError, TypeError and more on odd files
        raise _bad(folder, "whole safetensors weights", "a damaged file", "copy it again") from error
    if not all(fine.values()):
        raise _bad(folder, "finite weights", "NaN or infinity", "train it again")
    return page, arrays, hashlib.sha256(content).hexdigest() == page.pop("weights_sha256", None)


def _read_network(entry: object, folder: Path) -> Network:
    settings = dict(entry) if isinstance(entry, dict) else {}
    name = settings.pop("name", None)
    if not isinstance(name, str) or name not in NETWORKS:
        got = repr(name)[:40]
        raise _bad(folder, f"one of the architectures {', '.join(NETWORKS)}", got, "update laserloop")
    try:
        return NETWORKS[name](**settings)
    except TypeError as error:
        raise _bad(folder, f"the settings of {name}", "others", "train it again") from error


def _read_scalers(entry: object, network: Network, folder: Path) -> Scalers:
    stored = entry if isinstance(entry, dict) else {}
    scalers = {}
    for name, size in zip(SCALERS, network.sizes(), strict=True):
        if name not in stored:
            raise _bad(folder, f"the scalers {', '.join(SCALERS)}", f"none for {name}", "train it again")
        scalers[name] = Scaler.from_json(stored[name])
        if scalers[name].mean.shape != (size,):
            got = f"one of shape {scalers[name].mean.shape}"
            raise _bad(folder, f"a {name} scaler of shape ({size},)", got, "train it again")
    return Scalers(**scalers)


def _read_weights(stored: Mapping[str, NDArray[Any]], network: Network, folder: Path) -> Weights:
    weights = {}
    for name, shape in network.shapes().items():
        if name not in stored:
            raise _bad(folder, f"the weight {name}", "none", "train it again")
        weight = stored[name]
        if weight.shape != shape or weight.dtype != np.float32:
            got = f"{weight.dtype} {weight.shape}"
            raise _bad(folder, f"the weight {name} as float32 {shape}", got, "train it again")
        weights[name] = np.array(weight)
    extra = sorted(set(stored) - set(weights))
    if extra:
        raise _bad(folder, f"the weights {', '.join(weights)} only", f"{extra[0][:40]!r}", "train it again")
    return weights


def _bad(folder: Path, rule: str, got: str, advice: str) -> BadInput:
    return BadInput(f"the model {str(folder)!r} must have {rule}, got {got}: {advice}")


def find_origin() -> dict[str, Any]:
    """With what something is made now."""
    return {"versions": find_versions(), "commit": find_commit()}


def find_versions() -> dict[str, str]:
    """The versions that decide what a training gives."""
    found = {"python": platform.python_version()}
    for package in PACKAGES:
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            continue
    return found


def find_commit() -> str | None:
    """The commit of the source, with + if it has been changed since; None for an installed package."""
    folder = Path(__file__).parent
    try:
        commit = _git(folder, "rev-parse", "HEAD")
        changed = _git(folder, "status", "--porcelain", "--untracked-files=no", "--", str(folder))
    except (OSError, subprocess.SubprocessError):
        return None
    return commit + "+" * bool(changed)


def _git(folder: Path, *words: str) -> str:
    done = subprocess.run(["git", *words], cwd=folder, check=True, capture_output=True, text=True, timeout=10)
    return done.stdout.strip()
