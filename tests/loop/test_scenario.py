"""Cases of closed loops: what names them, what they refuse, and what their records say."""

import json
from dataclasses import replace
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from laserloop.bad_input import BadInput
from laserloop.control.controller import Action, Controller, Guarded, Status
from laserloop.control.mpc import plan_with
from laserloop.control.problem import make_twin_problem
from laserloop.control.simple import Gains, find_gains
from laserloop.loop.controllers import Context, choose_camera
from laserloop.loop.disturbances import Fault
from laserloop.loop.scenario import Scenario, keep_case, prepare
from laserloop.paths import ScanPath, find_path, sample_polyline
from laserloop.paths.path import Preview
from laserloop.plant import Image, make_plant
from laserloop.predict.model import Model, find_model, save_model
from laserloop.predict.twin import TwinPredictor
from laserloop.process import Process
from laserloop.studies.halilovic.cases import list_table_2, list_table_3
from laserloop.studies.halilovic.published import TABLE_2, TABLE_3

PLANNED = Scenario(path="diagonal", controller="ipopt", model="paper-corner", ticks=2, delta_k=None)


def vary(**values: Any) -> Scenario:
    """A planned run of the paper's process with some values of it changed."""
    return replace(PLANNED, process=Process().change(**values))


@pytest.fixture(scope="module")
def model() -> Model:
    return find_model("paper-corner")


def test_a_run_is_kept_and_not_run_again(tmp_path: Path) -> None:
    case = Scenario(path="diagonal", controller="pi", ticks=12)
    first = keep_case(case, tmp_path)
    (kept,) = tmp_path.glob("runs/*/result.json")
    kept.write_text(json.dumps({**first, "overshoot_k": 123.0}))
    assert keep_case(case, tmp_path)["overshoot_k"] == 123.0


def test_a_case_is_named_by_what_its_model_learned_not_by_its_folder() -> None:
    named = Scenario(path="spiral", controller="ipopt", model="paper-corner").settings()
    assert named["model"] == find_model("paper-corner").provenance["identity"]


def test_an_own_predictor_is_planned_with_as_a_contestant_of_the_arena_is(tmp_path: Path) -> None:
    file = tmp_path / "mine.py"
    file.write_text(
        "from laserloop.predict.twin import TwinPredictor\n\n\n"
        "class Mine(TwinPredictor):\n    name = 'mine'\n"
    )
    lit = np.arange(40) % 20 < 15
    path = ScanPath(name="dashes", positions=find_path("diagonal", ticks=40).positions, lit=lit)
    case = Scenario(path=path, plant="graded", controller="sqp", model=f"{file}:Mine", ticks=40)

    def seat(context: Context) -> Controller:  # as the arena does
        assert context.process is not None
        return plan_with(TwinPredictor(context.process), make_twin_problem(context.problem), name="mine")

    mine = prepare(case).run()
    theirs = prepare(replace(case, model=None, controller="mine"), seat).run()
    assert mine.controller == theirs.controller == "mine"
    assert mine.power.tolist() == theirs.power.tolist()
    assert mine.predicted[mine.settled] == pytest.approx(780.0, abs=0.5)


def test_no_two_different_cases_share_their_settings(tmp_path: Path, model: Model) -> None:
    """Every field counts, also what is inside a file and inside a model's calibration."""
    own, part = tmp_path / "own.py", tmp_path / "part.csv"
    own.write_text("a = 1")
    part.write_text("x_mm,y_mm\n0,0\n1,0\n")
    noisy = replace(PLANNED.process, camera=replace(PLANNED.process.camera, seed=3))
    cases = [
        PLANNED,
        replace(PLANNED, process=noisy),
        replace(PLANNED, tracking=1.0),
        replace(PLANNED, delta_k=0.0),
        replace(PLANNED, force=True),
        replace(PLANNED, faults=(Fault(kind="drop"),)),
        replace(PLANNED, faults=(Fault(kind="drop", first=1),)),
        vary(noise_k=1.0),
        vary(material="ti64"),
        Scenario(path=str(part), controller=f"{own}:A"),
    ]
    told = [json.dumps(case.settings(), sort_keys=True) for case in cases]
    own.write_text("a = 2")
    told.append(json.dumps(cases[-1].settings(), sort_keys=True))
    part.write_text("x_mm,y_mm\n0,0\n2,0\n")
    told.append(json.dumps(cases[-1].settings(), sort_keys=True))
    for delta in (10.0, 11.0):
        calibrated = {**model.provenance, "calibration": {"delta_one_sided_k": delta}}
        save_model(replace(model, provenance=calibrated), tmp_path / "model")
        told.append(json.dumps(replace(PLANNED, model=str(tmp_path / "model")).settings(), sort_keys=True))
    assert len(set(told)) == len(told)


def test_a_fault_of_a_case_reaches_the_loop() -> None:
    case = Scenario(path="diagonal", controller="constant", ticks=6)
    weak = prepare(replace(case, faults=(Fault(kind="absorbed", first=3, factor=0.5),))).run()
    whole = prepare(case).run()
    assert np.array_equal(weak.t_max[:3], whole.t_max[:3])
    assert (weak.t_max[3:] < whole.t_max[3:]).all()
    blind = prepare(replace(case, controller="twin", faults=(Fault(kind="drop", first=3),))).run()
    assert [status is Status.BLIND for status in blind.statuses] == [False] * 3 + [True] * 3


def test_the_tables_hold_every_row_of_the_paper() -> None:
    assert {(row.label, row.case.path) for row in list_table_2()} >= set(TABLE_2)
    models = dict.fromkeys(("N_h = 3", "N_h = 5", "N_h = 7", "N_h = 10", "SS-AR"), "paper-corner")
    assert {(row.label, row.case.path) for row in list_table_3(models)} == set(TABLE_3)


def test_a_camera_reads_as_the_model_learned_and_otherwise_as_the_plant_does(model: Model) -> None:
    assert model.trained_for is not None
    taught = replace(model, trained_for=replace(model.trained_for, reading="peak", sampling="smooth"))
    for name, own in (("paper", (False, "nearest")), ("graded", (True, "smooth"))):
        plant = make_plant(name, Process().change(noise_k=2.0, delay_ticks=1))
        for read, want in ((None, own), (model, (False, model.sampling)), (taught, (True, "smooth"))):
            camera = choose_camera(plant, read)
            assert (camera.subgrid, camera.sampling) == want
            assert (camera.noise, camera.delay) == (2.0, 1)


class Spy:
    """Keeps the images that a controller gets."""

    def __init__(self, inner: Controller, seen: list[Image | None]) -> None:
        self.name, self.horizon, self.memory = inner.name, inner.horizon, inner.memory
        self.inner, self.seen = inner, seen

    def reset(self) -> None:
        self.inner.reset()

    def act(self, image: Image | None, preview: Preview) -> Action:
        self.seen.append(image)
        return self.inner.act(image, preview)


def spy(case: Scenario) -> list[Image | None]:
    seen: list[Image | None] = []
    loop = prepare(case).loop()
    loop.controller = Guarded(Spy(loop.controller.inner, seen))
    loop.run()
    return seen


def test_in_the_loop_the_camera_reads_as_the_model_learned(model: Model, tmp_path: Path) -> None:
    assert model.trained_for is not None
    taught = replace(model, trained_for=replace(model.trained_for, reading="peak", sampling="smooth"))
    save_model(taught, tmp_path)
    for case, want in (
        (PLANNED, (False, model.sampling)),
        (replace(PLANNED, sampling="bilinear"), (False, "bilinear")),
        (replace(PLANNED, sampling="nearest"), (False, "nearest")),
        (replace(PLANNED, model=str(tmp_path), force=True), (True, "smooth")),
        (Scenario(path="diagonal", controller="pi", ticks=2), (False, "nearest")),
        (Scenario(path="diagonal", controller="pi", ticks=2, plant="graded"), (True, "smooth")),
    ):
        images = [image for image in spy(case) if image is not None]
        assert [(image.subgrid, image.sampling) for image in images] == [want] * 2


def test_every_setting_of_the_camera_reaches_the_loop() -> None:
    def see(**values: Any) -> list[Image | None]:
        process = Process().change(**values)
        return spy(replace(PLANNED, ticks=5, process=process, force=True))

    sharp = see()
    assert all(image is not None for image in sharp)
    assert [image is None for image in see(every_ticks=2)] == [False, True, False, True, False]
    late = see(delay_ticks=2)
    assert late[-1] is not None
    assert sharp[-1] is not None
    assert sharp[-1].time - late[-1].time == pytest.approx(2 * 1.25e-4)
    noisy = see(noise_k=5.0)[-1]
    assert noisy is not None
    assert 4.0 < np.std(noisy.temperature[:, :20]) < 6.0  # far from the beam
    coarse = see(pixel_um=200.0)[-1]
    assert coarse is not None
    assert coarse.temperature.shape == (50, 75)
    slow = see(exposure_ticks=3)[-1]
    assert slow is not None
    assert slow.peak.temperature < sharp[-1].peak.temperature - 5.0


def test_tracking_and_margin_reach_the_problem() -> None:
    ready = prepare(replace(PLANNED, tracking=7.0, delta_k=4.0))
    assert (ready.problem.tracking_cost, ready.problem.margin_above) == (7.0, 4.0)
    assert prepare(PLANNED).problem.margin_above == pytest.approx(12.00, abs=0.01)


MISFITS: dict[str, tuple[Scenario, str]] = {
    "alloy": (vary(material="ti64"), "material is another than in its training"),
    "window": (vary(window_k=[1500.0, 1700.0]), "peaks of 300 to 1379 K, but the window is 1500 to 1700 K"),
    "cold window": (vary(window_k=[250.0, 400.0]), "peaks of 300 to 1379 K, but the window is 250 to 400 K"),
    "power": (vary(power_w=[0.0, 200.0]), "powers up to 20 W, but the laser may give 200 W"),
    "speed": (vary(speed_mm_s=370.0), "trained at 304 mm/s, but the path runs at 370 mm/s"),
    "pixels of 1 σ": (vary(pixel_um=100.0), "a pixel of 100 µm reads the mean"),
    "pixels of 2 σ": (vary(pixel_um=200.0), "a pixel of 200 µm reads the mean"),
    "beam": (vary(sigma_um=80.0), "beam.sigma_um is another"),
    "absorptivity": (vary(absorptivity=0.8), "beam.absorptivity is another"),
    "tick": (vary(tick_us=100.0), "tick_us is another"),
    "lag": (vary(lag_us=50.0), "laser.lag_us is another"),
    "plate": (vary(plate_mm=[20.0, 10.0, 2.0]), "plate_mm is another"),
    "ambient": (vary(ambient_k=350.0), "ambient_k is another"),
    "plant": (replace(PLANNED, plant="graded"), "trained on the paper plant, not on graded"),
    "reading": (replace(PLANNED, plant="graded"), "but on the graded plant it is the peak between the nodes"),
}


def test_progress_is_told_tick_by_tick() -> None:
    told: list[tuple[int, int]] = []
    case = Scenario(path="diagonal", controller="constant", ticks=4)
    prepare(case).run(lambda done, whole: told.append((done, whole)))
    assert told[-1] == (4, 4)


def test_a_surface_of_less_emissivity_than_thought_is_seen_colder() -> None:
    case = Scenario(path="diagonal", controller="pi", ticks=12)
    usual, dull = (prepare(replace(case, mismatch=m)).run() for m in ((), (("emissivity", 0.9),)))
    assert (dull.power[2:] > usual.power[2:] + 0.1).any()  # PI heats what seems cold


@pytest.mark.parametrize(("solve_s", "late"), [((), 0), ((1e-6,), 0), ((2e-4,), 7)])
def test_answers_are_charged_with_the_times_of_the_case(solve_s: tuple[float, ...], late: int) -> None:
    run = prepare(replace(PLANNED, controller="realtime", solve_s=solve_s, ticks=8)).run()
    assert sum(status is Status.LATE for status in run.statuses) >= late
    assert late or Status.LATE not in run.statuses


@pytest.mark.parametrize("what", MISFITS)
def test_a_model_is_refused_where_it_was_not_made_for_with_the_command_that_makes_one(what: str) -> None:
    case, why = MISFITS[what]
    with pytest.raises(BadInput) as refused:
        prepare(case)
    said = str(refused.value)
    assert why in said
    process = "paper" if case.process == Process() else "FILE"
    train = (
        f"laserloop ensemble corner --plant {case.plant} --process {process} --out DATA && laserloop train "
    )
    assert ("--pixel-um 50 or less" if "pixel" in what else train) in said
    assert (train in said) != ("pixel" in what)  # no training knows the camera
    assert "insist with --force" in said
    assert ". " not in said  # one sentence


@pytest.mark.parametrize("what", MISFITS)
def test_who_insists_gets_the_run_with_a_note(what: str) -> None:
    case, why = MISFITS[what]
    note = prepare(replace(case, force=True)).notes[0]
    assert note.startswith("paper-corner was not made for this: ")
    assert why in note


@pytest.mark.parametrize("what", MISFITS)
def test_who_left_the_choice_open_gets_the_twin_where_the_best_model_does_not_fit(what: str) -> None:
    case, why = MISFITS[what]
    ready = prepare(replace(case, controller=None, model=None))
    assert (ready.scenario.controller, ready.model) == ("twin", None)
    if case.plant == "paper":
        assert why in ready.notes[0]


@pytest.mark.parametrize(
    ("given", "found"),
    [
        ({}, ("realtime", "paper-corner")),
        ({"plant": "graded"}, ("twin", None)),
        ({"model": "paper-base"}, ("realtime", "paper-base")),
        ({"model": "own.py:Rise"}, ("sqp", "own.py:Rise")),
        ({"controller": "ipopt"}, ("ipopt", "paper-corner")),
        ({"controller": "pi"}, ("pi", None)),
    ],
    ids=str,
)
def test_what_is_left_open_is_the_best_that_ships(
    given: dict[str, Any], found: tuple[str, str | None]
) -> None:
    chosen = Scenario(path="diagonal", **given).choose()
    assert (chosen.controller, chosen.model) == found


def test_a_part_outside_the_trained_area_is_refused(tmp_path: Path) -> None:
    (tmp_path / "part.csv").write_text("x_mm,y_mm\n3,3\n4,3\n")
    case = replace(PLANNED, path=str(tmp_path / "part.csv"), ticks=None)
    with pytest.raises(BadInput, match=r"-1\.5 to 1\.5 mm in x .* 26 of 26 lit ticks leave; .* --centre"):
        prepare(case)
    assert "lit ticks leave" in prepare(replace(case, force=True)).notes[0]
    (tmp_path / "part.csv").write_text("x_mm,y_mm\n0,-1\n0,-2\n")
    with pytest.raises(BadInput, match="lit ticks leave"):
        prepare(case)
    (tmp_path / "part.csv").write_text("x_mm,y_mm\n-0.5,0\n0.5,0\n")
    assert prepare(case).notes == ()


def test_the_dark_may_lead_the_beam_out_of_the_trained_area() -> None:
    path = sample_polyline(np.array([[0.0, 0.0], [0.0, 3e-3]]), name="out")
    lit = path.positions[1:, 1] < 1.4e-3
    assert prepare(replace(PLANNED, path=replace(path, lit=lit))).notes == ()
    with pytest.raises(BadInput, match="lit ticks leave"):
        prepare(replace(PLANNED, path=path))


def test_gains_are_those_of_the_speed_that_the_path_has(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[float] = []
    gains = find_gains("paper", Process())

    def find(plant: str, process: Process) -> Gains | None:
        asked.append(process.speed)
        return gains

    monkeypatch.setattr("laserloop.control.simple.find_gains", find)
    for speed in (0.304, 0.31, 0.4):
        path = sample_polyline(np.array([[0.0, 0.0], [1e-4, 0.0]]), name="line", speed=speed)
        prepare(Scenario(path=path, controller="constant")).run()
    assert asked == pytest.approx([0.304, 0.304, 0.4])


@pytest.mark.filterwarnings("ignore:temperatures of")
def test_heat_beyond_what_the_alloys_numbers_cover_is_noted(tmp_path: Path) -> None:
    (tmp_path / "own.py").write_text(
        "class Full:\n"
        "    def __init__(self, problem):\n"
        "        pass\n"
        "    def act(self, image, preview):\n"
        "        return 60.0\n"
    )
    process = Process().change(power_w=[0.0, 60.0])
    case = Scenario(path="diagonal", controller=f"{tmp_path / 'own.py'}:Full", process=process, ticks=12)
    run = prepare(case).run()
    assert run.t_max.max() > 1670.0
    assert any("1670" in note for note in run.notes)


@pytest.mark.parametrize(
    "values", [{"speed_mm_s": 310.0}, {"pixel_um": 50.0}, {"power_w": [0.0, 15.0]}], ids=str
)
def test_what_a_model_was_made_for_it_is_used_on_without_a_word(values: dict[str, Any]) -> None:
    assert prepare(vary(**values)).notes == ()


def test_a_model_that_does_not_say_what_it_was_made_for_is_refused(model: Model, tmp_path: Path) -> None:
    save_model(replace(model, trained_for=None), tmp_path)
    case = replace(PLANNED, model=str(tmp_path))
    with pytest.raises(BadInput, match="does not say what it was made for"):
        prepare(case)
    assert "does not say" in prepare(replace(case, force=True)).notes[0]


def test_a_margin_that_does_not_cover_the_camera_is_noted() -> None:
    assert "margin of 12.0 K was calibrated on exact images" in prepare(vary(noise_k=5.0)).notes[0]
    assert prepare(replace(vary(noise_k=5.0), delta_k=20.0)).notes == ()


def test_a_delay_beyond_the_plan_is_refused() -> None:
    with pytest.raises(BadInput, match="plans 5 ticks and the image comes after 5"):
        prepare(vary(delay_ticks=5))


@pytest.mark.parametrize(("plant", "own"), [("paper", "node"), ("graded", "peak")])
def test_the_oracle_foretells_the_plants_own_reading(plant: str, own: str) -> None:
    run = prepare(Scenario(path="diagonal", controller="oracle", plant=plant, ticks=4)).run()
    assert run.predicted == pytest.approx(getattr(run, f"t_{own}"), abs=1e-6)


def test_a_record_names_its_process_whole_its_version_and_every_note() -> None:
    process = Process().change(material="ti64", pixel_um=40.0)
    found = prepare(replace(PLANNED, process=process, force=True)).run().to_json()
    assert Process.from_json(found["process"]) == process
    assert found["process"]["material"]["name"] == process.material.name
    assert found["version"] == version("laserloop")
    assert any("material is another" in note for note in found["notes"])
    assert (found["plant"], found["reading"], found["model"]) == ("paper", "node", "paper-corner")
    assert (found["window_k"], found["seed"]) == ([760.0, 800.0], 0)
    assert found["delta_k"] == pytest.approx(12.00, abs=0.01)


def test_the_headline_is_taken_on_the_plants_own_reading() -> None:
    for plant, own in (("paper", "node"), ("graded", "peak")):
        found = (
            prepare(Scenario(path="diagonal", controller="constant", plant=plant, ticks=15)).run().to_json()
        )
        assert found["reading"] == own
        assert {name: found[name] for name in found[own]} == found[own]
        assert found["series"]["t_true_k"] == found["series"][f"t_{own}_k"]
        assert found["peak"]["t_max_k"] > found["node"]["t_max_k"]


def test_adaptive_margins_are_in_the_record_and_only_the_twin_has_them() -> None:
    case = Scenario(path="diagonal", plant="graded", controller="twin", ticks=60, delta_k=None, adaptive=True)
    series = prepare(case).run().to_json()["series"]
    assert len(series["margin_above_k"]) == len(series["margin_below_k"]) == 60
    assert len(set(series["margin_above_k"])) > 1  # they follow
    with pytest.raises(BadInput, match="belong to the twin"):
        prepare(replace(case, controller="pi")).run().to_json()


@pytest.mark.parametrize(
    ("controller", "given", "words"),
    [
        ("pi", {"delta_k": 13.0}, "--delta-k belongs to twin, realtime, ipopt, sqp, oracle, but the"),
        ("feedforward", {"delta_k": 13.0}, "the controller is feedforward; leave it out"),
        ("constant", {"tracking": 50.0}, "--tracking belongs to twin, realtime, ipopt, sqp, oracle, but"),
        ("pi", {"graph": "plain"}, "--graph belongs to ipopt, but the controller is pi; leave it out"),
        ("twin", {"graph": "plain"}, "--graph belongs to ipopt, but the controller is twin"),
        ("twin", {"model": "paper-base"}, "--model belongs to realtime, ipopt, sqp, but the controller is"),
    ],
)
def test_an_option_that_a_controller_does_not_use_is_refused(
    controller: str, given: dict[str, Any], words: str
) -> None:
    with pytest.raises(BadInput, match=words):
        Scenario(path="diagonal", controller=controller, plant="graded", **given).choose()
    for neutral in ({"delta_k": 0.0}, {"delta_k": None}, {"tracking": None}, {"graph": "folded"}):
        Scenario(path="diagonal", controller=controller, plant="graded", **neutral).choose()


def test_an_own_class_is_built_with_the_margin_and_the_price() -> None:
    case = Scenario(path="diagonal", controller="own.py:Mine", delta_k=13.0, tracking=50.0)
    assert case.choose().delta_k == 13.0
