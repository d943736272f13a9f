"""The folder of something learned: its arrays as safetensors, and a JSON page that is written last."""

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from safetensors.numpy import load as from_safetensors
from safetensors.numpy import save as to_safetensors

from laserloop.bad_input import BadInput
from laserloop.predict.networks.origin import find_commit, find_versions
from laserloop.predict.networks.save import save

Arrays = Mapping[str, NDArray[Any]]

PAGE, ARRAYS = "model.json", "weights.safetensors"


def save_folder(folder: Path, kind: str, arrays: Arrays, page: Mapping[str, Any]) -> None:
    """Write both files; the page names the arrays by their hash, and says with what they were made."""
    content = to_safetensors({name: np.ascontiguousarray(array) for name, array in arrays.items()})
    told = {
        "kind": kind,
        "weights_sha256": hashlib.sha256(content).hexdigest(),
        **page,
        "versions": find_versions(),
        "commit": find_commit(),
    }
    save(folder / ARRAYS, content)
    save(folder / PAGE, (json.dumps(told, indent=1, allow_nan=False) + "\n").encode())


def load_folder(folder: Path, kind: str) -> tuple[dict[str, NDArray[Any]], dict[str, Any]]:
    """Arrays and page; whatever is wrong with them is said in one sentence."""
    try:
        page = json.loads((folder / PAGE).read_text(encoding="utf-8"))
        content = (folder / ARRAYS).read_bytes()
        arrays = from_safetensors(content)
        fits = page["kind"] == kind and page["weights_sha256"] == hashlib.sha256(content).hexdigest()
        if not fits or not all(np.isfinite(array).all() for array in arrays.values()):
            raise ValueError("its page tells of something else")
    except Exception as error:  # safetensors leaks KeyError, TypeError and more on odd files
        raise BadInput(
            f"{folder} must hold a trained {kind}, but does not ({type(error).__name__}): train it"
        ) from error
    return dict(arrays), page
