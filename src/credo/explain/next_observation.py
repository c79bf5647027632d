"""Where one more observation would be most informative: the expected reduction of a distribution's variance.

One observation of a distribution with mean m and covariance C, whichever state it shows, reduces the summed variance by

    Σ_x (1/m_x) Σ_k C_kx²        on average over what it may show

since E[θ_k | x] = E[θ_k θ_x] / m_x. Distributions in blocks take C from their draws, under the knowledge. Of a
Dirichlet distribution with n counts, pseudo-counts included, the reduction is (1 − Σ m²) / (n + 1)², and its summed
variance V is (1 − Σ m²) / (n + 1): so it is V² / (1 − Σ m²) where a posterior gives V, and no n. Without a posterior, V
is at most that of the uniform distribution on the range that the knowledge allows: what it determines needs no
observation.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from credo.estimation.problem import Problem
from credo.estimation.solution import Uncertainty
from credo.explain.allowed_ranges import AllowedRanges
from credo.model.network import Network
from credo.posterior.draws import PosteriorResult
from credo.statistics.prior import pseudo_counts
from credo.types import Numbers

SMOOTHING = 1.0  # pseudo-counts of a whole distribution where the fit has no prior


@dataclass(frozen=True, slots=True)
class NextObservation:
    """A conditional distribution that one more observation would teach much about.

    Attributes
    ----------
    variable, index
        The variable, and the number of its parents' configuration.
    label
        The same for a reader: `P(lung | smoke=yes)`.
    observations
        How often it was observed so far.
    deviation
        The typical standard deviation of its probabilities now.
    variance_reduction
        By how much one more observation is expected to reduce the sum of their variances; where questions were asked,
        the sum of the answers' variances.
    share
        Which part of the answers' variance that is; None where nothing was asked.
    """

    variable: str
    index: int
    label: str
    observations: float
    deviation: float
    variance_reduction: float
    share: float | None = None


def is_observable(problem: Problem, network: Network, name: str) -> bool:
    """Whether a row can show a variable and its parents: none of them is hidden, or an effect inside a noisy family."""
    rows, expansion = problem.data.dataset, problem.model.constraints.expansion
    unseen = {*(() if rows is None else rows.hidden), *(() if expansion is None else expansion.extra)}
    return unseen.isdisjoint((name, *network.parents[name]))


def next_observations(
    problem: Problem, posterior: Uncertainty | None, ranges: AllowedRanges | None = None, most: int = 10
) -> list[NextObservation]:
    """The distributions where another observation is most informative, the best first."""
    sampled = posterior if isinstance(posterior, PosteriorResult) else None
    in_blocks = {} if sampled is None else _from_draws(problem, sampled)
    found: list[NextObservation] = []
    for name in problem.model.names:
        counts = problem.data.counts.of(name)
        states = counts.shape[1]
        if states < 2 or not is_observable(problem, problem.model.network, name):
            continue
        if sampled is None:
            variance, reduction = _of_dirichlet(counts, pseudo_counts(problem.model.prior, problem.model.network, name))
            if ranges is not None:
                widths = problem.layout.view(ranges.high - ranges.low, name)
                variance, reduction = _within_ranges(widths, variance, reduction)
        else:
            mean, deviation = (moment[name].reshape(-1, states) for moment in (sampled.means, sampled.deviations))
            variance, reduction = _of_matching_dirichlet(mean, deviation)
        for index, values in in_blocks.get(name, {}).items():
            variance[index], reduction[index] = values
        for index in np.argsort(-reduction, kind="stable")[:most].tolist():
            deviation_of_one = float(np.sqrt(variance[index] / states))
            label = problem.model.network.describe(name, index)
            found.append(
                NextObservation(
                    name, index, label, float(counts[index].sum()), deviation_of_one, float(reduction[index])
                )
            )
    return sorted(found, key=lambda each: -each.variance_reduction)[:most]


def _of_dirichlet(counts: Numbers, prior: Numbers) -> tuple[Numbers, Numbers]:
    """Summed variance and expected reduction of every distribution of a CPT, (configurations,) each."""
    weights = counts + (prior if prior.any() else SMOOTHING / counts.shape[1])
    total = weights.sum(axis=1)
    spread = 1.0 - ((weights / total[:, None]) ** 2).sum(axis=1)
    return spread / (total + 1.0), spread / (total + 1.0) ** 2


def _within_ranges(widths: Numbers, variance: Numbers, reduction: Numbers) -> tuple[Numbers, Numbers]:
    """The same where each probability has a range of this width; NaN where the range is not known."""
    most = np.nan_to_num((widths**2).sum(axis=1) / 12, nan=np.inf)
    share = np.divide(most, variance, out=np.ones_like(variance), where=most < variance)
    return variance * share, reduction * share**2


def _of_matching_dirichlet(mean: Numbers, deviation: Numbers) -> tuple[Numbers, Numbers]:
    """The same for the Dirichlet distribution with these means and this summed variance."""
    variance, spread = (deviation**2).sum(axis=1), 1.0 - (mean**2).sum(axis=1)
    return variance, np.divide(variance**2, spread, out=np.zeros_like(variance), where=spread > 0)


def _from_draws(problem: Problem, result: PosteriorResult) -> dict[str, dict[int, tuple[float, float]]]:
    """The same for the distributions in blocks, from their draws."""
    found: dict[str, dict[int, tuple[float, float]]] = {}
    draws = np.concatenate(result.draws)  # chains one after the other
    for block in problem.model.blocks:
        own = draws[:, result.cells_of(problem.layout, block.parameters)]
        for d, (name, index) in enumerate(block.configurations):
            part = own[:, block.distributions[d] : block.distributions[d + 1]]
            found.setdefault(name, {})[index] = _of_draws(part)
    return found


def _of_draws(draws: Numbers) -> tuple[float, float]:
    """The same from draws of one distribution, (draws, states).

    Of more states than draws the covariance C = XᵀX/(n − 1) is not made: Σ_k C_kx² = x·(XXᵀ)·x/(n − 1)², x a column.
    """
    if draws.shape[1] <= len(draws):
        return _of_moments(draws.mean(axis=0), np.atleast_2d(np.cov(draws.T)))
    mean, least = draws.mean(axis=0), max(1, len(draws) - 1)
    centred = draws - mean
    squares = ((centred @ centred.T @ centred) * centred).sum(axis=0) / least**2
    parts = np.divide(squares, mean, out=np.zeros_like(mean), where=mean > 0)
    return float((centred**2).sum() / least), float(parts.sum())


def _of_moments(mean: Numbers, covariance: Numbers) -> tuple[float, float]:
    """Summed variance and expected reduction of one distribution with this mean and covariance."""
    with np.errstate(divide="ignore", invalid="ignore"):
        parts = np.where(mean > 0, (covariance**2).sum(axis=0) / mean, 0.0)
    return float(np.trace(covariance)), float(parts.sum())
