"""Sets of keys for compiled loops: open-addressed tables over lists of integers.

`slots` holds the number of an entry or -1; entries keep their hash, so that a table can grow without reading its keys
again; the keys lie one after the other in an array.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from credo.kernels.compiler import compiled

MULTIPLIER = np.uint64(0x9E3779B97F4A7C15)  # 2^64 divided by the golden ratio


@compiled(inline="always")
def mix(state: Any, value: Any) -> Any:  # pragma: no cover
    state = (state ^ np.uint64(value)) * MULTIPLIER
    return state ^ (state >> np.uint64(29))


@compiled
def room(array: Any, needed: int) -> Any:  # pragma: no cover
    """The array itself, or a copy that is long enough."""
    if needed <= len(array):
        return array
    longer = np.empty(max(needed, 2 * len(array)), dtype=array.dtype)
    longer[: len(array)] = array
    return longer


@compiled
def more_slots(slots: Any, hashes: Any, entries: int) -> Any:  # pragma: no cover
    """The table itself while less than half of it is taken, else one of twice the size."""
    if 2 * (entries + 1) <= len(slots):
        return slots
    slots = np.full(2 * len(slots), -1, dtype=np.int64)
    mask = np.uint64(len(slots) - 1)
    for entry in range(entries):
        at = hashes[entry] & mask
        while slots[at] >= 0:
            at = (at + np.uint64(1)) & mask
        slots[at] = entry
    return slots


@compiled
def find(slots: Any, hashes: Any, keys: Any, starts: Any, key: Any, length: int) -> Any:  # pragma: no cover
    """The slot that holds this key, or the free one where it belongs; and its hash."""
    mixed = np.uint64(length)
    for i in range(length):
        mixed = mix(mixed, key[i])
    mask = np.uint64(len(slots) - 1)
    at = mixed & mask
    while slots[at] >= 0:
        entry = slots[at]
        if hashes[entry] == mixed and starts[entry + 1] - starts[entry] == length:
            same = True
            for i in range(length):
                if keys[starts[entry] + i] != key[i]:
                    same = False
                    break
            if same:
                break
        at = (at + np.uint64(1)) & mask
    return at, mixed
