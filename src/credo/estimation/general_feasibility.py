"""Whether statements about any probability of the network can hold with all others: a search, which proves nothing.

It looks for the most even CPTs that satisfy everything. Where none are found, statements are left out one by one, those
that resisted most first: what can be satisfied without them makes them likely culprits.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

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


@dataclass(frozen=True, slots=True)
class GeneralSearch:
    """What the search found: whether CPTs at which all statements hold, and if not, how near it came.

    `missed` is the amount by which the worst statement is missed; `culprits` are the statements without any one of
    which CPTs were found.
    """

    is_found: bool
    missed: float = 0.0
    culprits: tuple[int, ...] = ()


def search_general(constraints: Constraints, network: Network) -> GeneralSearch:
    """Look for CPTs of the expanded network at which all hard statements hold; the ordinary ones do not conflict."""
    hard = _hard(constraints)
    found, multipliers = _tried(hard, network)
    if found.is_found:
        return found
    suspects = sorted((number for number in multipliers if multipliers[number] > 0.0), key=lambda n: -multipliers[n])
    culprits = [number for number in suspects[:MOST_LEFT_OUT] if _tried(_without(hard, number), network)[0].is_found]
    return replace(found, culprits=tuple(sorted(culprits)))


def _tried(constraints: Constraints, network: Network) -> tuple[GeneralSearch, dict[int, float]]:
    """Whether a point was found, and the multipliers of the statements where the search ended."""
    names = constraints.layout.names
    model = Model(network, names, as_prior(1.0, network), constraints, blocks_of(constraints))
    problem = Problem(model, Data(empty(layout_for_counts(network))))
    problem, _ = with_certain_zeros(problem)
    try:
        end = optimum(problem, np.ones(problem.layout.size), 0.0, wanted="point")
    except InfeasibleError:
        return GeneralSearch(False, np.inf), {}
    if end.general is None or end.general.holds:
        return GeneralSearch(True), {}
    return GeneralSearch(False, end.general.violation), multipliers_by_statement(end.estimates, 1.0)


def _hard(constraints: Constraints) -> Constraints:
    return replace(
        constraints,
        linear=constraints.linear.take(constraints.linear.hard),
        products=tuple(each for each in constraints.products if each.confidence is None),
        general=tuple(each for each in constraints.general if each.confidence is None),
    )


def _without(constraints: Constraints, number: int) -> Constraints:
    return replace(
        constraints,
        linear=constraints.linear.take(constraints.linear.statements != number),
        products=tuple(each for each in constraints.products if each.statement != number),
        general=tuple(each for each in constraints.general if each.statement != number),
    )
