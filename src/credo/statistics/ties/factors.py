"""From statements that tie rows to factors over hidden values: which values must be equal, and which must differ.

Overlapping ties of one variable are one tie. If one value of a tie is observed, all of them are.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np

from credo.constraints.constraint_set import RowTie
from credo.errors import ROWS_FROM_1, DataError
from credo.io.dataset import Dataset
from credo.model.graphs import connected_components
from credo.model.network import Network
from credo.types import Codes, Flags, Indices, Numbers


class TieError(DataError):
    """Rows that are tied together hold values that the tie forbids.

    Attributes
    ----------
    rows : tuple of int
        The rows, counted from 1.
    """

    def __init__(self, message: str, rows: Sequence[int]) -> None:
        super().__init__(message)
        self.rows = tuple(rows)


@dataclass(frozen=True, slots=True, eq=False)
class Factors:
    """Sets of rows that share the value of a variable, and pairs of rows that differ in it."""

    variable: Indices  # (factors,) its position in the network
    differ: Flags  # (factors,) whether this is a pair that differs; else all members are equal
    rows: Indices  # (members,) factor after factor
    starts: Indices  # (factors + 1,)
    weights: Numbers  # (members,) how often each row counts; its copies are tied as well

    def __len__(self) -> int:
        return len(self.variable)

    @property
    def factor(self) -> Indices:
        """The factor of each member."""
        return np.repeat(np.arange(len(self)), np.diff(self.starts))

    def chosen(self, which: Flags) -> Factors:
        """Some of the factors."""
        members = which[self.factor]
        sizes = np.diff(self.starts)[which]
        starts = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
        return Factors(self.variable[which], self.differ[which], self.rows[members], starts, self.weights[members])


def factors_of(network: Network, ties: Sequence[RowTie], dataset: Dataset) -> tuple[Factors, Dataset]:
    """The factors of ties in a table, and the table with the values that the ties reveal filled in."""
    codes = dataset.codes.copy()
    weights = np.ones(len(codes)) if dataset.weights is None else dataset.weights
    counted = weights > 0
    variable: list[int] = []
    differ: list[bool] = []
    members: list[Indices] = []
    for position, name in enumerate(network.names):
        ties_of_name = [tie for tie in ties if name in tie.variables]
        label = _tie_numbers(ties_of_name, dataset, counted)
        tied = np.flatnonzero(label >= 0)
        for rows in _sets(tied, label[tied]):
            _reveal(network, position, codes, rows)
            variable.append(position)
            differ.append(False)
            members.append(rows)
        for rows in _pairs(network, position, ties_of_name, dataset, counted):
            _refuse_equal(network, position, codes, label, weights, rows)
            variable.append(position)
            differ.append(True)
            members.append(rows)
    starts = np.cumsum([0, *(len(rows) for rows in members)])
    rows = np.concatenate([np.zeros(0, dtype=np.int64), *members])
    found = Factors(_integers(variable), np.array(differ, dtype=bool), rows, _integers(starts), weights[rows])
    return found, replace(dataset, codes=codes)


def _tied(tie: RowTie, dataset: Dataset, counted: Flags) -> tuple[Indices, Indices]:
    """The rows of a tie with weight, and the number of the group of each; rows without a value are in no group."""
    if tie.by is None:
        rows = np.array(tie.rows, dtype=np.int64) - 1
        rows = rows[counted[rows]]
        return rows, np.zeros(len(rows), dtype=np.int64)
    column = dataset.others[tie.by]
    rows = np.flatnonzero(column.is_not_null().to_numpy() & counted)
    _, group = np.unique(column[rows].cast(str).to_numpy(), return_inverse=True)
    return rows, group.astype(np.int64)


def _tie_numbers(ties: Sequence[RowTie], dataset: Dataset, counted: Flags) -> Indices:
    """The number of each row's tie after overlapping ties have been joined; -1 if the row is in none."""
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
    members, groups = np.concatenate(rows), np.concatenate(nodes) + len(dataset)
    label = connected_components(members, groups, len(dataset) + count)
    tied = np.zeros(len(dataset), dtype=bool)
    tied[members] = True
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
    network: Network, position: int, ties: Sequence[RowTie], dataset: Dataset, counted: Flags
) -> Iterator[Indices]:
    """The pairs of rows that must differ in a variable, each once."""
    variable = network.variables[position]
    seen: set[tuple[int, int]] = set()
    for tie in ties:
        if not tie.differ:
            continue
        for rows in _sets(*_tied(tie, dataset, counted)):
            if len(rows) > len(variable.states):
                raise TieError(
                    f"{len(rows)} rows must all differ in {variable.name}, which has {len(variable.states)} states: "
                    f"{listed(rows)}.",
                    (rows + 1).tolist(),
                )
            seen.update((first, second) for first, second in combinations(rows.tolist(), 2))
    for pair in sorted(seen):
        yield np.array(pair, dtype=np.int64)


def _reveal(network: Network, position: int, codes: Codes, rows: Indices) -> None:
    """If one of the rows holds a value, write it into all of them; two different values are an error."""
    column = codes[rows, position]
    known = np.flatnonzero(column >= 0)
    if not len(known):
        return
    different = known[column[known] != column[known[0]]]
    if len(different):
        variable = network.variables[position]
        first, second = rows[known[0]], rows[different[0]]
        raise TieError(
            f"Rows {first + 1} and {second + 1} are tied to share {variable.name}, but row {first + 1} holds "
            f"{variable.states[codes[first, position]]} and row {second + 1} holds "
            f"{variable.states[codes[second, position]]}. Correct a value, or take the rows out of the tie. "
            f"{ROWS_FROM_1}",
            (int(first) + 1, int(second) + 1),
        )
    codes[rows, position] = column[known[0]]


def _refuse_equal(
    network: Network, position: int, codes: Codes, label: Indices, weights: Numbers, pair: Indices
) -> None:
    """Raise if a pair that must differ is tied together, holds equal values, or stands for several rows."""
    name, (first, second) = network.names[position], pair
    start = f"Rows {first + 1} and {second + 1} must differ in {name}, but"
    places = (int(first) + 1, int(second) + 1)
    if label[first] >= 0 and label[first] == label[second]:
        raise TieError(f"{start} other ties make them share it.", places)
    if codes[first, position] >= 0 and codes[first, position] == codes[second, position]:
        state = network.states(name)[codes[first, position]]
        raise TieError(f"{start} both hold {state}. Correct a value, or take the pair out.", places)
    if (weights[pair] != 1).any():
        raise TieError(f"{start} one of them has a weight other than one: copies of a row cannot differ.", places)


def listed(rows: Indices) -> str:
    """Row numbers for a message, counted from 1."""
    return ", ".join(str(row + 1) for row in rows[:12].tolist()) + (", …" if len(rows) > 12 else "")


def _integers(values: object) -> Indices:
    return np.asarray(values, dtype=np.int64)
