"""From statements that tie rows to factors over hidden values: which (row, variable) must be equal, which must differ.

Ties of one variable that overlap are one tie. Where one member is observed, so are all.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from credo.arrays import Codes, Indices, Numbers
from credo.constraints.constraint_set import RowTie
from credo.errors import DataError
from credo.io.dataset import Dataset
from credo.model.graphs import connected_components
from credo.model.network import Network


class TieError(DataError):
    """Rows that are tied together hold values that the tie forbids; `rows` count from one."""

    def __init__(self, message: str, rows: Sequence[int]) -> None:
        super().__init__(message)
        self.rows = tuple(rows)


@dataclass(frozen=True, slots=True, eq=False)
class Factors:
    """Sets of rows that share the value of a variable, and pairs that differ in it."""

    variable: Indices  # (factors,) its position in the network
    differ: NDArray[np.bool_]  # (factors,) a pair that differs; else all members are equal
    rows: Indices  # (members,) factor after factor
    starts: Indices  # (factors + 1,)
    weights: Numbers  # (members,) how many copies of itself each row stands for, all of them tied

    def __len__(self) -> int:
        return len(self.variable)

    @property
    def factor(self) -> Indices:
        """The factor of each member."""
        return np.repeat(np.arange(len(self)), np.diff(self.starts))

    def chosen(self, which: NDArray[np.bool_]) -> Factors:
        """Some of the factors."""
        members = which[self.factor]
        sizes = np.diff(self.starts)[which]
        starts = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
        return Factors(self.variable[which], self.differ[which], self.rows[members], starts, self.weights[members])


def factors_of(network: Network, ties: Sequence[RowTie], dataset: Dataset) -> tuple[Factors, Dataset]:
    """The factors that ties mean in a table, and the table with the values that they reveal filled in."""
    codes = dataset.codes.copy()
    weights = np.ones(len(codes)) if dataset.weights is None else dataset.weights
    counted = weights > 0
    variable: list[int] = []
    differ: list[bool] = []
    members: list[Indices] = []
    for position, name in enumerate(network.names):
        own = [tie for tie in ties if name in tie.variables]
        label = _shared(own, dataset, counted)
        tied = np.flatnonzero(label >= 0)
        for rows in _sets(tied, label[tied]):
            _reveal(network, position, codes, rows)
            variable.append(position)
            differ.append(False)
            members.append(rows)
        for rows in _pairs(network, position, own, dataset, counted):
            _refuse_equal(network, position, codes, label, weights, rows)
            variable.append(position)
            differ.append(True)
            members.append(rows)
    starts = np.cumsum([0, *(len(rows) for rows in members)])
    rows = np.concatenate([np.zeros(0, dtype=np.int64), *members])
    found = Factors(_integers(variable), np.array(differ, dtype=bool), rows, _integers(starts), weights[rows])
    return found, replace(dataset, codes=codes)


def _tied(tie: RowTie, dataset: Dataset, counted: NDArray[np.bool_]) -> tuple[Indices, Indices]:
    """The rows of a tie that count, each with its group's number; a row without a value in the column is in none."""
    if tie.by is None:
        rows = np.array(tie.rows, dtype=np.int64) - 1
        rows = rows[counted[rows]]
        return rows, np.zeros(len(rows), dtype=np.int64)
    column = dataset.others[tie.by]
    rows = np.flatnonzero(column.is_not_null().to_numpy() & counted)
    _, group = np.unique(column[rows].cast(str).to_numpy(), return_inverse=True)
    return rows, group.astype(np.int64)


def _shared(ties: Sequence[RowTie], dataset: Dataset, counted: NDArray[np.bool_]) -> Indices:
    """The number of each row's tie after ties that overlap have become one; -1 where a row is in none."""
    rows, nodes, count = [], [], 0
    for tie in ties:
        if tie.differ:
            continue
        inside, group = _tied(tie, dataset, counted)
        rows.append(inside)
        nodes.append(group + count)
        count += int(group.max(initial=-1)) + 1
    if not count:
        return np.full(len(dataset), -1, dtype=np.int64)
    here, there = np.concatenate(rows), np.concatenate(nodes) + len(dataset)
    label = connected_components(here, there, len(dataset) + count)
    tied = np.zeros(len(dataset), dtype=bool)
    tied[here] = True
    return np.where(tied, label[: len(dataset)], -1)


def _sets(rows: Indices, group: Indices) -> Iterator[Indices]:
    """The rows of each group of two or more."""
    order = np.argsort(group, kind="stable")
    ends = [*(np.flatnonzero(np.diff(group[order])) + 1).tolist(), len(rows)]
    rows, start = rows[order], 0
    for end in ends:
        if end - start > 1:
            yield rows[start:end]
        start = end


def _pairs(
    network: Network, position: int, ties: Sequence[RowTie], dataset: Dataset, counted: NDArray[np.bool_]
) -> Iterator[Indices]:
    """The pairs of rows that differ in a variable, each once."""
    variable = network.variables[position]
    seen: set[tuple[int, int]] = set()
    for tie in ties:
        if not tie.differ:
            continue
        for rows in _sets(*_tied(tie, dataset, counted)):
            if len(rows) > len(variable.states):
                raise TieError(
                    f"{len(rows)} rows are all to differ in {variable.name}, which has {len(variable.states)} states: "
                    f"{listed(rows)}.",
                    (rows + 1).tolist(),
                )
            seen.update((first, second) for first, second in combinations(rows.tolist(), 2))
    for pair in sorted(seen):
        yield np.array(pair, dtype=np.int64)


def _reveal(network: Network, position: int, codes: Codes, rows: Indices) -> None:
    """Where one of the rows holds a value, write it into all; two different ones are an error."""
    column = codes[rows, position]
    known = np.flatnonzero(column >= 0)
    if not len(known):
        return
    other = known[column[known] != column[known[0]]]
    if len(other):
        variable = network.variables[position]
        first, second = rows[known[0]], rows[other[0]]
        raise TieError(
            f"Rows {first + 1} and {second + 1} are tied to share {variable.name}, but row {first + 1} holds "
            f"{variable.states[codes[first, position]]} and row {second + 1} holds "
            f"{variable.states[codes[second, position]]}. Correct a value, or take the rows out of the tie.",
            (int(first) + 1, int(second) + 1),
        )
    codes[rows, position] = column[known[0]]


def _refuse_equal(
    network: Network, position: int, codes: Codes, label: Indices, weights: Numbers, pair: Indices
) -> None:
    """A pair that differs may be neither tied together nor seen to be equal, and is of two single rows."""
    name, (first, second) = network.names[position], pair
    said = f"Rows {first + 1} and {second + 1} are to differ in {name}, but"
    places = (int(first) + 1, int(second) + 1)
    if label[first] >= 0 and label[first] == label[second]:
        raise TieError(f"{said} other ties make them share it.", places)
    if codes[first, position] >= 0 and codes[first, position] == codes[second, position]:
        state = network.states(name)[codes[first, position]]
        raise TieError(f"{said} both hold {state}. Correct a value, or take the pair out.", places)
    if (weights[pair] != 1).any():
        raise TieError(f"{said} one of them has a weight other than one: copies of a row cannot differ.", places)


def listed(rows: Indices) -> str:
    """The numbers of rows for a message, from one."""
    return ", ".join(str(row + 1) for row in rows[:12].tolist()) + (", …" if len(rows) > 12 else "")


def _integers(values: object) -> Indices:
    return np.asarray(values, dtype=np.int64)
