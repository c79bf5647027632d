"""The methods qmap and qmapc: CPTs between the data's estimate and the mean of what the knowledge allows [guo].

Both take α, the mean of the uniform distribution on the polytope of the knowledge (`constraints.uniform_means`), and an
equivalent sample size A that cross-validation chooses for each variable:

    qmap    θ = (N_jk + A·α_jk) / (N_j + A)                                                     [guo, eq. 5]
    qmapc   θ = (N_j·θ'_jk + A·α_jk) / (N_j + A),   θ' the constrained estimate                 [guo, eq. 11]

qmap may violate statements [guo, theorem 1]. For qmapc, statements within one configuration hold [guo, theorem 2];
across configurations they need not, because these mix θ' and α with weights N_j and A of their own, which the proof
does not see. `least_correction` makes the theorem true. What statements that compare products allow is not convex, and
a mean of points at which they hold may violate them. `_nearest_with_products` then takes the point nearest to the mean,

    min Σ_j (N_j + A)·KL(mean_j ‖ θ_j)   s.t. the knowledge,

which is the problem of cml with the mean for data.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import numpy as np

from credo.constraints.blocks import Block
from credo.constraints.uniform_means import uniform_means
from credo.constraints.violations import LEAST_VIOLATION, product_excess
from credo.errors import Status
from credo.estimation.constrained import without_pinned_prior
from credo.estimation.counting import relative_frequencies
from credo.estimation.method import Method
from credo.estimation.pinned import contradictions
from credo.estimation.problem import Problem
from credo.estimation.soft_weight import soft_statements_ignored
from credo.estimation.solution import Solution, violated_findings
from credo.estimation.solvers.block_estimates import BlockEstimate, estimate_blocks, solve_certified, with_most_entropy
from credo.estimation.solvers.block_solver import Task
from credo.estimation.solvers.products import with_products
from credo.findings import Finding
from credo.types import Numbers

SIZES = tuple(range(1, 21))  # the equivalent sample sizes that are tried [guo, algorithm 1]
_SMALLEST = 1e-300  # stands for zero in a logarithm: an impossible held-out row rules a size out, but all alike


def estimate_qmap(problem: Problem, alpha: Numbers | None = None) -> Solution:
    """θ = (N + A·α) / (N_j + A) [guo, eq. 5].

    `alpha` is `allowed_means(problem)`, which depends on the knowledge alone, where it is at hand already.
    """
    alpha = allowed_means(problem) if alpha is None else alpha
    theta = alpha.copy()
    sizes = {name: _interpolate(problem, name, theta, alpha, None) for name in problem.model.names}
    violated = violated_findings(problem.model.constraints, theta)
    findings = (*soft_statements_ignored(problem), *_size_findings(sizes), *violated)
    return Solution(problem.cpts(theta), Status.VIOLATED if violated else Status.AVERAGED, findings)


def estimate_qmapc(problem: Problem, alpha: Numbers | None = None) -> Solution:
    """θ = (N_j·θ' + A·α) / (N_j + A) [guo, eq. 11], corrected across configurations."""
    alpha = allowed_means(problem) if alpha is None else alpha
    weights = problem.vector(with_prior=False)
    constrained, _ = relative_frequencies(problem, weights)
    estimates = without_pinned_prior(problem, weights, estimate_blocks(problem.model.blocks, weights, 0.0), 0.0)
    estimates = with_products(estimates, problem.settings.seed)
    for each in estimates:
        constrained[each.block.parameters] = each.theta
    theta = alpha.copy()
    sizes = {name: _interpolate(problem, name, theta, alpha, constrained) for name in problem.model.names}
    corrected = list(_correct(problem, theta, alpha, estimates, sizes))
    violated = violated_findings(problem.model.constraints, theta)
    contradicted = contradictions(problem, ((each.block, each.impossible) for each in estimates))
    findings = (*soft_statements_ignored(problem), *contradicted, *_size_findings(sizes), *corrected, *violated)
    return Solution(problem.cpts(theta), Status.VIOLATED if violated else Status.AVERAGED, findings)


def allowed_means(problem: Problem) -> Numbers:
    """α of every parameter: the uniform without knowledge, else the mean of what the knowledge allows."""
    alpha, _ = relative_frequencies(problem, np.ones(problem.layout.size))
    for block, mean in zip(
        problem.model.blocks, uniform_means(problem.model.blocks, seed=problem.settings.seed), strict=True
    ):
        alpha[block.parameters] = mean
    return alpha


def equivalent_sample_size(training: Numbers, alpha: Numbers, held_out: Numbers) -> int:
    """argmax_A Σ_m Σ_jk N^m_jk log θ_jk, θ = (N^(−m) + A·α) / Σ_k (N^(−m) + A·α) [guo, algorithm 2].

    `training` and `held_out` are (folds, configurations, states), `alpha` is (configurations, states). The smallest
    of several best sizes is taken.
    """
    totals = training.sum(axis=2, keepdims=True)
    scores = [
        float((held_out * np.log(np.maximum((training + size * alpha) / (totals + size), _SMALLEST))).sum())
        for size in SIZES
    ]
    return SIZES[int(np.argmax(scores))]


def least_correction(block: Block, estimate: Numbers, inside: Numbers) -> tuple[Numbers, float]:
    """(1 − t)·estimate + t·inside with the smallest t at which every hard linear constraint holds; and t.

    `inside` satisfies them all, as does any mean of θ' and α with one weight for the whole block.
    """
    linear = block.linear.take(block.linear.hard)
    excess, spare = linear.values(estimate) - linear.bounds, linear.bounds - linear.values(inside)
    # An equality is violated in either direction; `inside` has no slack there.
    excess = np.where(linear.equality, np.abs(excess), excess)
    spare = np.where(linear.equality, 0.0, np.maximum(spare, 0.0))
    violated = excess > 0.0
    share = float(np.max(excess[violated] / (excess[violated] + spare[violated]), initial=0.0))
    return (1.0 - share) * estimate + share * inside, share


def interpolated_cpt(
    counts: Numbers, alpha: Numbers, training: Numbers, held_out: Numbers, constrained: Numbers | None = None
) -> tuple[Numbers, int]:
    """(data + A·α) / (N_j + A), and A; the data are the counts, or N_j·θ' where θ' is given.

    A is chosen by counts for both [guo, algorithm 2].
    """
    size = equivalent_sample_size(training, alpha, held_out)
    totals = counts.sum(axis=1, keepdims=True)
    data = counts if constrained is None else totals * constrained
    return (data + size * alpha) / (totals + size), size


def _interpolate(problem: Problem, name: str, theta: Numbers, alpha: Numbers, constrained: Numbers | None) -> int:
    """Write the estimate of one CPT into `theta`; returns the equivalent sample size that was chosen for it."""
    cpt, size = interpolated_cpt(
        problem.data.counts.of(name),
        problem.layout.view(alpha, name),
        np.stack([fold.training.of(name) for fold in problem.data.folds]),
        np.stack([fold.held_out.of(name) for fold in problem.data.folds]),
        None if constrained is None else problem.layout.view(constrained, name),
    )
    problem.layout.view(theta, name)[:] = cpt
    return size


def _correct(
    problem: Problem, theta: Numbers, alpha: Numbers, estimates: list[BlockEstimate], sizes: Mapping[str, int]
) -> Iterable[Finding]:
    """Move each block as little as restores the statements across configurations."""
    counts, moved, projected = problem.vector(with_prior=False), 0, 0
    for each in estimates:
        own = each.block.parameters
        # A mean of θ' and α with one weight for the whole block satisfies every convex statement.
        total = counts[own].sum()
        distributions = len(each.block.distributions)
        inside = (total * each.theta + distributions * alpha[own]) / (total + distributions)
        theta[own], share = least_correction(each.block, theta[own], inside)
        if _products_hold(each.block, theta[own]):
            moved += share > 0
            continue
        totals = np.add.reduceat(counts[own], each.block.distributions[:-1])
        totals = totals + np.array([sizes[name] for name, _ in each.block.configurations], dtype=np.float64)
        theta[own] = _nearest_with_products(each, theta[own], totals[each.block.distribution_of], problem.settings.seed)
        projected += 1
    if moved:
        groups = "1 group of probabilities was" if moved == 1 else f"{moved} groups of probabilities were"
        yield Finding("corrected", f"{groups} corrected, because statements across configurations were violated.")
    if projected:
        groups = "1 group of probabilities was" if projected == 1 else f"{projected} groups of probabilities were"
        yield Finding("corrected", f"{groups} corrected, because statements that compare products were violated.")


def _products_hold(block: Block, theta: Numbers) -> bool:
    products = [product for product in block.products if product.confidence is None]
    return all(product_excess(product, theta) <= LEAST_VIOLATION for product in products)


def _nearest_with_products(estimate: BlockEstimate, mean: Numbers, totals: Numbers, seed: int) -> Numbers:
    """The point nearest to `mean` at which all statements hold; θ' where none is found, and the best is worse."""
    block = estimate.block
    task = Task(block, totals * mean, None, 0.0)
    (nearest,) = with_products(with_most_entropy(solve_certified([task])), seed)
    better = nearest.product_violation <= max(estimate.product_violation, LEAST_VIOLATION)
    return nearest.theta if better else estimate.theta


def _size_findings(sizes: Mapping[str, int]) -> Iterable[Finding]:
    if sizes:
        low, high = min(sizes.values()), max(sizes.values())
        message = f"The knowledge counts as {low} to {high} rows, chosen by cross-validation."
        yield Finding("equivalent sample size", message)


QMAP = Method(
    "qmap",
    "counts shrunk towards the mean of what the knowledge allows",
    "comparing with published results; it may violate statements",
    estimate_qmap,
    cross_validates=True,
    ignores_soft_statements=True,
)
QMAPC = Method(
    "qmapc",
    "cml shrunk towards the mean of what the knowledge allows",
    "very few data and much knowledge",
    estimate_qmapc,
    cross_validates=True,
    ignores_soft_statements=True,
)
