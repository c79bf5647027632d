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
from credo.sampling.general_updates import GeneralRegion
from credo.statistics.network_statements import NetworkStatements
from credo.types import Numbers

SHARES: tuple[tuple[float, Wanted], ...] = (  # of the room inside, by which bounds are moved there
    (0.1, "near point"),
    (0.001, "near point"),
    (0.1, "point"),
    (0.001, "point"),
)
OTHERS = 7  # points from which chains start, beside the first
INSIDE = 0.2  # of the distance from a bound to a point inside, or to the opposite bound
MOST_INSIDE = 0.02  # in probabilities


def network_region(problem: Problem) -> GeneralRegion:
    """The network constraints, and CPTs inside of all that they and the others allow, near the most probable ones."""
    statements = NetworkStatements.of(problem.model.constraints, problem.model.network, problem.settings.memory_limit)
    weights = problem.vector() + 1.0 / _states(problem)
    for number, (share, wanted) in enumerate(SHARES):
        if number == 1:
            problem.refuse_contradictions()
        moved = replace(
            problem.model.constraints,
            linear=_moved(problem, share),
            network_constraints=_moved_network_constraints(problem.model.constraints.network_constraints, share),
        )
        inside = problem.with_constraints(moved)
        try:
            found = optimum(inside, weights, 0.0, wanted=wanted)
        except InfeasibleError:
            continue
        theta = found.theta.copy()
        for name in problem.model.kept:
            theta[problem.layout.slice_of(name)] = problem.model.network.cpt_array(name).ravel()
        if statements.excess(theta)[statements.hard].max(initial=-np.inf) <= LIMIT:
            return GeneralRegion(statements, theta, _others(problem, inside, statements, theta, wanted))
    raise NoStartError(
        "No CPTs were found at which all statements hold, from which draws could start. That is no proof that there "
        "are none: run credo.check, or give a confidence to a statement about a probability that depends on "
        "several CPTs."
    )


def _others(
    problem: Problem, inside: Problem, statements: NetworkStatements, theta: Numbers, wanted: Wanted
) -> tuple[Numbers, ...]:
    """Other points at which everything holds, as far from the first as the data let CPTs be, for other chains.

    Chains that start at one point and hardly move agree with each other, whatever the truth is.
    """
    rng = np.random.default_rng([problem.settings.seed, len(statements)])
    starts, found = problem.layout.distribution_starts(), []
    weights = 0.5 * (problem.vector() + 1.0)  # twice the variance, so that starts are farther apart than draws
    totals = np.repeat(np.add.reduceat(weights, starts), np.diff(starts, append=problem.layout.size))
    for _ in range(OTHERS):
        drawn = rng.standard_gamma(weights)
        drawn /= np.repeat(np.add.reduceat(drawn, starts), np.diff(starts, append=problem.layout.size))
        try:
            point = optimum(inside, totals * drawn + 1e-3, 0.0, wanted=wanted).theta.copy()
        except (InfeasibleError, NoStartError):
            continue
        for name in problem.model.kept:
            point[problem.layout.slice_of(name)] = theta[problem.layout.slice_of(name)]
        if statements.excess(point)[statements.hard].max(initial=-np.inf) <= LIMIT:
            found.append(point)
    return tuple(found)


def nearest_cpts(problem: Problem, means: Mapping[str, Numbers]) -> tuple[Mapping[str, Numbers], float]:
    """The CPTs nearest to these at which all statements hold, and by how much one is missed if none were found.

    Every draw satisfies the statements, but what they allow is not convex: their mean may miss one by a little.
    """
    theta = problem.layout.pack({**problem.model.network.cpts, **means})
    steps = network_steps(problem, problem.vector() + 1.0, 0.0, theta)
    theta, values = steps.restored(theta)
    return problem.cpts(theta), float(steps.missed(values).max(initial=0.0))


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
    """The constraints, inequalities moved inside by a part of the distance to the opposite bound, if there is one."""

    def key(each: NetworkConstraint, sign: float) -> tuple[object, ...]:
        terms = sorted((sign * coefficient, term.events, term.conditions) for coefficient, term in each.terms)
        return tuple(terms), tuple(zip(each.indices, (sign * value for value in each.coefficients), strict=True))

    tightest: dict[tuple[object, ...], float] = {}
    for each in constraints:
        if each.confidence is None:
            tightest[key(each, 1.0)] = min(each.bound, tightest.get(key(each, 1.0), np.inf))
    found = []
    for each in constraints:
        width = each.bound + tightest.get(key(each, -1.0), np.inf)
        inside = share * min(MOST_INSIDE, INSIDE * max(width, 0.0))
        is_moved = each.confidence is None and not each.equality
        found.append(replace(each, bound=each.bound - inside) if is_moved else each)
    return tuple(found)
