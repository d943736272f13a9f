"""Checkpoint: a model as safetensors weights and a JSON page; nothing in it can run code."""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict
from importlib.resources import as_file, files
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from safetensors.numpy import load as from_safetensors
from safetensors.numpy import save as to_safetensors

from laserloop.bad_input import BadInput, guess
from laserloop.data.scaling import Scaler
from laserloop.predict.networks.architecture import Architecture, Weights, feature_sizes
from laserloop.predict.networks.lstm import Lstm
from laserloop.predict.networks.model import Model, Scalers
from laserloop.predict.networks.ms_deeponet import MsDeepONet
from laserloop.predict.networks.save import save
from laserloop.predict.networks.ss_ar import SsAr
from laserloop.predict.networks.ss_ar_loc import SsArLoc
from laserloop.predict.trained_for import TrainedFor

ARCHITECTURES: tuple[type[MsDeepONet | SsAr | SsArLoc | Lstm], ...] = (MsDeepONet, SsAr, SsArLoc, Lstm)

MODEL_FILE, WEIGHTS_FILE = "model.json", "weights.safetensors"
FORMAT = 2
LARGEST_PAGE = 1_000_000  # bytes of JSON
LARGEST_WEIGHTS = 200_000_000  # bytes
SCALERS = ("branch", "trunk", "target")


def describe(architecture: Architecture) -> dict[str, Any]:
    """An architecture as JSON: its name and its settings."""
    return {"name": architecture.name, **asdict(architecture)}  # type: ignore[call-overload]


def save_model(model: Model, folder: Path) -> None:
    """Write the two files of a model; the JSON page, written last, names the weights by their hash."""
    weights = to_safetensors({name: np.ascontiguousarray(w) for name, w in model.weights.items()})
    page = {
        "format": FORMAT,
        "architecture": describe(model.architecture),
        "scalers": {name: getattr(model.scalers, name).to_json() for name in SCALERS},
        "weights_sha256": hashlib.sha256(weights).hexdigest(),
        "trained_for": None if model.trained_for is None else model.trained_for.to_json(),
        **model.provenance,
    }
    text = json.dumps(page, indent=1, allow_nan=False) + "\n"
    save(folder / WEIGHTS_FILE, weights)
    save(folder / MODEL_FILE, text.encode())


def shipped_models() -> tuple[str, ...]:
    """The names of the models that come with the package."""
    shelf = files("laserloop.predict.networks") / "models"
    if not shelf.is_dir():
        return ()
    return tuple(sorted(entry.name for entry in shelf.iterdir() if (entry / MODEL_FILE).is_file()))


def find_model(text: str) -> Model:
    """A shipped model by name, or one read from a folder by path."""
    if text in shipped_models():
        with as_file(files("laserloop.predict.networks") / "models" / text) as folder:
            return load_model(folder)
    if Path(text).is_dir():
        return load_model(Path(text))
    known = ", ".join((*shipped_models(), "a folder that `train` wrote"))
    meant = guess(text, shipped_models())
    raise BadInput(f"a model must be {known}, got {text[:80]!r}{meant}: choose one")


def load_model(folder: str | Path) -> Model:
    """Read a model; whatever is wrong with it is said in one sentence."""
    folder = Path(folder)
    page = _read_page(folder / MODEL_FILE)
    architecture = _read_architecture(page.pop("architecture", None), folder)
    scalers = _read_scalers(page.pop("scalers", None), architecture, folder)
    digest = page.pop("weights_sha256", None)
    content = _read_bytes(folder / WEIGHTS_FILE, LARGEST_WEIGHTS)
    weights = _read_weights(content, architecture, folder)
    if hashlib.sha256(content).hexdigest() != digest:
        raise _bad(folder, "weights that its JSON page names", "others", "train it again")
    if page.pop("format", None) != FORMAT:
        raise _bad(folder, f"format {FORMAT}", "another", "update laserloop or train it again")
    told = page.pop("trained_for", None)
    return Model(
        architecture=architecture,
        weights=weights,
        scalers=scalers,
        trained_for=None if told is None else TrainedFor.from_json(told, where=f"the model {str(folder)!r}"),
        provenance=page,
    )


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


def _read_architecture(entry: object, folder: Path) -> Architecture:
    names = [kind.name for kind in ARCHITECTURES]
    settings = dict(entry) if isinstance(entry, dict) else {}
    name = settings.pop("name", None)
    if name not in names:
        got = repr(name)[:40]
        raise _bad(folder, f"one of the architectures {', '.join(names)}", got, "update laserloop")
    try:
        return ARCHITECTURES[names.index(name)](**settings)
    except TypeError as error:
        raise _bad(folder, f"the settings of {name}", "others", "train it again") from error


def _read_scalers(entry: object, architecture: Architecture, folder: Path) -> Scalers:
    found = entry if isinstance(entry, dict) else {}
    sizes = dict(zip(SCALERS, feature_sizes(architecture), strict=True))
    scalers = {}
    for name, size in sizes.items():
        if name not in found:
            raise _bad(folder, f"the scalers {', '.join(SCALERS)}", f"none for {name}", "train it again")
        scalers[name] = Scaler.from_json(found[name])
        if scalers[name].mean.shape != (size,):
            got = f"one of shape {scalers[name].mean.shape}"
            raise _bad(folder, f"a {name} scaler of shape ({size},)", got, "train it again")
    return Scalers(**scalers)


def _read_weights(content: bytes, architecture: Architecture, folder: Path) -> Weights:
    try:
        stored: Mapping[str, NDArray[Any]] = from_safetensors(content)
    except Exception as error:  # safetensors leaks KeyError, TypeError and more on odd files
        raise _bad(folder, "whole safetensors weights", "a damaged file", "copy it again") from error
    weights = {}
    for name, shape in architecture.shapes().items():
        if name not in stored:
            raise _bad(folder, f"the weight {name}", "none", "train it again")
        weight = stored[name]
        if weight.shape != shape or weight.dtype != np.float32:
            got = f"{weight.dtype} {weight.shape}"
            raise _bad(folder, f"the weight {name} as float32 {shape}", got, "train it again")
        if not np.isfinite(weight).all():
            raise _bad(folder, "finite weights", f"NaN or infinity in {name}", "train it again")
        weights[name] = np.array(weight)
    extra = sorted(set(stored) - set(weights))
    if extra:
        raise _bad(folder, f"the weights {', '.join(weights)} only", f"{extra[0][:40]!r}", "train it again")
    return weights


def _bad(folder: Path, rule: str, got: str, advice: str) -> BadInput:
    return BadInput(f"the model {str(folder)!r} must have {rule}, got {got}: {advice}")
