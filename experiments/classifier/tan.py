"""Tree-augmented naive Bayes [Friedman, Geiger and Goldszmidt, 1997], smoothed by hierarchical Dirichlet processes."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin

import credo
from experiments.prior.rivals import backing_off

RANGES = 3


class TreeAugmentedBayes(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """Numbers are cut into three ranges; each feature has the class and at most one other feature as its parents."""

    def fit(self, X: Any, y: Any) -> TreeAugmentedBayes:
        """Find the tree, count, and smooth."""
        values = np.asarray(X, dtype=np.float64)
        self.classes_, labels = np.unique(y, return_inverse=True)
        self._cuts = [_cut_points(column) for column in values.T]
        codes = np.column_stack([self._codes(values), labels])
        sizes = [*(len(points) + 1 for points in self._cuts), len(self.classes_)]
        names, last = [f"x{place}" for place in range(len(sizes) - 1)], len(sizes) - 1
        tree = _tree(codes, sizes)
        parents = {name: ["y"] + ([names[tree[place]]] if place in tree else []) for place, name in enumerate(names)}
        states = dict(zip([*names, "y"], ([str(k) for k in range(size)] for size in sizes), strict=True))
        network = credo.Network(states, parents)
        place_of = {**{name: place for place, name in enumerate(names)}, "y": last}
        counts = {}
        for name in network.names:
            family = [place_of[each] for each in (*network.parents[name], name)]
            table = np.zeros([sizes[place] for place in family])
            np.add.at(table, tuple(codes[:, place] for place in family), 1.0)
            counts[name] = table.reshape(-1, table.shape[-1])
        self._families = [
            ([place_of[each] for each in (*network.parents[name], name)], cpt.reshape(network.shape(name)))
            for name, cpt in backing_off(network, counts).items()
        ]
        return self

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """The probability of each class."""
        codes = self._codes(np.asarray(X, dtype=np.float64))
        logs = np.empty((len(codes), len(self.classes_)))
        for label in range(len(self.classes_)):
            full = np.column_stack([codes, np.full(len(codes), label)])
            logs[:, label] = sum(
                np.log(cpt[tuple(full[:, place] for place in family)]) for family, cpt in self._families
            )
        chances = np.exp(logs - logs.max(axis=1, keepdims=True))
        return np.asarray(chances / chances.sum(axis=1, keepdims=True))

    def _codes(self, values: NDArray[np.float64]) -> NDArray[np.int64]:
        columns = zip(self._cuts, values.T, strict=True)
        return np.column_stack([np.searchsorted(points, column, side="right") for points, column in columns])


def _cut_points(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Between all values if there are few, else at quantiles."""
    distinct = np.unique(values)
    between = (distinct[1:] + distinct[:-1]) / 2
    if len(distinct) <= RANGES:
        return between
    return np.unique(np.quantile(values, np.arange(1, RANGES) / RANGES, method="averaged_inverted_cdf"))


def _tree(codes: NDArray[np.int64], sizes: list[int]) -> dict[int, int]:
    """The parent of each feature but the first, in the tree of largest I(a; b | class)."""
    features = len(sizes) - 1
    weights = np.zeros((features, features))
    for a in range(features):
        for b in range(a):
            joint = np.zeros((sizes[a], sizes[b], sizes[-1]))
            np.add.at(joint, (codes[:, a], codes[:, b], codes[:, -1]), 1.0 / len(codes))
            alone = joint.sum(axis=1, keepdims=True) * joint.sum(axis=0, keepdims=True)
            ratio = np.divide(joint * joint.sum(axis=(0, 1)), alone, out=np.ones_like(joint), where=joint > 0)
            weights[a, b] = weights[b, a] = (joint * np.log(ratio)).sum()
    found, parents = {0}, {}
    while len(found) < features:
        child, parent = max(
            ((c, p) for c in range(features) if c not in found for p in found), key=lambda pair: weights[pair]
        )
        parents[child] = parent
        found.add(child)
    return parents
