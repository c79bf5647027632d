"""Clusters of rows, with rows that are known to belong together or apart: a hidden class behind all columns.

The model is naive Bayes [yao, section 7.2]: a hidden cluster with k states on which every column depends. Knowledge
about rows are ties between their clusters; `fit` learns the network.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np

from credo.constraints.lower import lower
from credo.distributed.dask_executor import executor_for
from credo.errors import DataError, OptionError, counted
from credo.findings import Finding
from credo.fitting import fit as learn
from credo.io.categories import read_frame, texts_in, variables_of
from credo.io.dataset import Dataset, concatenate
from credo.io.dialects import declared
from credo.io.partitions import (
    PartitionedTable,
    frames_of,
    has_partitions,
    partitioned,
    read_partition,
    readable_anywhere,
)
from credo.io.tables import read_table
from credo.knowledge import Knowledge
from credo.knowledge.statements import TiedRows
from credo.memory import require_memory
from credo.model.graphs import connected_components
from credo.model.network import Network, Variable
from credo.options import EMOptions, TableFormat, TieReading, checked_whole_number, resolve_seed
from credo.results.fit_results import Fit
from credo.statistics.counts import layout_for_counts
from credo.statistics.predict import probabilities_of
from credo.statistics.prior import PriorLike
from credo.statistics.tied_columns import tie_values
from credo.statistics.ties.likelihood import tie_rows
from credo.statistics.ties.posterior import NoAssignment, assign, tied_posterior
from credo.types import Indices, Numbers, Seed, TableLike

if TYPE_CHECKING:
    import polars as pl
    from dask.distributed import Client

BYTES_PER_CELL = 40  # of probabilities and expected counts, for each cluster, and of the names of clusters


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Clustering:
    """The clusters that `credo.cluster` found. Clusters are numbered from 0.

    Attributes
    ----------
    labels : ndarray of int, (rows,)
        The most probable cluster of each row that the ties allow.
    probabilities : ndarray, (rows, clusters)
        The probability of each cluster for each row, given the ties.
    fit : Fit
        The learned model.
    cluster : str
        The name of the hidden variable in `fit.network`.
    findings : tuple of Finding
        What to know about the result.
    """

    labels: Indices
    probabilities: Numbers
    fit: Fit
    cluster: str
    findings: tuple[Finding, ...]

    @property
    def sizes(self) -> Indices:
        """The number of rows of each cluster."""
        return np.bincount(self.labels, minlength=self.probabilities.shape[1]).astype(np.int64)

    @property
    def features(self) -> tuple[str, ...]:
        """The columns that the model uses."""
        return tuple(name for name in self.fit.network.names if name != self.cluster)

    def predict(self, data: TableLike) -> Indices:
        """The most probable cluster of each row of another table.

        Parameters
        ----------
        data : path, frame or Dataset
            Rows with the same columns, which are not tied.

        Returns
        -------
        ndarray of int, (rows,)
            The clusters.
        """
        labels: Indices = self.predict_probabilities(data).argmax(axis=1).astype(np.int64)
        return labels

    def predict_probabilities(self, data: TableLike) -> Numbers:
        """The probability of each cluster for each row of another table.

        Parameters
        ----------
        data : path, frame or Dataset
            Rows with the same columns, which are not tied.

        Returns
        -------
        ndarray, (rows, clusters)
            The probabilities.
        """
        return probabilities_of(self.fit.network, data, self.cluster)

    def profile(self, feature: str) -> pl.DataFrame:
        """The distribution of the values of a column in each cluster.

        Parameters
        ----------
        feature : str
            A column.

        Returns
        -------
        polars.DataFrame
            A row for each cluster, a column `feature=value` for each value.
        """
        return self.fit.cpt(feature)

    def __repr__(self) -> str:
        rows, clusters = self.probabilities.shape
        sizes = ", ".join(f"{size:,}" for size in self.sizes.tolist())
        ties = "" if self.fit.cll is None else f", cll {self.fit.cll:.2f}"
        return (
            f"<Clustering: {counted(rows, 'row')} in {counted(clusters, 'cluster')} of {sizes}, by "
            f"{counted(len(self.features), 'feature')}; "
            f"log-likelihood {self.fit.log_likelihood:.2f}{ties}; {self.fit.status.name.lower()}>"
        )


def cluster(
    data: TableLike,
    k: int,
    *,
    ties: str | Sequence[Sequence[int]] | None = None,
    apart: Sequence[Sequence[int]] = (),
    merged: bool = False,
    prior: PriorLike = 1,
    seed: Seed = 0,
    em: EMOptions | None = None,
    table_format: TableFormat | None = None,
    executor: Client | None = None,
) -> Clustering:
    """Find `k` clusters of rows in a table, where some rows are known to belong together or apart.

    The model is naive Bayes with a hidden class, learned by EM.

    Parameters
    ----------
    data : path or frame
        A CSV, Parquet or Excel file, or a frame of pandas, polars, …. Every column is a feature with categories as
        values, which may be missing.
    k : int
        The number of clusters.
    ties : str or sequence of sequence of int, optional
        Rows that share a cluster: the name of a column, where rows with equal values are tied, rows without a value
        are not, and which is not a feature; or lists of rows, counted from 1, such as `[[1, 2], [5, 7, 9]]`.
    apart : sequence of sequence of int, optional
        Rows that are in different clusters, counted from 1, such as `[[1, 5]]`.
    merged : bool, default False
        How tied rows came about: False if they were selected because they belong together
        (`TieReading.SELECTED`), True if each tie is one draw of the cluster (`TieReading.MERGED`).
    prior : number, str, Network, prior or mapping, default 1
        Pseudo-counts as in `credo.fit`.
    em : EMOptions, optional
        Options of EM.
    seed : int or numpy.random.Generator, default 0
        The same seed gives the same clusters.
    table_format : TableFormat, optional
        How the file of the data is written, where it is not as usual: separator, decimal mark, encoding, sheet.
    executor : dask.distributed.Client, optional
        A cluster whose workers read the data, as in `credo.fit`. Rows in partitions are tied by a column that is the
        key of the partitions, and not by their numbers.

    Returns
    -------
    Clustering
        The clusters and the model.

    Raises
    ------
    DataError
        If a column is empty or holds many different numbers.
    OptionError
        If `k` clusters cannot keep rows apart, or a row number does not exist.

    Examples
    --------
    >>> import polars as pl
    >>> patients = pl.DataFrame({"fever": ["high", "high", "none", "none"], "rash": ["no", "no", "yes", None]})
    >>> found = cluster(patients, 2, ties=[[1, 2]], apart=[[1, 3]])
    >>> found.labels[0] == found.labels[1], found.labels[0] == found.labels[2]
    (np.True_, np.False_)
    """
    k, seed = checked_whole_number(k, "The number of clusters"), resolve_seed(seed)
    if executor is not None or has_partitions(data):
        table = partitioned(data) if executor is None else readable_anywhere(partitioned(data))
        return _cluster_partitions(table, k, ties, apart, merged, prior, seed, em, executor)
    frame = read_frame(declared(data, table_format))
    column = ties if isinstance(ties, str) else None
    features = variables_of(frame, () if column is None else (column,))
    if not features:
        raise DataError("The table has no column left to find clusters with.")
    if k > len(frame):
        raise OptionError(f"There are {counted(len(frame), 'row')}, too few for {counted(k, 'cluster')}.")
    hidden, network = _network(k, features, len(frame))
    dataset = read_table(network, frame, others=() if column is None else (column,))
    if ties is not None and column is None:
        column = unused("tie", frame.columns)
        dataset = replace(dataset, others={column: _column(column, _row_lists("ties", ties, len(frame)), len(frame))})
    differ = _row_lists("apart", apart, len(frame), least=2)
    statements = [TiedRows((hidden,), by=column)] if column is not None else []
    knowledge = Knowledge(network, [*statements, *(TiedRows((hidden,), rows=rows, differ=True) for rows in differ)])

    groups = _groups(dataset, column)
    pairs = _pairs(groups, differ)
    _require_enough_clusters(k, groups, pairs)

    def learned(start: Network, reading: TieReading) -> Fit:
        options = replace(em or EMOptions(), tie_reading=reading)
        return learn(start, dataset, knowledge, method="cmap", prior=prior, seed=seed, em=options)

    # With large ties EM hardly leaves a random start; the optimum of merged ties is a start that respects all of them.
    start = learned(network, TieReading.MERGED).network if statements and not differ and not merged else network
    reading = TieReading.MERGED if merged else TieReading.SELECTED
    fit = learned(start, reading)
    tied = tie_rows(layout_for_counts(fit.network), lower(knowledge).ties, dataset, reading=reading)
    probabilities = _averaged(tied_posterior(fit.network, tied, hidden), groups)
    labels, all_differ = assign(probabilities, pairs)
    findings = fit.findings
    if not all_differ:
        findings = (*findings, Finding("apart", "Not all rows of `apart` could be given different clusters."))
    return Clustering(labels[groups], probabilities[groups], fit, hidden, findings)


# Rows in partitions ---------------------------------------------------------------------------------------------------


def _cluster_partitions(
    table: PartitionedTable,
    k: int,
    ties: str | Sequence[Sequence[int]] | None,
    apart: Sequence[Sequence[int]],
    merged: bool,
    prior: PriorLike,
    seed: int,
    em: EMOptions | None,
    executor: object,
) -> Clustering:
    """The same for rows in partitions: one pass for the states, EM, and one pass for the labels."""
    if (ties is not None and not isinstance(ties, str)) or len(apart):
        raise OptionError("Rows in partitions are tied by a column, and not by their numbers: there is no first row.")
    if not table.partitions:
        raise OptionError(f"{table.description}: clusters are found in Parquet files or in a Dask DataFrame.")
    workers = executor_for(executor)
    values, _ = workers.prepare(_distinct_values, table.partitions, _merge_values, ties)
    import polars as pl

    features = [each for name, own in values.items() for each in variables_of(pl.DataFrame({name: sorted(own)}))]
    if not features:
        raise DataError("The table has no column left to find clusters with.")
    hidden, network = _network(k, features)
    knowledge = Knowledge(network, [] if ties is None else [TiedRows((hidden,), by=ties)])
    reading = TieReading.MERGED if merged else TieReading.SELECTED
    start = network
    for own in (TieReading.MERGED, reading) if ties is not None and not merged else (reading,):
        fit = learn(
            start,
            table,
            knowledge,
            method="cmap",
            prior=prior,
            seed=seed,
            em=replace(em or EMOptions(), tie_reading=own),
            executor=workers,
        )
        start = fit.network
    found, _ = workers.prepare(_assigned, table.partitions, _merge_rows, fit.network, knowledge, ties, hidden, reading)
    return Clustering(*found, fit, hidden, fit.findings)


def _distinct_values(item: Any, number: int, without: str | None) -> tuple[dict[str, set[str]], None]:
    """The values of each column, as texts."""
    found: dict[str, set[str]] = {}
    for frame in frames_of(item):
        for name in frame.columns:
            if name != without:
                found.setdefault(name, set()).update(texts_in(frame[name]))
    return found, None


def _merge_values(left: dict[str, set[str]], right: dict[str, set[str]]) -> dict[str, set[str]]:
    return {name: left.get(name, set()) | right.get(name, set()) for name in {**left, **right}}


def _assigned(
    item: Any, number: int, network: Network, knowledge: Knowledge, column: str | None, hidden: str, reading: TieReading
) -> tuple[tuple[Indices, Numbers], None]:
    """The labels and the probabilities of the rows of a partition."""
    parts = [part for _, part in read_partition(item, network, None, () if column is None else (column,))]
    if not parts:
        states = len(network.states(hidden))
        return (np.zeros(0, dtype=np.int64), np.zeros((0, states))), None
    dataset = concatenate(parts)
    tied = tie_rows(layout_for_counts(network), lower(knowledge).ties, dataset, reading=reading)
    groups = _groups(dataset, column)
    probabilities = _averaged(tied_posterior(network, tied, hidden), groups)
    labels, _ = assign(probabilities, _pairs(groups, ()))
    return (labels[groups], probabilities[groups]), None


def _merge_rows(left: tuple[Indices, Numbers], right: tuple[Indices, Numbers]) -> tuple[Indices, Numbers]:
    return np.concatenate((left[0], right[0])), np.concatenate((left[1], right[1]))


def _network(k: int, features: Sequence[Variable], rows: int = 0) -> tuple[str, Network]:
    """The hidden variable, and the network in which all features depend on it."""
    states = sum(len(variable.states) for variable in features)
    require_memory(BYTES_PER_CELL * k * (1 + rows + states), counted(k, "cluster"), "Ask for fewer.")
    hidden = unused("cluster", [variable.name for variable in features])
    clusters = Variable(hidden, tuple(str(i) for i in range(k)))
    return hidden, Network([clusters, *features], {each.name: [hidden] for each in features}, name="clusters")


def unused(name: str, taken: Sequence[str]) -> str:
    """The name, with underscores appended until it is not among the names `taken`."""
    while name in taken:
        name += "_"
    return name


def _row_lists(what: str, lists: object, rows: int, least: int = 1) -> list[tuple[int, ...]]:
    """Lists of row numbers, counted from 1, each checked."""
    example = "[[1, 5]]" if least > 1 else "[[1, 2], [5, 7, 9]], or the name of a column"
    try:
        found = [tuple(listed) for listed in lists]  # type: ignore[attr-defined]
    except TypeError:
        raise OptionError(f"{what} is a list of lists of row numbers, such as {example}.") from None
    checked = []
    for listed in found:
        if any(isinstance(row, bool) or not hasattr(row, "__index__") for row in listed):
            raise OptionError(f"{what}: {list(listed)!r} is not a list of row numbers.")
        numbers = tuple(sorted({int(row.__index__()) for row in listed}))
        if len(numbers) < least:
            raise OptionError(f"{what}: {list(listed)!r} does not name two rows.")
        for row in numbers:
            if not 1 <= row <= rows:
                raise OptionError(f"{what} names row {row}, but rows are counted from 1 to {rows}.")
        checked.append(numbers)
    return checked


def _column(name: str, lists: Sequence[Sequence[int]], rows: int) -> pl.Series:
    """A column with equal values in rows of one list, or of lists that overlap; null in all other rows."""
    import polars as pl

    inside = np.zeros(rows, dtype=bool)
    inside[[row - 1 for listed in lists for row in listed]] = True
    first = np.array([listed[0] - 1 for listed in lists for _ in listed[1:]], dtype=np.int64)
    others = np.array([row - 1 for listed in lists for row in listed[1:]], dtype=np.int64)
    return pl.Series(name, connected_components(first, others, rows)).set(pl.Series(~inside), None)


def _groups(dataset: Dataset, column: str | None) -> Indices:
    """The number of each row's group, from 0, in the order of their first rows; an untied row is a group of its own."""
    first_rows = np.arange(len(dataset))
    if column is None:
        return first_rows
    known, values = tie_values(dataset, column)
    _, first, which = np.unique(np.array(values, dtype=object), return_index=True, return_inverse=True)
    first_rows[known] = known[first[which]]
    _, group = np.unique(first_rows, return_inverse=True)
    return np.asarray(group, dtype=np.int64)


def _pairs(groups: Indices, differ: Sequence[Sequence[int]]) -> Indices:
    """The pairs of groups that must differ; rows that are both tied and apart are an error of `fit`."""
    found = {
        (min(left, right), max(left, right))
        for rows in differ
        for left, right in combinations(groups[np.array(rows) - 1].tolist(), 2)
        if left != right
    }
    return np.array(sorted(found), dtype=np.int64).reshape(-1, 2)


def _require_enough_clusters(k: int, groups: Indices, pairs: Indices) -> None:
    """Raise if k clusters cannot keep all rows apart that must be."""
    try:
        assign(np.full((int(groups.max()) + 1, k), 1 / k), pairs)
    except NoAssignment as error:
        rows = np.flatnonzero(np.isin(groups, error.groups))
        named = ", ".join(str(row + 1) for row in rows[:12].tolist()) + (", …" if len(rows) > 12 else "")
        raise OptionError(
            f"{counted(k, 'cluster')} cannot keep these rows apart: {named}. Take more clusters, or fewer pairs in "
            "apart."
        ) from None


def _averaged(probabilities: Numbers, groups: Indices) -> Numbers:
    """The mean over the rows of each group, (groups, clusters): tied rows differ by rounding only."""
    sums = np.zeros((int(groups.max()) + 1, probabilities.shape[1]))
    np.add.at(sums, groups, probabilities)
    means: Numbers = sums / sums.sum(axis=1, keepdims=True)
    return means
