"""How a surrogate is trained: the paper's protocol by default."""

import math
from dataclasses import dataclass

from laserloop.bad_input import BadInput
from laserloop.predict.networks.architecture import check_size

SPLITS = ("window", "episode")
SCHEDULES = ("plateau", "cosine")


@dataclass(frozen=True, slots=True, kw_only=True)
class FitSettings:
    """Adam on the mean squared error of standardised targets, until the validation loss stops falling."""

    learning_rate: float = 1e-3
    weight_decay: float = 1e-5  # Adam's L2 term; larger keeps the weights smaller
    batch: int = 1024  # windows; larger is faster and takes fewer steps an epoch
    schedule: str = "plateau"  # the rate is halved when stagnant (the paper), or ends at 0
    halve_after: int = 100  # stagnant epochs until the learning rate is halved
    patience: int = 300  # epochs without a better validation loss until training ends
    max_epochs: int = 5000
    seed: int = 0  # of the split, the first weights and the order of the batches
    split: str = "window"  # window: the paper's, shuffled windows; episode: no episode in both parts
    held_out: float = 0.2  # share of the windows or episodes that the validation loss is measured on
    threads: int = 1  # the same number gives the same weights, bit for bit

    def __post_init__(self) -> None:
        for name in ("learning_rate", "weight_decay"):
            value = getattr(self, name)
            if not (isinstance(value, float | int) and math.isfinite(value) and 0 <= value <= 1):
                label = name.replace("_", " ")
                raise BadInput(f"the {label} must be a number from 0 to 1, got {value!r}: choose another")
        for name, most in (
            ("batch", 10**6),
            ("halve_after", 10**6),
            ("patience", 10**6),
            ("max_epochs", 10**6),
            ("threads", 256),
        ):
            check_size(getattr(self, name), name.replace("_", " "), most)
        if isinstance(self.seed, bool) or not isinstance(self.seed, int) or not 0 <= self.seed < 2**32:
            raise BadInput(f"the seed must be a whole number from 0 to 2³²−1, got {self.seed!r}: choose one")
        if self.schedule not in SCHEDULES:
            known = " or ".join(SCHEDULES)
            raise BadInput(f"the schedule must be {known}, got {self.schedule!r}: choose one")
        if self.split not in SPLITS:
            raise BadInput(f"the split must be by {' or '.join(SPLITS)}, got {self.split!r}: choose one")
        if not (isinstance(self.held_out, float) and 0 < self.held_out < 1):
            raise BadInput(f"the held-out share must lie between 0 and 1, got {self.held_out!r}: choose 0.2")
