"""Closed loops, a few ticks each, whose records stay what they are.

`python tests/loop/test_pins.py` writes them anew. What a clock said and the process, which has its own tests,
are left out.
"""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from laserloop.bad_input import BadInput
from laserloop.control.simple import ConstantController
from laserloop.loop.adapters import Recoating, run_layers
from laserloop.loop.controllers import choose_camera
from laserloop.loop.disturbances import Fault
from laserloop.loop.record import score, series_of
from laserloop.loop.run import Tick
from laserloop.loop.scenario import Scenario, prepare
from laserloop.paths import ScanPath, find_path
from laserloop.plant import Camera, make_plant
from laserloop.process import Process

PINS = Path(__file__).with_name("pins.json")
CLOCKS = {"solve_ms", "tick_ms"}
LEFT_OUT = CLOCKS | {"version", "process"}
DIGITS = 9  # that are kept
ACCURACY = 1e-6  # relative; another processor rounds otherwise

LATE_CAMERA: dict[str, Any] = {"noise_k": 5.0, "delay_ticks": 1, "every_ticks": 2, "pixel_um": 50.0}
OWN = """
class Rising:
    def __init__(self, problem, process):
        self.low, self.high = problem.power
        self.k = 0

    def act(self, image, preview):
        self.k += 1
        return self.low + self.k if self.k != 4 else float("nan")


class Line:
    name, horizon, memory, affine = "line", 4, 0, True

    def __init__(self, process):
        self.peak = 300.0

    def reset(self):
        self.peak = 300.0

    def observe(self, image, preview):
        import numpy as np
        from laserloop.predict.predictor import AffineForecast

        if image is not None:
            self.peak = image.peak.temperature
        base, slopes = np.full(4, 0.6 * self.peak), 20.0 * np.tri(4)
        return AffineForecast(base=base, slopes=slopes, previous=preview.power, committed=np.empty(0))
"""


def vary(plant: str = "graded", ticks: int = 16, **settings: Any) -> Scenario:
    """A case whose settings of the process stand among its own."""
    values = settings.pop("values", {})
    process = Process().change(**values)
    given = {"path": "diagonal", "delta_k": None} | settings
    return Scenario(plant=plant, ticks=ticks, process=process, **given)


FAULTS = (
    Fault(kind="drop", first=4, ticks=6, share=0.5, seed=1),
    Fault(kind="saturate", first=10, ticks=1),
    Fault(kind="freeze", first=11, ticks=3),
    Fault(kind="absorbed", first=8, factor=0.8),
)
CASES = {
    "twin": vary(controller="twin"),
    "twin, late and noisy camera": vary(controller="twin", values=LATE_CAMERA),
    "twin, faults and mismatch": vary(
        controller="twin", faults=FAULTS, mismatch=(("absorptivity", 1.1), ("emissivity", 0.95))
    ),
    "twin, adaptive margins": vary(controller="twin", adaptive=True, ticks=48, path="spiral"),
    "twin without foresight": vary(controller="twin", preview_ticks=0, path="vertical"),
    "realtime": vary("paper", controller="realtime"),
    "realtime, deadline": vary(
        "paper", controller="realtime", solve_s=(1e-4, 2e-4, 4e-4), policy="late", apply=2
    ),
    "realtime, uncompensated": vary(
        "paper", controller="realtime", values=LATE_CAMERA, compensate=False, force=True
    ),
    "sqp, bilinear": vary("paper", ticks=6, controller="sqp", sampling="bilinear"),
    "ipopt": vary("paper", ticks=4, controller="ipopt", delta_k=13.0),
    "ipopt, plain": vary("paper", ticks=2, controller="ipopt", graph="plain", tracking=1.0),
    "pi": vary("paper", controller="pi"),
    "constant": vary("paper", controller="constant"),
    "feedforward": vary("paper", controller="feedforward", path="polyline:3"),
    "oracle": vary(ticks=5, controller="oracle"),
    "best of paper, where it does not fit": vary("paper", ticks=6, values={"material": "ti64"}),
    "own controller": vary(ticks=6, controller="own.py:Rising", delta_k=5.0),
    "own predictor": vary(ticks=6, controller="sqp", model="own.py:Line"),
}
REFUSED = {
    "a model on another plant": vary(controller="ipopt"),
    "margins without the twin": vary("paper", controller="pi", adaptive=True),
    "an option of others": vary(controller="pi", tracking=3.0),
    "nobody of that name": vary(controller="twins"),
}


def run_changed() -> dict[str, Any]:
    """A loop whose window and absorptivity change on the way."""
    case = vary(controller="pi", ticks=20)
    loop = prepare(case).loop()
    loop.window = case.process.window

    def watch(k: int, tick: Tick) -> None:
        if k == 6:
            loop.set_window(700.0, 740.0)
        if k == 12:
            loop.set_absorbed(0.9)

    return loop.run(watch=watch).to_json()


def run_two_layers() -> dict[str, Any]:
    """Two layers with a pause between them."""
    plant = make_plant("graded")
    layers = [find_path("diagonal", ticks=8), find_path("horizontal", ticks=8)]
    recoating = Recoating(pause=0.01, thickness=30e-6)
    runs = run_layers(plant, Camera(choose_camera(plant, None)), ConstantController(9.0), layers, recoating)
    return {f"layer {n}": score(run) | {"series": series_of(run)} for n, run in enumerate(runs)}


def run_dark() -> dict[str, Any]:
    """A path that goes dark and comes back."""
    lit = np.arange(20) % 8 < 6
    path = ScanPath(name="dashes", positions=find_path("diagonal", ticks=20).positions, lit=lit)
    return prepare(vary(controller="twin", path=path, ticks=20)).run().to_json()


OTHERS = {"window and absorptivity change": run_changed, "layers": run_two_layers, "dark": run_dark}


def compute(name: str, folder: Path) -> Any:
    """What is pinned under a name."""
    if name in OTHERS:
        return reduce(OTHERS[name]())
    (folder / "own.py").write_text(OWN)
    case = (CASES | REFUSED)[name]
    own = {
        field: value.replace("own.py", str(folder / "own.py"))
        for field in ("controller", "model")
        if (value := getattr(case, field)) and "own.py" in value
    }
    try:
        return reduce(prepare(replace(case, **own)).run().to_json(), str(folder))
    except BadInput as refusal:
        return str(refusal)


def reduce(value: Any, folder: str = "\0") -> Any:
    """Without clocks, and with few digits."""
    if isinstance(value, dict):
        return {key: reduce(item, folder) for key, item in value.items() if key not in LEFT_OUT}
    if isinstance(value, list | tuple):
        return [reduce(item, folder) for item in value]
    if isinstance(value, float):
        return float(f"{value:.{DIGITS}g}")
    return value.replace(folder, "") if isinstance(value, str) else value


def differences(found: Any, wanted: Any, place: str = "") -> list[str]:
    """Where they differ, by more than rounding."""
    if isinstance(wanted, dict) and isinstance(found, dict):
        lacking = [f"{place}/{key}: only in one" for key in wanted.keys() ^ found.keys()]
        pairs = ((found[key], wanted[key], f"{place}/{key}") for key in wanted if key in found)
        return lacking + [text for pair in pairs for text in differences(*pair)]
    if isinstance(wanted, list) and isinstance(found, list) and len(wanted) == len(found):
        pairs = ((a, b, f"{place}[{i}]") for i, (a, b) in enumerate(zip(found, wanted, strict=True)))
        return [text for pair in pairs for text in differences(*pair)]
    numbers = all(isinstance(v, float | int) and not isinstance(v, bool) for v in (found, wanted))
    same = found == pytest.approx(wanted, rel=ACCURACY, abs=ACCURACY) if numbers else found == wanted
    return [] if same else [f"{place}: {found!r} instead of {wanted!r}"]


@pytest.mark.parametrize("name", [*CASES, *REFUSED, *OTHERS])
@pytest.mark.filterwarnings("ignore:temperatures of")
def test_a_closed_loop_stays_what_it_was(name: str, tmp_path: Path) -> None:
    wanted = json.loads(PINS.read_text(encoding="utf-8"))[name]
    assert differences(json.loads(json.dumps(compute(name, tmp_path))), wanted) == []


def write(folder: Path) -> None:
    """All of them, as they are now."""
    pins = {name: compute(name, folder) for name in (*CASES, *REFUSED, *OTHERS)}
    lines = (f"{json.dumps(name)}: {json.dumps(pin, allow_nan=False)}" for name, pin in pins.items())
    PINS.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")


if __name__ == "__main__":
    from tempfile import TemporaryDirectory

    with TemporaryDirectory() as scratch:
        write(Path(scratch))
