"""What missing features of a row may be: what they are in training rows that are like it in the features it has.

    share(v | x)  ∝  Σ_i w_i · exp(−λ·d_i²) · [features that are missing are v in row i]

d_i is the distance to training row i in the features that are known, numbers in units of their standard deviations. λ
is the one of `CLOSENESS` under which training rows predict each other's values best [Hall, Racine and Li, 2004], and 0,
which means how often training rows have each value, unless another one is better by `MARGIN`.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from credo.small_products import product
from credo.types import Flags, Indices, Numbers

CLOSENESS = (0.0, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0)
MARGIN = 2.0  # of log-likelihood
ALIKE = 0.5  # how far values are apart, in standard deviations, that count as predicted
MOST_COMPARED = 200  # rows that choose λ
DIFFERENT = 2.0  # the squared distance of two categories, and to a value that is missing: that of two rows on average
SMALLEST = 1e-300


@dataclass(frozen=True, slots=True)
class SimilarRows:
    """Training rows, some of them, or all."""

    table: Numbers  # (rows, features), NaN where a value is missing
    weights: Numbers  # (rows,)
    ordered: tuple[bool, ...]  # of each feature, whether its values are numbers and not those of categories

    def values(self, rows: Numbers, missing: Flags) -> tuple[Numbers, Numbers]:
        """What the `missing` features may be, (values, features), and their shares for each row, (rows, values)."""
        able = ~np.isnan(self.table[:, missing]).any(axis=1) & (self.weights > 0.0)
        if not missing.any() or not able.any():  # a value that no training row has stays missing, at the mean
            return np.full((1, int(missing.sum())), np.nan), np.ones((len(rows), 1))
        donors, weights = self.table[able], self.weights[able]
        values, which = np.unique(donors[:, missing], axis=0, return_inverse=True)
        closeness = self._closeness(donors, weights, missing)
        logs = np.log(weights) - closeness * self._squares(rows, donors, ~missing)
        shares = np.exp(logs - logs.max(axis=1, keepdims=True))
        shares /= shares.sum(axis=1, keepdims=True)
        return values, product(shares, np.eye(len(values))[which.ravel()])

    def _closeness(self, donors: Numbers, weights: Numbers, missing: Flags) -> float:
        kept = np.linspace(0, len(donors) - 1, min(len(donors), MOST_COMPARED)).round().astype(np.int64)
        some, weights = donors[kept], weights[kept]
        squares = self._squares(some, some, ~missing)
        alike = np.exp(-self._squares(some, some, missing) / (2.0 * ALIKE**2))
        scores = []
        for closeness in CLOSENESS:
            shares = weights * np.exp(-closeness * squares)
            np.fill_diagonal(shares, 0.0)
            predicted = (shares * alike).sum(axis=1) / np.maximum(shares.sum(axis=1), SMALLEST)
            scores.append(float(weights @ np.log(np.maximum(predicted, 1e-6))))
        best = int(np.argmax(scores))
        return CLOSENESS[best] if scores[best] > scores[0] + MARGIN else 0.0

    def _squares(self, rows: Numbers, donors: Numbers, among: NDArray[np.bool_]) -> Numbers:
        """Squared distances in some features, (rows, donors): Σ x² − 2·Σ x·y + Σ y² over what is known in both."""
        places = np.flatnonzero(among)
        found = np.full((len(rows), len(donors)), DIFFERENT * len(places))
        if not len(places):
            return found
        (one, one_known), (two, two_known) = self._coordinates(rows, places), self._coordinates(donors, places)
        found += product(one**2, two_known.T) + product(one_known, (two**2).T) - 2.0 * product(one, two.T)
        known = ~np.isnan(rows[:, places]), ~np.isnan(donors[:, places])
        found -= DIFFERENT * product(known[0].astype(np.float64), known[1].astype(np.float64).T)
        return np.asarray(np.maximum(found, 0.0))

    def _coordinates(self, rows: Numbers, places: Indices) -> tuple[Numbers, Numbers]:
        """Numbers in standard deviations and a coordinate for each category, 0 where unknown; and what is known."""
        found = []
        for place in places.tolist():
            own = self.table[~np.isnan(self.table[:, place]), place]
            if self.ordered[place]:
                deviation = float(own.std()) if len(own) else 0.0
                centre = float(own.mean()) if len(own) else 0.0
                found.append((rows[:, place] - centre) / deviation if deviation else 0.0 * rows[:, place])
            else:
                found += [np.where(np.isnan(rows[:, place]), np.nan, rows[:, place] == v) for v in np.unique(own)]
        coordinates = np.stack(found, axis=1)
        return np.nan_to_num(coordinates, nan=0.0), (~np.isnan(coordinates)).astype(np.float64)
