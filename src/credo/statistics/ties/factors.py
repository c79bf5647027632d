"""From statements that tie rows to factors over hidden values: which values must be equal, and which must differ.

Overlapping ties of one variable are one tie. If one value of a tie is observed, all of them are. Ties of several
variables over the same rows are one factor over their tuple: as factors of their own they would form a cycle, and
messages along it count the dependence between the variables twice. A tuple has at most `MOST_STATES` states; variables
beyond that are left in factors of their own, or in other tuples, and the likelihood is an approximation.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from math import prod

import numpy as np

from credo.constraints.constraint_set import RowTie
from credo.errors import ROWS_FROM_1, DataError
from credo.io.dataset import Dataset
from credo.model.graphs import connected_components
from credo.model.network import Network
from credo.statistics.tied_columns import tie_values
from credo.types import Codes, Flags, Indices, Numbers

MOST_STATES = 1024  # of a tuple of variables
MOST_PAIR_STATES = 128  # of a tuple in which a pair differs: all pairs of its states are compared


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


@dataclass(frozen=True, slots=True)
class Scope:
    """The variables of a factor, by position; and in which of them its two rows differ, where it is a pair."""

    variables: tuple[int, ...]
    differs: tuple[bool, ...]

    def states(self, sizes: Indices) -> int:
        """How many states the tuple of its variables has."""
        return prod(int(sizes[position]) for position in self.variables)

    def digits(self, sizes: Indices) -> Indices:
        """(states, variables) the state of each variable in each state of the tuple; the last one varies fastest."""
        shape = tuple(int(sizes[position]) for position in self.variables)
        return np.column_stack([part.ravel() for part in np.indices(shape)]).astype(np.int64)


@dataclass(frozen=True, slots=True, eq=False)
class Factors:
    """Sets of rows that share the value of a variable or of a tuple, and pairs of rows that differ in it."""

    scopes: tuple[Scope, ...]
    scope: Indices  # (factors,) which of them each is about
    differ: Flags  # (factors,) whether this is a pair that differs somewhere; else all members are equal
    rows: Indices  # (members,) factor after factor
    starts: Indices  # (factors + 1,)
    weights: Numbers  # (members,) how often each row counts; its copies are tied as well

    @property
    def variable(self) -> Indices:
        """(factors,) The position of the only variable of each; factors over tuples have several."""
        return _integers([scope.variables[0] for scope in self.scopes])[self.scope]

    def __len__(self) -> int:
        return len(self.scope)

    @property
    def factor(self) -> Indices:
        """The factor of each member."""
        return np.repeat(np.arange(len(self)), np.diff(self.starts))

    @property
    def totals(self) -> Numbers:
        """How many rows each factor has, (factors,)."""
        return np.asarray(np.add.reduceat(self.weights, self.starts[:-1]) if len(self) else np.zeros(0))

    def chosen(self, which: Flags) -> Factors:
        """Some of the factors."""
        members = which[self.factor]
        sizes = np.diff(self.starts)[which]
        starts = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
        return Factors(
            self.scopes, self.scope[which], self.differ[which], self.rows[members], starts, self.weights[members]
        )


def factors_of(network: Network, ties: Sequence[RowTie], dataset: Dataset) -> tuple[Factors, Dataset]:
    """The factors of ties in a table, each over one variable, and the table with the values that ties reveal."""
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
        some_known = bool((codes[tied, position] >= 0).any())
        for rows in _sets(tied, label[tied]):
            if some_known:
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
    pairs = list(zip(variable, differ, strict=True))
    kinds = {pair: number for number, pair in enumerate(dict.fromkeys(pairs))}
    found = Factors(
        tuple(Scope((position,), (differs,)) for position, differs in kinds),
        _integers([kinds[pair] for pair in pairs]),
        np.array(differ, dtype=bool),
        rows,
        _integers(starts),
        weights[rows],
    )
    return found, replace(dataset, codes=codes)


def joined(factors: Factors, network: Network, most_states: int = MOST_STATES) -> Factors:
    """Factors over one variable with those of the same rows joined into one, over the tuple of their variables."""
    if len({scope.variables for scope in factors.scopes}) < 2:
        return factors  # no two factors of one variable have the same rows
    sizes = _integers([len(variable.states) for variable in network.variables])
    by_rows: dict[bytes, list[int]] = {}
    for number in range(len(factors)):
        key = factors.rows[factors.starts[number] : factors.starts[number + 1]].tobytes()
        by_rows.setdefault(key, []).append(number)
    if len(by_rows) == len(factors):
        return factors
    scopes: dict[Scope, int] = {}
    chosen, scope = [], []
    for numbers in by_rows.values():
        for part in _packed([factors.scopes[factors.scope[number]] for number in numbers], sizes, most_states):
            chosen.append(numbers[0])
            scope.append(scopes.setdefault(part, len(scopes)))
    members = [factors.rows[factors.starts[number] : factors.starts[number + 1]] for number in chosen]
    weights = [factors.weights[factors.starts[number] : factors.starts[number + 1]] for number in chosen]
    differ = np.array([any(part.differs) for part in scopes], dtype=bool)[scope]
    starts = np.cumsum([0, *(len(rows) for rows in members)])
    return Factors(
        tuple(scopes), _integers(scope), differ, np.concatenate(members), _integers(starts), np.concatenate(weights)
    )


def _packed(singles: Sequence[Scope], sizes: Indices, most_states: int) -> Iterator[Scope]:
    """As few tuples as the limits allow, filled in the order of the variables."""
    open_scope: Scope | None = None
    for single in singles:
        if open_scope is None:
            open_scope = single
            continue
        both = Scope(open_scope.variables + single.variables, open_scope.differs + single.differs)
        if both.states(sizes) <= (min(most_states, MOST_PAIR_STATES) if any(both.differs) else most_states):
            open_scope = both
        else:
            yield open_scope
            open_scope = single
    if open_scope is not None:
        yield open_scope


def _tied(tie: RowTie, dataset: Dataset, counted: Flags) -> tuple[Indices, Indices]:
    """The rows of a tie with weight, and the number of the group of each; rows without a value are in no group."""
    if tie.by is None:
        rows = np.array(tie.rows, dtype=np.int64) - 1
        rows = rows[counted[rows]]
        return rows, np.zeros(len(rows), dtype=np.int64)
    rows, values = tie_values(dataset, tie.by)
    weighed = counted[rows]
    _, group = np.unique(np.array(values, dtype=object)[weighed], return_inverse=True)
    return rows[weighed], group.astype(np.int64)


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


def no_value(network: Network, factors: Factors, factor: int) -> TieError:
    """The error for a tie whose rows have no value that it allows."""
    scope = factors.scopes[factors.scope[factor]]
    name = " and ".join(network.names[position] for position in scope.variables)
    rows = factors.rows[factors.starts[factor] : factors.starts[factor + 1]]
    relation = "differ in" if factors.differ[factor] else "share"
    return TieError(
        f"Rows {listed(rows)} must {relation} {name}, but the network gives probability zero to all values that "
        "would make it so.",
        (rows + 1).tolist(),
    )


def listed(rows: Indices) -> str:
    """Row numbers for a message, counted from 1."""
    return ", ".join(str(row + 1) for row in rows[:12].tolist()) + (", …" if len(rows) > 12 else "")


def _integers(values: object) -> Indices:
    return np.asarray(values, dtype=np.int64)
