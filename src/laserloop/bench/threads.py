"""One thread for everybody: BLAS reads these names while NumPy is loaded, so they are set before."""

import os

NAMES = ("OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "OMP_NUM_THREADS")


def keep_to_one_thread() -> None:
    """SciPy's sparse solver must not use a second core beside ours; what the user has set stays."""
    for name in NAMES:
        os.environ.setdefault(name, "1")
