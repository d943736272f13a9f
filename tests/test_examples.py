"""Every example ends with a number, and here is that number."""

import importlib.util
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parent.parent / "examples"
DOCS = EXAMPLES.parent / "docs"
PINNED = {  # K, and how far it may move
    "arena_controller": (29.2, 0.3),
    "constant_power": (870.6, 0.2),
    "do_mpc_controller": (810.2, 0.3),
    "export_to_c": (784.4, 0.3),
    "gcode_in_and_out": (781.3, 0.3),
    "hatch_stl": (780.6, 0.3),
    "identify_process": (0.827, 0.003),  # absorptivity
    "layers": (780.8, 0.3),
    "learner": (809.9, 0.5),
    "no_camera": (797.1, 0.3),
    "noise_and_delay": (784.5, 0.5),
    "own_controller": (949.1, 0.3),
    "own_material": (886.9, 0.3),
}


def test_the_gallery_shows_every_example_in_light_and_dark() -> None:
    page = (DOCS / "gallery.md").read_text(encoding="utf-8")
    for name in PINNED:
        assert f"../examples/{name}.py" in page
        for tone in ("light", "dark"):
            assert f"gallery/{name}-{tone}.png" in page
            assert (DOCS / "gallery" / f"{name}-{tone}.png").stat().st_size < 120e3


def test_every_example_is_pinned() -> None:
    assert {file.stem for file in EXAMPLES.glob("*.py")} == set(PINNED)


@pytest.mark.parametrize("name", PINNED)
def test_the_example_gives_its_number(name: str) -> None:
    file = EXAMPLES / f"{name}.py"
    assert len(file.read_text(encoding="utf-8").splitlines()) < 60
    spec = importlib.util.spec_from_file_location(name, file)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    value, slack = PINNED[name]
    assert module.main() == pytest.approx(value, abs=slack)
