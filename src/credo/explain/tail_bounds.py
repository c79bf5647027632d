"""How probable it can be at most that a constraint fails, and that it holds: bounds that cost next to nothing.

Conditional distributions are independent Dirichlet(α). Two bounds on the tails of Σ c·θ with mean μ and variance σ²
hold whatever its shape, and the smaller is taken:

* Cantelli's: P(X ≥ μ + g) ≤ σ² / (σ² + g²).
* exp(−g² / 2v) with v = Σ r² / 4(α₀ + 1), r the range of the coefficients in a distribution and α₀ = Σ α. A Beta
  variable is sub-Gaussian with 1 / 4(α₀ + 1) [Marchal and Arbel, 2017]; a linear form of a Dirichlet vector is the
  conditional mean of a Beta variable with the same α₀, scaled to the range, so that its moments are no larger.

With every α at least one all densities are log-concave, and so are those of linear forms. Such a variable is on either
side of its mean with a probability of at least 1/e, and beyond t standard deviations from it with at least 1/e − t
[Bertsimas and Vempala, 2004]: a third bound, for constraints that the mean satisfies or misses by little. A constraint
on one sum of states is decided exactly: the sum is a Beta variable.

Products are linear in log θ, with E log θ = ψ(α) − ψ(α₀) and Cov(log θᵢ, log θⱼ) = [i = j] ψ'(αᵢ) − ψ'(α₀); there
Cantelli's bound is taken alone.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from credo.constraints.blocks import Block
from credo.types import Indices, Numbers


@dataclass(frozen=True, slots=True, eq=False)
class TailBounds:
    """For each constraint of a block, linear ones first, then products.

    `excess` is the distance from the mean to the bound in standard deviations: positive where the mean violates it.
    """

    statements: Indices
    fails: Numbers  # P(it fails) is at most this
    holds: Numbers  # P(it holds) is at most this
    excess: Numbers


def tail_bounds(block: Block, concentration: Numbers, tolerance: float) -> TailBounds:
    """The bounds under independent Dirichlet distributions; equalities are read as equal within the tolerance."""
    totals = np.add.reduceat(concentration, block.distributions[:-1])
    linear = block.linear
    mean, variance, proxy = _linear_moments(block, concentration, totals)
    slack = np.where(linear.equality, tolerance, 0.0)
    above = mean - linear.bounds - slack  # positive: the mean is too large
    below = np.where(linear.equality, linear.bounds - mean - slack, -np.inf)
    fails = _tail(-above, variance, proxy) + np.where(linear.equality, _tail(-below, variance, proxy), 0.0)
    excess = np.maximum(above, below)
    holds = _tail(excess, variance, proxy)
    deviation = np.sqrt(np.maximum(variance, 1e-300))
    if len(concentration) and concentration.min() >= 1.0:  # one-sided, so not for equalities
        at_least = np.clip(np.exp(-1.0) - np.maximum(above / deviation, 0.0), 0.0, 1.0)
        fails = np.where(linear.equality, fails, np.minimum(fails, 1.0 - at_least))
    one_sum, exact = _one_sum_probabilities(block, concentration, totals, slack)
    fails[one_sum], holds[one_sum] = 1.0 - exact, exact
    if not block.products:
        return TailBounds(linear.statements, np.minimum(fails, 1.0), holds, excess / deviation)
    own = [_product_tails(block, number, concentration, totals) for number in range(len(block.products))]
    more = np.array(own).reshape(-1, 3)
    return TailBounds(
        np.concatenate((linear.statements, [product.statement for product in block.products])).astype(np.int64),
        np.concatenate((np.minimum(fails, 1.0), more[:, 0])),
        np.concatenate((holds, more[:, 1])),
        np.concatenate((excess / deviation, more[:, 2])),
    )


def _linear_moments(block: Block, concentration: Numbers, totals: Numbers) -> tuple[Numbers, Numbers, Numbers]:
    """The mean, the variance and the variance proxy of each linear form."""
    linear, count = block.linear, len(block.linear)
    if not linear.indices.size:
        return np.zeros(count), np.zeros(count), np.zeros(count)
    owner, mean = block.distribution_of[linear.indices], concentration[linear.indices]
    # Entries of one constraint in one distribution belong together; sorted, they follow each other.
    key = linear.entry_constraints * np.int64(len(totals)) + owner
    order = np.argsort(key, kind="stable")
    key, coefficients = key[order], linear.coefficients[order]
    mean = mean[order] / totals[owner[order]]
    firsts = np.flatnonzero(np.diff(key, prepend=-1))
    constraint, distribution = np.divmod(key[firsts], len(totals))
    first_moment = np.add.reduceat(coefficients * mean, firsts)
    second_moment = np.add.reduceat(coefficients**2 * mean, firsts)
    sizes, lengths = np.diff(block.distributions)[distribution], np.diff([*firsts.tolist(), len(key)])
    largest, least = np.maximum.reduceat(coefficients, firsts), np.minimum.reduceat(coefficients, firsts)
    partial = lengths < sizes  # states that are not named have the coefficient zero
    spread = np.where(partial, np.maximum(largest, 0.0) - np.minimum(least, 0.0), largest - least)
    scale = 1.0 / (totals[distribution] + 1.0)
    variances = np.maximum(second_moment - first_moment**2, 0.0) * scale
    mean, variance, proxy = (
        np.asarray(np.bincount(constraint, part, count), dtype=np.float64)
        for part in (first_moment, variances, spread**2 * scale / 4.0)
    )
    return mean, variance, proxy


def _one_sum_probabilities(
    block: Block, concentration: Numbers, totals: Numbers, slack: Numbers
) -> tuple[Indices, Numbers]:
    """The constraints of one sum of states in one distribution, which is a Beta variable; and P(it holds), exactly."""
    from scipy.special import betainc, betaincc

    linear = block.linear
    if not linear.indices.size:
        return np.zeros(0, dtype=np.int64), np.zeros(0)
    firsts, owner = linear.starts[:-1], block.distribution_of[linear.indices]  # every constraint of a block has entries
    ends = [
        (np.minimum.reduceat(each, firsts), np.maximum.reduceat(each, firsts)) for each in (owner, linear.coefficients)
    ]
    alike = (ends[0][0] == ends[0][1]) & (ends[1][0] == ends[1][1])
    alike &= linear.lengths < np.diff(block.distributions)[owner[firsts]]
    chosen = np.flatnonzero(alike)
    part = np.add.reduceat(concentration[linear.indices], firsts)[chosen]
    rest = totals[owner[firsts[chosen]]] - part
    coefficient = linear.coefficients[firsts[chosen]]
    bound, width = linear.bounds[chosen] / coefficient, slack[chosen] / np.abs(coefficient)
    high, low = np.clip(bound + width, 0.0, 1.0), np.clip(bound - width, 0.0, 1.0)
    below = betainc(part, rest, high)
    one_sided = np.where(coefficient > 0.0, below, betaincc(part, rest, low))
    return chosen, np.where(linear.equality[chosen], below - betainc(part, rest, low), one_sided)


def _tail(distance: Numbers, variance: Numbers, proxy: Numbers) -> Numbers:
    """The least of the two bounds on P(X − E X ≥ distance); one where the distance is not positive."""
    distance = np.maximum(distance, 0.0)
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        cantelli = variance / (variance + distance**2)
        gaussian = np.exp(-(distance**2) / (2.0 * proxy))
    found = np.minimum(cantelli, gaussian)
    return np.asarray(np.where(distance > 0.0, np.nan_to_num(found, nan=0.0), 1.0), dtype=np.float64)


def _product_tails(block: Block, number: int, concentration: Numbers, totals: Numbers) -> tuple[float, float, float]:
    """The bounds and the excess of a product constraint, in logarithms."""
    from scipy.special import digamma, polygamma

    product = block.products[number]
    indices, where = np.unique(product.indices, return_inverse=True)
    exponents = np.bincount(where, product.exponents)
    owner = block.distribution_of[indices]
    own, sums = concentration[indices], np.bincount(owner, exponents, len(totals))
    mean = float(exponents @ (digamma(own) - digamma(totals[owner])))
    variance = float(exponents**2 @ polygamma(1, own) - sums**2 @ polygamma(1, totals))
    if not np.isfinite(product.log_bound):
        return (1.0, 0.0, np.inf) if product.log_bound < 0.0 else (0.0, 1.0, -np.inf)
    distance = mean - product.log_bound
    bound = variance / (variance + distance**2) if distance else 1.0
    return (
        (1.0 if distance >= 0.0 else bound),
        (1.0 if distance <= 0.0 else bound),
        distance / max(variance, 1e-300) ** 0.5,
    )
