"""How well clusters agree with classes: precision and recall over pairs of rows, and their harmonic mean.

A pair is found where both rows have one cluster, and true where both have one class. With P = found and true / found
and R = found and true / true, F = 2PR / (P + R) [yao, section 7.2, which does not say of what P and R are].
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Labels = NDArray[np.int64]


def pairwise_f(clusters: Labels, classes: Labels, ties: Labels | None = None) -> float:
    """F over all pairs; with `ties` (the number of each row's tie, -1 where it is in none) over those in no tie."""
    both = _pairs(np.stack([clusters, classes]))
    found, true = _pairs(clusters[None]), _pairs(classes[None])
    if ties is not None:
        tied = ties >= 0
        both -= _pairs(np.stack([clusters, classes, ties])[:, tied])
        found -= _pairs(np.stack([clusters, ties])[:, tied])
        true -= _pairs(np.stack([classes, ties])[:, tied])
    return 2 * both / (found + true) if found + true else 1.0


def _pairs(labels: NDArray[np.int64]) -> int:
    """How many pairs of rows agree in all of these."""
    _, counts = np.unique(labels, axis=1, return_counts=True)
    return int((counts * (counts - 1) // 2).sum())
