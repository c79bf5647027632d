"""Rows in partitions: each is read, counted and prepared by whoever works on it, and then described by a summary.

Summaries are a monoid, as counts are. The client gets their sum, and CPTs and expected counts are all that is
exchanged afterwards.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from credo.distributed.executor import Executor, Parts
from credo.errors import DataError, ImpossibleRowError
from credo.io.columns import no_rows, no_weight
from credo.io.complete_rows import rows_left_out
from credo.io.dataset import Dataset, concatenate, extended
from credo.io.folds import folds_of_rows
from credo.io.gate_rows import GateStep, filled_in
from credo.io.number_columns import NumbersSeen, merged
from credo.io.partitions import FilePartition, FramePartition, Place, read_partition
from credo.io.row_sample import MOST_ROWS, RowSample, with_rows
from credo.model.layout import Layout
from credo.model.network import Network
from credo.statistics.counts import Counts, count, empty, merge
from credo.statistics.inference.expected_counts import PreparedRows, cells_of_counts, prepare, rows_with_cell
from credo.statistics.inference.expected_counts_of_parts import Evaluations, PreparedParts, RowInPart, evaluations_of
from credo.types import Indices, Numbers

Item = FilePartition | FramePartition


@dataclass(frozen=True, slots=True)
class FoldChoice:
    """The rows of one fold of cross-validation, or all others."""

    firsts: tuple[int, ...]  # how many rows came before each partition
    total: int  # how many rows there are
    fold: int
    folds: int
    is_held_out: bool


@dataclass(frozen=True, slots=True, eq=False)
class Reading:
    """What is the same for every partition that is read."""

    network: Network  # of the columns
    layout: Layout  # of counts; its network may have more variables
    weights: str | None
    others: tuple[str, ...]
    seed: int
    memory_limit: int | None
    complete_rows: bool = False  # leave the others out
    fold: FoldChoice | None = None
    steps: tuple[GateStep, ...] = ()  # of gates


@dataclass(frozen=True, slots=True, eq=False)
class Summary:
    """What is known of the rows of some partitions that follow each other."""

    rows: tuple[int, ...]  # of each partition
    digests: tuple[str, ...]  # of each partition's rows
    place: str  # of the first row
    columns: Dataset | None  # without rows, for what it says of columns; None where there were no rows
    counts: Counts
    numbers: Mapping[str, NumbersSeen]
    sample: RowSample | None
    missing: Indices  # (variables,) how many values
    left_out: int  # rows with missing values, which were not wanted
    incomplete_variables: tuple[str, ...]  # the variables whose values were missing in them
    barren: Numbers  # (variables,) see `Groups`
    evaluations: int


class ChosenRows(NamedTuple):
    """Rows that are wanted, their place, and which they are there, counted from 0; and what is left out."""

    place: Place
    rows: Dataset
    numbers: Indices
    left_out: int
    incomplete_variables: tuple[str, ...]


def _chosen_rows(item: Item, number: int, reading: Reading) -> Iterator[ChosenRows]:
    """The rows of a partition that are wanted, in datasets that follow each other."""
    first: tuple[str, Dataset] | None = None
    rows = 0
    for place, part in read_partition(item, reading.network, reading.weights, reading.others):
        if first is not None:
            _require_same_columns(*first, place.name, part)
        first = first or (place.name, part)
        chosen = np.ones(len(part), dtype=np.bool_)
        incomplete_variables: tuple[str, ...] = ()
        if reading.complete_rows:
            incomplete_variables = tuple(name for name in part.missing() if name not in part.hidden)
            chosen &= (part.codes[:, [name not in part.hidden for name in part.names]] >= 0).all(axis=1)
        left_out = int((~chosen).sum())
        if reading.fold is not None:
            own = reading.fold
            before, kept = own.firsts[number] + rows, np.flatnonzero(chosen)
            fold_of = folds_of_rows(reading.seed, own.folds, before, len(kept), own.total)
            chosen[kept] = (fold_of == own.fold) == own.is_held_out
            rows += len(kept)
        wanted = part if chosen.all() else part.rows(chosen)
        yield ChosenRows(place, wanted, place.before + np.flatnonzero(chosen), left_out, incomplete_variables)


class ReadRows(NamedTuple):
    """The wanted rows of a partition, None where it has none at all; and the place of the first."""

    rows: Dataset | None
    place: str = ""
    left_out: int = 0
    incomplete_variables: tuple[str, ...] = ()


def read_rows(item: Item, number: int, reading: Reading) -> ReadRows:
    """Read a partition."""
    found = list(_chosen_rows(item, number, reading))
    if not found:
        return ReadRows(None)
    network = reading.layout.network
    rows, _ = filled_in(extended(concatenate([each.rows for each in found]), network), network, reading.steps)
    incomplete_variables = tuple(dict.fromkeys(name for each in found for name in each.incomplete_variables))
    return ReadRows(rows, found[0].place.name, sum(each.left_out for each in found), incomplete_variables)


def make_part(item: Item, number: int, reading: Reading) -> tuple[Summary, Evaluations]:
    """Read, count and prepare a partition."""
    dataset, place, left_out, incomplete_variables = read_rows(item, number, reading)
    network = reading.layout.network
    if dataset is None:
        return _nothing(reading.layout), Evaluations()
    counts = count(reading.layout, dataset)
    part, barren, evaluations = Evaluations(), np.zeros(len(network)), 0
    if counts.incomplete.any():
        part = evaluations_of(Layout.of(network), dataset.codes, dataset.weights, reading.memory_limit)
        assert part.groups is not None
        barren, evaluations = part.groups.barren[: len(network)], len(part.groups.component)
    generator = np.random.default_rng([reading.seed, 2, *((number,) if number else ())])
    return (
        Summary(
            (len(dataset),), (_digest(dataset),), place, _without_rows(dataset), counts, dataset.numbers,
            with_rows(None, dataset, generator), (dataset.codes < 0).sum(axis=0).astype(np.int64), left_out,
            incomplete_variables, barren, evaluations,
        ),
        part,
    )  # fmt: skip


def _one_row(item: Item, number: int, reading: Reading, row: int) -> tuple[Dataset, Place]:
    """A row of a partition, and its place."""
    for found in _chosen_rows(item, number, reading):
        part = found.rows
        if row < len(part):
            chosen = np.zeros(len(part), dtype=np.bool_)
            chosen[row] = True
            network = reading.layout.network
            own, _ = filled_in(extended(part.rows(chosen), network), network, reading.steps)
            return own, Place(found.place.name, int(found.numbers[row]))
        row -= len(part)
    raise DataError("The table changed while it was learned from.")


def _count_folds(item: Item, number: int, reading: Reading, firsts: Sequence[int], folds: int) -> tuple[Any, None]:
    """The counts of each fold."""
    dataset = read_rows(item, number, reading).rows
    if dataset is None:
        return tuple(empty(reading.layout) for _ in range(folds)), None
    fold_of = folds_of_rows(reading.seed, folds, firsts[number], len(dataset))
    return tuple(count(reading.layout, dataset.rows(fold_of == fold)) for fold in range(folds)), None


def _merge_folds(left: Sequence[Counts], right: Sequence[Counts]) -> tuple[Counts, ...]:
    return tuple(map(merge, left, right))


def _rows_with(
    item: Item, number: int, reading: Reading, layout: Layout, cells: Indices
) -> tuple[RowInPart | None, None]:
    """The first row of a partition that has one of these cells of complete families."""
    dataset = read_rows(item, number, reading).rows
    found: list[RowInPart] = []
    if dataset is None:
        return None, None
    for cell in cells.tolist():
        matches, members = rows_with_cell(layout, dataset, cell)
        if matches.any():
            found.append(RowInPart(number, int(np.argmax(matches)), tuple(members)))
    return min(found, default=None), None


def _first_of(left: RowInPart | None, right: RowInPart | None) -> RowInPart | None:
    return right if left is None else left


def _nothing(layout: Layout) -> Summary:
    zeros = np.zeros(len(layout.network))
    return Summary((0,), ("",), "", None, empty(layout), {}, None, zeros.astype(np.int64), 0, (), zeros, 0)


def _digest(dataset: Dataset) -> str:
    digest = hashlib.blake2b(np.ascontiguousarray(dataset.codes).reshape(-1).view(np.uint8).data, digest_size=16)
    if dataset.weights is not None:
        digest.update(dataset.weights.tobytes())
    return digest.hexdigest()


def _without_rows(dataset: Dataset) -> Dataset:
    return replace(dataset, codes=dataset.codes[:0], weights=None, others={}, numbers={})


def merge_summaries(left: Summary, right: Summary) -> Summary:
    """The summary of the partitions of both; columns that only one of them has are an error."""
    if left.columns is not None and right.columns is not None:
        _require_same_columns(left.place, left.columns, right.place, right.columns)
    return Summary(
        (*left.rows, *right.rows),
        (*left.digests, *right.digests),
        left.place if left.columns is not None else right.place,
        right.columns if left.columns is None else left.columns,
        merge(left.counts, right.counts),
        merged([left.numbers, right.numbers]),
        _merge_samples(left.sample, right.sample),
        left.missing + right.missing,
        left.left_out + right.left_out,
        tuple(dict.fromkeys((*left.incomplete_variables, *right.incomplete_variables))),
        left.barren + right.barren,
        left.evaluations + right.evaluations,
    )


def _require_same_columns(place: str, columns: Dataset, other_place: str, others: Dataset) -> None:
    """A variable that has a column in one file has one in all: where it is missing, cells would have to be empty."""
    for name in columns.names:
        if (name in columns.hidden) != (name in others.hidden):
            without, having = (place, other_place) if name in columns.hidden else (other_place, place)
            raise DataError(
                f"{without} has no column {name}, but {having} has one. Add the column, with empty cells where nothing "
                "is known, or remove it everywhere."
            )


def _merge_samples(left: RowSample | None, right: RowSample | None) -> RowSample | None:
    if left is None or right is None:
        return left or right
    keys, codes = np.concatenate((left.keys, right.keys)), np.concatenate((left.codes, right.codes))
    weights = None
    if left.weights is not None and right.weights is not None:
        weights = np.concatenate((left.weights, right.weights))
    kept = np.argsort(keys, kind="stable")[:MOST_ROWS]
    return RowSample(codes[kept], None if weights is None else weights[kept], keys[kept], left.total + right.total)


# All partitions -------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, eq=False)
class PartitionedRows:
    """The rows of a table in partitions, and who works on them."""

    executor: Executor
    items: Iterable[Any]
    reading: Reading
    parts: Parts
    summary: Summary

    def __len__(self) -> int:
        return sum(self.summary.rows)

    @property
    def names(self) -> tuple[str, ...]:
        """The variables."""
        return self.reading.layout.network.names

    @property
    def hidden(self) -> tuple[str, ...]:
        """The variables without a column."""
        assert self.summary.columns is not None
        return self.summary.columns.hidden

    @property
    def fingerprint(self) -> Any:
        """What the rows are, for checkpoints: whoever works on them."""
        return self.summary.rows, self.summary.digests

    def missing(self) -> dict[str, int]:
        """The number of missing values of each variable that has any."""
        return {name: int(n) for name, n in zip(self.names, self.summary.missing.tolist(), strict=True) if n}

    def prepared(self) -> PreparedParts:
        """What EM works with."""
        layout = Layout.of(self.reading.layout.network)
        cells, counts = cells_of_counts(layout, self.summary.counts)
        return PreparedParts(
            self.executor, self.parts, self.reading.layout, layout, self.summary.counts, cells, counts,
            self.summary.missing < len(self), self.summary.barren, self.summary.evaluations, self.fingerprint,
            self.firsts, self._impossible, lambda theta: self._impossible_family(layout, cells, theta),
        )  # fmt: skip

    def row(self, number: int) -> Dataset:
        """One row, counted from 0, read again."""
        part = int(np.searchsorted(np.cumsum(self.summary.rows), number, side="right"))
        dataset, _ = self._read_row(part, number - sum(self.summary.rows[:part]))
        return dataset

    @property
    def firsts(self) -> tuple[int, ...]:
        """How many rows come before each partition."""
        return tuple(np.cumsum([0, *self.summary.rows])[:-1].tolist())

    def fold(self, fold: int, folds: int, is_held_out: bool) -> PartitionedRows:
        """The rows of one fold, or all others."""
        choice = FoldChoice(self.firsts, len(self), fold, folds, is_held_out)
        return read_partitions(self.executor, self.items, replace(self.reading, fold=choice))

    def fold_counts(self, folds: int) -> tuple[Counts, ...]:
        """The counts of each fold."""
        counts: tuple[Counts, ...]
        counts, _ = self.executor.prepare(_count_folds, self.items, _merge_folds, self.reading, self.firsts, folds)
        return counts

    def _read_row(self, part: int, row: int) -> tuple[Dataset, Place]:
        item = next(item for number, item in enumerate(self.items) if number == part)
        return self.executor.one(_one_row, item, part, self.reading, row)

    def _impossible(self, found: RowInPart, gates: Sequence[str] = ()) -> ImpossibleRowError:
        dataset, place = self._read_row(found.part, found.row)
        variables = self.reading.layout.network.variables
        values = [
            f"{variables[v].name}={variables[v].states[dataset.codes[0, v]]}"
            for v in found.variables
            if dataset.codes[0, v] >= 0 and (v < len(self.reading.network) or not gates)
        ]
        row = sum(self.summary.rows[: found.part]) + found.row + 1
        return ImpossibleRowError(row, values, place=_place_text(place), gates=gates)

    def require_gates(self, network: Network) -> None:
        """Raise for a row with complete inputs that contradicts a gate; `network` is the expanded one with its CPTs."""
        layout = Layout.of(self.reading.layout.network)
        for step in self.reading.steps:
            name = network.names[step.place]
            wrong = (network.cpts[name].reshape(-1) == 0) & (self.summary.counts.of(name).ravel() > 0)
            if wrong.any():
                cells = layout.offsets[name] + np.flatnonzero(wrong)
                found, _ = self.executor.prepare(_rows_with, self.items, _first_of, self.reading, layout, cells)
                assert found is not None
                raise self._impossible(found, (step.gate,))

    def _impossible_family(self, layout: Layout, cells: Indices, theta: Numbers) -> ImpossibleRowError:
        """The first row that has a complete family of probability zero."""
        zeros = cells[theta[cells] == 0]
        found, _ = self.executor.prepare(_rows_with, self.items, _first_of, self.reading, layout, zeros)
        assert found is not None
        return self._impossible(found)


def prepare_rows(
    count_layout: Layout, rows: Dataset | PartitionedRows, memory_limit: int | None = None
) -> PreparedRows:
    """What EM works with, for rows in one part or in several."""
    if isinstance(rows, PartitionedRows):
        return rows.prepared()
    return prepare(count_layout, rows, memory_limit)


def _place_text(place: Place) -> str:
    return f"{place.name}, row {place.before + 1}" if place.name else ""


def read_partitions(
    executor: Executor, items: Iterable[Any], reading: Reading, progress: Callable[[int], None] | None = None
) -> PartitionedRows:
    """Read, count and prepare all partitions."""
    summary, parts = executor.prepare(make_part, items, merge_summaries, reading, progress=progress)
    if summary.columns is None or not sum(summary.rows):
        rows_left_out(summary.left_out, 0, summary.incomplete_variables)
        raise no_rows()
    if reading.weights is not None and summary.counts.total == 0.0:
        raise no_weight()
    return PartitionedRows(executor, items, reading, parts, summary)
