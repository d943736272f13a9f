"""The plant's bench: one core means all threads."""

import os
import threading
from pathlib import Path

import pytest

from laserloop.bench.plant import one_core


@pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="threads cannot be seen here")
def test_every_thread_is_kept_on_one_core_and_set_free_again() -> None:
    before = os.sched_getaffinity(0)
    stop = threading.Event()
    other = threading.Thread(target=stop.wait)
    other.start()
    assert other.native_id is not None
    try:
        with one_core():
            assert os.sched_getaffinity(0) == os.sched_getaffinity(other.native_id) == {max(before)}
        assert os.sched_getaffinity(0) == os.sched_getaffinity(other.native_id) == before
    finally:
        stop.set()
        other.join()
