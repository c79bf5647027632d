"""Posterior means and deviations of all parameters, and the Monte-Carlo error of each mean.

Parameters in blocks are averaged over draws, and so are all that missing values reach. All others have an exact
distribution given what the chains draw (z and m, or π and m where nothing was observed), and its mean is averaged
instead [Rao and Blackwell]. Either way the error of the average shows in how much parts of the chains differ, and it
is watched for every number of every CPT.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from credo.posterior.convergence import LARGEST_R_HAT, standard_errors
from credo.sampling.distributions import Draws, Hyperparameters, SampledDistributions
from credo.sampling.vectorised import CHAINS, SUPERCHAINS
from credo.types import Flags, Numbers

SMALLEST_SIZE = 100.0  # effective draws, below which a standard error is more than a tenth of the deviation
NO_VARIANCE = 1e-14  # what rounding leaves of a constant
CHUNK = 2**22  # numbers in memory at once
DRAWN_CHUNK = 2**19  # of all draws, of which there are several copies


@dataclass(frozen=True, slots=True, eq=False)
class Averages:
    """Of each number of the layout: the posterior mean, its variance, and the error of the mean."""

    means: Numbers
    variances: Numbers
    errors: Numbers  # of parameters whose draws are kept NaN, as their effective sizes are known

    @property
    def doubtful(self) -> Flags:
        """Which means outside of blocks are less certain than those of `SMALLEST_SIZE` draws; (parameters,)."""
        allowed = np.sqrt(np.maximum(self.variances, NO_VARIANCE) / SMALLEST_SIZE)
        return np.asarray(self.errors > allowed)


def averages_of(sampled: SampledDistributions, hyperparameters: Hyperparameters, found: Draws) -> Averages:
    """The averages of all draws, CPT by CPT where nothing was observed, and some states of a CPT at a time."""
    layout = sampled.layout
    first, second, errors = np.empty((3, layout.size))
    step = max(1, DRAWN_CHUNK // max(1, found.means.shape[0] * found.means.shape[1]))
    for family, name in enumerate(sampled.names):
        begin, end = sampled.cells[family : family + 2].tolist()
        weights = found.weights[:, :, family]
        for start in range(0, end - begin, step):
            some = slice(start, min(start + step, end - begin))
            means = found.means[:, :, begin + some.start : begin + some.stop]
            predicted = layout.view(sampled.predicted, name)[:, some]
            shared, share, squares = unseen_moments(hyperparameters, weights, means, predicted, end - begin)
            layout.view(first, name)[:, some] = shared.mean(axis=(0, 1)) + share.mean() * predicted
            layout.view(second, name)[:, some] = squares
            layout.view(errors, name)[:, some] = _unseen_errors(_part_means(shared), _part_means(share), predicted)
    parameters, edge = sampled.parameters(), found.theta.shape[2]
    first[parameters] = np.concatenate((found.theta.mean(axis=(0, 1)), found.mean))
    count = max(1, found.theta.shape[0] * found.theta.shape[1])
    second[parameters] = np.concatenate((np.einsum("cdi,cdi->i", found.theta, found.theta) / count, found.second))
    errors[parameters[:edge]] = np.nan
    parts = found.first if len(found.first) == CHAINS else found.in_parts(2).first
    errors[parameters[edge:]] = _errors(parts.reshape(parts.shape[0] * parts.shape[1], parts.shape[2]))
    return Averages(first, np.maximum(second - first**2, 0.0), errors)


def not_mixed(sizes: Numbers, mixed: Numbers) -> Flags:
    """Which parameters whose draws are kept cannot be trusted, by effective sizes and R-hat; what is NaN cannot."""
    return np.asarray(~(mixed <= LARGEST_R_HAT) | ~(sizes >= SMALLEST_SIZE))


def unseen_moments(
    hyperparameters: Hyperparameters, weights: Numbers, means: Numbers, predicted: Numbers, states: int
) -> tuple[Numbers, Numbers, Numbers]:
    """E θ and E θ² of distributions without data or statements: Σ_g π_g·b_g, and Σ_g π_g·b_g·(s_g·b_g + 1)/(s_g + 1).

    `weights` is (…, components), `means` (…, some of all `states`), and `predicted`, which the configurations do not
    share, (configurations, the same states). Of each draw are returned the part of E θ that all configurations share,
    (…, states), and how much of what is predicted is added to it, (…, 1); and E θ² averaged over draws,
    (configurations, states).
    """
    last = hyperparameters.first_predicted
    shared, second = np.zeros(means.shape), np.zeros(predicted.shape)
    for g, strength in enumerate(hyperparameters.strengths()[0].tolist()):
        weight = weights[..., g, None]
        if g >= last:
            second += weight.mean() * predicted * (strength * predicted + 1.0) / (strength + 1.0)
            continue
        base = np.full(means.shape[-1], 1.0 / states) if g < len(hyperparameters.uniform_strengths) else means
        part = weight * base
        shared += part
        squares = part * (strength * base + 1.0) / (strength + 1.0)
        second += squares.reshape(-1, means.shape[-1]).mean(axis=0)
    return shared, weights[..., last:].sum(axis=-1, keepdims=True), second


def _unseen_errors(shared: Numbers, share: Numbers, predicted: Numbers) -> Numbers:
    """The errors of shared + share·predicted, of means of parts, (parts, …); (configurations, states)."""
    found = np.empty(predicted.shape)
    if (predicted == predicted[0]).all():
        found[:] = _errors(shared + share * predicted[0])
        return found
    step = max(1, CHUNK // (len(shared) * predicted.shape[1]))
    for start in range(0, len(predicted), step):
        some = predicted[start : start + step]
        each = shared[:, None] + share[:, None] * some
        found[start : start + step] = _errors(each.reshape(len(shared), -1)).reshape(some.shape)
    return found


def _part_means(draws: Numbers) -> Numbers:
    """The means of half chains, or of chains where there are hundreds; (parts, quantities)."""
    if len(draws) == CHAINS:
        return np.asarray(draws.mean(axis=1))
    half = max(1, draws.shape[1] // 2)
    return np.concatenate((draws[:, :half].mean(axis=1), draws[:, -half:].mean(axis=1)))


def _errors(part_means: Numbers) -> Numbers:
    """The standard errors of means; of hundreds of chains also by groups that started at the same point."""
    errors = standard_errors(part_means)
    if len(part_means) != CHAINS:
        return errors
    groups = part_means.reshape(SUPERCHAINS, CHAINS // SUPERCHAINS, part_means.shape[1]).mean(axis=1)
    return np.maximum(errors, standard_errors(groups))
