"""How well clusters agree with classes: precision and recall over pairs of rows, and their harmonic mean.

A pair is predicted if both rows are in one cluster, and true if both are in one class. With P = predicted and true /
predicted and R = predicted and true / true, F = 2PR / (P + R) [yao, section 7.2, which does not define P and R].
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Labels = NDArray[np.int64]


def pairwise_f(clusters: Labels, classes: Labels, ties: Labels | None = None) -> float:
    """F over all pairs; with `ties` (the number of each row's tie, or -1) over the pairs that are not tied."""
    both = _pairs(np.stack([clusters, classes]))
    predicted, true = _pairs(clusters[None]), _pairs(classes[None])
    if ties is not None:
        tied = ties >= 0
        both -= _pairs(np.stack([clusters, classes, ties])[:, tied])
        predicted -= _pairs(np.stack([clusters, ties])[:, tied])
        true -= _pairs(np.stack([classes, ties])[:, tied])
    return 2 * both / (predicted + true) if predicted + true else 1.0


def _pairs(labels: NDArray[np.int64]) -> int:
    """The number of pairs of rows that agree in all of these."""
    _, counts = np.unique(labels, axis=1, return_counts=True)
    return int((counts * (counts - 1) // 2).sum())
