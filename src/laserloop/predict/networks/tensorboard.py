"""The losses of a training for TensorBoard, if it is installed."""

from importlib.util import find_spec
from pathlib import Path

from laserloop.bad_input import BadInput
from laserloop.predict.networks.fit import Report
from laserloop.predict.networks.training_state import Progress


def make_tensorboard_report(folder: str | Path) -> Report:
    """A report that writes every epoch's losses and learning rate into `folder`."""
    if find_spec("torch") is None or find_spec("tensorboard") is None:
        raise BadInput(
            "the loss curves need TensorBoard, which is not installed: run pip install tensorboard"
        )
    from torch.utils.tensorboard import SummaryWriter

    writer = SummaryWriter(str(folder))

    def report(progress: Progress) -> None:
        for name in ("training_losses", "validation_losses", "learning_rates"):
            writer.add_scalar(name, getattr(progress, name)[-1], progress.epoch)
        writer.flush()

    return report
