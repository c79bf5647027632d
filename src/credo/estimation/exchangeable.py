"""Which states of a hidden variable can be exchanged for each other: nothing that was said tells them apart.

Exchanging two states moves numbers within the variable's table and within those of its children. Where that leaves the
rows of the knowledge, the prior and the tables that are not learned as they were, every estimate has a twin with both
states exchanged and the same objective: data cannot tell the two apart.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np

from credo.arrays import Indices, Numbers
from credo.estimation.problem import Problem
from credo.findings import Finding
from credo.statistics.prior import pseudo_counts

DIGITS, TOLERANCE = 9, 1e-8  # to which rows are told apart
HARD, PRODUCT = 2.0, 2.0  # no confidence is so large, no row of another kind has this mark


def order_findings(problem: Problem, hidden: Iterable[str]) -> Iterator[Finding]:
    """For each hidden variable, which of its states have an order that means nothing."""
    for name in hidden:
        groups = [group for group in exchangeable_states(problem, name) if len(group) > 1]
        for group in groups:
            which = "its states" if len(group) == len(problem.network.states(name)) else ", ".join(group)
            message = f"{name} is hidden, and nothing that was said tells {which} apart: their order means nothing."
            yield Finding("exchangeable", message, name)


def exchangeable_states(problem: Problem, name: str) -> list[tuple[str, ...]]:
    """The states in groups: those of one group can be exchanged for each other in any way."""
    states = problem.network.states(name)
    groups: list[list[int]] = []
    for state in range(len(states)):
        group = next((group for group in groups if _alike(problem, name, group[0], state)), None)
        if group is None:
            groups.append([state])
        else:
            group.append(state)
    return [tuple(states[state] for state in group) for group in groups]


def _alike(problem: Problem, name: str, one: int, two: int) -> bool:
    network, layout = problem.network, problem.layout
    order = np.arange(len(network.states(name)))
    order[[one, two]] = two, one
    moved = np.arange(layout.size)
    for table in (name, *(child for child in network.names if name in network.parents[child])):
        shape, axis = network.shape(table), (*network.parents[table], table).index(name)
        if table in problem.names:
            given = np.broadcast_to(
                pseudo_counts(problem.prior, network, table), (network.configurations(table), shape[-1])
            ).reshape(shape)
            cells = layout.offsets[table] + np.arange(given.size).reshape(shape)
            moved[cells] = cells.take(order, axis)
        else:
            given = network.cpt_array(table)
        if not np.array_equal(given, given.take(order, axis)):
            return False
    before, after = (_fingerprints(problem, places) for places in (np.arange(layout.size), moved))
    return np.allclose(before, after, atol=TOLERANCE)


def _fingerprints(problem: Problem, places: Indices) -> Numbers:
    """What the knowledge says with each number at its place in `places`: a line for each row, in an order of its own.

    A row is known by Σ coefficients · r for random r. Within each distribution, which sums to one, r has mean zero:
    P(x=a) ≥ 0.3 and P(x=b) ≤ 0.7 are the same row where x is a or b. An equality is the same with its sign turned.
    """
    constraints = problem.constraints
    layout = constraints.layout
    at_random = np.random.default_rng(0).standard_normal(layout.size)
    centred, shares = at_random.copy(), np.empty_like(at_random)
    for name in layout.names:
        rows = layout.view(centred, name)
        rows -= rows.mean(axis=1, keepdims=True)
        shares[layout.slice_of(name)] = 1 / rows.shape[1]
    linear = constraints.linear
    values, bounds = linear.values(centred[places]), linear.bounds - linear.values(shares)
    sign = np.where(linear.equality & (values < 0), -1.0, 1.0)
    confidences = np.where(linear.hard, HARD, linear.confidences)
    lines = np.column_stack((sign * values, sign * bounds, linear.equality, confidences))
    products = [
        (
            np.dot(row.exponents, at_random[places[list(row.indices)]]),
            row.log_bound,
            PRODUCT,
            HARD if row.confidence is None else row.confidence,
        )
        for row in constraints.products
    ]
    lines = np.concatenate((lines, np.array(products).reshape(-1, 4)))
    return lines[np.lexsort(lines.round(DIGITS).T)]
