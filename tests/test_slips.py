"""Likely slips: each is refused, or told, in one sentence that names it."""

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import laserloop as ll
from laserloop.cli import main
from laserloop.logs import read_log
from laserloop.process import Beam

Capture = pytest.CaptureFixture[str]
DENSE = "name: {}\nsource: a data sheet\ntable: {{T: [300, 900], k: {}, rho: {}, cp: {}}}\n"
FILES = {
    "s.nc": "G0 X0 Y0\nM3 S5000\nG1 X2 F18240\n",
    "units.yaml": DENSE.format("mine", "[15, 20]", "[7.9, 7.8]", "[500, 550]"),
    "joule.yaml": DENSE.format("mine", "[15, 20]", "[7900, 7800]", "[0.5, 0.55]"),
    "watt.yaml": DENSE.format("mine", "[0.15, 0.2]", "[7900, 7800]", "[500, 550]"),
    "odd.yaml": DENSE.format("mine", "[15, 20]", "[7.9, 7.8]", "[0.5, 0.55]"),
    "fast.csv": "x_mm,y_mm,speed_mm_s\n0,0,\n2,0,48000\n",
    "fast.cli": "$$HEADERSTART\n$$UNITS/1\n$$SPEED/48000\n$$LAYER/0\n$$HATCHES/1,1,0,0,1,0\n$$GEOMETRYEND\n",
    "celsius.yaml": "ambient_k: 20\n",
    "keys.yaml": "beem: {sigma_um: 80}\n",
    "inches.csv": "x_mm,y_mm\n0,0\n0.09,0\n0.09,0.05\n",
    "micro.csv": "x_mm,y_mm\n0,0\n2000,0\n2000,1000\n",
    "part.csv": "x_mm,y_mm\n0,0\n2,0\n",
    "two.csv": "x_mm,y_mm\n0,0\n0,1\n",
    "metres.csv": "x_mm,y_mm\n0,0\n0.002,0\n0.002,0.001\n",
    "ends.py": "import sys\nsys.exit(3)\n",
    "run.json": "{}",
    "ms.csv": "t_s,x_mm,y_mm,power_w,t_measured_k\n"
    + "".join(f"{0.125 * k:g},{0.01 * k:g},0,10,700\n" for k in range(40)),
    "micro_log.csv": "t_s,x_mm,y_mm,power_w,t_measured_k\n"
    + "".join(f"{1.25e-4 * k:g},{38 * k:g},0,10,700\n" for k in range(40)),
    "celsius_log.csv": "t_s,x_mm,y_mm,power_w,t_measured_c\n"
    + "".join(f"{1.25e-4 * k:g},{0.038 * k:g},0,10,427\n" for k in range(40)),
}


@pytest.fixture(autouse=True)
def in_a_folder_of_slips(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name, text in FILES.items():
        Path(name).write_text(text)


PLAN = ("plan", "--power-max-w", "30", "--out", "o.nc")
TYPED: list[tuple[tuple[str, ...], str]] = [
    (("simulate", "s.nc"), "s.nc, line 3: a power of 5000 W cannot be meant where the laser gives 20 W"),
    (
        (*PLAN, "s.nc"),
        "a power of 5000 W cannot be meant where the laser gives 30 W; say which number is full",
    ),
    ((*PLAN, "s.nc"), "if it is none of watts (--s-max 5000)"),
    (("init", "--material", "units.yaml"), "at 300 K: rho = 7.9 looks like g/cm³, so give it in kg/m³"),
    (("init", "--material", "joule.yaml"), "at 300 K: cp = 0.5 looks like J/gK, so give it in J/kgK"),
    (("init", "--material", "watt.yaml"), "at 300 K: k = 0.15 looks like W/cmK, so give it in W/mK"),
    (
        ("init", "--material", "odd.yaml"),
        "must lie between 1e-07 and 0.0002 m²/s, got 3.8 at 300 K: check the",
    ),
    (("simulate", "diagonal", "--speed-mm-s", "48000"), "give 800 if it is in mm/min"),
    (("init", "--speed-mm-s", "48000"), "give 800 if it is in mm/min"),
    (
        ("simulate", "fast.csv"),
        "fast.csv, line 3: the speed must be at most 20000 mm/s with the laser on, but",
    ),
    (("simulate", "fast.cli"), "is 48000 mm/s; give 800 if it was in mm/min"),
    (("plan", "fast.cli", "--out", "o.cli"), "give 800 if it was in mm/min"),
    (
        ("init", "--ambient-k", "20"),
        "must be a number from 200 to 5000 K, but got '20'; give 293.15 if it is in °C",
    ),
    (
        ("check", "celsius.yaml"),
        "ambient_k of the process celsius must be a number from 200 to 5000 K, but is 20; give",
    ),
    (("init", "--sigma-um", "0.08"), "give 80 if it is in mm"),
    (("init", "--plate-mm", "0.02,0.02,0.003"), "give [20, 20, 3] if it is in m"),
    (
        ("simulate", "micro.csv"),
        "2000 × 1000 mm of path do not fit on it, a thousandth would: give mm, not µm",
    ),
    (("check", "keys.yaml"), "but has 'beem' (did you mean beam?); correct or remove it"),
    (("simulate", "diagnal"), "but got 'diagnal' (did you mean diagonal?); choose one of these"),
    (("simulate", "haripin:3"), "but got 'haripin:3' (did you mean hairpin?); choose one of these"),
    (("simulate", "prt.csv"), "but prt.csv does not (did you mean part.csv?); check its name and folder"),
    (("simulate", "part.cvs"), "'part.cvs' is no file (did you mean part.csv?); check its name and folder"),
    (("init", "--material", "ti46"), "got 'ti46' (did you mean ti64?): choose one"),
    (("check", "papr"), "but got 'papr' (did you mean paper?); choose one"),
    (("control", "diagonal", "--controller", "twn"), "got 'twn' (did you mean twin?): choose one"),
    (("control", "diagonal", "--mismatch", "absorbtivity=0.9"), "(did you mean absorptivity?): choose one"),
    (("init", "--absorptivity", "35"), "give 0.35 if it is in %"),
    (("simulate", "metres.csv"), "lengthen it, slow down, or give mm if its numbers are m"),
    (
        ("control", "diagonal", "--margins", "no.json"),
        "but no.json cannot be read (No such file or directory)",
    ),
    (("control", "diagonal", "--controller", "ends.py:Own"), "ends.py cannot be imported: SystemExit: 3;"),
    (("identify", "ms.csv"), "rows must lie at most 100 ticks of 125 µs apart, but most lie 125 ms apart"),
    (("replay", "ms.csv"), "check the unit of the times, or give a --process with a longer tick_us"),
    (("identify", "micro_log.csv"), "of path do not fit on it, a thousandth would: give mm, not µm"),
    (("replay", "micro_log.csv"), "of path do not fit on it, a thousandth would: give mm, not µm"),
    (("identify", "celsius_log.csv"), "has 0; name their column t_measured_k or measured_peak_k"),
    (("plan", "part.csv", "--out", "o.nc"), "and must end in .csv, but is o.nc; rename it"),
    (("plan", "diagonal", "--out", "o.nc"), "and must end in .csv, but is o.nc; rename it"),
    (("plan", "part.csv", "--out", "o.csv", "--json", "o.csv"), "--json must not be the file of --out, but"),
    (("plan", "part.csv", "--out", "o.csv", "--json", "part.csv"), "must not be the file of PATH, but both"),
    (("simulate", "part.csv", "--json", "part.csv"), "must not be the file of PATH, but both are part.csv"),
    (("control", "part.csv", "--table", "part.csv"), "must not be the file of PATH, but both are part.csv"),
    (("identify", "run.json", "--json", "run.json"), "must not be the file of LOG, but both are run.json"),
    (("replay", "run.json", "--json", "run.json"), "must not be the file of LOG, but both are run.json"),
    (("calibrate", "--process", "keys.yaml", "--out", "keys.yaml"), "must not be the file of --process, but"),
]
ENDS = {  # whole sentences, whose ends count
    ("foo",): 'laserloop: Unknown command "foo"; try --help.',
    ("contrl", "diagonal"): 'laserloop: Unknown command "contrl". Did you mean "control"?',
    ("identify", "run.json", "--tick-us", "9"): "laserloop: Unknown option: --tick-us. Did you mean --ticks?",
}


@pytest.mark.parametrize(("typed", "sentence"), ENDS.items())
def test_a_question_ends_with_its_mark(typed: tuple[str, ...], sentence: str, capsys: Capture) -> None:
    assert main(typed) == 2
    assert capsys.readouterr().err.strip() == sentence


def test_a_speed_that_leaps_over_the_spot_is_told(capsys: Capture) -> None:
    assert main(["simulate", "part.csv", "--speed-mm-s", "3040", "--plant", "paper", "--json", "-"]) == 0
    assert "laserloop: note" not in capsys.readouterr().err  # 3.8 σ
    assert main(["simulate", "part.csv", "--speed-mm-s", "12000", "--plant", "paper", "--json", "-"]) == 0
    told = capsys.readouterr().err
    assert "at 12000 mm/s the beam moves 15 σ in a tick of 125 µs, too far" in told
    assert "if the speed is in mm/min, give 200 mm/s" in told


def test_check_tells_a_speed_that_no_plate_has_room_for(capsys: Capture) -> None:
    Path("minutes.yaml").write_text("speed_mm_s: 18240\n")
    assert main(["check", "minutes.yaml"]) == 0
    assert "if the speed is in mm/min, give 304 mm/s" in " ".join(capsys.readouterr().out.split())


def test_a_number_sign_may_be_part_of_a_logs_name() -> None:
    Path("run #3.csv").write_text(FILES["micro_log.csv"])
    assert len(read_log("run #3.csv").readings) == 40


@pytest.mark.parametrize(("typed", "sentence"), TYPED, ids=[" ".join(typed) for typed, _ in TYPED])
def test_a_slip_at_the_keyboard_or_in_a_file_is_named(
    typed: tuple[str, ...], sentence: str, capsys: Capture
) -> None:
    assert main(typed) == 2
    told = capsys.readouterr().err.strip().splitlines()[-1]
    assert sentence in told
    assert told.startswith("laserloop: ")
    assert not Path("o.nc").exists()


PATH = ll.find_path("diagonal", ticks=5)
FAR = ll.ScanPath(name="mine", positions=np.outer(np.linspace(-1.5, 1.5, 9), [1.0, 0.0]))
ASIDE = replace(PATH, positions=PATH.positions + np.array([0.02, 0.0]))


def wrong(value: object) -> Any:
    """A value of another type than is asked for."""
    return value


SCRIPTS: list[tuple[Callable[[], object], str]] = [
    (lambda: ll.find_process(wrong(304)), "a process must be text, but got 304; name a built-in one"),
    (lambda: ll.find_material(wrong(304)), "a material must be text, but got 304; name a shipped one"),
    (lambda: ll.find_path(wrong(7)), "a path must be text, but got 7; name a built-in one"),
    (lambda: ll.close_loop(wrong(3), PATH), "a controller must be a name or have `act(image, preview)`"),
    (lambda: ll.find_path("diagonal", ticks=wrong("5")), "ticks of a path must be a whole number, but are"),
    (lambda: ll.find_path("diagonal", ticks=wrong(5.5)), "ticks of a path must be a whole number, but are 5"),
    (lambda: ll.plan(wrong(3)), "a file to plan must be named, but got 3; give its path"),
    (lambda: ll.identify(wrong(3)), "a log must be named, but got 3; give its path as text"),
    (lambda: ll.score(wrong(3)), "what is scored must be a Run, but got 3; take what close_loop returns"),
    (lambda: ll.plot(wrong(3), "x.png"), "what is drawn must be a Run, but got 3; take what close_loop"),
    (lambda: ll.close_loop("twin", wrong("diagonal")), "must be a ScanPath, but got 'diagonal'; take"),
    (lambda: ll.close_loop("twin", PATH, wrong("316")), "must be a Process, but got '316'; take"),
    (lambda: ll.make_plant("paper", wrong("316")), "must be a Process, but got '316'; find one"),
    (lambda: ll.Process(beam=wrong(80e-6)), "the beam of a process must be a Beam, but got 8e-05"),
    (lambda: ll.Process(material=wrong("316")), "must be a Material, but got '316'"),
    (lambda: ll.Process(plate=wrong(5)), "plate_mm of a process must be 3 numbers [x, y, z] from"),
    (lambda: ll.Process(tick=wrong("fast")), "tick_us of a process must be a number from"),
    (lambda: Beam(sigma=wrong("80")), "the beam's sigma must be a positive length in m, got '80'"),
    (lambda: ll.Process(ambient=20.0), "but is 20.0; give 293.15 if it is in °C"),
    (lambda: ll.Process(plate=(15.0, 10.0, 2.0)), "give (0.015, 0.01, 0.002)"),
    (lambda: ll.close_loop("twin", FAR), "3000 × 0 mm of path do not fit on it, a thousandth would: give m"),
    (lambda: ll.close_loop("twin", ASIDE), "every point must lie on the 15 × 10 mm plate"),
    (lambda: ll.find_path("spiral", speed=304.0), "must be at most 20000 mm/s with the laser on"),
    (lambda: ll.Process(material=ll.Material.constant(k=15.0, rho=7.9, cp=500.0)), "rho = 7.9 looks like"),
    (lambda: ll.Process(beam=Beam(sigma=80.0)), "give 8e-05, since a script takes SI units"),
]  # fmt: skip


@pytest.mark.parametrize(("call", "sentence"), SCRIPTS, ids=[sentence[:40] for _, sentence in SCRIPTS])
def test_a_slip_in_a_script_is_named(call: Callable[[], object], sentence: str) -> None:
    with pytest.raises(ll.BadInput) as caught:
        call()
    assert sentence in str(caught.value)


def test_a_part_no_wider_than_the_beam_may_be_in_inches(capsys: Capture) -> None:
    assert main(["simulate", "inches.csv", "--plant", "paper", "--json", "-"]) == 0
    told = capsys.readouterr().err
    assert "inches.csv: its lit part is only 0.09 × 0.0" in told
    assert main(["simulate", "part.csv", "--plant", "paper", "--ticks", "3", "--json", "-"]) == 0
    assert "inches" not in capsys.readouterr().err


@pytest.mark.parametrize(
    ("given", "meaning", "warned"),
    [
        ((), "absorbed power (absorptivity 1)", True),
        (("--absorptivity", "1"), "absorbed power (absorptivity 1)", False),
        (("--absorptivity", "0.35"), "emitted power, of which 35 % are absorbed", False),
    ],
)
def test_init_says_whether_powers_are_absorbed_or_emitted(
    given: tuple[str, ...], meaning: str, warned: bool, capsys: Capture
) -> None:
    assert main(["init", *given, "--out", "mine.yaml"]) == 0
    out, err = capsys.readouterr()
    assert meaning in " ".join(out.split())
    assert ("give --absorptivity, of bare metal 0.3 to 0.6" in err) == warned


@pytest.mark.parametrize(
    ("share", "meaning"),
    [("1", "absorbed power (absorptivity 1)"), ("0.35", "emitted power, of which 35 % are absorbed")],
)
def test_a_planned_file_says_whether_its_powers_are_absorbed_or_emitted(
    share: str, meaning: str, capsys: Capture
) -> None:
    Path("mine.yaml").write_text(f"beam: {{absorptivity: {share}}}\nlaser: {{power_w: [0, 60]}}\n")
    plan = ("plan", "part.csv", "--process", "mine.yaml", "--no-verify")
    assert main([*plan, "--out", "o.csv", "--json", "o.json"]) == 0
    assert f"W, {meaning}" in " ".join(capsys.readouterr().out.split())
    assert json.loads(Path("o.json").read_text())["power_means"] == meaning
    head = Path("o.csv").read_text().splitlines()[0]
    assert head.startswith("# laserloop plan: NOT SIMULATED: the twin expects ")
    assert head.endswith(f". Powers are {meaning.replace(' (', ', ').replace(')', '')}")
    capsys.readouterr()
    assert main([*plan[:1], "part.csv", "two.csv", *plan[2:], "--out", "all"]) == 0
    assert f"Powers are {meaning}." in " ".join(capsys.readouterr().out.split())


def test_a_plan_that_holds_says_only_what_a_watt_means() -> None:
    assert main(["plan", "part.csv", "--out", "o.csv"]) == 0
    assert Path("o.csv").read_text().splitlines()[0] == (
        "# laserloop plan: powers are absorbed power, absorptivity 1"
    )


def test_calibrate_makes_the_folder_of_its_file(capsys: Capture, monkeypatch: pytest.MonkeyPatch) -> None:
    page = {"margins": {"above_k": 3.0, "below_k": 2.0, "level": 0.95, "runs": 1}}
    monkeypatch.setattr("laserloop.loop.tune.calibrate_margins", lambda *_, **__: page)
    assert main(["calibrate", "--runs", "1", "--ticks", "20", "--out", "new/folder/margins.json"]) == 0
    assert '"above_k": 3.0' in Path("new/folder/margins.json").read_text()
