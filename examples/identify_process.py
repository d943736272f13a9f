"""What is my process really? A plate that absorbs 17 % less than it should, found from the log of one run."""

import json
from pathlib import Path
from tempfile import TemporaryDirectory

import laserloop as ll
from laserloop.identification import FitSettings, identify
from laserloop.logs import read_log
from laserloop.loop.scenario import Scenario, prepare
from laserloop.report.figures import save_figure
from laserloop.report.plans import draw_fit


def main(picture: str | None = None) -> float:
    """Returns the absorptivity found, where 0.83 was hidden."""
    process = ll.find_process("paper")
    seen = process.change(noise_k=5.0)
    case = Scenario(
        path="polyline:7", plant="graded", process=seen, ticks=80, mismatch=(("absorptivity", 0.83),)
    )
    with TemporaryDirectory() as folder:
        log = Path(folder) / "log.json"
        log.write_text(json.dumps(prepare(case).run().to_json()))
        fit = identify(read_log(log), process, FitSettings(names=("absorptivity", "delay")))
    record = {"log": "one run", **fit.to_json()}
    found = record["absorptivity"]
    print(f"absorptivity {found['value']:.3f}, 95 % between {found['low']:.3f} and {found['high']:.3f}")
    if picture:
        save_figure(Path(picture), draw_fit(record))
    return float(found["value"])


if __name__ == "__main__":
    main("identify_process.png")
