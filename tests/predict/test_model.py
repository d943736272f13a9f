"""Checkpoints: what is wrong with a model is said in one sentence, and nothing is overwritten."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from safetensors.numpy import load, save

from laserloop.bad_input import BadInput
from laserloop.data.windows import Scaler
from laserloop.predict.model import Model, Scalers, TrainedFor, find_model, load_model, save_model
from laserloop.predict.networks import MsDeepONet
from laserloop.process import Process

NET = MsDeepONet(horizon=2, width=4, basis=3)
MADE_FOR = TrainedFor(
    process=Process().change(material="ti64", tick_us=100.0),
    plant="graded",
    reading="peak",
    sampling="smooth",
    area=(-1e-3, 1e-3, -2e-3, 2e-3),
    temperatures=(300.0, 900.0),
)


def model() -> Model:
    branch, trunk, target = (Scaler(np.zeros(n), np.ones(n)) for n in NET.sizes())
    return Model(
        architecture=NET,
        weights=NET.draw_weights(np.random.default_rng(0)),
        scalers=Scalers(branch=branch, trunk=trunk, target=target),
        trained_for=MADE_FOR,
        provenance={"metrics": {"epochs": 3}},
    )


def edit(change: Callable[[dict[str, Any]], object]) -> Callable[[Path], object]:
    """A defect of the JSON page."""

    def damage(folder: Path) -> None:
        page = json.loads((folder / "model.json").read_text())
        change(page)
        (folder / "model.json").write_text(json.dumps(page))

    return damage


def reweigh(change: Callable[[dict[str, Any]], object]) -> Callable[[Path], object]:
    """A defect of the weights."""

    def damage(folder: Path) -> None:
        weights = load((folder / "weights.safetensors").read_bytes())
        change(weights)
        (folder / "weights.safetensors").write_bytes(save(weights))

    return damage


def cut(name: str, size: int) -> Callable[[Path], object]:
    """A file that lost its end."""
    return lambda folder: (folder / name).write_bytes((folder / name).read_bytes()[:size])


HEADER = b'{"bias":{"dtype":"BF16","shape":[2],"data_offsets":[0,4]}}'
ODD = len(HEADER).to_bytes(8, "little") + HEADER + bytes(4)

DEFECTS: dict[str, tuple[Callable[[Path], object], str]] = {
    "no page": (lambda folder: (folder / "model.json").unlink(), "readable model.json"),
    "no weights": (lambda folder: (folder / "weights.safetensors").unlink(), "readable weights"),
    "half a page": (cut("model.json", 100), "must be JSON"),
    "half the weights": (cut("weights.safetensors", 300), "damaged"),
    "a type NumPy lacks": (
        lambda folder: (folder / "weights.safetensors").write_bytes(ODD),
        "damaged",
    ),
    "no header": (cut("weights.safetensors", 5), "damaged"),
    "a list": (lambda folder: (folder / "model.json").write_text("[]"), "JSON object"),
    "brackets without end": (
        lambda folder: (folder / "model.json").write_text("[" * 200_000),
        "must be JSON",
    ),
    "a huge page": (
        lambda folder: (folder / "model.json").write_text(" " * 1_000_001),
        "at most 1000000 bytes",
    ),
    "unknown architecture": (edit(lambda page: page["architecture"].update(name="gpt")), "architectures"),
    "architecture a list": (edit(lambda page: page["architecture"].update(name=[1])), "architectures"),
    "unknown setting": (edit(lambda page: page["architecture"].update(colour=1)), "settings of"),
    "a horizon of 10⁹": (edit(lambda page: page["architecture"].update(horizon=10**9)), "horizon"),
    "another width": (edit(lambda page: page["architecture"].update(width=5)), "float32"),
    "a scaler missing": (edit(lambda page: page["scalers"].pop("trunk")), "none for trunk"),
    "no scalers": (edit(lambda page: page.pop("scalers")), "none for branch"),
    "a short scaler": (
        edit(lambda page: page["scalers"].update(trunk={"mean": [1.0], "std": [1.0]})),
        "shape",
    ),
    "a zero spread": (
        edit(lambda page: page["scalers"].update(trunk={"mean": [1.0], "std": [0.0]})),
        "scaler",
    ),
    "made for no area": (edit(lambda page: page["trained_for"].pop("area_mm")), "what it was trained for"),
    "made for no number": (
        edit(lambda page: page["trained_for"].update(temperatures_k=["hot", "hotter"])),
        "what it was trained for",
    ),
    "made for an odd sampling": (
        edit(lambda page: page["trained_for"].update(sampling="cubic")),
        "a sampling must be one of nearest, bilinear, smooth, got 'cubic'",
    ),
    "made for a list": (edit(lambda page: page.update(trained_for=[3])), "what it was trained for"),
    "made for an odd process": (
        edit(lambda page: page["trained_for"]["process"].update(tick_us=-1)),
        "tick_us",
    ),
    "a future format": (edit(lambda page: page.update(format=3)), "format 2"),
    "other weights": (reweigh(lambda weights: weights["bias"].__iadd__(1)), "names"),
    "NaN": (reweigh(lambda weights: weights["bias"].fill(np.nan)), "finite"),
    "a weight missing": (reweigh(lambda weights: weights.pop("bias")), "the weight bias"),
    "a weight too many": (reweigh(lambda weights: weights.update(more=np.zeros(1))), "'more'"),
    "a wrong shape": (reweigh(lambda weights: weights.update(bias=np.zeros(3, np.float32))), "(2,)"),
    "double precision": (reweigh(lambda weights: weights.update(bias=np.zeros(2))), "float64"),
}


@pytest.mark.parametrize("defect", DEFECTS)
def test_a_damaged_model_is_refused_in_one_sentence_and_left_as_it_is(defect: str, tmp_path: Path) -> None:
    damage, words = DEFECTS[defect]
    save_model(model(), tmp_path)
    damage(tmp_path)
    before = {file.name: file.read_bytes() for file in tmp_path.iterdir()}
    with pytest.raises(BadInput) as caught:
        load_model(tmp_path)
    assert words in str(caught.value)
    assert "\n" not in str(caught.value)
    assert {file.name: file.read_bytes() for file in tmp_path.iterdir()} == before


@pytest.mark.parametrize(("cubic", "meant"), [(False, "bilinear"), (True, "smooth")])
def test_a_model_of_before_that_says_only_whether_its_previews_were_cubic_is_read_as_it_learned(
    cubic: bool, meant: str, tmp_path: Path
) -> None:
    save_model(model(), tmp_path)

    def age(page: dict[str, Any]) -> None:
        del page["trained_for"]["sampling"]
        page["trained_for"]["smooth"] = cubic

    edit(age)(tmp_path)
    assert load_model(tmp_path).sampling == meant


@settings(max_examples=200, deadline=None)
@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    ),
    st.sampled_from(["architecture", "scalers", "format", "weights_sha256"]),
)
def test_a_hostile_page_cannot_do_more_than_be_refused(
    tmp_path_factory: pytest.TempPathFactory, value: object, key: str
) -> None:
    folder = tmp_path_factory.mktemp("model")
    save_model(model(), folder)
    edit(lambda page: page.update({key: value}))(folder)
    if key == "format" and value == 2:
        return
    with pytest.raises(BadInput):
        load_model(folder)


def test_provenance_travels_with_the_model(tmp_path: Path) -> None:
    save_model(model(), tmp_path)
    assert load_model(tmp_path).provenance == {"metrics": {"epochs": 3}}
    assert load_model(tmp_path).trained_for == MADE_FOR
    assert find_model(str(tmp_path)).architecture == NET
    assert sorted(file.name for file in tmp_path.iterdir()) == ["model.json", "weights.safetensors"]


def test_an_unknown_name_is_refused_with_the_known_ones() -> None:
    with pytest.raises(BadInput, match="a model must be"):
        find_model("nonesuch")
