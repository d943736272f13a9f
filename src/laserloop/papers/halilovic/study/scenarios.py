"""Scenarios of real time: late cameras, slow cameras, late answers, and what each costs in kelvin."""

from dataclasses import asdict, dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

from laserloop.loop.cache import solve_case
from laserloop.loop.case import TICKS, LoopCase, record_case
from laserloop.predict.networks import find_model
from laserloop.process import Process

INTERVAL = 125e-6  # s


@dataclass(frozen=True, slots=True, kw_only=True)
class Scenario:
    """One run of a controller with a model under some conditions."""

    label: str
    controller: str = "realtime"
    path: str = "diagonal"
    delay: int = 0  # ticks until an image arrives
    every: int = 1  # ticks from image to image
    compensate: bool = True  # does the plan know how old its image is?
    solve_s: tuple[float, ...] = ()  # times to draw from that each answer is charged with; none: not charged
    policy: str = "shift"  # what happens to a late plan
    apply: int = 1  # powers of a plan given before the next question
    model: str = "paper-corner"
    delta_k: float = 13.0
    ticks: int = TICKS


def list_scenarios(
    slow: tuple[float, ...],
    quick: tuple[float, ...],
    alone: tuple[float, ...] = (),
    *,
    model: str = "paper-corner",
    delta_k: float = 13.0,
    ticks: int = TICKS,
) -> list[Scenario]:
    """Delays, rates and deadlines.

    Measured times, s: of whole ticks in Python with IPOPT (`slow`) and with the compiled solver (`quick`),
    and of the latter's call `alone`.
    """
    varied = _vary_conditions(slow, quick, alone)
    return [replace(one, model=model, delta_k=delta_k, ticks=ticks) for one in varied]


def _vary_conditions(
    slow: tuple[float, ...], quick: tuple[float, ...], alone: tuple[float, ...]
) -> list[Scenario]:
    late = [
        Scenario(
            label=f"image {delay} tick{'s' * (delay > 1)} late{'' if aware else ', not compensated'}",
            delay=delay,
            compensate=aware,
        )
        for delay in (1, 2)
        for aware in (True, False)
    ]
    return [
        Scenario(label="8 kHz, no delay"),
        *late,
        Scenario(label="camera at 2 kHz", every=4),
        Scenario(label="camera at 2 kHz, not compensated", every=4, compensate=False),
        Scenario(label="compiled solver, its call charged", solve_s=alone),
        Scenario(label="compiled solver, whole tick in Python charged", solve_s=quick),
        Scenario(label="IPOPT, not charged", controller="ipopt"),
        Scenario(label="IPOPT, charged, late plan shifted", controller="ipopt", solve_s=slow),
        Scenario(label="IPOPT, charged, plan from start", controller="ipopt", solve_s=slow, policy="late"),
        Scenario(label="IPOPT, 3 powers of a plan", controller="ipopt", apply=3),
        Scenario(label="IPOPT, 5 powers of a plan", controller="ipopt", apply=5),
    ]  # fmt: skip


def run_scenario(scenario: Scenario, root: Path) -> dict[str, Any]:
    """The record of a scenario, from disk if it is there."""
    identity = find_model(scenario.model).provenance.get("identity", scenario.model)
    settings = {
        "study": "scenario",
        **asdict(scenario),
        "solve_s": list(scenario.solve_s),
        "model": identity,
    }
    return solve_case(root / "scenarios", settings, partial(_run, scenario))


def _run(scenario: Scenario) -> dict[str, Any]:
    process = Process().change(delay_ticks=scenario.delay, every_ticks=scenario.every)
    case = LoopCase(
        path=scenario.path,
        controller=scenario.controller,
        model=scenario.model,
        process=process,
        ticks=scenario.ticks,
        delta_k=scenario.delta_k,
        compensate=scenario.compensate,
        solve_s=scenario.solve_s,
        policy=scenario.policy,
        apply=scenario.apply,
    )
    return record_case(case)
