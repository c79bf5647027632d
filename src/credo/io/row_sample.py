"""Some rows of a table, each with the same chance, that are kept while it is read."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

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
    codes, weights, total = part.codes, part.weights, len(part)
    if sample is not None:
        if len(sample.keys) == MOST_ROWS:  # most rows of a large table are of no interest
            chosen = np.flatnonzero(keys < sample.keys[-1])
            keys, codes, weights = keys[chosen], codes[chosen], None if weights is None else weights[chosen]
        keys, codes = np.concatenate((sample.keys, keys)), np.concatenate((sample.codes, codes))
        if sample.weights is not None and weights is not None:
            weights = np.concatenate((sample.weights, weights))
        total += sample.total
    if len(keys) > MOST_ROWS:
        chosen = np.flatnonzero(keys <= np.partition(keys, MOST_ROWS - 1)[MOST_ROWS - 1])
        keys, codes, weights = keys[chosen], codes[chosen], None if weights is None else weights[chosen]
    kept = np.argsort(keys, kind="stable")[:MOST_ROWS]
    return RowSample(codes[kept], None if weights is None else weights[kept], keys[kept], total)
