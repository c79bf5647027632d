# cython: infer_types=True
"""Lists of integers that are numbered in the order in which they first appear: a hash table with open addressing."""

import cython
import numpy as np
from cython.cimports.libc.stdint import uint64_t

FIRST = 1024  # entries that there is space for at first


def longer(array, needed: cython.Py_ssize_t):
    """A copy with space for `needed` entries, and at least twice the old one."""
    old = np.asarray(array)
    copy = np.empty((max(needed, 2 * len(old)), *old.shape[1:]), dtype=old.dtype)
    copy[: len(old)] = old
    return copy


class NumberedLists:
    """List k is `values[starts[k]:starts[k + 1]]`."""

    def __init__(self):
        self.slots = np.full(FIRST, -1, dtype=np.int64)
        self.hashes = np.empty(FIRST, dtype=np.uint64)
        self.starts = np.zeros(FIRST, dtype=np.int64)
        self.values = np.empty(FIRST, dtype=np.int64)
        self.count = 0

    def number(self, key, length):
        """The number of a list, which is added where it is new: then it is what `count` was before."""
        begin: cython.Py_ssize_t
        mixed: uint64_t = length
        for i in range(length):
            mixed = mix(mixed, cython.cast(uint64_t, key[i]))
        mask: uint64_t = self.slots.shape[0] - 1
        at: uint64_t = mixed & mask
        while self.slots[at] >= 0:
            entry = self.slots[at]
            begin = self.starts[entry]
            if self.hashes[entry] == mixed and self.starts[entry + 1] - begin == length:
                is_same = True
                for i in range(length):
                    if self.values[begin + i] != key[i]:
                        is_same = False
                        break
                if is_same:
                    return entry
            at = (at + 1) & mask
        entry = self.count
        begin = self.starts[entry]
        if entry + 2 > self.starts.shape[0]:
            with cython.gil:
                self.starts = longer(self.starts, entry + 2)
                self.hashes = longer(self.hashes, entry + 2)
        if begin + length > self.values.shape[0]:
            with cython.gil:
                self.values = longer(self.values, begin + length)
        self.slots[at] = entry
        self.hashes[entry] = mixed
        for i in range(length):
            self.values[begin + i] = key[i]
        self.starts[entry + 1] = begin + length
        self.count = entry + 1
        if 2 * self.count > self.slots.shape[0]:
            with cython.gil:
                self._rehash()
        return entry

    def _rehash(self):
        """Twice as many slots."""
        self.slots = np.full(2 * self.slots.shape[0], -1, dtype=np.int64)
        mask: uint64_t = self.slots.shape[0] - 1
        for entry in range(self.count):
            at = self.hashes[entry] & mask
            while self.slots[at] >= 0:
                at = (at + 1) & mask
            self.slots[at] = entry
        return 0

    def arrays(self):
        """All lists one after the other, and where each begins, (lists + 1,)."""
        starts = np.asarray(self.starts)[: self.count + 1].copy()
        return np.asarray(self.values)[: starts[self.count]].copy(), starts
