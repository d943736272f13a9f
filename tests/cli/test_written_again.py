"""What one verb writes the next verb reads with the same meaning."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from laserloop.cli import main
from laserloop.process import Process, read_process
from laserloop.process import process as process_module
from laserloop.process.material import describe_material

Capture = pytest.CaptureFixture[str]
OWN_304 = """name: "304"
source: mine
valid: [300, 1500]
table: {T: [300, 1500], k: [10, 20], rho: [7000, 7000], cp: [500, 600]}
"""


@pytest.fixture(autouse=True)
def in_an_empty_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def run_json(capsys: Capture, *options: str) -> dict[str, Any]:
    assert main([*options, "--json", "-"]) == 0, capsys.readouterr().err
    return dict(json.loads(capsys.readouterr().out))


CLI = "$$HEADERSTART\n$$UNITS/1\n$$POWER/195\n$$SPEED/304\n$$LAYER/0\n"
PLANNED = {
    "a.txt": "Mode X(mm) Y(mm) Z(mm) Pmod Param\n1 0 0 0 0 0\n0 1 0 0 0.7 0.304\n0 0 0 0 0.7 0.304\n",
    "b.txt": "Mode X Y Z Power Param\n1 0 0 0 0 0\n0 0.001 0 0 15 0.304\n",
    "c.inp": "0 0 0 0 0.7\n0.004 0.001 0 0 0\n",
    "d.nc": "G21 G90 ; S in W\nM3 S195\nG0 X0 Y0\nG1 X1 F18240\nM5\n",
    "e.cli": f"{CLI}$$HATCHES/1,1,0,0,1,0\n$$GEOMETRYEND\n",
    "f.csv": "x_mm,y_mm,power_w\n0,0,0\n1,0,195\n",
}


@pytest.mark.parametrize("name", PLANNED)
def test_simulate_takes_the_powers_that_plan_wrote(name: str, capsys: Capture) -> None:
    Path(name).write_text(PLANNED[name])
    out = f"planned-{name}"
    options = ("--by", "vector", "--power-max-w", "30", "--no-verify")  # no power of a whole vector holds
    planned = run_json(capsys, "plan", name, *options, "--out", out)
    Path("mine.yaml").write_text("laser: {power_w: [0, 30]}\n")
    told = run_json(
        capsys, "simulate", out, "--power-w", "file", "--process", "mine.yaml", "--plant", "paper"
    )
    given = np.array(told["power_w"])[np.array(told["lit"])]
    assert given[0] == pytest.approx(planned["power_w"][0], abs=1e-3)
    assert min(planned["power_w"]) - 1e-3 < given.min() <= given.max() < max(planned["power_w"]) + 1e-3
    assert "195" not in Path(out).read_text()


def test_init_keeps_every_digit_of_a_window(capsys: Capture) -> None:
    assert main(["init", "--window-k", "1403.125,1443.375", "--out", "w.yaml"]) == 0
    assert read_process("w.yaml").window == (1403.125, 1443.375)


def test_init_writes_an_own_alloy_whole_whatever_its_name(capsys: Capture) -> None:
    Path("own.yaml").write_text(OWN_304)
    assert main(["init", "--material", "own.yaml", "--out", "p.yaml"]) == 0
    assert main(["init", "--process", "p.yaml", "--sigma-um", "80", "--out", "q.yaml"]) == 0
    p, q = read_process("p.yaml"), read_process("q.yaml")
    assert describe_material(p.material) == describe_material(q.material)
    assert q == p.change(sigma_um=80)
    assert q.material.conductivity(300.0) == 10.0


def test_init_leaves_no_file_that_says_something_else(
    capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = process_module._write
    monkeypatch.setattr(process_module, "_write", lambda process, material: whole(Process(), material))
    assert main(["init", "--sigma-um", "80", "--out", "wrong.yaml"]) == 2
    assert "a process file must say what it was given" in capsys.readouterr().err
    assert not Path("wrong.yaml").exists()
