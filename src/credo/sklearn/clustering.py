"""A scikit-learn clusterer that is told which samples belong together, and which do not."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import BaseEstimator, ClusterMixin
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from credo.arrays import Indices, Numbers
from credo.clustering import Clustering, cluster, unused
from credo.errors import DataError, OptionError
from credo.sklearn.columns import declared_categories, learn_column, plain
from credo.sklearn.tabular import TabularMixin

if TYPE_CHECKING:
    import polars as pl

BINS = 3


class TiedClustering(TabularMixin, ClusterMixin, BaseEstimator):  # type: ignore[misc]
    """A hidden class behind all features, found by `credo.cluster`, with samples that are tied together or apart.

    Features are categories. Texts, truth values and at most ten whole numbers are taken as such, so numbers can be
    category codes; all other numbers are cut into `bins` ranges that hold about as many samples each. Values may be
    missing. A value that no sample of `fit` held is treated as missing, with an `UnseenValueWarning`.

    `merged` and `prior` are those of `credo.cluster`; `n_init`, `max_iter` and `tol` are its starts, iterations and
    tolerance, `random_state` its seed. After `fit`, `labels_` and `probabilities_` are those of the samples given their
    ties, and `clustering_` is the `credo.Clustering` with all that was learned.
    """

    def __init__(
        self,
        n_clusters: int = 2,
        *,
        merged: bool = False,
        prior: Any = 1,
        bins: int = BINS,
        n_init: int = 5,
        max_iter: int = 1000,
        tol: float = 1e-8,
        random_state: Any = 0,
    ) -> None:
        self.n_clusters = n_clusters
        self.merged = merged
        self.prior = prior
        self.bins = bins
        self.n_init = n_init
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state

    def fit(self, X: Any, y: Any = None, ties: Any = None, apart: Sequence[Sequence[int]] | None = None) -> Any:
        """Find the clusters of samples X, (samples, features); y is not used.

        `ties` has an entry for each sample: samples with equal entries share a cluster, those with None or NaN are not
        tied. `apart` lists pairs of samples in different clusters, as indices into X, which count from 0.
        """
        if isinstance(self.bins, bool) or not hasattr(self.bins, "__index__") or int(self.bins) < 1:
            raise OptionError(f"bins is a number of ranges, at least 1; it is {self.bins!r}.")
        frame = self._frame(X, reset=True)
        listed, ones = declared_categories(X), np.ones(len(frame))
        self._columns = {
            name: learn_column(frame[name], ones, int(self.bins), listed.get(name)) for name in frame.columns
        }
        table = self._named(frame, strict=True)
        table = table.select(name for name in table.columns if table[name].null_count() < len(table))
        if not table.columns:
            raise DataError("No feature holds a value: there is nothing to find clusters by.")
        tied = None if ties is None else unused("tie", table.columns)
        if tied is not None:
            table = table.with_columns(_entries(tied, ties, len(table)))
        self.clustering_: Clustering = cluster(
            table,
            self.n_clusters,
            ties=tied,
            apart=() if apart is None else _from_one(apart, len(table)),
            merged=self.merged,
            prior=self.prior,
            starts=self.n_init,
            seed=self._seed(),
            max_iterations=self.max_iter,
            tolerance=self.tol,
        )
        self.labels_ = self.clustering_.labels
        self.probabilities_ = self.clustering_.probabilities
        self.n_iter_ = len(self.clustering_.fit.history)
        return self

    def fit_predict(self, X: Any, y: Any = None, **ties: Any) -> Indices:
        """Find the clusters of samples, and give them: `ties` and `apart` as for `fit`."""
        labels: Indices = self.fit(X, y, **ties).labels_
        return labels

    def predict_proba(self, X: Any) -> Numbers:
        """How probable each cluster is for each sample, (samples, clusters); the samples are not tied."""
        check_is_fitted(self)
        table = self._named(self._frame(X, reset=False), strict=False)
        return self.clustering_.predict_probabilities(table)

    def predict(self, X: Any) -> Indices:
        """The most probable cluster of each sample; the samples are not tied."""
        labels: Indices = self.predict_proba(X).argmax(axis=1).astype(np.int64)
        return labels

    def _named(self, frame: pl.DataFrame, *, strict: bool) -> pl.DataFrame:
        """The frame with the names of states; what the learned network does not know is missing."""
        import polars as pl

        columns = []
        for name, column in self._columns.items():
            known = column.variable.states if strict else self._learned(name)
            states = np.array([each if each in known else None for each in column.variable.states] + [None])
            codes = column.codes(frame[name], strict=strict)
            columns.append(pl.Series(name, states[codes].tolist(), dtype=pl.String))  # MISSING, -1, picks the last
        return pl.DataFrame(columns)

    def _learned(self, name: str) -> tuple[str, ...]:
        """The states that samples of `fit` held."""
        return self.clustering_.fit.network.states(name) if name in self.clustering_.features else ()

    def _seed(self) -> int:
        if hasattr(self.random_state, "__index__"):
            return int(self.random_state)
        return int(check_random_state(self.random_state).randint(2**31 - 1))


def _entries(name: str, ties: Any, samples: int) -> pl.Series:
    """One text for each sample, null where it is not tied."""
    import polars as pl

    given = np.asarray(ties, dtype=object)
    if given.shape != (samples,):
        raise DataError(
            f"There are {samples} samples but ties of the shape {given.shape}: one entry a sample is needed."
        )
    entries = [None if each is None or each != each else str(plain(each)) for each in given.tolist()]
    return pl.Series(name, entries, dtype=pl.String)


def _from_one(apart: Any, samples: int) -> list[list[int]]:
    """Pairs of indices as pairs of row numbers."""
    try:
        pairs = [[int(index.__index__()) for index in pair] for pair in apart]
    except (TypeError, AttributeError):
        raise OptionError("apart is a list of pairs of indices, such as [(0, 4)].") from None
    for pair in pairs:
        for index in pair:
            if not 0 <= index < samples:
                raise OptionError(f"apart names sample {index}, but indices count from 0 to {samples - 1}.")
    return [[index + 1 for index in pair] for pair in pairs]
