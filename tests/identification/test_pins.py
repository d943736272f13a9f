"""Fits stay what they were: values, intervals, notes and every fitted reading.

`python -m tests.identification.test_pins` writes the pins anew.
"""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from tests.identification.test_identify import recorded
from tests.identification.test_places import look_along
from tests.identification.test_places import recorded as recorded_places
from tests.pinned import differences, plain, read_pin, write_pins

from laserloop.identification import FitSettings, identify
from laserloop.logs import Recording
from laserloop.process import Process

PINS = Path(__file__).with_name("pins.json")


def stamp(recording: Recording) -> Recording:
    """The same with times at which readings were taken."""
    arrived = recording.readings.arrived
    return replace(recording, readings=replace(recording.readings, taken=arrived - 2.5e-4))


FITS: dict[str, Any] = {
    "usual": lambda: identify(recorded(), Process()),
    "with a gain": lambda: identify(
        recorded(), Process(), FitSettings(names=("absorptivity", "gain"), steps=2)
    ),
    "stamped": lambda: identify(stamp(recorded()), Process(), FitSettings(names=("absorptivity",), ticks=50)),
    "places": lambda: identify(recorded_places("zigzag:5", 60), Process(), FitSettings(steps=2)),
    "along the beam": lambda: identify(
        look_along(recorded_places("zigzag:5", 60)), Process(), FitSettings(steps=1)
    ),
}


@pytest.mark.parametrize("name", FITS)
@pytest.mark.filterwarnings("ignore:temperatures of")
def test_a_fit_stays_what_it_was(name: str) -> None:
    told = json.loads(json.dumps(plain(FITS[name]().to_json())))
    assert differences(told, read_pin(PINS, name)) == []


if __name__ == "__main__":
    write_pins(PINS, {name: fit().to_json() for name, fit in FITS.items()})
