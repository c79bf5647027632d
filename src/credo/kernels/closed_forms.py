"""Optima in closed form, compiled: blocks whose constraints have one of four shapes need no iterations.

Each function maximises Σ w log θ for weights that are all positive, writes θ and the constraints' multipliers, and
returns whether the constraints are feasible. The multipliers make the result certifiable like any other.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from credo.kernels.compiler import compiled

# The shapes, and what there is to say about each.
GENERAL, NO_CONSTRAINTS, BOXES, BOUNDED_SUMS, SUMS_AGAINST_SUMS, CHAIN = 0, 1, 2, 3, 4, 5

ROUNDING = 1e-12


@compiled
def shape_of(  # pragma: no cover
    weights: Any,
    distribution_of: Any,
    distributions: int,
    starts: Any,
    indices: Any,
    coefficients: Any,
    bounds: Any,
    equality: Any,
    softness: Any,
    chain_constraints: Any,  # (distributions,) out: the constraints of a chain, in order
) -> int:
    """Which closed form, if any, a block has the shape for."""
    n, m = len(weights), len(bounds)
    for i in range(n):
        if not weights[i] > 0.0:
            return GENERAL
    if m == 0:
        return NO_CONSTRAINTS
    for j in range(m):
        if equality[j] or softness[j] > 0.0 or starts[j + 1] == starts[j]:
            return GENERAL
    if distributions > 1:
        return (
            CHAIN
            if is_chain(distribution_of, distributions, starts, indices, coefficients, bounds, chain_constraints)
            else GENERAL
        )
    single = True
    for j in range(m):
        single &= starts[j + 1] - starts[j] == 1
    if single:
        return BOXES
    # Unit coefficients, and no parameter in two constraints: sums bounded by numbers, or by other sums.
    used = np.zeros(n, dtype=np.bool_)
    bounded, against = True, True
    for j in range(m):
        positive, negative = 0, 0
        size = abs(coefficients[starts[j]])
        for p in range(starts[j], starts[j + 1]):
            if used[indices[p]] or abs(abs(coefficients[p]) - size) > ROUNDING:
                return GENERAL
            used[indices[p]] = True
            if coefficients[p] > 0.0:
                positive += 1
            else:
                negative += 1
        bounded &= negative == 0
        against &= negative > 0 and positive > 0 and bounds[j] == 0.0
    if bounded:
        return BOUNDED_SUMS
    return SUMS_AGAINST_SUMS if against else GENERAL


@compiled
def is_chain(  # pragma: no cover
    distribution_of: Any,
    distributions: int,
    starts: Any,
    indices: Any,
    coefficients: Any,
    bounds: Any,
    chain_constraints: Any,
) -> bool:
    """Whether constraints p_a ≤ p_b put distributions with two states into one total order; p is P(second state).

    chain_constraints[k] becomes the constraint between the k-th and the next distribution of the order, and its last
    entry the first distribution.
    """
    n, m = len(distribution_of), len(bounds)
    if n != 2 * distributions:
        return False
    below = np.zeros(distributions, dtype=np.int64)  # in how many constraints a distribution is the larger one
    for j in range(m):
        if starts[j + 1] - starts[j] != 2 or bounds[j] != 0.0:
            return False
        p, q = starts[j], starts[j] + 1
        if abs(coefficients[p] + coefficients[q]) > ROUNDING or (indices[p] & 1) != (indices[q] & 1):
            return False
        a, b = ends(j, starts, indices, coefficients)
        if a == b:
            return False
        below[b] += 1
    # Peel off the smallest again and again: in a total order there is one each time, with a constraint to the next.
    left = below.copy()
    current = -1
    for d in range(distributions):
        if left[d] == 0:
            if current >= 0:
                return False
            current = d
    if current < 0:
        return False
    chain_constraints[distributions - 1] = current
    for k in range(distributions - 1):
        following, constraint = -1, -1
        for j in range(m):
            a, b = ends(j, starts, indices, coefficients)
            if a == current:
                left[b] -= 1
                if left[b] == 0:
                    if following >= 0 and following != b:
                        return False
                    following, constraint = b, j
        if following < 0:
            return False
        chain_constraints[k] = constraint
        current = following
    return True


@compiled(inline="always")
def ends(j: int, starts: Any, indices: Any, coefficients: Any) -> tuple[int, int]:  # pragma: no cover
    """The distributions a, b of a constraint p_a ≤ p_b; on first states, it is the opposite on second states."""
    p, q = starts[j], starts[j] + 1
    if coefficients[p] < 0.0:
        p, q = q, p
    small, large = indices[p] >> 1, indices[q] >> 1
    if indices[p] & 1:
        return small, large
    return large, small


@compiled
def without_constraints(weights: Any, distribution_of: Any, distributions: int, theta: Any) -> bool:  # pragma: no cover
    """θ = w / Σ w in each distribution."""
    totals = np.zeros(distributions)
    for i in range(len(weights)):
        totals[distribution_of[i]] += weights[i]
    for i in range(len(weights)):
        theta[i] = weights[i] / totals[distribution_of[i]]
    return True


@compiled
def boxes(  # pragma: no cover
    weights: Any, starts: Any, indices: Any, coefficients: Any, bounds: Any, theta: Any, multipliers: Any
) -> bool:
    """Ranges in one distribution: θ_i = w_i/λ cut off at its range, with the one λ that makes the sum one.

    Σ_i cut(w_i/λ) falls in λ and is simple between the breakpoints w_i/lower_i and w_i/upper_i: sort them, find the
    piece in which the sum passes one, and solve there.
    """
    n, m = len(weights), len(bounds)
    lower, upper = np.zeros(n), np.ones(n)
    for j in range(m):
        i, bound = indices[starts[j]], bounds[j] / coefficients[starts[j]]
        if coefficients[starts[j]] > 0.0:
            upper[i] = min(upper[i], bound)
        else:
            lower[i] = max(lower[i], bound)
    total_lower, total_upper = 0.0, 0.0
    for i in range(n):
        if lower[i] > upper[i] + ROUNDING or upper[i] <= 0.0:
            return False
        total_lower += lower[i]
        total_upper += upper[i]
    if total_lower > 1.0 + ROUNDING or total_upper < 1.0 - ROUNDING:
        return False
    points = np.empty(2 * n)
    for i in range(n):
        points[2 * i] = weights[i] / upper[i]
        points[2 * i + 1] = weights[i] / lower[i] if lower[i] > 0.0 else np.inf
    points.sort()
    low, high = 0, 2 * n - 1  # bisect for the last breakpoint at which the sum is at least one
    while low < high:
        middle = (low + high + 1) // 2
        total = 0.0
        for i in range(n):
            total += min(max(weights[i] / points[middle], lower[i]), upper[i])
        if total >= 1.0:
            low = middle
        else:
            high = middle - 1
    level = points[low]
    if level == np.inf:
        return False  # the lower ends leave nothing to whoever has none
    inside, fixed = 0.0, 0.0
    for i in range(n):
        # Just beyond the breakpoint: who is between its ends moves with λ.
        if weights[i] >= upper[i] * level * (1.0 + 1e-15) and weights[i] / upper[i] > level:
            fixed += upper[i]
        elif lower[i] > 0.0 and weights[i] / lower[i] <= level:
            fixed += lower[i]
        else:
            inside += weights[i]
    if inside > 0.0 and fixed < 1.0:
        level = max(level, inside / (1.0 - fixed))
    for i in range(n):
        theta[i] = min(max(weights[i] / level, lower[i]), upper[i])
    multipliers[:] = 0.0
    carried = np.zeros(n, dtype=np.bool_)
    for j in range(m):
        # The first constraint that sets the end which θ sits on carries the multiplier.
        i, coefficient = indices[starts[j]], coefficients[starts[j]]
        pull, bound = weights[i] / theta[i] - level, bounds[j] / coefficient
        above = pull > 0.0 and coefficient > 0.0 and bound == upper[i]
        below = pull < 0.0 and coefficient < 0.0 and bound == lower[i]
        if not carried[i] and (above or below):
            multipliers[j] = pull / coefficient
            carried[i] = True
    return True


@compiled
def bounded_sums(  # pragma: no cover
    weights: Any, starts: Any, indices: Any, coefficients: Any, bounds: Any, theta: Any, multipliers: Any
) -> bool:
    """Upper bounds α_k on sums over disjoint sets A_k [niculescu, theorem 4.2, algorithm 4.1].

    A tight set shares α_k by its counts, the rest shares 1 − Σ α by theirs. The tight sets are found by adding those
    that are violated, until none is: what is tight once stays so, because the rest only gets more.
    """
    n, m = len(weights), len(bounds)
    total = 0.0
    for i in range(n):
        total += weights[i]
    sums, alpha = np.zeros(m), np.empty(m)
    covered, all_alpha = 0, 0.0
    for j in range(m):
        alpha[j] = bounds[j] / coefficients[starts[j]]
        if alpha[j] <= 0.0:
            return False
        covered += starts[j + 1] - starts[j]
        all_alpha += alpha[j]
        for p in range(starts[j], starts[j + 1]):
            sums[j] += weights[indices[p]]
    if covered == n and all_alpha < 1.0 - ROUNDING:
        return False  # the bounds leave less than one: a conflict
    all_tight = covered == n and all_alpha <= 1.0 + ROUNDING
    tight = np.full(m, all_tight)
    level = 0.0
    while not all_tight:
        free_weight, free_mass = total, 1.0
        for j in range(m):
            if tight[j]:
                free_weight -= sums[j]
                free_mass -= alpha[j]
        if free_mass <= 0.0 or free_weight <= 0.0:
            return False  # nothing is left for the others, by rounding
        level = free_weight / free_mass
        changed = False
        for j in range(m):
            if not tight[j] and sums[j] > alpha[j] * level:
                tight[j] = True
                changed = True
        if not changed:
            break
    if all_tight:
        level = np.inf
        for j in range(m):
            level = min(level, sums[j] / alpha[j])
    for i in range(n):
        theta[i] = weights[i] / level
    for j in range(m):
        multipliers[j] = 0.0
        if tight[j]:
            for p in range(starts[j], starts[j + 1]):
                theta[indices[p]] = alpha[j] * weights[indices[p]] / sums[j]
            multipliers[j] = max(0.0, sums[j] / alpha[j] - level) / coefficients[starts[j]]
    return True


@compiled
def sums_against_sums(  # pragma: no cover
    weights: Any, starts: Any, indices: Any, coefficients: Any, theta: Any, multipliers: Any
) -> bool:
    """ΣA_k ≤ ΣB_k over disjoint sets [niculescu, theorem 4.1].

    Where N_A ≥ N_B the constraint is tight and both sets get (N_A + N_B)/(2N), shared by their counts; elsewhere it is
    slack.
    """
    n, m = len(weights), len(starts) - 1
    total = 0.0
    for i in range(n):
        total += weights[i]
    for i in range(n):
        theta[i] = weights[i] / total
    for j in range(m):
        small, large = 0.0, 0.0
        for p in range(starts[j], starts[j + 1]):
            if coefficients[p] > 0.0:
                small += weights[indices[p]]
            else:
                large += weights[indices[p]]
        multipliers[j] = 0.0
        if small >= large:
            share = (small + large) / (2.0 * total)
            for p in range(starts[j], starts[j + 1]):
                theta[indices[p]] = weights[indices[p]] * share / (small if coefficients[p] > 0.0 else large)
            multipliers[j] = total * (small - large) / (small + large) / abs(coefficients[starts[j]])
    return True


@compiled
def chain(  # pragma: no cover
    weights: Any,
    distributions: int,
    starts: Any,
    indices: Any,
    coefficients: Any,
    chain_constraints: Any,
    theta: Any,
    multipliers: Any,
) -> bool:
    """A total order p_1 ≤ p_2 ≤ … of distributions with two states: pool adjacent violators.

    Neighbours in the wrong order share the proportion of their pooled counts [ayer 1955; feelders 2006]. The
    multiplier between two of one pool is what the first ones still pull: z_k = z_(k−1) − gradient_k.
    """
    order = np.empty(distributions, dtype=np.int64)
    order[0] = chain_constraints[distributions - 1]
    for k in range(distributions - 1):
        order[k + 1] = ends(chain_constraints[k], starts, indices, coefficients)[1]
    yes, no = np.empty(distributions), np.empty(distributions)
    length = np.empty(distributions, dtype=np.int64)
    pools = 0
    for k in range(distributions):
        no[pools], yes[pools], length[pools] = weights[2 * order[k]], weights[2 * order[k] + 1], 1
        pools += 1
        while pools > 1 and yes[pools - 2] * no[pools - 1] > yes[pools - 1] * no[pools - 2]:
            pools -= 1
            yes[pools - 1] += yes[pools]
            no[pools - 1] += no[pools]
            length[pools - 1] += length[pools]
    multipliers[:] = 0.0
    k = 0
    for pool in range(pools):
        # Both shares by themselves: 1 − share would be zero beside a count that EM has made very small.
        yes_share, no_share = yes[pool] / (yes[pool] + no[pool]), no[pool] / (yes[pool] + no[pool])
        z = 0.0
        for i in range(length[pool]):
            d = order[k]
            theta[2 * d], theta[2 * d + 1] = no_share, yes_share
            z += weights[2 * d + 1] / yes_share - weights[2 * d] / no_share
            if i < length[pool] - 1:
                constraint = chain_constraints[k]
                multipliers[constraint] = max(0.0, z) / abs(coefficients[starts[constraint]])
            k += 1
    return True
