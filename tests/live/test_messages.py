"""Messages and films: what goes in comes out, and nothing grows without end."""

import numpy as np
import pytest

from laserloop.live import telemetry as room
from laserloop.live.telemetry import FrameBuffer, find_frame, pack, unpack


def test_a_message_carries_words_and_arrays() -> None:
    rows, image = np.arange(6, dtype=np.float32).reshape(2, 3), np.arange(5, dtype=np.uint8)
    message = pack({"kind": "ticks", "word": "ä"}, {"rows": rows, "image": image})
    words, arrays = unpack(message)
    assert words == {"kind": "ticks", "word": "ä"}
    assert np.array_equal(arrays["rows"], rows)
    assert np.array_equal(arrays["image"], image)
    assert (message.index(rows.tobytes()) % 8, len(message) % 8) == (0, 0)  # where a browser can read them


def test_a_film_stays_small_and_covers_the_whole_run() -> None:
    film, image, fan = FrameBuffer(), np.zeros((2, 2), np.uint8), np.zeros(1, np.float32)
    for k in range(10_000):
        words = {"kind": "frame", "run": "a", "k": k, "low_k": 300.0, "high_k": 900.0, "reach": 16.0}
        film.add(k, pack(words, {"image": image, "fan": fan}))
    assert room.MOST_FRAMES / 2 <= len(film.frames) <= room.MOST_FRAMES
    gaps = np.diff(film.ticks)
    assert gaps.max() <= 64
    assert film.ticks[0] < 64
    found = film.find(5000)
    assert found is not None
    assert 4936 <= unpack(found)[0]["k"] <= 5000
    assert FrameBuffer().find(0) is None
    kept = film.write()
    for k in (0, film.ticks[0], 5000, 5001, 10**9):
        assert find_frame(kept, k) == film.find(k)


def test_what_is_no_film_is_refused() -> None:
    film, image, fan = FrameBuffer(), np.zeros((2, 2), np.uint8), np.zeros(1, np.float32)
    words = {"kind": "frame", "run": "a", "k": 3, "low_k": 300.0, "high_k": 900.0, "reach": 16.0}
    film.add(3, pack(words, {"image": image, "fan": fan}))
    good = film.write()
    assert find_frame(good, 3) == film.frames[0]
    film.frames = [pack(words, {"image": image[:1], "fan": fan})]
    lopsided = film.write()
    film.frames = [bytes(50_000_000)]  # a bomb: 50 kB in the file
    bomb = film.write()
    huge = good[: len(room.MAGIC)] + b"\xff\xff\xff\xff" + good[len(room.MAGIC) + 4 :]
    for bad in (b"", good[:18], good[:-9], b"x" + good, lopsided, bomb, huge, FrameBuffer().write()):
        with pytest.raises(ValueError, match="not a f"):
            find_frame(bad, 3)
