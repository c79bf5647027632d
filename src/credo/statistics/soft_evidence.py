"""Soft evidence as users give it, `{"xray": {"no": 1, "yes": 3}}`, made into an array of likelihoods.

The likelihood of a state is the probability of what was seen in that state, up to a common factor: P(seen | xray=yes)
is three times P(seen | xray=no). States that are not listed have likelihood 0.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from credo.errors import DataError, QueryError, counted, listing, suggestion
from credo.model.network import Network
from credo.model.state_texts import state_of
from credo.types import Numbers


def likelihoods_of(network: Network, soft: object, *, rows: bool = False) -> dict[str, Numbers]:
    """The likelihoods of the states of each variable, (states,), the largest 1.

    With `rows` a state may have a list with a number for each row; the array of its variable is then (rows, states).
    """
    if soft is None:
        return {}
    if not isinstance(soft, Mapping):
        raise QueryError(f'Soft evidence is a mapping such as {{"xray": {{"no": 1, "yes": 3}}}}; it is {soft!r}.')
    return {name: _of_states(network, name, given, rows) for name, given in soft.items()}


def _of_states(network: Network, name: str, given: object, rows: bool) -> Numbers:
    states = network.states(name)
    if not isinstance(given, Mapping):
        example = ", ".join(f'"{state}": {number}' for state, number in zip(states, (1, 3), strict=False))
        raise QueryError(
            f"Soft evidence on {name} is a mapping from its states to likelihoods, such as {{{example}}}; "
            f"it is {given!r}."
        )
    named = {state_of(state): likelihood for state, likelihood in given.items()}
    for state in named:
        if state not in states:
            known = suggestion(str(state), states) or f" Its states are {', '.join(states)}."
            raise QueryError(f'{name} has no state "{state}".{known}')
    try:
        columns = [np.asarray(named.get(state, 0.0), dtype=np.float64) for state in states]
    except (TypeError, ValueError):
        raise QueryError(f"The soft evidence on {name} is not made of numbers.") from None
    if any(column.ndim > rows for column in columns):
        lists = ", or a list with one for each row" if rows else ""
        raise QueryError(f"Soft evidence on {name} has one number for each state{lists}.")
    lengths = {len(column) for column in columns if column.ndim}
    if len(lengths) > 1:
        raise QueryError(
            f"The lists of likelihoods of {name} differ in length: {listing([str(each) for each in sorted(lengths)])}."
        )
    likelihoods = np.stack(np.broadcast_arrays(*columns), axis=-1)
    if not (np.isfinite(likelihoods).all() and (likelihoods >= 0).all() and likelihoods.any(axis=-1).all()):
        raise QueryError(f"The likelihoods of {name} have to be finite, not negative, and not all zero.")
    return np.asarray(likelihoods / likelihoods.max(axis=-1, keepdims=True), dtype=np.float64)


def likelihoods_of_rows(likelihoods: Numbers, first: int, rows: int) -> Numbers:
    """The likelihoods of some rows, (rows, states): the same for all, or their own."""
    if likelihoods.ndim == 1:
        return np.broadcast_to(likelihoods, (rows, len(likelihoods)))
    return likelihoods[first : first + rows]


def require_as_many(name: str, likelihoods: Numbers, rows: int) -> None:
    """Raise if there are likelihoods for more or fewer rows than the table has."""
    if likelihoods.ndim == 2 and len(likelihoods) != rows:
        raise DataError(
            f"The table has {counted(rows, 'row')}, but the soft evidence on {name} has "
            f"{counted(len(likelihoods), 'likelihood')} for each state: one for each row is needed."
        )
