"""Whether statements about any probability of the network can hold with all others: a search, which proves nothing.

It searches for the CPTs of largest entropy that satisfy everything. Where none are found, statements are left out one
by one, those that resisted most first: what can be satisfied without them makes them likely culprits.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from time import perf_counter

import numpy as np

from credo.constraints.blocks import blocks_of
from credo.constraints.constraint_set import Constraints
from credo.constraints.feasibility import InfeasibleError
from credo.estimation.certain_zeros import with_certain_zeros
from credo.estimation.constrained import multipliers_by_statement, optimum
from credo.estimation.problem import Data, Model, Problem
from credo.model.network import Network
from credo.statistics.counts import empty, layout_for_counts
from credo.statistics.prior import as_prior

MOST_LEFT_OUT = 8  # statements that are left out one by one
MOST_SECONDS = 10.0  # for the smallest set of statements that do not go together


@dataclass(frozen=True, slots=True)
class NetworkSearch:
    """What the search found: whether CPTs at which all statements hold, and if not, how near it came.

    `missed` is the amount by which the worst statement is missed; `culprits` are the statements without any one of
    which CPTs were found; `smallest` is the smallest set that was found for which no CPTs were.
    """

    is_found: bool
    missed: float = 0.0
    culprits: tuple[int, ...] = ()
    smallest: tuple[int, ...] = ()


def search_network_constraints(constraints: Constraints, network: Network) -> NetworkSearch:
    """Look for CPTs of the expanded network at which all hard statements hold; the ordinary ones do not conflict."""
    hard = _hard(constraints)
    found, multipliers = _tried(hard, network)
    if found.is_found:
        return found
    suspects = sorted((number for number in multipliers if multipliers[number] > 0.0), key=lambda n: -multipliers[n])
    culprits = [number for number in suspects[:MOST_LEFT_OUT] if _tried(hard.without([number]), network)[0].is_found]
    smallest = _smallest(hard, network, set(culprits), suspects)
    return replace(found, culprits=tuple(sorted(culprits)), smallest=tuple(sorted(smallest)))


def _smallest(hard: Constraints, network: Network, culprits: set[int], suspects: Sequence[int]) -> set[int]:
    """A set of statements for which no CPTs are found, as small as leaving out one after the other makes it.

    Those that resisted are examined first: mostly they are all of it. Culprits are part of every such set. Empty where
    the time does not suffice to leave out any.
    """
    started = perf_counter()
    everything = hard.statements
    if len(culprits) > 1 and not _tried(hard.without(everything - culprits), network)[0].is_found:
        return culprits
    kept = {*suspects, *culprits}
    if not kept or _tried(hard.without(everything - kept), network)[0].is_found:
        kept = set(everything)
    for number in sorted(kept - culprits, key=lambda each: (each in suspects, each)):
        if perf_counter() - started > MOST_SECONDS:
            return kept if len(kept) < len(everything) else set()
        if not _tried(hard.without((everything - kept) | {number}), network)[0].is_found:
            kept.discard(number)
    return kept


def _tried(constraints: Constraints, network: Network) -> tuple[NetworkSearch, dict[int, float]]:
    """Whether a point was found, and the multipliers of the statements where the search ended."""
    names = constraints.layout.names
    model = Model(network, names, as_prior(1.0, network), constraints, blocks_of(constraints))
    problem = Problem(model, Data(empty(layout_for_counts(network))))
    problem, _ = with_certain_zeros(problem)
    try:
        end = optimum(problem, np.ones(problem.layout.size), 0.0, wanted="point")
    except InfeasibleError:
        return NetworkSearch(False, np.inf), {}
    if end.network_end is None or end.network_end.holds:
        return NetworkSearch(True), {}
    return NetworkSearch(False, end.network_end.violation), multipliers_by_statement(end.estimates, 1.0)


def _hard(constraints: Constraints) -> Constraints:
    return replace(
        constraints,
        linear=constraints.linear.take(constraints.linear.hard),
        products=tuple(each for each in constraints.products if each.confidence is None),
        network_constraints=tuple(each for each in constraints.network_constraints if each.confidence is None),
    )
