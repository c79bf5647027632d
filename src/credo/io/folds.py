"""Folds of cross-validation: which one a row is in depends on its number and the seed alone.

So a table is divided in the same way however it is read: in one go, in parts, by several workers.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from credo.types import Indices

LARGEST = 2**12  # turns of a block, in each of which every fold gets one row


def folds_of_rows(seed: int, folds: int, first: int, rows: int, total: int | None = None) -> Indices:
    """The fold of each of `rows` rows, of which `first` came before.

    Rows are shuffled in blocks, in each of which all folds have equally many. Blocks double in size, so that few rows
    are divided evenly, and the neighbours among many rows do not determine each other's folds. Where the `total` of
    rows is known, the last block ends with it, and the sizes of folds differ by one row at most.
    """
    found = [np.zeros(0, dtype=np.int64)]
    for number, (begin, size) in enumerate(_blocks(folds, first + rows)):
        size = size if total is None else min(size, total - begin)
        if begin + size > first:
            shuffled = np.random.default_rng([seed, number]).permutation(np.arange(size, dtype=np.int64) % folds)
            found.append(shuffled[max(0, first - begin) : first + rows - begin])
    return np.concatenate(found)


def _blocks(folds: int, end: int) -> Iterator[tuple[int, int]]:
    """Where each block begins, and how many rows it has, up to the row `end`."""
    begin, turns = 0, 1
    while begin < end:
        yield begin, turns * folds
        begin += turns * folds
        turns = min(LARGEST, begin // folds)
