"""Orders: what a page may ask for, and what it becomes."""

from pathlib import Path

import pytest

from laserloop.bad_input import BadInput
from laserloop.live import request as room
from laserloop.live.request import read_request
from laserloop.process import find_process, write_process


def test_an_order_becomes_a_case_for_each_controller() -> None:
    changes = {"material": "ti64", "window_k": [1200, 1240], "noise_k": 5, "power_max_w": 30}
    given = {"path": "raster:3", "changes": changes, "controllers": ["twin", "pi"], "absorptivity_error": 0.9}
    order = read_request(given, {})
    assert order.controllers == ("twin", "pi")
    case = order.make_case("pi")
    assert (case.controller, case.plant, case.mismatch) == ("pi", "graded", (("absorptivity", 0.9),))
    assert case.process.window == (1200.0, 1240.0)
    assert (case.process.material.name, case.process.camera.noise) == ("ti64", 5.0)
    assert case.process.laser.power == (0.0, 30.0)
    assert len(order.find_path()) == 320


def test_a_dropped_file_keeps_its_name_and_goes_to_the_middle(tmp_path: Path) -> None:
    file = tmp_path / "0123.csv"
    file.write_text("x_mm,y_mm\n4,4\n5,4\n")
    order = read_request({"path": {"file": "key"}}, {"key": ("my part.csv", file)})
    path = order.find_path()
    assert path.name == "my part.csv"
    assert path.positions.mean(axis=0) == pytest.approx([0.0, 0.0], abs=1e-5)
    short = read_request({"path": {"file": "key"}, "ticks": 5}, {"key": ("my part.csv", file)})
    assert len(short.find_path()) == 5


def test_a_dropped_process_is_read_with_its_alloy_inside(tmp_path: Path) -> None:
    wanted = find_process("ti64").change(sigma_um=70, window_k=(1210, 1230))
    file = tmp_path / "0123"
    file.write_text(write_process(wanted))
    files = {"key": ("mine.yaml", file)}
    assert read_request({"process": {"file": "key"}}, files).process == wanted
    changed = read_request({"process": {"file": "key"}, "changes": {"noise_k": 3}}, files).process
    assert changed == wanted.change(noise_k=3)
    file.write_text("window_k: [770, 790]\nmaterial: 304\n")
    found = read_request({"process": {"file": "key"}}, files).process
    assert (found.name, found.window) == ("mine", (770.0, 790.0))


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "mine.yaml must be filled"),
        ("- 1\n- 2\n", "mine.yaml must be a process as laserloop init writes it"),
        ("window_k: [800, 760]\n", "window_k"),
        ("sigma: 3\n", "sigma"),
        ("window_k: [760, 800\n", "plain YAML"),
        ("a: &a [1]\nb: *a\n", "has an alias"),
        ("material: /etc/passwd.yaml\n", "must be one of .* or stand in the file itself"),
        ("material: secret.csv\n", "must be one of .* or stand in the file itself"),
        ("x" * 1_000_001, "at most 1000000 bytes"),
    ],
)
def test_a_bad_process_is_refused_in_a_sentence(tmp_path: Path, text: str, words: str) -> None:
    file = tmp_path / "0123"
    file.write_text(text)
    (tmp_path / "secret.csv").write_text("T_K,k_W_mK,rho_kg_m3,cp_J_kgK\n300,15,7900,500\n900,20,7700,600\n")
    with pytest.raises(BadInput, match=words) as refusal:
        read_request({"process": {"file": "key"}}, {"key": ("mine.yaml", file)})
    assert str(tmp_path) not in str(refusal.value)


def test_a_long_path_is_refused_with_what_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(room, "MOST_TICKS", 319)
    with pytest.raises(BadInput, match="say how many to follow"):
        read_request({"path": "spiral"}, {}).find_path()
