"""Where one more observation would tell most: how much it is expected to shrink the variance of a row's numbers.

One observation of a row with mean m and covariance C, whichever state it shows, shrinks the summed variance by

    Σ_x (1/m_x) Σ_k C_kx²        on average over what it may show

since E[θ_k | x] = E[θ_k θ_x] / m_x. A row's covariance is that of its Dirichlet distribution; where there are draws,
they give it, knowledge and all.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from credo.constraints.rows import Numbers
from credo.estimators.problem import Problem
from credo.estimators.sampling.posterior import PosteriorResult
from credo.estimators.solution import Uncertainty

SMOOTHING = 1.0  # pseudo-counts of a whole row where the fit has no prior


@dataclass(frozen=True, slots=True)
class Look:
    """A row of a table, how often it was seen, and what one more observation is expected to be worth."""

    variable: str
    row: int
    seen: float
    deviation: float  # the typical standard deviation of its numbers now
    reduction: float  # of the summed variance


def next_looks(problem: Problem, posterior: Uncertainty | None, most: int = 10) -> list[Look]:
    """The rows of learned tables where another observation tells most."""
    looks = []
    covariances = _drawn_covariances(problem, posterior) if isinstance(posterior, PosteriorResult) else {}
    for name in problem.names:
        counts = problem.counts.table(name)
        start = problem.constraints.parameters.offsets[name]
        prior = problem.vector()[start : start + counts.size].reshape(counts.shape) - counts
        if counts.shape[1] < 2:
            continue
        for row in range(len(counts)):
            mean, covariance = covariances.get((name, row)) or _dirichlet(counts[row], prior[row])
            with np.errstate(divide="ignore", invalid="ignore"):
                parts = np.where(mean > 0, (covariance**2).sum(axis=0) / mean, 0.0)
            deviation = float(np.sqrt(np.clip(np.diag(covariance), 0, None).mean()))
            looks.append(Look(name, row, float(counts[row].sum()), deviation, float(parts.sum())))
    return sorted(looks, key=lambda each: -each.reduction)[:most]


def _dirichlet(counts: Numbers, prior: Numbers) -> tuple[Numbers, Numbers]:
    weights = counts + (prior if prior.any() else SMOOTHING / len(counts))
    total = weights.sum()
    mean = weights / total
    return mean, (np.diag(mean) - np.outer(mean, mean)) / (total + 1)


def _drawn_covariances(problem: Problem, result: PosteriorResult) -> dict[tuple[str, int], tuple[Numbers, Numbers]]:
    """Mean and covariance of the rows in blocks, from their draws."""
    found, start = {}, 0
    draws = result.draws.reshape(-1, result.draws.shape[-1])
    for block in problem.blocks:
        own = draws[:, start : start + block.size]
        start += block.size
        for d, (name, row) in enumerate(block.table_rows):
            part = own[:, block.distributions[d] : block.distributions[d + 1]]
            found[name, row] = part.mean(axis=0), np.atleast_2d(np.cov(part.T))
    return found
