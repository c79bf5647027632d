"""Rivals that know statements: four published methods as `Method` objects, and one that extends the data.

N_jk are counts of configuration j and N_j their sum, A is an equivalent sample size, α the mean of the CPTs that the
statements allow, each as probable as the other. What a paper's abstract and the papers that cite it leave open is said
with each method: the full texts were not at hand.

- `fcqmap` [Guo and others, 2017]: qmap, θ = (N_jk + A·α_jk) / (N_j + A), may violate statements. Where it does, its
  estimate from the data is replaced by one that is constrained further,

      max Σ_jk N_jk log θ'_jk   s.t.  the statements hold for θ' and for (N_j·θ'_jk + A·α_jk) / (N_j + A).

  Guessed: that the further constraints are the statements on the result, and that A is cross-validated as in [guo].
- `camap` [Di, Wang, He and Guo, 2021]: (N_jk + A·α_jk) / (N_j + A) with one A for each CPT, the best in
  cross-validation of those at which all statements hold. Guessed: α as in qmap for their sampler; A of a grid up to
  1,000.
- `mplc` [Zhou, Fenton and Neil, 2014]: an auxiliary network in which every number of a CPT is uniform, its count
  binomial, and sums and statements are observed to be true; its means are

      p(θ) ∝ Π_jk θ_jk^N_jk (1 − θ_jk)^(N_j − N_jk)   where all statements hold.

  Statements between configurations are those of their later MPL-EC. Sampled, where they discretise.
- `cpb` [Ru, Gao, Wang and Liu, 2023], the constraint-based parametric bootstrap: rows are drawn from CPTs made of the
  statements and the rows, and added to these. Guessed: these CPTs are the constrained posterior mode (cmap); nine times
  as many rows are added; CPTs are then learned with one added to every count.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

import numpy as np
import polars as pl

import credo
from credo.constraints.blocks import Block
from credo.constraints.violations import LEAST_VIOLATION
from credo.errors import CredoError, Status
from credo.estimation.method import Method
from credo.estimation.methods import METHODS
from credo.estimation.papers.interpolation import allowed_means, interpolated_cpt
from credo.estimation.problem import Problem
from credo.estimation.solution import Solution, violated_findings
from credo.knowledge.statements import Statement
from credo.model.network import Network
from credo.types import Flags, Indices, Numbers

GRID = (1, 2, 3, 5, 8, 12, 20, 30, 50, 80, 120, 200, 300, 500, 1000)  # equivalent sample sizes of camap
CHAINS, SWEEPS, WARM_UP = 100, 60, 20  # of mplc
SHRINKS = 60  # of a slice, at most
ADDED = 9  # times the rows that cpb adds
SMALLEST = 1e-300


@contextmanager
def known(method: Method) -> Iterator[str]:
    """While it lasts, `credo.fit` takes this method by its name."""
    METHODS[method.name] = method
    try:
        yield method.name
    finally:
        del METHODS[method.name]


def _solution(problem: Problem, theta: Numbers) -> Solution:
    violated = violated_findings(problem.model.constraints, theta)
    return Solution(problem.cpts(theta), Status.VIOLATED if violated else Status.AVERAGED, tuple(violated))


def _holds(block: Block, theta: Numbers) -> bool:
    """Whether all statements of a block hold; none of the study compares products."""
    return bool((block.linear.excess(theta) <= LEAST_VIOLATION).all())


# FC-QMAP --------------------------------------------------------------------------------------------------------------


def estimate_fcqmap(problem: Problem) -> Solution:
    """qmap, with blocks whose statements it violates constrained further."""
    alpha, counts = allowed_means(problem), problem.vector(with_prior=False)
    theta, sizes = alpha.copy(), np.zeros(len(alpha))
    for name in problem.model.names:
        training = np.stack([fold.training.of(name) for fold in problem.data.folds])
        held_out = np.stack([fold.held_out.of(name) for fold in problem.data.folds])
        cpt, size = interpolated_cpt(problem.data.counts.of(name), problem.layout.view(alpha, name), training, held_out)
        problem.layout.view(theta, name)[:] = cpt
        problem.layout.view(sizes, name)[:] = size
    for block in problem.model.blocks:
        own = block.parameters
        if not _holds(block, theta[own]):
            theta[own] = further_constrained(block, counts[own], sizes[own], alpha[own])
    return _solution(problem, theta)


def further_constrained(block: Block, counts: Numbers, sizes: Numbers, alpha: Numbers) -> Numbers:
    """(N_j·θ' + A·α) / (N_j + A) for the most likely θ' such that all statements hold for θ' and for the result."""
    import cvxpy

    totals = block.totals(counts)
    matrix, bounds, equal = block.linear.matrix(block.size), block.linear.bounds, block.linear.equality
    sums = (block.distribution_of == np.arange(len(block.configurations))[:, None]).astype(np.float64)
    data = cvxpy.Variable(block.size, nonneg=True)
    mixed = cvxpy.multiply(totals / (totals + sizes), data) + sizes / (totals + sizes) * alpha
    seen = np.flatnonzero(counts)
    constraints = [sums @ data == 1.0]
    for point in (data, mixed):
        values = matrix @ point
        constraints += [values[~equal] <= bounds[~equal], values[equal] == bounds[equal]]
    objective = cvxpy.sum(cvxpy.multiply(counts[seen], cvxpy.log(data[seen]))) if len(seen) else 0.0
    cvxpy.Problem(cvxpy.Maximize(objective), constraints).solve(solver="CLARABEL")
    if mixed.value is None:
        raise CredoError("The convex solver of fcqmap found no CPTs.")
    return block.normalised(np.asarray(mixed.value))


# CaMAP ----------------------------------------------------------------------------------------------------------------


def estimate_camap(problem: Problem) -> Solution:
    """Counts plus A·α, with the best A of those at which all statements about a CPT hold."""
    alpha, counts = allowed_means(problem), problem.vector(with_prior=False)
    totals = np.empty(len(alpha))
    for name in problem.layout.names:
        problem.layout.view(totals, name)[:] = problem.layout.view(counts, name).sum(axis=1, keepdims=True)
    points = [(counts + size * alpha) / (totals + size) for size in GRID]
    allowed = {name: np.ones(len(GRID), dtype=np.bool_) for name in problem.layout.names}
    for block in problem.model.blocks:
        own = np.array([_holds(block, point[block.parameters]) for point in points])
        for name in {name for name, _ in block.configurations}:
            allowed[name] &= own
    theta = alpha.copy()
    for name in problem.model.names:
        shape = problem.layout.view(alpha, name)
        scores = [
            sum(_log_likelihood(fold.held_out.of(name), fold.training.of(name), size, shape)
                for fold in problem.data.folds)
            for size in GRID
        ]  # fmt: skip
        chosen = best_allowed(np.array(scores), allowed[name])
        problem.layout.view(theta, name)[:] = problem.layout.view(points[chosen], name)
    return _solution(problem, theta)


def best_allowed(scores: Numbers, allowed: Flags) -> int:
    """The first of the best places that are allowed; the last place where none is, which is the nearest to α."""
    return int(np.argmax(np.where(allowed, scores, -np.inf))) if allowed.any() else len(scores) - 1


def _log_likelihood(held_out: Numbers, training: Numbers, size: float, alpha: Numbers) -> float:
    theta = (training + size * alpha) / (training.sum(axis=1, keepdims=True) + size)
    return float((held_out * np.log(np.maximum(theta, SMALLEST))).sum())


# MPL-C ----------------------------------------------------------------------------------------------------------------


def estimate_mplc(problem: Problem) -> Solution:
    """Means of the auxiliary network, under statements block by block."""
    alpha, counts = allowed_means(problem), problem.vector(with_prior=False)
    theta, rng = alpha.copy(), np.random.default_rng([problem.settings.seed, 4])
    taken = problem.constrained_configurations()
    for name in problem.model.names:
        own = problem.layout.view(counts, name)
        free = np.setdiff1d(np.arange(len(own)), taken.get(name, []))
        problem.layout.view(theta, name)[free] = auxiliary_means(own[free], rng)
    for block in problem.model.blocks:
        own = block.parameters
        theta[own] = constrained_auxiliary_means(block, counts[own], alpha[own], rng)
    return _solution(problem, theta)


def auxiliary_means(counts: Numbers, rng: np.random.Generator) -> Numbers:
    """Means of distributions (configurations, states) without statements; of two states in closed form."""
    distributions, states = counts.shape
    if states == 2 or not distributions:
        return np.asarray((1.0 + 2.0 * counts) / (2.0 + 2.0 * counts.sum(axis=1, keepdims=True)))
    totals = counts.sum(axis=1)
    theta = np.full((distributions, CHAINS, states), 1.0 / states)
    mean = np.zeros(counts.shape)
    for sweep in range(SWEEPS):
        for first in range(states):
            for second in range(first):
                a, b = theta[..., first], theta[..., second]
                step = slice_steps(a, b, -a, b, counts[:, [first]], counts[:, [second]], totals[:, None], rng)
                theta[..., first], theta[..., second] = a + step, b - step
        if sweep >= WARM_UP:
            mean += theta.mean(axis=1)
    return mean / mean.sum(axis=1, keepdims=True)


def constrained_auxiliary_means(block: Block, counts: Numbers, start: Numbers, rng: np.random.Generator) -> Numbers:
    """Means under the statements of a block; `start` is inside of them."""
    if block.linear.equality.any():
        raise CredoError("mplc takes no equalities.")
    matrix, totals = block.linear.matrix(block.size).toarray(), block.totals(counts)
    theta = np.tile(np.maximum(start, 1e-12), (CHAINS, 1))
    spare = block.linear.bounds - theta @ matrix.T
    mean, moves = np.zeros(block.size), list(_moves(block, matrix))
    for sweep in range(SWEEPS):
        for first, second, rising, falling, slopes in moves:
            a, b = theta[:, first], theta[:, second]
            high = np.minimum(b, (spare[:, rising] / slopes[rising]).min(axis=1, initial=np.inf))
            low = np.maximum(-a, (spare[:, falling] / slopes[falling]).max(axis=1, initial=-np.inf))
            own = (counts[first], counts[second], totals[first])
            step = slice_steps(a, b, np.minimum(low, 0.0), np.maximum(high, 0.0), *own, rng)
            theta[:, first] += step
            theta[:, second] -= step
            spare -= step[:, None] * slopes
        if sweep >= WARM_UP:
            mean += theta.mean(axis=0)
    return block.normalised(mean)


def _moves(block: Block, matrix: Numbers) -> Iterator[tuple[int, int, Indices, Indices, Numbers]]:
    """Pairs of states of a distribution, and the constraints that a shift between them tightens and loosens."""
    for start, end in zip(block.distributions[:-1], block.distributions[1:], strict=True):
        for first in range(start, end):
            for second in range(start, first):
                slopes = matrix[:, first] - matrix[:, second]
                yield first, second, np.flatnonzero(slopes > 0.0), np.flatnonzero(slopes < 0.0), slopes


def slice_steps(
    a: Numbers, b: Numbers, low: Numbers, high: Numbers, count_a: Numbers, count_b: Numbers, total: Numbers,
    rng: np.random.Generator,
) -> Numbers:  # fmt: skip
    """Steps t in [low, high] that leave p(a + t, b − t) as it is: slice sampling, all chains at once [Neal, 2003]."""

    def log_density(t: Numbers) -> Numbers:
        x, y = np.maximum(a + t, SMALLEST), np.maximum(b - t, SMALLEST)
        others = np.log(np.maximum(1.0 - x, SMALLEST)) * (total - count_a)
        others = others + np.log(np.maximum(1.0 - y, SMALLEST)) * (total - count_b)
        return np.asarray(count_a * np.log(x) + count_b * np.log(y) + others)

    height = log_density(np.zeros_like(a)) - rng.standard_exponential(a.shape)
    low, high, step = low.copy(), high.copy(), np.zeros_like(a)
    left = np.ones(a.shape, dtype=np.bool_)
    for _ in range(SHRINKS):
        tried = low + (high - low) * rng.random(a.shape)
        good = left & (log_density(tried) >= height)
        step = np.where(good, tried, step)
        left &= ~good
        if not left.any():
            break
        low, high = np.where(left & (tried < 0.0), tried, low), np.where(left & (tried >= 0.0), tried, high)
    return step


# CPB ------------------------------------------------------------------------------------------------------------------


def bootstrapped(
    fit: Callable[..., credo.Fit], structure: Network, frame: pl.DataFrame, statements: Sequence[Statement], seed: int
) -> Network:
    """One added to the counts of the rows and of nine times as many that are drawn from their cmap."""
    mode = fit(credo.Knowledge(structure, statements), method="cmap").network
    drawn = mode.sample(ADDED * len(frame), seed=seed)
    rows = pl.concat([frame.select(drawn.columns).cast(pl.String), drawn.cast(pl.String)])
    return credo.fit(structure, rows, method="map", prior=1.0, seed=seed).network


# As methods of credo --------------------------------------------------------------------------------------------------

FCQMAP = Method(
    "fcqmap", "qmap constrained further", "rivals", estimate_fcqmap, cross_validates=True,
    ignores_soft_statements=True,
)  # fmt: skip
CAMAP = Method(
    "camap", "a size that the knowledge allows", "rivals", estimate_camap, cross_validates=True,
    ignores_soft_statements=True,
)  # fmt: skip
MPLC = Method(
    "mplc", "means of an auxiliary network", "rivals", estimate_mplc, ignores_soft_statements=True,
)  # fmt: skip
CONSTRAINED = {method.name: method for method in (FCQMAP, CAMAP, MPLC)}
