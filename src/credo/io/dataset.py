"""A table in the network's own terms: state numbers, -1 where a value is missing, weights, hidden variables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from credo.errors import DataError
from credo.io.states import MISSING
from credo.network import Network

if TYPE_CHECKING:
    import polars as pl

Codes = NDArray[np.signedinteger]


@dataclass(frozen=True, slots=True, eq=False)
class Dataset:
    """Rows of state numbers, one column a variable of the network, in the network's order.

    Hidden variables have a column too, all of it missing. `others` holds the columns that are no variable but that a
    statement asks for, such as the number of a pair of twins.
    """

    names: tuple[str, ...]
    codes: Codes  # (rows, variables)
    weights: NDArray[np.float64] | None = None  # (rows,)
    hidden: tuple[str, ...] = ()
    others: Mapping[str, pl.Series] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.codes)

    def rows(self, chosen: NDArray[np.bool_]) -> Dataset:
        """Some of the rows."""
        weights = None if self.weights is None else self.weights[chosen]
        others = {name: column.filter(chosen) for name, column in self.others.items()}
        return Dataset(self.names, self.codes[chosen], weights, self.hidden, others)

    @property
    def is_complete(self) -> bool:
        """Whether no value is missing."""
        return not (self.codes == MISSING).any()

    def missing(self) -> dict[str, int]:
        """How many values each variable misses; variables that miss none are left out."""
        counts = (self.codes == MISSING).sum(axis=0)
        return {name: int(count) for name, count in zip(self.names, counts, strict=True) if count}


def code_type(network: Network) -> type[np.signedinteger]:
    """The smallest integer that holds every state number of the network, and -1."""
    largest = max(len(variable.states) for variable in network.variables)
    return next(kind for kind in (np.int8, np.int16, np.int32) if largest - 1 <= np.iinfo(kind).max)


def concatenate(datasets: Sequence[Dataset]) -> Dataset:
    """The rows of several datasets of one table, one after the other."""
    if len(datasets) == 1:
        return datasets[0]
    import polars as pl

    first = datasets[0]
    weights = None
    if first.weights is not None:
        weights = np.concatenate([part.weights for part in datasets if part.weights is not None])
    others = {name: pl.concat([part.others[name] for part in datasets]) for name in first.others}
    return Dataset(first.names, np.concatenate([part.codes for part in datasets]), weights, first.hidden, others)


def checked_weights(values: object, rows: int, what: str = "weights") -> NDArray[np.float64]:
    """Weights as numbers, one a row, none of them negative or missing."""
    try:
        weights = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError):
        raise DataError(f"The {what} are not numbers.") from None
    if weights.shape != (rows,):
        raise DataError(f"There are {rows} rows but {what} of shape {weights.shape}: one number a row is needed.")
    wrong = ~np.isfinite(weights) | (weights < 0)
    if wrong.any():
        row = int(np.argmax(wrong))
        raise DataError(f"The {what} of row {row + 1} is {weights[row]}; a weight is a number that is not negative.")
    return weights
