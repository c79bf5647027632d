"""Tasks whose statements are ranges of single probabilities: all of them at once, in closed form.

With θ between l and u, the minimum over one distribution of Σ −w log θ is θ = cut(w·μ), that of Σ θ log θ is
θ = cut(μ), each with the one μ that makes the sum one: the same problem, with equal weights where entropy decides.
Σ cut(w·μ) grows with μ and is linear between the points where a θ reaches an end of its range. Where all states with a
weight are at their upper ends and something is left, the states without one share it as evenly as they may.

`P(y=yes | each other parent) <= 0.3` with fourteen parents makes 16,384 such tasks, each smaller than the overhead of
any solver that takes them one by one.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from credo.constraints.blocks import stacked, starts_of
from credo.constraints.constraint_set import LinearConstraints
from credo.estimation.solvers.certificate import GAP_LIMIT, VIOLATION_LIMIT, certify_many
from credo.estimation.solvers.tasks import Point, Task
from credo.kernels.closed_forms import BOXES, NO_CONSTRAINTS, ROUNDING
from credo.types import Flags, Indices, Numbers

ITERATIONS = 200  # of a search that halves at least


def has_ranges_only(task: Task) -> bool:
    """Whether there are as many constraints as numbers in them: none, or one number each."""
    linear = task.block.linear
    return len(linear.indices) == len(linear.bounds)


def solve_ranges(tasks: Sequence[Task]) -> dict[int, Point]:
    """The optimum of those tasks, by position, whose hard constraints bound one probability each.

    Left out are tasks with other constraints, and those that need another solver's judgement: statements that conflict,
    or that leave no probability to what has a weight.
    """
    chosen = [k for k, task in enumerate(tasks) if has_ranges_only(task)]
    if not chosen:
        return {}
    own = [tasks[k] for k in chosen]
    parameters = starts_of([task.block.size for task in own])
    distributions = starts_of([len(task.block.distributions) - 1 for task in own])
    constraints = starts_of([len(task.block.linear) for task in own])
    whole = stacked([task.block for task in own])
    linear, starts, of = whole.linear, whole.distributions[:-1], whole.distribution_of
    weights = np.concatenate([task.weights for task in own])
    entropies = np.concatenate([np.zeros(t.block.size) if t.entropies is None else t.entropies for t in own])

    lower, upper = _ranges_of(linear, len(weights))
    entropic = np.maximum.reduceat(entropies, starts) > 0.0
    unseen = ~entropic & (np.add.reduceat(weights, starts) == 0.0)  # anything is as good; entropy decides
    pulls = np.where((entropic | unseen)[of], 1.0, weights)
    theta, level, possible = shared(pulls, lower, upper, starts, of)
    pull = np.where(unseen[of], 0.0, _pull(weights, entropies, theta, level, of))
    multipliers = _multipliers(linear, theta, pull, lower, upper)
    violation, gap = certify_many(whole, weights, entropies, theta, multipliers, distributions, constraints)
    possible &= ~_mixed(weights, entropies, starts)
    fine = np.logical_and.reduceat(possible, distributions[:-1]) & (violation <= VIOLATION_LIMIT) & (gap <= GAP_LIMIT)
    fine &= _bound_one_each(linear, constraints) & np.array([task.costs is None for task in own])
    bounds = zip(
        chosen,
        fine.tolist(),
        *(each.tolist() for each in (parameters[:-1], parameters[1:], constraints[:-1], constraints[1:])),
        violation.tolist(),
        gap.tolist(),
        strict=True,
    )
    return {
        k: Point(
            theta[p:q], multipliers[r:t], 0, True, violated, left, BOXES if r < t else NO_CONSTRAINTS
        )
        for k, good, p, q, r, t, violated, left in bounds
        if good
    }  # fmt: skip


def _bound_one_each(linear: LinearConstraints, firsts: Indices) -> Flags:
    """Whether the constraints of each task are hard and bound one number each."""
    owner = np.repeat(np.arange(len(firsts) - 1), np.diff(firsts))
    others = (linear.lengths != 1) | ~linear.hard
    return np.asarray(np.bincount(owner[others], minlength=len(firsts) - 1) == 0)


def _mixed(weights: Numbers, entropies: Numbers, starts: Indices) -> Flags:
    """Distributions with weights and entropies, or with different entropies."""
    most, least = np.maximum.reduceat(entropies, starts), np.minimum.reduceat(entropies, starts)
    return np.asarray((most > 0.0) & ((np.add.reduceat(weights, starts) > 0.0) | (most != least)))


def _ranges_of(linear: LinearConstraints, size: int) -> tuple[Numbers, Numbers]:
    """The ends of each parameter's range."""
    lower, upper = np.zeros(size), np.ones(size)
    ends = linear.bounds / linear.coefficients + 0.0
    is_upper, is_lower = _sides(linear)
    np.minimum.at(upper, linear.indices[is_upper], ends[is_upper])
    np.maximum.at(lower, linear.indices[is_lower], ends[is_lower])
    return lower, upper


def _sides(linear: LinearConstraints) -> tuple[Flags, Flags]:
    positive = linear.coefficients > 0.0
    return positive | linear.equality, ~positive | linear.equality


def shared(
    weights: Numbers, lower: Numbers, upper: Numbers, starts: Indices, of: Indices
) -> tuple[Numbers, Numbers, Flags]:
    """θ = cut(w·μ) with the sum one in each distribution, 1/μ, and whether there is such a θ."""
    count = len(starts)
    possible = np.logical_and.reduceat((lower <= upper + ROUNDING) & (upper >= 0.0) & (lower <= 1.0), starts)
    lowest, highest = np.add.reduceat(lower, starts), np.add.reduceat(upper, starts)
    possible &= (lowest <= 1.0 + ROUNDING) & (highest >= 1.0 - ROUNDING)
    seen = weights > 0.0
    no_room = (upper <= VIOLATION_LIMIT) | ((lower <= 0.0) & (lowest >= 1.0 - VIOLATION_LIMIT)[of])
    possible &= ~np.logical_or.reduceat(seen & no_room, starts)
    reached = np.add.reduceat(np.where(seen, upper, lower), starts)
    full = possible & (reached < 1.0)  # states with a weight have all they may
    theta, level = _cut(np.where(seen, weights, 0.0), lower, upper, np.ones(count), possible & ~full, starts, of)
    if full.any():
        rest = 1.0 - np.add.reduceat(np.where(seen, upper, 0.0), starts)
        low, high = np.where(seen, 0.0, lower), np.where(seen, 0.0, upper)
        others, _ = _cut(np.where(seen, 0.0, 1.0), low, high, rest, full, starts, of)
        theta = np.where(full[of], np.where(seen, upper, others), theta)
        level = np.where(full, 0.0, level)
    sums = np.add.reduceat(theta, starts)
    return theta / np.where(sums > 0.0, sums, 1.0)[of], level, possible


def _cut(
    weights: Numbers, lower: Numbers, upper: Numbers, totals: Numbers, wanted: Flags, starts: Indices, of: Indices
) -> tuple[Numbers, Numbers]:
    """cut(w·μ) with these sums, and 1/μ: Newton's method on a broken line, halving where that leaves the bracket."""
    seen = weights > 0.0
    w = np.where(seen, np.maximum(weights, 1e-300), 1.0)  # expected counts can be as small as numbers get
    low = np.zeros(len(starts))
    high = np.maximum.reduceat(np.where(seen, upper / w, 0.0), starts)  # all at their upper ends
    mu = np.where(wanted, np.minimum(totals / np.maximum(np.add.reduceat(weights, starts), 1e-300), high), 1.0)
    moving = wanted.copy()
    for _ in range(ITERATIONS):
        free = weights * mu[of]
        theta = np.minimum(np.maximum(free, lower), upper)
        excess = np.add.reduceat(theta, starts) - totals
        inside = seen & (free > lower) & (free < upper)
        slope = np.add.reduceat(np.where(inside, weights, 0.0), starts)
        moving &= np.abs(excess) > 2e-16 * np.maximum(totals, 1e-300)
        high, low = (
            np.where(excess > 0.0, np.minimum(high, mu), high),
            np.where(excess <= 0.0, np.maximum(low, mu), low),
        )
        moving &= high > low * (1.0 + 2e-16)
        if not moving.any():
            break
        with np.errstate(over="ignore"):  # of a step that is too long to be taken
            newton = mu - excess / np.where(slope > 0.0, slope, 1.0)
        halved = np.where(low > 0.0, np.sqrt(low) * np.sqrt(high), 0.5 * high)
        good = (slope > 0.0) & (newton > low) & (newton < high)
        mu = np.where(moving, np.where(good, newton, halved), mu)
    return np.minimum(np.maximum(weights * mu[of], lower), upper), 1.0 / np.maximum(mu, 1e-300)


def _pull(weights: Numbers, entropies: Numbers, theta: Numbers, level: Numbers, of: Indices) -> Numbers:
    """What a unit more of each θ would gain, beyond what it costs the others: zero inside of its range."""
    above, own = np.maximum(theta, 1e-300), level[of]
    by_entropy = -entropies * np.log(above * np.where(entropies > 0.0, own, 1.0))
    with np.errstate(over="ignore"):  # of a weight that meets a zero, which no certificate covers
        return np.where(entropies > 0.0, by_entropy, weights / above - own)


def _multipliers(linear: LinearConstraints, theta: Numbers, pull: Numbers, lower: Numbers, upper: Numbers) -> Numbers:
    """The first constraint that sets the end which θ is at carries its pull."""
    found = np.zeros(len(linear))
    if not len(linear):
        return found
    ends, at = linear.bounds / linear.coefficients + 0.0, linear.indices
    is_upper, is_lower = _sides(linear)
    carries = (is_upper & (pull[at] > 0.0) & (ends == upper[at])) | (is_lower & (pull[at] < 0.0) & (ends == lower[at]))
    places = np.flatnonzero(carries & (np.abs(theta[at] - ends) <= ROUNDING))
    first = places[np.unique(at[places], return_index=True)[1]]
    with np.errstate(over="ignore"):  # as in `_pull`
        found[first] = pull[at[first]] / linear.coefficients[first]
    return found
