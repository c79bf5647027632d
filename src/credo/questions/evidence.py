"""What a question is asked under: evidence, interventions, and soft evidence."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from credo.errors import QueryError, listing
from credo.knowledge.query import as_evidence
from credo.model.network import Network
from credo.statistics.soft_evidence import likelihoods_of
from credo.types import Numbers, Soft


class Given(NamedTuple):
    """What all marginals are asked under: evidence, interventions, and likelihoods of states."""

    evidence: dict[str, tuple[str, ...]]
    interventions: dict[str, str]
    soft: dict[str, Numbers]


def as_given(network: Network, evidence: object, interventions: object, soft: Soft | None) -> Given:
    known = as_evidence(network, evidence)
    do = {}
    for name, states in as_evidence(network, interventions).items():
        if len(states) != 1:
            raise QueryError(f"An intervention sets {name} to one state, not to {listing(states)}.")
        do[name] = states[0]
    return Given(known, do, soft_likelihoods(network, soft, known, do))


def soft_likelihoods(
    network: Network, soft: Soft | None, known: Iterable[str] = (), interventions: Iterable[str] = ()
) -> dict[str, Numbers]:
    """The likelihoods of states, (states,); refused for variables that are given in another way as well."""
    likelihoods = likelihoods_of(network, soft)
    for name in (*interventions, *likelihoods):
        kinds = (name in set(known)) + (name in set(interventions)) + (name in likelihoods)
        if kinds > 1:
            raise QueryError(
                f"{name} is given twice: a variable is observed, set by do(…), or has soft evidence, one of the three."
            )
    return likelihoods
