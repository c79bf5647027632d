"""Optima in closed form, in plain NumPy: the reference of `kernels/closed_forms.py`, and what solves small problems.

Blocks whose weights are all positive and whose constraints have one of four shapes need no iterations. Each function
returns θ and the multipliers of the constraints, or None where the constraints cannot hold. As everywhere, what
decides is the certificate of the result.
"""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from credo.constraints.constraint_set import LinearConstraints
from credo.estimation.solvers.tasks import Task
from credo.kernels.closed_forms import (
    BOUNDED_SUMS,
    BOXES,
    CHAIN,
    GENERAL,
    NO_CONSTRAINTS,
    ROUNDING,
    SUMS_AGAINST_SUMS,
)
from credo.types import Indices, Numbers

Optimum = tuple[Numbers, Numbers]  # θ and multipliers


def closed_form(task: Task) -> tuple[int, Optimum | None]:
    """Which closed form a block has the shape for (`GENERAL`: none), and its optimum."""
    block, linear, weights = task.block, task.block.linear, task.weights
    if not (weights > 0).all() or (task.entropies is not None and task.entropies.any()):
        return GENERAL, None
    if not len(linear):
        return NO_CONSTRAINTS, (_shares(weights, block.distribution_of), np.zeros(0))
    if linear.equality.any() or not linear.hard.all() or not linear.lengths.all():
        return GENERAL, None
    if len(block.distributions) > 2:
        order = chain_order(linear, len(block.distributions) - 1) if (np.diff(block.distributions) == 2).all() else None
        return (GENERAL, None) if order is None else (CHAIN, chain(weights, linear, order))
    if (linear.lengths == 1).all():
        return BOXES, boxes(weights, linear)
    if len(np.unique(linear.indices)) < len(linear.indices):
        return GENERAL, None  # a parameter in two constraints
    first = np.abs(linear.coefficients[linear.starts[:-1]])[linear.entry_constraints]
    if (np.abs(np.abs(linear.coefficients) - first) > ROUNDING * first).any():
        return GENERAL, None
    positive = np.bincount(linear.entry_constraints, linear.coefficients > 0, len(linear))
    if (positive == linear.lengths).all():
        return BOUNDED_SUMS, bounded_sums(weights, linear)
    if (positive > 0).all() and (positive < linear.lengths).all() and not linear.bounds.any():
        return SUMS_AGAINST_SUMS, sums_against_sums(weights, linear)
    return GENERAL, None


def _shares(weights: Numbers, of: Indices) -> Numbers:
    """θ = w / Σ w in each distribution."""
    return np.asarray(weights / np.bincount(of, weights)[of])


def boxes(weights: Numbers, linear: LinearConstraints) -> Optimum | None:
    """Ranges in one distribution: θ_i = w_i/λ cut off at its range, with the one λ that makes the sum one.

    Σ_i cut(w_i/λ) falls in λ and is simple between the breakpoints w_i/lower_i and w_i/upper_i.
    """
    ends = linear.bounds / linear.coefficients + 0.0  # −0.0 would be a breakpoint at −∞
    is_upper = linear.coefficients > 0
    lower, upper = np.zeros(len(weights)), np.ones(len(weights))
    np.minimum.at(upper, linear.indices[is_upper], ends[is_upper])
    np.maximum.at(lower, linear.indices[~is_upper], ends[~is_upper])
    if (lower > upper + ROUNDING).any() or (upper <= 0).any():
        return None
    if lower.sum() > 1 + ROUNDING or upper.sum() < 1 - ROUNDING:
        return None
    with np.errstate(divide="ignore"):
        points = np.sort(np.concatenate((weights / upper, weights / lower)))
    sums = np.clip(weights / points[:, None], lower, upper).sum(axis=1)
    last = max(0, int(np.count_nonzero(sums >= 1)) - 1)  # the last breakpoint at which the sum is at least one
    level = float(points[last])
    if level == np.inf:
        return None  # the lower ends leave nothing to parameters without one
    # Just beyond the breakpoint, what is between its ends moves with λ.
    with np.errstate(divide="ignore"):
        at_upper, at_lower = weights / upper > level, weights / lower <= level
    inside, fixed = weights[~at_upper & ~at_lower].sum(), upper[at_upper].sum() + lower[at_lower & ~at_upper].sum()
    if inside > 0 and fixed < 1:
        level = max(level, inside / (1 - fixed))
    theta = np.clip(weights / level, lower, upper)
    pull = weights / theta - level
    multipliers = np.zeros(len(linear))
    for i in np.flatnonzero(pull):  # the first constraint that sets the end which θ sits on carries the multiplier
        end = upper[i] if pull[i] > 0 else lower[i]
        at_end = (linear.indices == i) & (is_upper == (pull[i] > 0)) & (ends == end)
        if at_end.any():
            j = int(np.argmax(at_end))
            multipliers[j] = pull[i] / linear.coefficients[j]
    return theta, multipliers


def bounded_sums(weights: Numbers, linear: LinearConstraints) -> Optimum | None:
    """Upper bounds α_k on sums over disjoint sets A_k [niculescu, theorem 4.2, algorithm 4.1].

    A tight set shares α_k by its counts, the rest shares 1 − Σ α by theirs. The tight sets are found by adding those
    that are violated, until none is: what is tight once stays so, because the rest only gets more.
    """
    of, indices = linear.entry_constraints, linear.indices
    alpha = linear.bounds / linear.coefficients[linear.starts[:-1]]
    if (alpha <= 0).any():
        return None
    sums = np.bincount(of, weights[indices], len(linear))
    covered = len(indices) == len(weights)
    if covered and alpha.sum() < 1 - ROUNDING:
        return None  # the bounds leave less than one
    if covered and alpha.sum() <= 1 + ROUNDING:
        tight, level = np.ones(len(linear), dtype=np.bool_), float((sums / alpha).min())
    else:
        tight = np.zeros(len(linear), dtype=np.bool_)
        while True:
            free_weight, free_mass = float(weights.sum() - sums[tight].sum()), float(1.0 - alpha[tight].sum())
            if free_mass <= 0.0 or free_weight <= 0.0:
                return None  # nothing is left for the others, by rounding
            level = free_weight / free_mass
            more = ~tight & (sums > alpha * level)
            if not more.any():
                break
            tight |= more
    theta = weights / level
    inside = tight[of]
    theta[indices[inside]] = (alpha / sums)[of[inside]] * weights[indices[inside]]
    multipliers = np.where(tight, np.maximum(0, sums / alpha - level), 0) / linear.coefficients[linear.starts[:-1]]
    return theta, multipliers


def sums_against_sums(weights: Numbers, linear: LinearConstraints) -> Optimum:
    """ΣA_k ≤ ΣB_k over disjoint sets [niculescu, theorem 4.1].

    Where N_A ≥ N_B the constraint is tight and both sets get (N_A + N_B)/(2N), shared by their counts; else it changes
    nothing.
    """
    of, indices, left = linear.entry_constraints, linear.indices, linear.coefficients > 0
    total = weights.sum()
    small = np.bincount(of[left], weights[indices[left]], len(linear))
    large = np.bincount(of[~left], weights[indices[~left]], len(linear))
    tight = small >= large
    share = (small + large) / (2 * total)
    theta = weights / total
    changed = tight[of]
    side = np.where(left, small[of], large[of])
    theta[indices[changed]] = (weights[indices] * share[of] / side)[changed]
    multiplier = total * (small - large) / (small + large) / np.abs(linear.coefficients[linear.starts[:-1]])
    return theta, np.where(tight, multiplier, 0.0)


def chain_order(linear: LinearConstraints, distributions: int) -> tuple[list[int], list[int]] | None:
    """Whether constraints p_a ≤ p_b put distributions with two states into one total order; p is the second state.

    The distributions from the smallest to the largest, and the constraint between each and the next.
    """
    if (linear.lengths != 2).any() or linear.bounds.any():
        return None
    pairs, values = linear.indices.reshape(-1, 2), linear.coefficients.reshape(-1, 2)
    if (np.abs(values.sum(axis=1)) > ROUNDING * np.abs(values[:, 0])).any() or (
        pairs[:, 0] % 2 != pairs[:, 1] % 2
    ).any():
        return None
    at_most = np.where(values[:, 0] > 0, pairs[:, 0], pairs[:, 1])
    at_least = np.where(values[:, 0] > 0, pairs[:, 1], pairs[:, 0])
    # A constraint on first states says the opposite of second states.
    small = np.where(at_most % 2 == 1, at_most, at_least) // 2
    large = np.where(at_most % 2 == 1, at_least, at_most) // 2
    if (small == large).any():
        return None
    between = {(int(a), int(b)): constraint for constraint, (a, b) in enumerate(zip(small, large, strict=True))}
    below = np.bincount(large, minlength=distributions)  # in how many constraints a distribution is the larger one
    order: list[int] = []
    while True:  # take the smallest away again and again: in a total order there is one each time
        smallest = [d for d in np.flatnonzero(below == 0).tolist() if d not in order]
        if len(smallest) != 1:
            break
        order += smallest
        below -= np.bincount(large[small == smallest[0]], minlength=distributions)
    if len(order) < distributions or any(pair not in between for pair in pairwise(order)):
        return None
    return order, [between[pair] for pair in pairwise(order)]


def chain(weights: Numbers, linear: LinearConstraints, order: tuple[list[int], list[int]]) -> Optimum:
    """A total order p_1 ≤ p_2 ≤ … of distributions with two states: pool adjacent violators.

    Neighbours in the wrong order share the proportion of their pooled counts [ayer 1955; feelders 2006]. The
    multiplier between two of one pool is what the first ones still pull: z_k = z_(k−1) − gradient_k.
    """
    distributions, constraints = order
    pools: list[tuple[float, float, list[int]]] = []  # counts of both states, and places in the order
    for place, d in enumerate(distributions):
        pools.append((float(weights[2 * d]), float(weights[2 * d + 1]), [place]))
        while len(pools) > 1 and pools[-2][1] * pools[-1][0] > pools[-1][1] * pools[-2][0]:
            (no, yes, places), (more_no, more_yes, more_places) = pools[-2], pools.pop()
            pools[-1] = (no + more_no, yes + more_yes, places + more_places)
    theta, multipliers = np.empty(len(weights)), np.zeros(len(linear))
    for no, yes, places in pools:
        # Both shares by themselves: 1 − share would be zero beside a count that EM has made very small.
        no_share, yes_share, z = no / (no + yes), yes / (no + yes), 0.0
        for place in places:
            d = distributions[place]
            theta[2 * d], theta[2 * d + 1] = no_share, yes_share
            z += weights[2 * d + 1] / yes_share - weights[2 * d] / no_share
            if place != places[-1]:
                j = constraints[place]
                multipliers[j] = max(0.0, z) / abs(linear.coefficients[linear.starts[j]])
    return theta, multipliers
