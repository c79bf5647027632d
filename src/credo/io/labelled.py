"""A table with labels, to read or to export: one row a configuration of the parents."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from credo.errors import NetworkError
from credo.model.expansion import expand
from credo.model.names import first_duplicate
from credo.model.network import Network

if TYPE_CHECKING:
    import polars as pl


def labelled_table(network: Network, name: str) -> pl.DataFrame:
    """P(name | parents): a column of labels for each parent, then a column `child=state` of numbers for each state.

    Of a noisy family whose full table is too large, all small tables one below the other: the columns of parents that
    a set does not have are empty, and the leak has none.
    """
    import polars as pl

    form = network.forms.get(name)
    if name not in network.cpts and form is not None and form.cpts:
        whole = expand(network)
        small = [labelled_table(whole.network, effect) for effect in whole.effects[name]]
        stacked = pl.concat([_about(frame, name, network.states(name)) for frame in small], how="diagonal")
        return stacked.select(*network.parents[name], *(f"{name}={state}" for state in network.states(name)))
    table = network.cpt_array(name)
    states, parents = network.states(name), network.parents[name]
    numbers = table.reshape(-1, len(states))
    columns = [*parents, *(f"{name}={state}" for state in states)]
    if (twice := first_duplicate(columns)) is not None:
        raise NetworkError(f'The table of {name} would have two columns "{twice}": a parent is called like a state.')
    # The last parent runs fastest, as in the array.
    indices = np.indices(table.shape[:-1]).reshape(len(parents), len(numbers))
    labels = [
        pl.Series(parent, network.states(parent), dtype=pl.String).gather(index)
        for parent, index in zip(parents, indices, strict=True)
    ]
    values = [pl.Series(column, numbers[:, k]) for k, column in enumerate(columns[len(parents) :])]
    return pl.DataFrame([*labels, *values])


def _about(frame: pl.DataFrame, child: str, states: Sequence[str]) -> pl.DataFrame:
    """The table of an effect with columns that name the child."""
    given = frame.columns[: -len(states)]
    frame.columns = [*given, *(f"{child}={state}" for state in states)]
    return frame
