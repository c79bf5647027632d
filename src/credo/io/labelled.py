"""A table with labels, to read or to export: one row a configuration of the parents."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from credo.errors import NetworkError
from credo.names import first_twice
from credo.network import Network

if TYPE_CHECKING:
    import polars as pl


def labelled_table(network: Network, name: str) -> pl.DataFrame:
    """P(name | parents): a column of labels for each parent, then a column `child=state` of numbers for each state."""
    import polars as pl

    table = network.table(name)
    states, parents = network.states(name), network.parents[name]
    numbers = table.reshape(-1, len(states))
    columns = [*parents, *(f"{name}={state}" for state in states)]
    if (twice := first_twice(columns)) is not None:
        raise NetworkError(f'The table of {name} would have two columns "{twice}": a parent is called like a state.')
    # The last parent runs fastest, as in the array.
    indices = np.indices(table.shape[:-1]).reshape(len(parents), len(numbers))
    labels = [
        pl.Series(parent, network.states(parent), dtype=pl.String).gather(index)
        for parent, index in zip(parents, indices, strict=True)
    ]
    values = [pl.Series(column, numbers[:, k]) for k, column in enumerate(columns[len(parents) :])]
    return pl.DataFrame([*labels, *values])
