"""Which states of a hidden variable are exchangeable: neither knowledge nor prior nor kept CPTs distinguish them.

Exchanging two states permutes parameters of the variable's CPT and of its children's. Where that leaves constraints,
prior and kept CPTs unchanged, every estimate has a counterpart with both states exchanged and the
same objective: data cannot distinguish the two (label switching).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np

from credo.constraints.constraint_set import LinearConstraints, ProductConstraint
from credo.estimation.problem import Problem
from credo.findings import Finding
from credo.statistics.prior import pseudo_counts
from credo.types import Flags, Indices, Numbers

DIGITS, TOLERANCE = 9, 1e-8  # to which constraints are distinguished
HARD, PRODUCT = 2.0, 2.0  # no confidence is as large, no other kind of constraint has this mark


def order_findings(problem: Problem, hidden: Iterable[str]) -> Iterator[Finding]:
    """For each hidden variable, which of its states are exchangeable, so that their order means nothing."""
    for name in hidden:
        groups = [group for group in exchangeable_states(problem, name) if len(group) > 1]
        for group in groups:
            which = "its states" if len(group) == len(problem.network.states(name)) else ", ".join(group)
            message = f"{name} is hidden, and the knowledge does not distinguish {which}: their order is arbitrary."
            yield Finding("exchangeable", message, name)


def exchangeable_states(problem: Problem, name: str) -> list[tuple[str, ...]]:
    """The states in groups: those of one group can be exchanged for each other in any way."""
    network = problem.network
    states = network.states(name)
    families = [name, *(child for child in network.names if name in network.parents[child])]
    linear, products = _constraints_on(problem, families)
    groups: list[list[int]] = []
    for state in range(len(states)):
        group = next(
            (group for group in groups if _exchangeable(problem, name, families, linear, products, group[0], state)),
            None,
        )
        if group is None:
            groups.append([state])
        else:
            group.append(state)
    return [tuple(states[state] for state in group) for group in groups]


def _constraints_on(
    problem: Problem, families: Iterable[str]
) -> tuple[LinearConstraints, tuple[ProductConstraint, ...]]:
    """The constraints that refer to the CPTs of these variables."""
    layout, linear = problem.layout, problem.constraints.linear
    slices = [layout.slice_of(name) for name in families if name in layout]

    def inside(indices: Indices) -> Flags:
        within = [(own.start <= indices) & (indices < own.stop) for own in slices]
        return np.asarray(np.logical_or.reduce(within), dtype=np.bool_)

    touched = np.zeros(len(linear), dtype=np.bool_)
    if slices and len(linear):
        touched[linear.entry_constraints[inside(linear.indices)]] = True
    products = tuple(each for each in problem.constraints.products if slices and inside(np.array(each.indices)).any())
    return linear.take(touched), products


def _exchangeable(
    problem: Problem,
    name: str,
    families: Iterable[str],
    linear: LinearConstraints,
    products: tuple[ProductConstraint, ...],
    one: int,
    two: int,
) -> bool:
    network, layout = problem.network, problem.layout
    order = np.arange(len(network.states(name)))
    order[[one, two]] = two, one
    constrained = bool(len(linear) or products)
    permuted = np.arange(layout.size) if constrained else np.zeros(0, dtype=np.int64)
    for family in families:
        shape, axis = network.shape(family), (*network.parents[family], family).index(name)
        if family in problem.names:
            given = np.broadcast_to(
                pseudo_counts(problem.prior, network, family), (network.configurations(family), shape[-1])
            ).reshape(shape)
            if constrained:
                cells = layout.offsets[family] + np.arange(given.size).reshape(shape)
                permuted[cells] = cells.take(order, axis)
        else:
            given = network.cpt_array(family)
        if not np.array_equal(given, given.take(order, axis)):
            return False
    if not constrained:
        return True
    before, after = (_fingerprints(problem, linear, products, where) for where in (np.arange(layout.size), permuted))
    return np.allclose(before, after, atol=TOLERANCE)


def _fingerprints(
    problem: Problem, linear: LinearConstraints, products: tuple[ProductConstraint, ...], where: Indices
) -> Numbers:
    """The constraints with each parameter moved to its place in `where`: a line for each, in a canonical order.

    A constraint is identified by Σ coefficients · r for random r. Within each distribution, which sums to one, r has
    mean zero: P(x=a) ≥ 0.3 and P(x=b) ≤ 0.7 are the same constraint where x is a or b. An equality is the same with its
    sign turned.
    """
    layout = problem.layout
    random = np.random.default_rng(0).standard_normal(layout.size)
    centred, shares = random.copy(), np.empty_like(random)
    for name in layout.names:
        distributions = layout.view(centred, name)
        distributions -= distributions.mean(axis=1, keepdims=True)
        shares[layout.slice_of(name)] = 1 / distributions.shape[1]
    values, bounds = linear.values(centred[where]), linear.bounds - linear.values(shares)
    sign = np.where(linear.equality & (values < 0), -1.0, 1.0)
    confidences = np.where(linear.hard, HARD, linear.confidences)
    lines = np.column_stack((sign * values, sign * bounds, linear.equality, confidences))
    more = [
        (
            np.dot(product.exponents, random[where[list(product.indices)]]),
            product.log_bound,
            PRODUCT,
            HARD if product.confidence is None else product.confidence,
        )
        for product in products
    ]
    lines = np.concatenate((lines, np.array(more).reshape(-1, 4)))
    return lines[np.lexsort(lines.round(DIGITS).T)]
