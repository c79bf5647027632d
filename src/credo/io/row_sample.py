"""Some rows of a table, each with the same chance, that are kept while it is read."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from credo.io.dataset import Dataset
from credo.types import Codes, Numbers

MOST_ROWS = 5_000


@dataclass(frozen=True, slots=True, eq=False)
class RowSample:
    """At most `MOST_ROWS` rows of a table, in a random order; all of them where there are no more.

    A row has the key that it drew; those with the smallest keys are kept.
    """

    codes: Codes  # (rows, variables)
    weights: Numbers | None
    keys: Numbers  # (rows,), ascending
    total: int  # rows of the table

    @property
    def is_whole(self) -> bool:
        """Whether all rows of the table are in it."""
        return self.total == len(self.codes)


def with_rows(sample: RowSample | None, part: Dataset, generator: np.random.Generator) -> RowSample:
    """The sample of a table of which another part was read; each part draws from the same generator."""
    keys = generator.random(len(part))
    chosen = _candidates(keys, sample)
    keys, codes = keys[chosen], part.codes[chosen]
    weights, total = None if part.weights is None else part.weights[chosen], len(part)
    if sample is not None:
        keys, codes = np.concatenate((sample.keys, keys)), np.concatenate((sample.codes, codes))
        if sample.weights is not None and weights is not None:
            weights = np.concatenate((sample.weights, weights))
        total += sample.total
    kept = np.argsort(keys, kind="stable")[:MOST_ROWS]
    return RowSample(codes[kept], None if weights is None else weights[kept], keys[kept], total)


def _candidates(keys: Numbers, sample: RowSample | None) -> NDArray[np.intp] | slice:
    """The rows that can be among those with the smallest keys: few of a large table."""
    if sample is not None and len(sample.keys) == MOST_ROWS:
        return np.flatnonzero(keys < sample.keys[-1])
    if len(keys) > 2 * MOST_ROWS:
        small = np.flatnonzero(keys < 2 * MOST_ROWS / len(keys))
        if len(small) >= MOST_ROWS:
            return small
    return slice(None)
