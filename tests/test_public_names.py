"""Public names are a promise."""

import subprocess
import sys
from importlib import import_module

import pytest

import laserloop

PROMISED = {
    *("Action", "BadInput", "Camera", "CameraSettings", "Controller", "Episode", "Image", "Material"),
    *("MpcProblem", "Plant", "Preview", "Process", "Run", "ScanPath", "Status", "Surface", "close_loop"),
    *("find_material", "find_path", "find_process", "identify", "make_controller", "make_plant", "plan"),
    *("plot", "read_material", "read_process", "score", "simulate"),
}


def test_the_public_names_are_the_promised_ones() -> None:
    assert set(laserloop.__all__) == PROMISED
    assert len(PROMISED) <= 30


def test_every_public_name_is_there_and_explained() -> None:
    for name in PROMISED:
        thing = getattr(laserloop, name)
        assert thing.__doc__, name


@pytest.mark.parametrize("room", ["control", "data", "logs", "loop", "native", "predict", "report"])
def test_a_room_has_every_name_that_it_lists(room: str) -> None:
    house = import_module(f"laserloop.{room}")
    assert all(getattr(house, name) is not None for name in house.__all__)


def test_importing_the_package_does_not_wait_for_the_compiler() -> None:
    code = "import sys, laserloop.cli; sys.exit('numba' in sys.modules or 'scipy' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
