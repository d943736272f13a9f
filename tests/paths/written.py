"""Random scan files and random orders, and what must hold once one was written with the other."""

from collections.abc import Callable
from math import isnan, nan
from pathlib import Path
from random import Random

import numpy as np

from laserloop.paths import Placement, ScanFile, find_path
from laserloop.paths.text import PowerCommand, Schedule
from laserloop.paths.track import Move, Track
from laserloop.process import Process

COARSE = Process(tick=1e-3, plate=(1.0, 1.0, 2e-3))
NEAR = 2e-8  # m; files tell nanometres, arcs are chords within ten of them
Make = Callable[[Random], str]


def make_gcode(rng: Random) -> str:  # noqa: PLR0912, PLR0915  # one after another, as in a program
    """A program in one of the dialects, with what people put between its lines."""
    style = rng.choice(["switch", "power", "material", "motion", "fan", "dynamic"])
    lines = [rng.choice(["; made by hand", "%", "(two (words)", "", "  "])]
    lines.append(rng.choice(["G21 G90", "G20 G90", "g21\tg91", "G21 G90 G90.1"]))
    absolute, inches, arcs = "90" in lines[1][:7], "G20" in lines[1], "90.1" in lines[1]
    unit = 25.4 if inches else 1.0
    x, y = rng.uniform(-1, 1), rng.uniform(-1, 1)
    lines.append(f"G0 X{x / unit:.4f} Y{y / unit:.4f} F1200")
    x, y = float(f"{x / unit:.4f}") * unit, float(f"{y / unit:.4f}") * unit
    if style in ("switch", "dynamic", "fan"):
        lines.append({"switch": "M3 S12", "dynamic": "M4 S9.5", "fan": "M106 S200"}[style])
    e = 0.0
    for k in range(rng.randint(1, 12)):
        kind = rng.choice(["line", "line", "arc", "jump", "odd", "rest"])
        if kind == "odd":
            lines.append(rng.choice(["; only words", "M8", "(x) M9 ; y", "", "G61", "T1 M6", "M117 Layer 1"]))
            continue
        if kind == "rest":
            lines.append("G4 P0.002" if style != "material" else "G4 P2")
            continue
        tx = float(f"{rng.uniform(-2, 2) / unit:.4f}") * unit
        ty = float(f"{rng.uniform(-2, 2) / unit:.4f}") * unit
        word = {"line": "G1", "arc": rng.choice(["G2", "G3"]), "jump": "G0"}[kind]
        zero = (0.0, 0.0) if absolute else (x, y)
        text = f"{word} X{(tx - zero[0]) / unit:.6f} Y{(ty - zero[1]) / unit:.6f}"
        if kind == "arc":
            half, bulge = np.hypot(tx - x, ty - y) / 2, rng.uniform(1.05, 3.0)
            if half < 0.05:
                continue
            if rng.random() < 0.5 and not arcs:
                text += f" R{half * bulge / unit * rng.choice([1, 1, -1]):.6f}"
            else:
                h = half * np.sqrt(bulge**2 - 1) * rng.choice([1, -1])
                cx = (x + tx) / 2 - h * (ty - y) / (2 * half)
                cy = (y + ty) / 2 + h * (tx - x) / (2 * half)
                base = (0.0, 0.0) if arcs else (x, y)
                text += f" I{(cx - base[0]) / unit:.6f} J{(cy - base[1]) / unit:.6f}"
        if style == "material" and kind != "jump":
            step = rng.choice([0.0, 0.1, 0.25])
            e += step
            text += f" E{e if absolute else step:.5f}"
        if style == "power":
            text += f" S{rng.choice([0, 5, 11.5])}" if rng.random() < 0.6 else ""
        elif style in ("switch", "dynamic") and rng.random() < 0.2:
            text = rng.choice([f"{text} S{rng.randint(1, 19)}", f"M5 {text}", f"M3 {text}"])
        if rng.random() < 0.2:
            text += f" F{rng.choice([600, 18240, 999.5])}"
        if rng.random() < 0.3:
            text = rng.choice([f"N{10 * k} {text}", text.lower(), text.replace(" ", ""), f"/{text}"])
        if rng.random() < 0.3:
            text += rng.choice([" ; corner", " (arc S9)", "  ", " P1" if kind == "line" else "", "*71"])
        lines.append(text)
        x, y = tx, ty
    lines += rng.choice([["M5"], ["M30", "G1 X9 ; never"], []])
    end = rng.choice(["\n", "\r\n", "\r"])
    return end.join(lines) + rng.choice([end, ""])


def make_csv(rng: Random) -> str:
    """Waypoints, with or without columns of legs."""
    names = [name for name in ("lit", "speed_mm_s", "power_w", "note") if rng.random() < 0.5]
    rng.shuffle(names)
    lines = [",".join(["x_mm", "y_mm", *names])]
    for _ in range(rng.randint(2, 12)):
        cells = [f"{rng.uniform(-2, 2):.4f}", f" {rng.uniform(-2, 2):.3f}"]
        for name in names:
            cells.append({"lit": "1", "speed_mm_s": "304", "power_w": "12", "note": '"a, b"'}[name])
            if rng.random() < 0.2:
                cells[-1] = "0" if name == "lit" else ""
        while cells and not cells[-1] and rng.random() < 0.5:
            cells.pop()
        lines.append(",".join(cells))
        if rng.random() < 0.2:
            lines.append(rng.choice(["# a comment, with a comma", "", "  "]))
    end = rng.choice(["\n", "\r\n"])
    return rng.choice(["", "\ufeff"]) + end.join(lines) + rng.choice([end, ""])


def make_cli(rng: Random) -> str:
    """Layers of polylines and hatches."""
    unit = rng.choice(["0.001", "1", "0.005"])
    scale = 1 / float(unit)

    def number() -> str:
        return f"{rng.uniform(-2, 2) * scale:.{rng.choice([0, 2, 4])}f}"

    lines = ["$$HEADERSTART // header //", "$$ASCII", f"$$UNITS/{unit}", "$$HEADEREND", "$$GEOMETRYSTART"]
    if rng.random() < 0.5:
        lines.append(f"$$POWER/{rng.choice([12, 9.5])}")
    for k in range(rng.randint(1, 3)):
        lines.append(f"$$LAYER/{k * 0.04 * scale:g}")
        for _ in range(rng.randint(1, 4)):
            n = rng.randint(1, 4)
            if rng.random() < 0.5:
                points = [number() for _ in range(2 * (n + 1))]
                lines.append(f"$$POLYLINE/1,1,{n + 1},{','.join(points)}")
            else:
                hatches = [",".join(number() for _ in range(4)) for _ in range(n)]
                glue = rng.choice([",", ",\n", " "])
                lines.append(f"$$HATCHES/1,{n},{glue.join(hatches)}")
            if rng.random() < 0.3:
                lines.append(rng.choice(["$$SPEED/304", "$$LABEL/1,part", "// a remark", "$$FOCUS/3"]))
    end = rng.choice(["\n", "\r\n"])
    return end.join(lines).replace("\n", end if end == "\n" else "\n") + f"{end}$$GEOMETRYEND{end}"


def make_segments(rng: Random) -> str:
    """A segment table in m or mm, in W or by Pmod."""
    unit, power = rng.choice(["", "(mm)"]), rng.choice(["Power", "Pmod"])
    scale = 1e3 if unit else 1.0
    lines = [f"Mode X{unit} Y{unit} Z{unit} {power} Param", "1 0 0 0 0 0"]
    count = rng.randint(1, 12)
    if rng.random() < 0.3:
        lines[:0] = ["Number of path segments", str(count + rng.choice([1, 1, 5, -1]))]
    for _ in range(count):
        if rng.random() < 0.15:
            lines.append(rng.choice(["# a remark", ""]))
        place = "\t".join(f"{rng.uniform(-2e-3, 2e-3) * scale:.7g}" for _ in range(2))
        watts = rng.choice(["0", "0.5", "1"]) if power == "Pmod" else rng.choice(["0", "12", "8.25"])
        spot = rng.random() < 0.2
        lines.append(f"{int(spot)}   {place}  0  {watts}   {'0.001' if spot else '0.304'}")
    return "\n".join(lines) + "\n"


def make_events(rng: Random) -> str:
    """An event series with waits, jumps and a layer or two."""
    glue = rng.choice([", ", ",", " ", "\t"])
    time, z = rng.uniform(0, 0.1), 0.0
    place = (0.0, 0.0)
    lines, share = list[str](), 0.0
    for _ in range(rng.randint(2, 14)):
        numbers = [f"{time:.9f}", *(f"{value:.7g}" for value in place), f"{z:g}"]
        share = rng.choice([0, 0.5, 1, 0.75])
        lines.append(glue.join([*numbers, f"{share:g}"]))
        if rng.random() < 0.15:
            lines.append(rng.choice(["# a remark", "", "  "]))
        if rng.random() < 0.8:
            place = (rng.uniform(-2e-3, 2e-3), rng.uniform(-2e-3, 2e-3))
        time += 0.0 if share == 0 and rng.random() < 0.3 else rng.uniform(1e-3, 1e-2)
        z += 4e-5 if share == 0 and rng.random() < 0.3 else 0.0
    end = rng.choice(["\n", "\r\n"])
    return end.join(lines) + rng.choice([end, ""])


MAKERS: dict[str, Make] = {
    ".gcode": make_gcode,
    ".csv": make_csv,
    ".cli": make_cli,
    ".txt": make_segments,
    ".inp": make_events,
}


def read_moves(file: ScanFile) -> list[Move]:
    """All moves of a file; of a CSV its legs, the first row as one that goes nowhere."""
    track = file.format.read(file)
    if not isinstance(track, Track):
        return list(track)
    z = track.points[:, 0] + 1j * track.points[:, 1]
    rows = range(int(track.moves[0]))
    nothing = [Move(line=0, points=[0j, 0j], lit=False) for _ in rows]
    legs = zip(z[:-1], z[1:], track.lit, track.speeds, track.powers, strict=True)
    return nothing + [
        Move(line=0, points=[complex(a), complex(b)], lit=bool(lit), speed=float(v), power=float(p))
        for a, b, lit, v, p in legs
    ]


def draw_orders(moves: list[Move], rng: Random, *, most: int) -> Schedule:
    """Some power for every lit move, in up to `most` pieces, and for some a speed."""
    numbers = [k for k, move in enumerate(moves) if move.lit and (move.rest > 0 or len(set(move.points)) > 1)]
    orders: Schedule = {}
    faster = rng.random() < 0.3
    for k in numbers:
        length = sum(abs(b - a) for a, b in zip(moves[k].points, moves[k].points[1:], strict=False))
        count = rng.randint(1, most) if length > 2e-5 or moves[k].rest > 0 else 1
        shares = [j / count for j in range(1, count)] + [1.0]
        powers = [round(rng.uniform(0.5, 19.5), 2) for _ in range(count)]
        orders[k] = PowerCommand(shares, powers, 0.1 if faster and moves[k].rest == 0 else nan)
    return orders


def check_written(before: list[Move], after: list[Move], orders: Schedule) -> None:
    """The same moves in the same order, those that were ordered in their pieces and with their power."""
    at = 0
    for k, move in enumerate(before):
        order = orders.get(k)
        count = 1 if order is None else len(order.shares)
        pieces = after[at : at + count]
        at += count
        assert len(pieces) == count, f"move {k}"
        assert all(piece.lit == move.lit for piece in pieces), f"move {k}"
        assert all(piece.level == move.level for piece in pieces), f"move {k}"
        if order is not None:
            assert np.allclose([piece.power for piece in pieces], order.powers, atol=1e-4), f"move {k}"
            assert abs(sum(piece.rest for piece in pieces) - move.rest) < 1e-9
            if not isnan(order.speed):
                assert all(abs(piece.speed - order.speed) < 1e-6 for piece in pieces)
        if (order is None or isnan(order.speed)) and move.rest == 0:
            assert all(isnan(move.speed) or abs(p.speed - move.speed) < 1e-6 for p in pieces), f"move {k}"
        if not (isnan(move.power) or order) and move.lit:
            assert abs(pieces[0].power - move.power) < 1e-9, f"move {k}"
        check_way(move, pieces)
    assert at == len(after)


def check_way(move: Move, pieces: list[Move]) -> None:
    """The pieces go where the move went."""
    assert abs(pieces[0].points[0] - move.points[0]) < NEAR
    assert abs(pieces[-1].points[-1] - move.points[-1]) < NEAR
    s = np.concatenate(([0.0], np.cumsum(np.abs(np.diff(np.array(move.points))))))
    joined = np.array([point for piece in pieces for point in piece.points])
    length = float(np.abs(np.diff(joined)).sum())
    assert abs(length - s[-1]) < 1e-7 + 1e-5 * s[-1]
    t = np.concatenate(([0.0], np.cumsum(np.abs(np.diff(joined)))))
    places = np.linspace(0, 1, 9)
    points = [np.interp(places * w[-1], w, z.real) + 1j * np.interp(places * w[-1], w, z.imag)
              for w, z in ((s, np.array(move.points)), (t, joined))]  # fmt: skip
    assert np.abs(points[0] - points[1]).max() < 1e-7 + 1e-4 * s[-1]


def try_round_trip(ending: str, seed: int, folder: Path) -> bool:
    """Make, read, write, read; whether there was anything to write."""
    from laserloop.bad_input import BadInput

    rng = Random(seed)
    file = folder / f"a{ending}"
    file.write_bytes(MAKERS[ending](rng).encode())
    scan = ScanFile.open(str(file), None, 20.0)
    try:
        scan.read_layers()
        before = read_moves(scan)
    except BadInput:
        return False
    assert scan.write({}) == file.read_bytes()
    orders = draw_orders(before, rng, most=rng.choice([1, 4]))
    written = folder / f"b{ending}"
    written.write_bytes(scan.write(orders))
    check_written(before, read_moves(ScanFile.open(str(written), None, 20.0)), orders)
    check_sampled(file, written, orders)
    return True


def check_sampled(file: Path, written: Path, orders: Schedule) -> None:
    """As any verb reads it: the same way of the beam, in the same time, with the powers that were ordered."""
    from laserloop.bad_input import BadInput

    try:
        before = find_path(str(file), COARSE, placement=Placement(centre=True))
    except BadInput:  # in one place, or over within a tick
        return
    after = find_path(str(written), COARSE, placement=Placement(centre=True))
    assert after.power is not None
    lit, own = after.power[after.lit], np.zeros(0) if before.power is None else before.power
    powers = [watts for order in orders.values() for watts in order.powers]
    assert np.all((lit > min(powers) - 1e-4) | np.isin(lit, own))
    assert np.all((lit < max(powers) + 1e-4) | np.isin(lit, own))
    if all(isnan(order.speed) for order in orders.values()):
        assert abs(len(after) - len(before)) <= 1
        n = min(len(after), len(before))
        fastest = float(np.hypot(*before.velocities.T).max())
        rounding = 2e-9 * n  # of the places that are written: over a long file their lengths add up
        assert np.abs(after.positions[:n] - before.positions[:n]).max() < 1e-6 * (1 + fastest) + rounding
