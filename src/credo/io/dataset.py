"""A table of data as state numbers of a network, with weights and hidden variables."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from credo.errors import ROWS_FROM_1, DataError, counted
from credo.io.columns import MISSING
from credo.io.number_columns import NumbersSeen, merged
from credo.model.network import Network, Variable
from credo.types import Codes, Flags, Indices, Numbers, TableLike

if TYPE_CHECKING:
    import polars as pl

LARGEST_WEIGHT = 1e15  # so that sums of weights stay exact to the unit


@dataclass(frozen=True, slots=True, eq=False)
class Dataset:
    """A table of data as state numbers, one column per variable, in the order of the network.

    `credo.read_table` makes one. It can be used wherever data are expected, so that a table that is used several times
    is read once.

    Parameters
    ----------
    names : tuple of str
        The variables.
    codes : ndarray of signed integers, (rows, variables)
        The number of each state, from 0; -1 is a missing value. The column of a hidden variable is all -1.
    weights : ndarray, (rows,), optional
        How often each row counts; once if not given.
    hidden : tuple of str, optional
        The variables that the table has no column for.
    others : mapping from str to polars.Series, optional
        Columns that are not variables but are used by statements, such as the number of a pair of twins.
    ignored : tuple of str, optional
        Columns of the table that are not used.
    variables : tuple of Variable, optional
        The variables with the states that `codes` number. Without them, those of the network it is used with.
    numbers : mapping from str to NumbersSeen, optional
        The range of the numbers in the column of each variable with cut points.
    counted : tuple of Counts, optional
        Further complete rows, of which only the counts of families are known: of all, or of each fold.

    Raises
    ------
    DataError
        If `codes` has another shape or type, or a weight is negative or not a number.

    Examples
    --------
    >>> import numpy as np
    >>> data = Dataset(("smoke", "lung"), np.array([[0, 1], [1, -1]], dtype=np.int8))
    >>> len(data), data.is_complete, data.missing()
    (2, False, {'lung': 1})
    """

    names: tuple[str, ...]
    codes: Codes
    weights: Numbers | None = None
    hidden: tuple[str, ...] = ()
    others: Mapping[str, pl.Series] = field(default_factory=dict)
    ignored: tuple[str, ...] = ()
    variables: tuple[Variable, ...] | None = None
    numbers: Mapping[str, NumbersSeen] = field(default_factory=dict)
    counted: tuple[Any, ...] = ()  # of `credo.statistics.counts.Counts`, which are made of datasets

    def __post_init__(self) -> None:
        if self.codes.ndim != 2 or self.codes.shape[1] != len(self.names):
            raise DataError(f"Codes need the shape (rows, {len(self.names)}): one column per variable.")
        if not np.issubdtype(self.codes.dtype, np.signedinteger):
            raise DataError(f"Codes are whole numbers, -1 where a value is missing; these are {self.codes.dtype}.")
        if self.weights is not None:
            checked_weights(self.weights, len(self.codes))

    def __len__(self) -> int:
        return len(self.codes)

    @property
    def columns(self) -> tuple[str, ...]:
        """The names of the columns of `codes`, as frames call them."""
        return self.names

    def rows(self, chosen: Flags) -> Dataset:
        """Some of the rows; those that are only counted are not among them.

        Parameters
        ----------
        chosen : ndarray of bool, (rows,)
            Which rows to keep.

        Returns
        -------
        Dataset
            A dataset of the chosen rows.
        """
        weights = None if self.weights is None else self.weights[chosen]
        others = {name: column.filter(chosen) for name, column in self.others.items()}
        return replace(self, codes=self.codes[chosen], weights=weights, others=others, counted=())

    @property
    def all_rows(self) -> int:
        """The number of rows, with those that are only counted."""
        return len(self) + sum(int(counts.rows) for counts in self.counted)

    @property
    def is_complete(self) -> bool:
        """Whether no value is missing."""
        return not (self.codes == MISSING).any()

    def missing(self) -> dict[str, int]:
        """The number of missing values of each variable that has any.

        Returns
        -------
        dict from str to int
            Variables without missing values are left out.
        """
        counts = (self.codes == MISSING).sum(axis=0)
        return {name: int(count) for name, count in zip(self.names, counts, strict=True) if count}


def code_type(variables: Network | Sequence[Variable]) -> type[np.signedinteger]:
    """The smallest integer that holds every state number of the variables, and -1."""
    own = variables.variables if isinstance(variables, Network) else variables
    largest = max((len(variable.states) for variable in own), default=0)
    return next(kind for kind in (np.int8, np.int16, np.int32) if largest - 1 <= np.iinfo(kind).max)


@dataclass(frozen=True, slots=True, eq=False)
class Tables:
    """Several tables whose rows belong together: files, frames, and rows that were read before."""

    sources: tuple[TableLike, ...]

    @property
    def columns(self) -> tuple[str, ...]:
        """None that are known before the tables are read."""
        return ()

    @property
    def unread(self) -> tuple[TableLike, ...]:
        """Those that are yet to be read."""
        return tuple(each for each in self.sources if not isinstance(each, Dataset))

    def map(self, change: Callable[[TableLike], TableLike]) -> Tables:
        """The tables, each of them changed; rows that were read before stay as they are."""
        return Tables(tuple(each if isinstance(each, Dataset) else change(each) for each in self.sources))


def no_data(network: Network) -> Dataset:
    """The table of somebody who has none: every variable has a column, and there are no rows."""
    codes = np.zeros((0, len(network)), dtype=code_type(network))
    return Dataset(network.names, codes, variables=network.variables)


def concatenate(datasets: Sequence[Dataset]) -> Dataset:
    """The rows of several datasets, one after the other; a column is hidden where none of them has it."""
    if len(datasets) == 1:
        return datasets[0]
    import polars as pl

    first = datasets[0]
    weights = None
    if any(part.weights is not None for part in datasets):
        weights = np.concatenate([np.ones(len(part)) if part.weights is None else part.weights for part in datasets])
    others = {}
    for name in dict.fromkeys(name for part in datasets for name in part.others):
        columns = [
            part.others[name] if name in part.others else pl.Series(name, [None] * len(part)) for part in datasets
        ]
        columns = [column for column in columns if len(column)] or columns[:1]
        if len({column.dtype for column in columns}) > 1:  # 1 in one table, "1" in another, or not there
            columns = [column.cast(pl.String) for column in columns]
        others[name] = pl.concat(columns)
    codes, numbers = np.concatenate([part.codes for part in datasets]), merged([part.numbers for part in datasets])
    return replace(
        first,
        codes=codes,
        weights=weights,
        others=others,
        numbers=numbers,
        hidden=tuple(name for name in first.hidden if all(name in part.hidden for part in datasets)),
        ignored=tuple(dict.fromkeys(name for part in datasets for name in part.ignored)),
        counted=tuple(counts for part in datasets for counts in part.counted),
    )


def checked_weights(values: object, rows: int, rows_before: int = 0) -> Numbers:
    """Weights as numbers, one per row, none negative or missing; `rows_before` is how many rows came before."""
    try:
        weights = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError):
        raise DataError("The weights are not numbers.") from None
    if weights.shape != (rows,):
        raise DataError(
            f"The table has {counted(rows, 'row')} but weights have the shape {weights.shape}: one number "
            "per row is needed."
        )
    wrong = ~(weights >= 0) | (weights > LARGEST_WEIGHT)
    if wrong.any():
        row = int(np.argmax(wrong))
        raise DataError(
            f"The weight of row {rows_before + row + 1} is {weights[row]}; "
            f"a weight is a number from 0 to {LARGEST_WEIGHT:g}. {ROWS_FROM_1}"
        )
    return weights


def extended(dataset: Dataset, network: Network) -> Dataset:
    """The dataset with a column for each further variable of a larger network, all of it missing."""
    more = len(network) - len(dataset.names)
    if not more:
        return dataset
    missing = np.full((len(dataset), more), MISSING, dtype=dataset.codes.dtype)
    codes = np.hstack([dataset.codes, missing])
    return replace(dataset, names=network.names, codes=codes, variables=network.variables)


def fitting(dataset: Dataset, network: Network) -> Dataset:
    """The dataset with the states of a network: the same variables, with states in the order of the network."""
    if dataset.names != network.names:
        raise DataError("This dataset was made for another network: its variables are not the network's.")
    if dataset.variables is None:
        largest = dataset.codes.max(axis=0, initial=-1)
        for variable, code in zip(network.variables, largest.tolist(), strict=True):
            if code >= len(variable.states):
                raise DataError(
                    f"A code of {variable.name} is {code}, but it has {counted(len(variable.states), 'state')}, from 0."
                )
        if dataset.codes.min(initial=-1) < MISSING:
            raise DataError("A code is below -1, which is a missing value.")
        return replace(dataset, variables=network.variables)
    if dataset.variables == network.variables:
        return dataset
    codes = np.full(dataset.codes.shape, MISSING, dtype=code_type(network))
    for position, (own, wanted) in enumerate(zip(dataset.variables, network.variables, strict=True)):
        if set(own.states) != set(wanted.states):
            raise DataError(
                f"This dataset was made for another network: {own.name} has the states {', '.join(own.states)} there "
                f"and {', '.join(wanted.states)} here."
            )
        if own.cuts is not None and wanted.cuts is not None and own.cuts != wanted.cuts:
            raise DataError(
                f"This dataset was made for another network: {own.name} is cut at {own.cuts} there and at "
                f"{wanted.cuts} here."
            )
        places = np.array([*(wanted.states.index(state) for state in own.states), MISSING])
        codes[:, position] = places[dataset.codes[:, position]]  # -1 picks the last place
    return replace(dataset, codes=codes, variables=network.variables)


def distinct_rows(rows: NDArray[Any]) -> tuple[Indices, Indices]:
    """The first of each distinct row of an array of integers, in the order in which they appear; and which each is.

    Each row becomes one number, with the last column varying fastest, column by column while 62 bits hold it: sorting
    numbers is ten times as fast as sorting rows.
    """
    if not len(rows):
        return np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64)
    keys, span = np.zeros(len(rows), dtype=np.int64), 1
    for column in rows.T:
        lowest = int(column.min())
        size = int(column.max()) - lowest + 1
        if span * size >= 2**62:  # as few numbers as there are different ones
            keys = np.unique(keys, return_inverse=True)[1].ravel().astype(np.int64)
            span = int(keys.max()) + 1
            if span * size >= 2**62:
                column, lowest = np.unique(column, return_inverse=True)[1].ravel(), 0
                size = int(column.max()) + 1
        keys = keys * size + (column.astype(np.int64) - lowest)
        span *= size
    _, first, which = np.unique(keys, return_index=True, return_inverse=True)
    order = np.argsort(first)
    place = np.empty_like(order)
    place[order] = np.arange(len(order))
    return first[order], place[which.ravel()]
