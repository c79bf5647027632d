"""Groups in a table, with rows that are known to belong together or apart: a hidden class behind all columns.

The model is naive Bayes [yao, section 7.2]: a hidden cluster with k states, and each column depends on it alone. What
is known about rows are ties between their clusters; how it is learned is `fit`'s.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np

from credo.arrays import Indices, Numbers
from credo.constraints.lower import lower
from credo.errors import DataError, OptionError
from credo.findings import Finding
from credo.fitting import fit as learn
from credo.io.categories import read_frame, variables_of
from credo.io.dataset import Dataset
from credo.io.tables import read_table
from credo.knowledge import Knowledge
from credo.knowledge.syntax import TiedRows
from credo.model.graphs import connected_components
from credo.model.network import Network, Variable
from credo.options import EMOptions, TieReading
from credo.results import Fit
from credo.statistics.counts import layout_for_counts
from credo.statistics.ties.assign import NoAssignment, assign
from credo.statistics.ties.likelihood import tie_rows
from credo.statistics.ties.posterior import tied_posterior

if TYPE_CHECKING:
    import polars as pl


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Clustering:
    """The cluster of each row, how sure that is, and the model behind it. Clusters are numbered from 0."""

    labels: Indices  # (rows,) the most probable clusters that the ties allow
    probabilities: Numbers  # (rows, clusters)
    fit: Fit
    cluster: str  # the name of the hidden variable in `fit.network`
    findings: tuple[Finding, ...]

    @property
    def sizes(self) -> Indices:
        """How many rows each cluster has."""
        return np.bincount(self.labels, minlength=self.probabilities.shape[1]).astype(np.int64)

    @property
    def features(self) -> tuple[str, ...]:
        """The columns that the clusters were found by."""
        return tuple(name for name in self.fit.network.names if name != self.cluster)

    def predict(self, data: Any) -> Indices:
        """The most probable cluster of each row of another table, whose rows are tied to none."""
        labels: Indices = self.predict_probabilities(data).argmax(axis=1).astype(np.int64)
        return labels

    def predict_probabilities(self, data: Any) -> Numbers:
        """How probable each cluster is for each row of another table, (rows, clusters)."""
        return self.fit.network.predict(data, self.cluster).to_numpy()

    def profile(self, feature: str) -> pl.DataFrame:
        """How the values of a column are distributed in each cluster."""
        return self.fit.cpt(feature)

    def __repr__(self) -> str:
        rows, clusters = self.probabilities.shape
        sizes = ", ".join(f"{size:,}" for size in self.sizes.tolist())
        ties = "" if self.fit.cll is None else f", cll {self.fit.cll:.2f}"
        return (
            f"<Clustering: {rows:,} rows in {clusters} clusters of {sizes}, by {len(self.features)} features; "
            f"log-likelihood {self.fit.log_likelihood:.2f}{ties}; {self.fit.status.name.lower()}>"
        )


def cluster(
    data: Any,
    k: int,
    *,
    ties: str | Sequence[Sequence[int]] | None = None,
    apart: Sequence[Sequence[int]] = (),
    merged: bool = False,
    prior: Any = 1,
    starts: int = 5,
    seed: int = 0,
    max_iterations: int = 1000,
    tolerance: float = 1e-8,
) -> Clustering:
    """Find `k` groups in a table, each column of which is a feature; values may be missing.

    `data` is a path (CSV, Parquet) or a frame of pandas, polars, …, with values that are categories. `ties` names a
    column whose equal values share a cluster (empty: not tied; it is no feature), or lists rows: `[[1, 2], [5, 7, 9]]`.
    `apart` lists rows that are in different clusters, `[[1, 5]]`. Rows are counted from 1, as in statements and
    messages. Rows are conditioned on their ties; `merged` makes each tie one draw of the cluster instead, and is the
    first start of the other. `prior`, `starts`, `seed`, `max_iterations` and `tolerance` are those of `fit`. The same
    seed gives the same clusters.
    """
    k = _checked_k(k)
    frame = read_frame(data)
    column = ties if isinstance(ties, str) else None
    features = variables_of(frame, () if column is None else (column,))
    if not features:
        raise DataError("The table has no column left to find clusters by.")
    hidden = unused("cluster", [variable.name for variable in features])
    network = Network(
        [Variable(hidden, tuple(str(i) for i in range(k))), *features],
        {variable.name: [hidden] for variable in features},
        name="clusters",
    )
    dataset = read_table(network, frame, others=() if column is None else (column,))
    if ties is not None and column is None:
        column = unused("tie", frame.columns)
        dataset = replace(dataset, others={column: _column(column, _row_lists("ties", ties, len(frame)), len(frame))})
    differ = _row_lists("apart", apart, len(frame), least=2)
    statements = [TiedRows((hidden,), by=column)] if column is not None else []
    knowledge = Knowledge([*statements, *(TiedRows((hidden,), rows=rows, differ=True) for rows in differ)], network)

    groups = _groups(dataset, column)
    pairs = _pairs(groups, differ)
    _require_room(k, groups, pairs)

    def learned(start: Network, kind: str) -> Fit:
        return learn(
            start, dataset, knowledge, method="cmap", prior=prior, seed=seed, tie_reading=kind,
            em=EMOptions(starts, max_iterations, tolerance),
        )  # fmt: skip

    # Large ties hold a random start where it is; where merged ties end is a start that follows them all.
    start = learned(network, "merged").network if statements and not differ and not merged else network
    fit = learned(start, _kind(merged))
    tied = tie_rows(layout_for_counts(fit.network), lower(knowledge).ties, dataset, reading=TieReading(_kind(merged)))
    shared = _shared(tied_posterior(fit.network, tied, hidden), groups)
    labels, kept = assign(shared, pairs)
    findings = fit.findings if kept else (*fit.findings, Finding("apart", "Not all rows could be labelled apart."))
    return Clustering(labels[groups], shared[groups], fit, hidden, findings)


def unused(name: str, taken: Sequence[str]) -> str:
    """The name, longer by as many underscores as are needed to be new."""
    while name in taken:
        name += "_"
    return name


def _checked_k(k: object) -> int:
    if isinstance(k, bool) or not hasattr(k, "__index__") or k.__index__() < 1:
        raise OptionError(f"The number of clusters is a whole number from 1; it is {k!r}.")
    return int(k.__index__())


def _kind(merged: bool) -> str:
    return "merged" if merged else "cll"


def _row_lists(what: str, lists: object, rows: int, least: int = 1) -> list[tuple[int, ...]]:
    """Lists of row numbers, counted from 1, each checked."""
    example = "[[1, 5]]" if least > 1 else "[[1, 2], [5, 7, 9]], or the name of a column"
    try:
        found = [tuple(each) for each in lists]  # type: ignore[attr-defined]
    except TypeError:
        raise OptionError(f"{what} is a list of lists of row numbers, such as {example}.") from None
    checked = []
    for each in found:
        if any(isinstance(row, bool) or not hasattr(row, "__index__") for row in each):
            raise OptionError(f"{what}: {list(each)!r} is no list of row numbers.")
        numbers = tuple(sorted({int(row.__index__()) for row in each}))
        if len(numbers) < least:
            raise OptionError(f"{what}: {list(each)!r} names no two rows.")
        for row in numbers:
            if not 1 <= row <= rows:
                raise OptionError(f"{what} names row {row}, but rows are counted from 1 to {rows}.")
        checked.append(numbers)
    return checked


def _column(name: str, lists: Sequence[Sequence[int]], rows: int) -> pl.Series:
    """A column that is equal in rows that stand in one list, or in lists that overlap; null in all others."""
    import polars as pl

    label = _linked(rows, lists)
    inside = np.zeros(rows, dtype=bool)
    inside[[row - 1 for rows_ in lists for row in rows_]] = True
    return pl.Series(name, label).set(pl.Series(~inside), None)


def _linked(rows: int, lists: Sequence[Sequence[int]]) -> Indices:
    """The number of each row's group, where rows of one list are in one group."""
    here = np.array([row - 1 for each in lists for row in each[1:]], dtype=np.int64)
    there = np.array([each[0] - 1 for each in lists for _ in each[1:]], dtype=np.int64)
    return connected_components(here, there, rows)


def _groups(dataset: Dataset, column: str | None) -> Indices:
    """The number of each row's group, from 0 and in the order of their first rows; a row that is not tied is alone."""
    alone = np.arange(len(dataset))
    if column is None:
        return alone
    series = dataset.others[column]
    known = series.is_not_null().to_numpy()
    _, first, which = np.unique(series.filter(known).cast(str).to_numpy(), return_index=True, return_inverse=True)
    alone[known] = np.flatnonzero(known)[first[which]]
    _, group = np.unique(alone, return_inverse=True)
    return np.asarray(group, dtype=np.int64)


def _pairs(groups: Indices, differ: Sequence[Sequence[int]]) -> Indices:
    """The pairs of groups that differ; rows that are both tied and apart are refused where they are learned from."""
    found = {
        (min(left, right), max(left, right))
        for rows in differ
        for left, right in combinations(groups[np.array(rows) - 1].tolist(), 2)
        if left != right
    }
    return np.array(sorted(found), dtype=np.int64).reshape(-1, 2)


def _require_room(k: int, groups: Indices, pairs: Indices) -> None:
    """Refuse rows that k clusters cannot keep apart."""
    try:
        assign(np.full((int(groups.max()) + 1, k), 1 / k), pairs)
    except NoAssignment as error:
        rows = np.flatnonzero(np.isin(groups, error.groups))
        named = ", ".join(str(row + 1) for row in rows[:12].tolist()) + (", …" if len(rows) > 12 else "")
        raise OptionError(
            f"{k} clusters cannot keep all rows apart that are to be: rows {named}. Take more clusters or fewer pairs."
        ) from None


def _shared(probabilities: Numbers, groups: Indices) -> Numbers:
    """What the rows of each group say, (groups, clusters): the same but for rounding, and here the same."""
    sums = np.zeros((int(groups.max()) + 1, probabilities.shape[1]))
    np.add.at(sums, groups, probabilities)
    shared: Numbers = sums / sums.sum(axis=1, keepdims=True)
    return shared
