"""The stages, in their order; each needs those before it, and quiet ones are last."""

from laserloop.studies.halilovic.stages import (
    ablations,
    calibration,
    ensembles,
    loops,
    offline,
    plant,
    timing,
    trainings,
)

STAGES = (
    plant.STAGE,
    ensembles.STAGE,
    trainings.STAGE,
    offline.STAGE,
    calibration.STAGE,
    loops.STAGE,
    ablations.STAGE,
    timing.STAGE,
)
