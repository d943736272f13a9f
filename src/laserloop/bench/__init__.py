"""HOW FAST: ratios, measured in one run on one core.

May import every room but studies, live and report. One thread for everybody: BLAS reads the names below while
NumPy is loaded, so they are set before, and this file imports nothing that loads it.
"""

import os

NAMES = ("OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "OMP_NUM_THREADS")


def keep_to_one_thread() -> None:
    """SciPy's sparse solver must not use a second core beside ours; what the user has set stays."""
    for name in NAMES:
        os.environ.setdefault(name, "1")
