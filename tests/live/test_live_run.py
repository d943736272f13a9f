"""Words for the page: no sentence that the loop says sends a reader of the page to a command line."""

from pathlib import Path

import pytest

from laserloop.bad_input import BadInput
from laserloop.control.problem import MpcProblem
from laserloop.live.live_run import say_on_page
from laserloop.loop.scenario import Scenario, keep_margins, prepare
from laserloop.paths import find_path
from laserloop.process import Process, find_process


def test_margins_that_nobody_calibrated_are_told_without_a_command() -> None:
    _, (note,) = keep_margins(MpcProblem(), None, find_process("paper"))
    assert "--process" in note  # otherwise there is nothing to translate any more
    assert say_on_page(note).endswith("as it is here, so none are kept")


def test_an_s_of_unknown_range_is_told_with_the_field_of_the_page(tmp_path: Path) -> None:
    (tmp_path / "a.gcode").write_text("G21 G90\nG0 X-0.5 Y0\nM3 S10\nG1 X0.5 Y0 F18240\nM5\n")
    (note,) = find_path(str(tmp_path / "a.gcode")).notes
    assert "--s-max" in note
    assert say_on_page(note).endswith("nothing says its range; if it is not, say which S is full power")


def test_an_s_that_no_laser_gives_is_told_with_the_fields_of_the_page(tmp_path: Path) -> None:
    (tmp_path / "a.gcode").write_text("G21 G90\nG0 X-0.5 Y0\nM3 S1000\nG1 X0.5 Y0 F18240\nM5\n")
    with pytest.raises(BadInput, match="--s-max 1000") as refusal:
        find_path(str(tmp_path / "a.gcode"), Process())
    told = say_on_page(str(refusal.value))
    assert told.endswith("say which S is full power if S is not in W, or give the laser's own power.")


def test_a_delay_beyond_the_plan_is_told_with_the_field_of_the_page() -> None:
    process = find_process("paper").change(delay_ticks=9)
    with pytest.raises(BadInput, match="--delay") as refusal:
        prepare(Scenario(path="diagonal", controller="realtime", process=process))
    assert say_on_page(str(refusal.value)).endswith("take a shorter camera delay or the physics twin")
