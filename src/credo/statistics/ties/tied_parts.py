"""Tied rows in partitions: each partition evaluates its own ties, and what they expect is added up.

Ties are a product over groups of rows, and so is the probability that they hold. So a partition needs nothing of the
others, as long as all rows of a group are in it: as long as the column that ties them is the key of the partitions.
Messages stay where they are sent, and start uninformative every time.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from credo.constraints.constraint_set import RowTie
from credo.errors import DataError, ImpossibleRowError
from credo.io.dataset import Dataset
from credo.model.layout import Layout
from credo.options import TieReading
from credo.statistics.counts import Counts, empty, merge
from credo.statistics.inference.expected_counts import cells_of_counts
from credo.statistics.inference.expected_counts_of_parts import PreparedParts
from credo.statistics.partitioned_rows import Item, PartitionedRows, Reading, read_rows
from credo.statistics.tied_columns import tie_values
from credo.statistics.ties.likelihood import Expected, TiedData, TieFigures, tie_rows
from credo.statistics.ties.loop_correction import Correction
from credo.statistics.ties.relaxation import TIGHT
from credo.types import Flags, Numbers

NO_MESSAGES: Numbers = np.zeros(0)


@dataclass(frozen=True, slots=True, eq=False)
class TieSummary:
    """What is known of the ties of some partitions that follow each other."""

    places: tuple[str, ...]  # of the partitions
    keys: Mapping[str, NDArray[np.uint64]]  # which values each tying column has, sorted
    observed: Counts  # with the values that ties reveal
    seen: Flags
    barren: Numbers
    evaluations: int
    figures: TieFigures
    is_exact: bool


@dataclass(frozen=True, slots=True, eq=False)
class TiedParts:
    """The same as `TiedData`, for rows in partitions."""

    prepared: PreparedParts  # whose parts are `TiedData`
    figures: TieFigures
    is_exact: bool
    is_conditioned: bool

    def start(self) -> Numbers:
        """None: messages stay with the partitions."""
        return NO_MESSAGES

    def expected(self, theta: Numbers, evidence: Numbers, tolerance: float = TIGHT) -> Expected:
        """Expected counts and the constrained log-likelihood under CPTs."""
        rows = self.prepared
        found: Expected = rows.executor.map_reduce(_expected, rows.parts, _add, rows.layout.size, theta, rows.firsts)
        return found

    def correction(self, theta: Numbers, seed: int = 0) -> Correction | None:
        """What the exact logarithm has beyond that of converged messages; None where that is not known."""
        rows = self.prepared
        return rows.executor.map_reduce(_correction, rows.parts, _add_corrections, theta, seed)


def tie_parts(rows: PartitionedRows, ties: Sequence[RowTie], reading: TieReading) -> TiedParts:
    """Prepare the likelihood of rows in partitions with these ties, once for any CPTs.

    Raises
    ------
    DataError
        If rows that are tied are in several partitions.
    """
    summary, parts = rows.executor.prepare(_make, rows.items, _merge, rows.reading, tuple(ties), reading)
    layout = Layout.of(rows.reading.layout.network)
    cells, counts = cells_of_counts(layout, summary.observed)
    prepared = replace(
        rows.prepared(),
        parts=parts,
        observed=summary.observed,
        observed_cells=cells,
        observed_counts=counts,
        seen=summary.seen,
        barren_weights=summary.barren,
        evaluations=summary.evaluations,
    )
    return TiedParts(prepared, summary.figures, summary.is_exact, reading is TieReading.SELECTED)


def _make(
    item: Item, number: int, reading: Reading, ties: Sequence[RowTie], tie_reading: TieReading
) -> tuple[TieSummary, TiedData | None]:
    dataset, place, *_ = read_rows(item, number, reading)
    columns = tuple(dict.fromkeys(tie.by for tie in ties if tie.by is not None))
    size = len(reading.layout.network)
    if dataset is None:
        keys = {column: np.zeros(0, dtype=np.uint64) for column in columns}
        nothing = TieFigures(0, 0, 0)
        return TieSummary(
            (place,), keys, empty(reading.layout), np.zeros(size, dtype=np.bool_), np.zeros(size), 0, nothing, True
        ), None
    keys = {column: _keys(dataset, column) for column in columns}
    rows = tie_rows(reading.layout, ties, dataset, reading=tie_reading, memory_limit=reading.memory_limit)
    own = rows.prepared
    summary = TieSummary(
        (place,), keys, own.observed, own.seen, own.groups.barren[:size], len(own.groups.component), rows.figures,
        rows.is_exact,
    )  # fmt: skip
    return summary, rows


def _keys(dataset: Dataset, column: str) -> NDArray[np.uint64]:
    """A number for each value of a column, the same on every machine."""
    import polars as pl

    _, values = tie_values(dataset, column)
    distinct = pl.Series(sorted(set(values)), dtype=pl.String)
    return np.sort(distinct.hash(0).to_numpy().astype(np.uint64))


def _merge(left: TieSummary, right: TieSummary) -> TieSummary:
    keys = {}
    for column, own in left.keys.items():
        if len(np.intersect1d(own, right.keys[column])):
            where = " and ".join(dict.fromkeys(place for place in (left.places[0], right.places[0]) if place))
            raise DataError(
                f"Rows with equal {column} are in several partitions{f' ({where}, …)' if where else ''}, but tied rows "
                f'have to be in one. Use {column} as the key of the partitions: frame.shuffle("{column}") of a Dask '
                f"DataFrame, or Parquet files each of which has all rows of its values of {column}, with "
                "credo.partitioned(data, rows=…) so that none of them is cut."
            )
        keys[column] = np.concatenate((own, right.keys[column]))
    return TieSummary(
        (*left.places, *right.places),
        keys,
        merge(left.observed, right.observed),
        left.seen | right.seen,
        left.barren + right.barren,
        left.evaluations + right.evaluations,
        left.figures + right.figures,
        left.is_exact and right.is_exact,
    )


def _expected(part: TiedData | None, number: int, size: int, theta: Numbers, firsts: Sequence[int]) -> Expected:
    if part is None:
        return Expected(np.zeros(size), np.zeros(size), 0.0, NO_MESSAGES, 0, True)
    try:
        found = part.expected(theta, part.start(), TIGHT)
    except ImpossibleRowError as error:
        place = f"Row {error.row} of partition {number}"
        raise ImpossibleRowError(firsts[number] + error.row, error.values, place=place) from None
    return replace(found, evidence=NO_MESSAGES)


def _add(left: Expected, right: Expected) -> Expected:
    return Expected(
        left.seen + right.seen,
        left.chance + right.chance,
        left.log_likelihood + right.log_likelihood,
        NO_MESSAGES,
        max(left.rounds, right.rounds),
        left.converged and right.converged,
    )


def _correction(part: TiedData | None, number: int, theta: Numbers, seed: int) -> Correction | None:
    return Correction(0.0, 0.0) if part is None else part.correction(theta, seed)


def _add_corrections(left: Any, right: Any) -> Correction | None:
    if left is None or right is None:
        return None
    return Correction(left.value + right.value, float(np.hypot(left.error, right.error)))
