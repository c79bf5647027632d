"""A scikit-learn clusterer with samples that are known to belong together, or apart."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClusterMixin
from sklearn.utils.validation import check_is_fitted

from credo.clustering import Clustering, cluster, unused
from credo.errors import DataError, OptionError
from credo.model.state_texts import plain
from credo.options import EMOptions, checked_whole_number
from credo.sklearn.columns import Features, RandomState, TabularMixin, declared_categories, learn_column
from credo.statistics.prior import PriorLike
from credo.types import Indices, Numbers

if TYPE_CHECKING:
    import polars as pl

BINS = 3


class TiedClustering(TabularMixin, ClusterMixin, BaseEstimator):  # type: ignore[misc]
    """Clusters as a hidden class behind all features, with samples that are tied together or apart.

    The estimator of `credo.cluster`. Features are categories: texts, truth values and at most ten whole numbers are
    used as they are, so numbers can be category codes; all other numbers are cut into ranges. Values may be missing. A
    value that no sample of `fit` had is treated as missing, with an `UnseenValueWarning`.

    Parameters
    ----------
    n_clusters : int, default 2
        The number of clusters.
    merged : bool, default False
        Whether each tie is one draw of the cluster, as in `credo.cluster`.
    prior : number, str, prior or mapping, default 1
        Pseudo-counts as in `credo.fit`.
    bins : int, default 3
        The number of ranges of a measured feature; each holds about as many samples.
    n_init : int, default 5
        The number of starts of EM.
    max_iter : int, default 1000
        The largest number of iterations from each start.
    tol : float, default 1e-8
        The relative change of the objective at which EM stops.
    random_state : int, numpy.random.Generator, numpy.random.RandomState or None, default 0
        The seed; the same int gives the same clusters.

    Attributes
    ----------
    labels_ : ndarray of int, (samples,)
        The clusters of the samples, which respect the ties.
    probabilities_ : ndarray, (samples, clusters)
        The probabilities of the clusters, given the ties.
    clustering_ : credo.results.Clustering
        Everything that was learned.
    n_iter_ : int
        The number of iterations.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.array([["high", "no"], ["high", "no"], ["none", "yes"], ["none", "yes"]])
    >>> model = TiedClustering(2).fit(X, ties=["a", "a", None, None], apart=[(0, 2)])
    >>> bool(model.labels_[0] == model.labels_[1]), bool(model.labels_[0] == model.labels_[2])
    (True, False)
    """

    def __init__(
        self,
        n_clusters: int = 2,
        *,
        merged: bool = False,
        prior: PriorLike = 1,
        bins: int = BINS,
        n_init: int = 5,
        max_iter: int = 1000,
        tol: float = 1e-8,
        random_state: RandomState = 0,
    ) -> None:
        self.n_clusters = n_clusters
        self.merged = merged
        self.prior = prior
        self.bins = bins
        self.n_init = n_init
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state

    def fit(
        self,
        X: Features,
        y: object = None,
        ties: Sequence[object] | NDArray[Any] | None = None,
        apart: Sequence[Sequence[int]] | None = None,
    ) -> TiedClustering:
        """Find the clusters of samples.

        Parameters
        ----------
        X : array or frame, (samples, features)
            The samples.
        y : None
            Not used.
        ties : array_like, (samples,), optional
            Samples with equal entries share a cluster; those with None or NaN are not tied.
        apart : sequence of pairs of int, optional
            Pairs of samples in different clusters, as indices into X, from 0 as everywhere in scikit-learn.

        Returns
        -------
        TiedClustering
            The estimator itself.
        """
        bins = checked_whole_number(self.bins, "bins, the number of ranges,")
        frame = self._frame(X, reset=True)
        listed, ones = declared_categories(X), np.ones(len(frame))
        self._columns = {name: learn_column(frame[name], ones, bins, listed.get(name)) for name in frame.columns}
        table = self._named(frame, strict=True)
        table = table.select(name for name in table.columns if table[name].null_count() < len(table))
        if not table.columns:
            raise DataError("No feature holds a value: there is nothing to find clusters with.")
        tied = None
        if ties is not None:
            tied = unused("tie", table.columns)
            table = table.with_columns(_entries(tied, ties, len(table)))
        self.clustering_: Clustering = cluster(
            table,
            self.n_clusters,
            ties=tied,
            apart=() if apart is None else _row_numbers(apart, len(table)),
            merged=self.merged,
            prior=self.prior,
            seed=self._seed(),
            em=EMOptions(self.n_init, self.max_iter, self.tol),
        )
        self.labels_ = self.clustering_.labels
        self.probabilities_ = self.clustering_.probabilities
        self.n_iter_ = len(self.clustering_.fit.history)
        return self

    def fit_predict(
        self,
        X: Features,
        y: object = None,
        ties: Sequence[object] | NDArray[Any] | None = None,
        apart: Sequence[Sequence[int]] | None = None,
    ) -> Indices:
        """Find the clusters of samples and return them.

        Parameters
        ----------
        X : array or frame, (samples, features)
            The samples.
        y : None
            Not used.
        ties, apart
            As in `fit`.

        Returns
        -------
        ndarray of int, (samples,)
            The clusters.
        """
        labels: Indices = self.fit(X, y, ties, apart).labels_
        return labels

    def predict_proba(self, X: Features) -> Numbers:
        """The probability of each cluster for new samples, which are not tied.

        Parameters
        ----------
        X : array or frame, (samples, features)
            The samples.

        Returns
        -------
        ndarray, (samples, clusters)
            The probabilities.
        """
        check_is_fitted(self)
        table = self._named(self._frame(X, reset=False), strict=False)
        return self.clustering_.predict_probabilities(table)

    def predict(self, X: Features) -> Indices:
        """The most probable cluster of new samples, which are not tied.

        Parameters
        ----------
        X : array or frame, (samples, features)
            The samples.

        Returns
        -------
        ndarray of int, (samples,)
            The clusters.
        """
        labels: Indices = self.predict_proba(X).argmax(axis=1).astype(np.int64)
        return labels

    def _named(self, frame: pl.DataFrame, *, strict: bool) -> pl.DataFrame:
        """The frame with the names of states; values that the learned network does not know are missing."""
        import polars as pl

        columns = []
        for name, column in self._columns.items():
            known = column.variable.states if strict else self._learned(name)
            states = np.array([state if state in known else None for state in column.variable.states] + [None])
            codes = column.codes(frame[name], strict=strict)
            columns.append(pl.Series(name, states[codes].tolist(), dtype=pl.String))  # MISSING, -1, picks the last
        return pl.DataFrame(columns)

    def _learned(self, name: str) -> tuple[str, ...]:
        """The states that occurred in `fit`."""
        return self.clustering_.fit.network.states(name) if name in self.clustering_.features else ()


def _entries(name: str, ties: Sequence[object] | NDArray[Any], samples: int) -> pl.Series:
    """One text for each sample, null where it is not tied."""
    import polars as pl

    given = np.asarray(ties, dtype=object)
    if given.shape != (samples,):
        raise DataError(
            f"There are {samples} samples but ties of the shape {given.shape}: one entry per sample is needed."
        )
    entries = [None if entry is None or entry != entry else str(plain(entry)) for entry in given.tolist()]
    return pl.Series(name, entries, dtype=pl.String)


def _row_numbers(apart: Sequence[Sequence[int]], samples: int) -> list[list[int]]:
    """Pairs of indices, from 0, as pairs of row numbers, from 1."""
    try:
        pairs = [[int(index.__index__()) for index in pair] for pair in apart]
    except (TypeError, AttributeError):
        raise OptionError("apart is a list of pairs of indices, such as [(0, 4)].") from None
    for pair in pairs:
        for index in pair:
            if not 0 <= index < samples:
                raise OptionError(f"apart names sample {index}, but indices go from 0 to {samples - 1}.")
    return [[index + 1 for index in pair] for pair in pairs]
