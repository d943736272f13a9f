"""How far is a tick of the compiled solver from the limits of the core it runs on?

    python benchmarks/limit.py        # a minute; on a quiet machine

Prints a row per phase, writes docs/results/limit.json and docs/results/limit.md. The C is built
twice more, with clocks around its phases and with counters of its multiply-adds; nothing else in it is changed.
"""

import argparse
import ctypes
import json
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from page import format_rows

from laserloop.bench.mpc import draw_problems
from laserloop.control.problem import MpcProblem, Question
from laserloop.native.build import load_library
from laserloop.native.network import CEngine, list_sources, pack_network
from laserloop.predict.model import find_model
from laserloop.versions import find_versions

ROOT = Path(__file__).parent.parent
FloatArray = NDArray[np.float64]

PHASES = ("fold", "predict", "differentiate", "find kinks", "solve QP")
POSIX = "#define _POSIX_C_SOURCE 199309L\n"
CLOCK = """#include <math.h>
#include <time.h>
static double now_s(void) { struct timespec t; clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec; }
double laserloop_account[2 * 5];
#define IN(phase, call) do { const double began = now_s(); call; laserloop_account[phase] += now_s() - began; } while (0)
"""
COUNT = """#include <math.h>
double laserloop_account[2 * 5];
static int phase_now;
#define ADDED(count) (laserloop_account[phase_now] += (double)(count))
#define READ(bytes) (laserloop_account[5 + phase_now] += (double)(bytes) / (phase_now == 2 ? N : 1))
#define IN(phase, call) do { phase_now = phase; call; } while (0)
"""
CALLS = {
    "    fold(net, asked->kinematics, asked->heat, &s->f);": 0,
    "    predict(net, &s->f, begin, s->Tt);\n    if": 1,
    "    predict_near(net, &s->f, s->trial, k->n, s->z, s->Tt);\n    if": 1,
    "    differentiate(net, &s->f, k->n, s->x, now->count == 1, s->J);": 2,
    "        find_kinks(net, p, k, s);": 3,
    "    solve_qp(p, s);\n    for": 4,
}
# what a function multiplies and adds, put in as its first statement; rows of weights are what is read, once for
# all moves in `differentiate`
COUNTS = {
    "restrict out)\n{\n    for (int k = 0; k < count; k += 8) {": "ADDED(8 * size); READ(8 * size * (int)sizeof(real));",
    "static void enter(const network *net, forecast *f, const double *plan)\n{": "ADDED(N * W);",
    "double *restrict out, int stride)\n{": "ADDED(N * W);",
    "int fresh, double (*J)[N])\n{": "ADDED((N + n) * W);",
    "int n, const double *x, double *T)\n{": "ADDED(n * W);",
    "static void price_units(const problem *p, const tick *k, workspace *s)\n{": "ADDED((N + 1) * W);",
    "real *restrict size)\n{": "ADDED(n * W);",
    "const real *restrict row, const real *restrict back)\n{": "ADDED(W); READ(W * (int)sizeof(real));",
    "INLINE double dot(int n, const double *x, const double *y)\n{": "ADDED(n);",
    "double *restrict x, double *restrict out)\n{": "ADDED(ROWS * N);",
    "q->R[c][k] += total;": "ADDED(N);",
}


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--problems", type=int, default=600)
    parser.add_argument("--model", default="paper-corner")
    parser.add_argument("--docs", type=Path, default=ROOT / "docs")
    options = parser.parse_args()
    found = measure(options.model, options.problems)
    (options.docs / "results").mkdir(parents=True, exist_ok=True)
    (options.docs / "results" / "limit.json").write_text(
        json.dumps(found | {"versions": find_versions()}, indent=1)
    )
    page = write_page(found)
    (options.docs / "results" / "limit.md").write_text(page)
    print(page)


def measure(model: str, problems: int) -> dict[str, Any]:
    """The core's limits, and means over the problems of the time, the work and the bytes of each phase."""
    network = find_model(model)
    problem = MpcProblem(horizon=network.architecture.horizon)
    net = pack_network(network, problem, np.float32)
    questions = draw_problems(model, problems, 0)
    sources = list_sources(net)
    core = load_core()
    timed, counted = (
        Probe(CEngine(network, problem, sources=insert(sources, head)), core) for head in (CLOCK, COUNT)
    )
    times, wholes, work, iterations = [], [], [], []
    for question in questions:
        laps = [timed.ask(question) for _ in range(9)]
        best = min(laps, key=lambda lap: lap[1])  # the others were disturbed
        times.append(best[0][:5])
        wholes.append(best[1])
        iterations.append(timed.count_iterations(question))
        work.append(counted.ask(question)[0])
    seconds, done = np.array(times), np.array(work)
    return {
        "model": model,
        "problems": problems,
        "core": measure_core(core),
        "tick_us": {"median": 1e6 * float(np.median(wholes)), "mean": 1e6 * float(np.mean(wholes))},
        "iterations_mean": float(np.mean(iterations)),
        "weights_kb": net.nbytes / 1024,
        "phases": {
            name: {
                "us": 1e6 * float(seconds[:, i].mean()),
                "multiply_adds": float(done[:, i].mean()),
                "weight_bytes": float(done[:, 5 + i].mean()),
            }
            for i, name in enumerate(PHASES)
        },
    }


def insert(sources: dict[str, str], head: str) -> dict[str, str]:
    """The sources with their phases marked, and with counters if the head has some."""
    places = {"#include <math.h>": head, **{call: mark(call, phase) for call, phase in CALLS.items()}}
    if head is COUNT:
        places |= {place: f"{place} {count}" for place, count in COUNTS.items()}
    for place, text in places.items():
        count = sum(source.count(place) for source in sources.values())
        if count != 1:
            raise SystemExit(f"{place!r} is {count} times in the sources: limit.py must follow them")
        sources = {name: source.replace(place, text) for name, source in sources.items()}
    return {**sources, "laserloop.c": POSIX + sources["laserloop.c"]}


def mark(call: str, phase: int) -> str:
    statement, _, rest = call.partition(";")
    return f"IN({phase}, {statement.strip()});{rest}"


class Probe:
    """An engine that keeps an account of its phases."""

    def __init__(self, engine: CEngine, core: Any) -> None:
        self._engine, self._clock = engine, core.seconds
        self._account = (ctypes.c_double * 10).in_dll(engine.library, "laserloop_account")

    def ask(self, question: Question) -> tuple[FloatArray, float]:
        """The account of a question from a cold working set, and the seconds of all of it."""
        self._engine.take(question)
        self._engine.reset()
        ctypes.memset(self._account, 0, ctypes.sizeof(self._account))
        began = self._clock()
        self._engine.answer()
        return np.array(self._account), self._clock() - began

    def count_iterations(self, question: Question) -> int:
        self._engine.reset()
        return self._engine.solve(question).iterations


def load_core() -> Any:
    text = POSIX + (Path(__file__).parent / "limit_core.c").read_text()
    library = load_library({"limit_core.c": text}, "limit_core.c")
    for name in ("seconds", "clock_hz", "multiply_adds_per_second", "bytes_per_second"):
        getattr(library, name).restype = ctypes.c_double
    return library


def measure_core(library: Any) -> dict[str, float]:
    """The best of many short runs."""
    block = np.ones(1 << 20, np.float32)
    start = block.ctypes.data + -block.ctypes.data % 64

    def read(kilobytes: int) -> float:
        return max(
            float(library.bytes_per_second(ctypes.c_void_p(start), ctypes.c_size_t(1024 * kilobytes)))
            for _ in range(40)
        )

    return {
        "clock_ghz": 1e-9 * max(library.clock_hz() for _ in range(40)),
        "vector_bits": 8.0 * library.vector_bytes(),
        "multiply_adds_per_s": max(library.multiply_adds_per_second() for _ in range(40)),
        "l1_bytes_per_s": read(16),
        "l2_bytes_per_s": read(256),
    }


def write_page(found: dict[str, Any]) -> str:
    core, phases = found["core"], found["phases"]
    peak, stream = core["multiply_adds_per_s"], core["l2_bytes_per_s"]
    total = {
        key: sum(phase[key] for phase in phases.values()) for key in ("us", "multiply_adds", "weight_bytes")
    }
    rest = found["tick_us"]["mean"] - total["us"]
    rows = [
        (
            name,
            f"{phase['us']:.2f}",
            f"{1e3 * phase['us'] * core['clock_ghz']:.0f}",
            f"{phase['multiply_adds']:.0f}",
            f"{100 * phase['multiply_adds'] / (1e-6 * phase['us'] * peak):.0f} %",
            f"{phase['weight_bytes'] / 1024:.0f}",
            f"{100 * phase['weight_bytes'] / (1e-6 * phase['us'] * stream):.0f} %",
        )
        for name, phase in [*phases.items(), ("all of these", total)]
    ]
    floor_us = 1e6 * sum(
        max(phase["multiply_adds"] / peak, phase["weight_bytes"] / stream) for phase in phases.values()
    )
    heads = ("phase", "µs", "cycles", "multiply-adds", "of peak", "weights read, kB", "of L2 bandwidth")
    return "\n".join(
        [
            "# How far a tick of the network is from the limit of the core",
            "",
            "Made by `python benchmarks/limit.py` (measured with version 0.1.0, x86-64, the former `paper-corner`); figures in `docs/results/limit.json`.",
            "",
            f"One tick of the exported C (`{found['model']}`, float32) on {found['problems']} problems, each from a cold working",
            f"set and the best of nine: median **{found['tick_us']['median']:.1f} µs, "
            f"{1e3 * found['tick_us']['median'] * core['clock_ghz']:.0f} cycles**; mean {found['tick_us']['mean']:.1f} µs in "
            f"{found['iterations_mean']:.1f} iterations.",
            "",
            f"The core, measured in the same minute: {core['clock_ghz']:.2f} GHz by additions that wait for each other, "
            f"{1e-9 * peak:.0f} G multiply-adds/s in",
            f"float32 with vectors of {core['vector_bits']:.0f} bits ({peak / core['clock_ghz'] * 1e-9:.0f} per cycle), "
            f"{1e-9 * core['l1_bytes_per_s']:.0f} GB/s read from L1 and {1e-9 * stream:.0f} GB/s from L2.",
            "",
            format_rows(heads, rows),
            f"The rest of a tick ({rest:.1f} µs on the mean) is the SQP around these phases: merit, copies, the clock itself. *Fold* is bounded by",
            "the cache that holds its weights, the others by latency: short sums, roots, and in the QP chains of dependent operations and",
            f"branches. With every phase at whichever of its two limits is lower and the rest as it is, a mean tick would take {rest + floor_us:.1f} µs,",
            f"{found['tick_us']['mean'] / (rest + floor_us):.1f} times less.",
            "",
        ]
    )


if __name__ == "__main__":
    main()
