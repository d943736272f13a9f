"""The trials of benchmarks/twin.py: what is tried on whom, in the order in which it is run."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import product
from pathlib import Path

from laserloop.loop.disturbances import Fault
from laserloop.loop.scenario import Scenario
from laserloop.paths.shapes import FAMILIES
from laserloop.predict.model import SPEED_RANGE
from laserloop.process import Process, find_process

SEEDS = range(1000, 1030)  # no setting of the twin was chosen on one of these
FEW_SEEDS = SEEDS[:3]  # for those that are only compared
ALLOYS, SPEEDS = ("304", "316", "in625", "ti64"), (0.1, 0.304, 0.8)
WINDOWS = ((480.0, 520.0), (760.0, 800.0), (1180.0, 1220.0))
SIX = tuple(f"{name}:1000" for name in ("zigzag", "polyline", "hairpin", "stroke", "raster", "star"))
TICK_US = 125.0
BASELINES = ("pi", "feedforward", "constant", "realtime")
BLIND = Fault(kind="drop")
EXACT, DISTURBED = "exact camera", "5 K noise, one tick late, absorptivity ±10 %"
UNSEEN = [f"{family}:{seed}" for seed in SEEDS for family in FAMILIES]
RASTER_TICKS = 10_000

# label → changes of the process, mismatch, fault
Change = tuple[dict[str, float], dict[str, float], Fault | None]
DISTURBANCES: dict[str, Change] = {
    "none": ({}, {}, None),
    **{f"noise {k} K": ({"noise_k": k}, {}, None) for k in (5, 10)},
    **{f"image {n} tick{'s' * (n > 1)} late": ({"delay_ticks": n}, {}, None) for n in (1, 2)},
    "camera every 4 ticks (2 kHz)": ({"every_ticks": 4}, {}, None),
    **{f"pixels of {n} µm": ({"pixel_um": n}, {}, None) for n in (50, 100, 200)},
    **{f"emissivity × {f}": ({}, {"emissivity": f}, None) for f in (0.98, 1.02)},
    **{f"absorptivity × {f}": ({}, {"absorptivity": f}, None) for f in (0.9, 1.1)},
    **{f"conductivity × {f}": ({}, {"conductivity": f}, None) for f in (0.9, 0.95, 1.05, 1.1)},
    **{f"heat capacity × {f}": ({}, {"heat-capacity": f}, None) for f in (0.9, 0.95, 1.05, 1.1)},
    **{f"laser lag of {n} tick{'s' * (n > 1)}, known": ({"lag_us": n * TICK_US}, {}, None) for n in (1, 2)},
    **{
        f"laser lag of {n} tick{'s' * (n > 1)}, unknown": ({}, {"laser-lag-us": n * TICK_US}, None)
        for n in (1, 2)
    },
    "absorptivity × 0.9 from tick 160 on": ({}, {}, Fault(kind="absorbed", first=160, factor=0.9)),
    "absorptivity × 1.1 from tick 160 on": ({}, {}, Fault(kind="absorbed", first=160, factor=1.1)),
    "no image in ticks 160–179": ({}, {}, Fault(kind="drop", first=160, ticks=20)),
    "hottest pixel saturated in ticks 160–179": ({}, {}, Fault(kind="saturate", first=160, ticks=20)),
}
UNTUNED = ("pixels of 100 µm", "pixels of 200 µm")  # no gains of the PI loop ship for these cameras


@dataclass(frozen=True, slots=True)
class Trial:
    """One run and where it is told."""

    table: str
    row: str
    case: Scenario


def list_trials(folder: Path) -> Iterator[Trial]:
    """All of them, those of a table whose rows would be the same length side by side."""
    yield from list_unseen()
    yield from list_baselines()
    yield from list_disturbances()
    yield from list_alloys()
    yield from list_special(folder)
    yield from list_blind()


def list_unseen() -> Iterator[Trial]:
    """The 300 paths, exact and disturbed."""
    for path in UNSEEN:
        yield Trial("unseen", EXACT, on(path))
        yield Trial("unseen", DISTURBED, disturb(on(path)))


def list_baselines() -> Iterator[Trial]:
    """The others on a few of them; PI, constant and feed-forward only at the speed that they were tuned for."""
    for (seed, family), name in product(product(FEW_SEEDS, FAMILIES), BASELINES):
        case = on(f"{family}:{seed}", controller=name)
        if name == "realtime":
            case = replace(case, model="paper-corner", force=True, delta_k=None)
        elif not at_usual_speed(case):
            continue
        yield Trial("baselines", EXACT, case)
        yield Trial("baselines", DISTURBED, disturb(case))


def list_disturbances() -> Iterator[Trial]:
    """One at a time, twin and PI."""
    for path, (label, (changes, factors, fault)) in product(SIX, DISTURBANCES.items()):
        process = Process().change(**changes)
        case = replace(on(path), process=process, mismatch=tuple(sorted(factors.items())))
        case = replace(case, faults=() if fault is None else (fault,))
        yield Trial("disturbances", label, case)
        if label not in UNTUNED:
            if lag := changes.get("lag_us"):  # PI knows of no lag; what the plant does is the same
                case = replace(case, process=Process(), mismatch=(("laser-lag-us", lag),))
            yield Trial("disturbances", label, replace(case, controller="pi"))


def list_alloys() -> Iterator[Trial]:
    """Four alloys, three windows, three speeds."""
    for alloy, window, speed in product(ALLOYS, WINDOWS, SPEEDS):
        process = replace(find_process(alloy), window=window, speed=speed)
        yield Trial("alloys", alloy, replace(on("zigzag:7"), process=process, ticks=250))


def list_special(folder: Path) -> Iterator[Trial]:
    """Long, at the edge, thin, at rest, dark."""
    for name, text in (("edge.csv", draw_edge()), ("dwell.gcode", draw_dwell())):
        folder.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")
    edge, dwell = str(folder / "edge.csv"), str(folder / "dwell.gcode")
    yield Trial("special", "along an edge of the plate, 0.3 mm from it", on(edge))
    thin = Process().change(plate_mm=(15.0, 10.0, 0.5))
    yield Trial("special", "a plate 0.5 mm thin", replace(on("raster:1000"), process=thin))
    yield Trial("special", "a dwell of 20 ticks, laser on, within a line", replace(on(dwell), ticks=None))
    yield Trial("special", "ten lines with dark jumps", replace(on("examples/hatch.gcode"), ticks=None))
    long = replace(on("raster:1000"), ticks=RASTER_TICKS)
    yield Trial("special", f"a raster of {RASTER_TICKS} ticks", long)


def list_blind() -> Iterator[Trial]:
    """Without a camera: the powers follow from the path alone."""
    for path, factor in product(UNSEEN, (1.0, 0.97, 1.03)):
        mismatch = () if factor == 1.0 else (("absorptivity", factor),)
        yield Trial("blind", f"{factor:g}", replace(on(path), mismatch=mismatch, faults=(BLIND,)))


def on(path: str, *, controller: str = "twin") -> Scenario:
    """320 ticks on the graded plant."""
    return Scenario(path=path, plant="graded", controller=controller)


def disturb(case: Scenario) -> Scenario:
    """Noise, a late image, and absorptivity wrong by 10 %, more for odd seeds and less for even ones."""
    seed = int(case.path_name.partition(":")[2])
    process = case.process.change(noise_k=5.0, delay_ticks=1)
    process = replace(process, camera=replace(process.camera, seed=seed))
    return replace(case, process=process, mismatch=(("absorptivity", 1.1 if seed % 2 else 0.9),))


def at_usual_speed(case: Scenario) -> bool:
    """Whether shipped gains apply."""
    share = (case.find_path().median_speed or 0.0) / case.process.speed
    return 1 / SPEED_RANGE <= share <= SPEED_RANGE


def draw_edge() -> str:
    """To and fro along the edge y = 5 mm of the plate, its lines 0.3, 0.4 and 0.5 mm from it."""
    rows = [
        (x, y) for k, y in enumerate((4.7, 4.6, 4.5, 4.6) * 2) for x in ((-1, 1) if k % 2 == 0 else (1, -1))
    ]
    return "x_mm,y_mm\n" + "".join(f"{x},{y}\n" for x, y in rows)


def draw_dwell() -> str:
    """A line of 3 mm at 304 mm/s with a rest of 20 ticks in its middle."""
    rest = 20 * TICK_US * 1e-6
    return f"G21 G90\nM3 S10\nG0 X-1.5 Y0\nG1 X0 F18240\nG4 P{rest:.4f}\nG1 X1.5\nG1 X-1.5 Y0.2\nM5\n"
