"""What a question is asked under: evidence, interventions, and soft evidence."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple

import numpy as np

from credo.errors import QueryError, listing
from credo.knowledge.query import as_evidence
from credo.model.network import Network
from credo.model.state_texts import state_of
from credo.types import Numbers


class Given(NamedTuple):
    """What all marginals are asked under: evidence, interventions, and weights of states."""

    evidence: dict[str, tuple[str, ...]]
    interventions: dict[str, str]
    soft: dict[str, Numbers]


def as_given(network: Network, evidence: object, interventions: object, soft: object) -> Given:
    known = as_evidence(network, evidence)
    do = {}
    for name, states in as_evidence(network, interventions).items():
        if len(states) != 1:
            raise QueryError(f"An intervention sets {name} to one state, not to {listing(states)}.")
        do[name] = states[0]
    return Given(known, do, soft_weights(network, soft, known, do))


def soft_weights(
    network: Network, soft: object, known: Iterable[str] = (), interventions: Iterable[str] = ()
) -> dict[str, Numbers]:
    """Soft evidence as a weight for each state; refused for variables that are given in another way as well."""
    if not isinstance(soft, Mapping | None):
        raise QueryError(f"Soft evidence is a mapping from variables to the weights of their states, not {soft!r}.")
    weights = {name: _weights(network, name, each) for name, each in (soft or {}).items()}
    for name in (*interventions, *weights):
        kinds = (name in set(known)) + (name in set(interventions)) + (name in weights)
        if kinds > 1:
            raise QueryError(f"{name} is given twice: it is observed, set by do(…), or has weights, one of the three.")
    return weights


def _weights(network: Network, name: str, given: object) -> Numbers:
    """Soft evidence: for each state, how probable what was seen is in that state, up to a common factor."""
    states = network.states(name)
    if not isinstance(given, Mapping):
        raise QueryError(f"Soft evidence about {name} is a mapping from its states to weights, not {given!r}.")
    named = {state_of(state): weight for state, weight in given.items()}
    for state in named:
        if state not in states:
            raise QueryError(f'{name} has no state "{state}". Known: {", ".join(states)}.')
    wrong = QueryError(f"The weights of {name} have to be numbers from 0 on, one of them above 0.")
    try:
        weights = np.array([named.get(state, 0.0) for state in states], dtype=np.float64)
    except (TypeError, ValueError):
        raise wrong from None
    if weights.ndim != 1 or not np.isfinite(weights).all() or (weights < 0).any() or not weights.any():
        raise wrong
    return np.asarray(weights / weights.max(), dtype=np.float64)
