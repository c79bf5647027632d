"""A CPT as a labelled frame: one row per configuration of the parents."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from credo.errors import NetworkError, first_duplicate
from credo.model.expansion import expand
from credo.model.network import Network
from credo.model.noisy import NoisyForm

if TYPE_CHECKING:
    import polars as pl


def labelled_cpt(network: Network, name: str) -> pl.DataFrame:
    """P(name | parents): a column of states for each parent, then a column `child=state` of numbers for each state.

    For a noisy family whose full CPT is too large, all small CPTs one below the other: the columns of parents that a
    set does not contain are empty, and for the leak all of them.
    """
    import polars as pl

    form = network.forms.get(name)
    if name not in network.cpts and isinstance(form, NoisyForm) and form.cpts:
        expanded = expand(network)
        small = [labelled_cpt(expanded.network, effect) for effect in expanded.effects[name]]
        stacked = pl.concat([_with_child(frame, name, network.states(name)) for frame in small], how="diagonal")
        return stacked.select(*network.parents[name], *(f"{name}={state}" for state in network.states(name)))
    cpt = network.cpt_array(name)
    states, parents = network.states(name), network.parents[name]
    numbers = cpt.reshape(-1, len(states))
    columns = [*parents, *(f"{name}={state}" for state in states)]
    if (duplicate := first_duplicate(columns)) is not None:
        raise NetworkError(f'The CPT of {name} would have two columns "{duplicate}": a parent has the name of a state.')
    # The last parent varies fastest, as in the array.
    indices = np.indices(cpt.shape[:-1]).reshape(len(parents), len(numbers))
    labels = [
        pl.Series(parent, network.states(parent), dtype=pl.String).gather(index)
        for parent, index in zip(parents, indices, strict=True)
    ]
    values = [pl.Series(column, numbers[:, k]) for k, column in enumerate(columns[len(parents) :])]
    return pl.DataFrame([*labels, *values])


def _with_child(frame: pl.DataFrame, child: str, states: Sequence[str]) -> pl.DataFrame:
    """The CPT of an effect with columns named after the child."""
    given = frame.columns[: -len(states)]
    frame.columns = [*given, *(f"{child}={state}" for state in states)]
    return frame
