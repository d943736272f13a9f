"""A message between worker, server and page: a few words as JSON, then arrays as they lie in memory.

length of the JSON (4 bytes, little endian) · JSON, padded with spaces to a multiple of 8 · the arrays
"""

import json
import struct
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

Arrays = Mapping[str, NDArray[Any]]
ALIGNMENT = 8  # bytes, at which typed arrays of a browser may begin
KINDS = {"f4": "<f4", "u1": "|u1"}  # what a message may carry


def pack(words: Mapping[str, Any], arrays: Arrays | None = None) -> bytes:
    """The bytes of a message."""
    told = {name: [array.dtype.str[-2:], list(array.shape)] for name, array in (arrays or {}).items()}
    head = json.dumps({**words, "arrays": told}, allow_nan=False).encode()
    head += b" " * (-(len(head) + 4) % ALIGNMENT)
    parts = [struct.pack("<I", len(head)), head]
    for array in (arrays or {}).values():
        content = array.tobytes()
        parts += [content, bytes(-len(content) % ALIGNMENT)]
    return b"".join(parts)


def unpack(message: bytes) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
    """The words and the arrays of a message."""
    (length,) = struct.unpack_from("<I", message)
    words = json.loads(message[4 : 4 + length])
    at, arrays = 4 + length, {}
    for name, (kind, shape) in words.pop("arrays").items():
        dtype = np.dtype(KINDS[kind])
        count = int(np.prod(shape))
        arrays[name] = np.frombuffer(message, dtype, count, at).reshape(shape)
        at += -(-count * dtype.itemsize // ALIGNMENT) * ALIGNMENT
    return words, arrays
