"""Where draws under statements about any probability of the network start, and the CPTs nearest to their mean."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from credo.constraints.constraint_set import LinearConstraints, NetworkConstraint
from credo.constraints.feasibility import InfeasibleError, NoStartError, interior_of
from credo.estimation.constrained import network_steps, optimum
from credo.estimation.network_optimum import Wanted
from credo.estimation.network_steps import LIMIT
from credo.estimation.problem import Problem
from credo.posterior.draws import PosteriorResult
from credo.posterior.sampler import Region
from credo.statistics.network_statements import NetworkStatements
from credo.types import Numbers

SHARES: tuple[tuple[float, Wanted], ...] = (  # of the room inside, by which bounds are moved there
    (0.1, "near point"),
    (0.001, "near point"),
    (0.1, "point"),
    (0.001, "point"),
)
LEAST_VARIANCE = 1e-24  # of draws, and what is less is known
OTHERS = 7  # points from which chains start, beside the first
INSIDE = 0.2  # of the distance from a bound to a point inside, or to the opposite bound
MOST_INSIDE = 0.02  # in probabilities


def network_region(problem: Problem) -> Region | None:
    """What statements about whole networks and about products reach, and CPTs inside of all that the knowledge allows.

    None where there are no such statements.
    """
    constraints = problem.model.constraints
    if not constraints.network_constraints and not any(each.confidence is None for each in constraints.products):
        return None
    statements = None
    held = np.zeros(problem.layout.size, dtype=np.bool_)
    for product in constraints.products:
        held[list(product.indices)] = True
    starts = problem.layout.distribution_starts()
    held = np.repeat(np.logical_or.reduceat(held, starts), np.diff(starts, append=problem.layout.size))
    if constraints.network_constraints:
        statements = NetworkStatements.of(constraints, problem.model.network, problem.settings.memory_limit)
        held |= statements.mask.any(axis=0)
    for name in problem.model.kept:
        held[problem.layout.slice_of(name)] = False
    weights = problem.vector() + 1.0 / _states(problem)
    for number, (share, wanted) in enumerate(SHARES):
        if number == 1:
            problem.refuse_contradictions()
        moved = replace(
            constraints,
            linear=_moved(problem, share),
            network_constraints=_moved_network_constraints(constraints.network_constraints, share),
        )
        inside = problem.with_constraints(moved)
        first = _point(problem, inside, weights, statements, wanted)
        if first is not None:
            return Region(held, (first, *_others(problem, inside, statements, first, wanted)), statements)
    raise NoStartError(
        "No CPTs were found at which all statements hold, from which draws could start. That is no proof that there "
        "are none: run credo.check, or give a confidence to a statement about a probability that depends on "
        "several CPTs."
    )


def _point(
    problem: Problem, inside: Problem, weights: Numbers, statements: NetworkStatements | None, wanted: Wanted
) -> Numbers | None:
    """The optimum for these weights, where everything holds that must."""
    try:
        theta = optimum(inside, weights, 0.0, wanted=wanted).theta.copy()
    except (InfeasibleError, NoStartError):
        return None
    for name in problem.model.kept:
        theta[problem.layout.slice_of(name)] = problem.model.network.cpt_array(name).ravel()
    if statements is None:
        return theta
    missed = (statements.excess(theta) / statements.sizes)[statements.hard].max(initial=-np.inf)
    return theta if missed <= LIMIT else None


def _others(
    problem: Problem, inside: Problem, statements: NetworkStatements | None, first: Numbers, wanted: Wanted
) -> tuple[Numbers, ...]:
    """Other points at which everything holds, as far from the first as the data let CPTs be, for other chains.

    Chains that start at one point and hardly move agree with each other, whatever the truth is.
    """
    rng = np.random.default_rng([problem.settings.seed, 0 if statements is None else len(statements)])
    found = []
    weights = 0.5 * (problem.vector() + 1.0)  # twice the variance, so that starts are farther apart than draws
    totals = problem.layout.totals(weights)
    for _ in range(OTHERS):
        drawn = rng.standard_gamma(weights)
        drawn /= problem.layout.totals(drawn)
        point = _point(problem, inside, totals * drawn + 1e-3, statements, wanted)
        if point is not None:
            found.append(point)
    return tuple(found)


def nearest_cpts(problem: Problem, drawn: PosteriorResult) -> tuple[Mapping[str, Numbers], float]:
    """The CPTs nearest to the mean at which all statements hold, and how far one is missed, in its size, if none were.

    Every draw satisfies the statements, but what they allow is not convex: their mean may miss one by a little. Each
    distribution counts as the cases that its draws are worth, so that what is known precisely stays where it is.
    """
    theta = problem.layout.pack({**problem.model.network.cpts, **drawn.means})
    weights = problem.vector() + 1.0
    for name in drawn.names:
        shape = problem.layout.view(theta, name).shape
        means, deviations = drawn.means[name].reshape(shape), drawn.deviations[name].reshape(shape)
        spread = np.maximum((deviations**2).sum(axis=1, keepdims=True), LEAST_VARIANCE)
        problem.layout.view(weights, name)[...] = means * (means * (1.0 - means)).sum(axis=1, keepdims=True) / spread
    steps = network_steps(problem, weights, 0.0, theta)
    theta, values = steps.restored(theta)
    return problem.cpts(theta), steps.worst(values)


def _states(problem: Problem) -> Numbers:
    """How many states the distribution of each parameter has."""
    starts = problem.layout.distribution_starts()
    sizes = np.diff(starts, append=problem.layout.size)
    return np.repeat(sizes, sizes).astype(np.float64)


def _moved(problem: Problem, share: float) -> LinearConstraints:
    """The ordinary inequalities, moved towards a point inside of them."""
    linear = problem.model.constraints.linear
    bounds = linear.bounds.copy()
    for block in problem.model.blocks:
        interior = interior_of(block)
        if interior is None:
            raise InfeasibleError
        own = block.linear
        room = np.maximum(own.bounds - own.values(interior.point), 0.0)
        bounds[block.constraint_numbers] -= np.where(own.hard & ~own.equality, INSIDE * share * room, 0.0)
    return replace(linear, bounds=bounds)


def _moved_network_constraints(
    constraints: tuple[NetworkConstraint, ...], share: float
) -> tuple[NetworkConstraint, ...]:
    """The constraints, inequalities moved inside by a part of the distance to the opposite bound.

    Where none is stated, that is what probabilities can be at least.
    """

    def key(each: NetworkConstraint, sign: float) -> tuple[object, ...]:
        terms = sorted((sign * coefficient, term.events, term.conditions) for coefficient, term in each.terms)
        return tuple(terms), tuple(zip(each.indices, (sign * value for value in each.coefficients), strict=True))

    tightest: dict[tuple[object, ...], float] = {}
    for each in constraints:
        if each.confidence is None:
            tightest[key(each, 1.0)] = min(each.bound, tightest.get(key(each, 1.0), np.inf))
    found = []
    for each in constraints:
        least = sum(min(c, 0.0) for c in (*(coefficient for coefficient, _ in each.terms), *each.coefficients))
        width = each.bound + min(tightest.get(key(each, -1.0), np.inf), -least)
        inside = share * min(MOST_INSIDE, INSIDE * max(width, 0.0))
        is_moved = each.confidence is None and not each.equality
        found.append(replace(each, bound=each.bound - inside) if is_moved else each)
    return tuple(found)
