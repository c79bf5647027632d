"""Where one more observation would tell most: how much it is expected to shrink the variance of a row's numbers.

One observation of a row with mean m and covariance C, whichever state it shows, shrinks the summed variance by

    Σ_x (1/m_x) Σ_k C_kx²        on average over what it may show

since E[θ_k | x] = E[θ_k θ_x] / m_x. Rows in blocks take it from their draws, knowledge and all. Of a Dirichlet
distribution with n counts, prior and all, it comes to (1 − Σ m²) / (n + 1)², and its summed variance V to
(1 − Σ m²) / (n + 1): so V² / (1 − Σ m²) where a posterior tells V, and no n. Without a posterior, V is at most that of
the uniform distribution on the range that the knowledge allows: what it pins needs no observation.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from credo.arrays import Numbers
from credo.estimation.problem import Problem
from credo.estimation.solution import Uncertainty
from credo.explain.allowed_ranges import Allowed
from credo.sampling.posterior import PosteriorResult
from credo.statistics.prior import pseudo_counts

SMOOTHING = 1.0  # pseudo-counts of a whole row where the fit has no prior


@dataclass(frozen=True, slots=True)
class Look:
    """A row of a table, how often it was seen, and what one more observation is expected to be worth."""

    variable: str
    row: int
    seen: float
    deviation: float  # the typical standard deviation of its numbers now
    reduction: float  # of the summed variance


def next_looks(
    problem: Problem, posterior: Uncertainty | None, possible: Allowed | None = None, most: int = 10
) -> list[Look]:
    """The rows of learned tables where another observation tells most."""
    sampled = posterior if isinstance(posterior, PosteriorResult) else None
    drawn = {} if sampled is None else _drawn(problem, sampled)
    looks: list[Look] = []
    for name in problem.names:
        counts = problem.counts.of(name)
        states = counts.shape[1]
        if states < 2:
            continue
        if sampled is None:
            variance, reduction = _dirichlet(counts, pseudo_counts(problem.prior, problem.network, name))
            if possible is not None:
                widths = problem.constraints.layout.view(possible.high - possible.low, name)
                variance, reduction = _within(widths, variance, reduction)
        else:
            mean, deviation = (each[name].reshape(-1, states) for each in (sampled.means, sampled.deviations))
            variance, reduction = _matched(mean, deviation)
        for row, told in drawn.get(name, {}).items():
            variance[row], reduction[row] = told
        for row in np.argsort(-reduction, kind="stable")[:most].tolist():
            deviation_of_one = float(np.sqrt(variance[row] / states))
            looks.append(Look(name, row, float(counts[row].sum()), deviation_of_one, float(reduction[row])))
    return sorted(looks, key=lambda each: -each.reduction)[:most]


def _dirichlet(counts: Numbers, prior: Numbers) -> tuple[Numbers, Numbers]:
    """Summed variance and expected reduction of every row of a table, (rows,) each."""
    weights = counts + (prior if prior.any() else SMOOTHING / counts.shape[1])
    total = weights.sum(axis=1)
    spread = 1.0 - ((weights / total[:, None]) ** 2).sum(axis=1)
    return spread / (total + 1.0), spread / (total + 1.0) ** 2


def _within(widths: Numbers, variance: Numbers, reduction: Numbers) -> tuple[Numbers, Numbers]:
    """The same where each number has a range of this width; NaN where the range is not known."""
    most = np.nan_to_num((widths**2).sum(axis=1) / 12, nan=np.inf)
    share = np.divide(most, variance, out=np.ones_like(variance), where=most < variance)
    return variance * share, reduction * share**2


def _matched(mean: Numbers, deviation: Numbers) -> tuple[Numbers, Numbers]:
    """The same for the Dirichlet distribution with these means and this summed variance."""
    variance, spread = (deviation**2).sum(axis=1), 1.0 - (mean**2).sum(axis=1)
    return variance, np.divide(variance**2, spread, out=np.zeros_like(variance), where=spread > 0)


def _drawn(problem: Problem, result: PosteriorResult) -> dict[str, dict[int, tuple[float, float]]]:
    """The same of the rows in blocks, from their draws."""
    found: dict[str, dict[int, tuple[float, float]]] = {}
    draws, start = np.concatenate(result.draws), 0  # chains one after the other
    for block in problem.blocks:
        own = draws[:, start : start + block.size]
        start += block.size
        for d, (name, row) in enumerate(block.configurations):
            part = own[:, block.distributions[d] : block.distributions[d + 1]]
            found.setdefault(name, {})[row] = _worth(part.mean(axis=0), np.atleast_2d(np.cov(part.T)))
    return found


def _worth(mean: Numbers, covariance: Numbers) -> tuple[float, float]:
    with np.errstate(divide="ignore", invalid="ignore"):
        parts = np.where(mean > 0, (covariance**2).sum(axis=0) / mean, 0.0)
    return float(np.trace(covariance)), float(parts.sum())
