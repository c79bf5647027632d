"""Exact updates of distributions with very many states, most of which no statement names.

Given its total T, the shares of the states that no statement names are a Dirichlet distribution, and can be drawn at
once; with them summed over, so can the component z that the distribution comes from:

    p(z = g | T, named θ)  ∝  π_g · Γ(s)/Π_k Γ(s·b_k) · Π_named θ_i^(s·b_i − 1) · T^(A − 1) · Π_U Γ(s·b_k + N_k) / Γ(A),

A = Σ_U (s·b_k + N_k). And how T and one named θ_i share their sum is a Beta distribution, cut off where statements end.
Moves of two states at a time mix such a distribution as slowly as it has states, and z never changes: thousands of θ
determine it. These updates are made beside the others, each of which leaves the same posterior as it is.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from credo.constraints.constraint_set import LinearConstraints
from credo.kernels.sampler_arrays import ChainState, DistributionArrays
from credo.sampling.region import Region
from credo.types import Indices, Numbers

WIDE = 50  # states that no statement names, from which these updates are made
MOST_NAMED = 20  # states that share with the others in one sweep
SMALLEST = 1e-290


@dataclass(frozen=True, slots=True, eq=False)
class WideDistribution:
    """One distribution of a block, in numbers of all sampled parameters."""

    number: int  # of the distribution
    start: int
    stop: int
    unnamed: Indices  # states counted from `start`
    named: Indices
    constraints: LinearConstraints  # on parameters of the block
    first: int  # the block's first parameter


def wide_distributions(region: Region, arrays: DistributionArrays) -> tuple[WideDistribution, ...]:
    """The distributions that have so many states which no statement names.

    Only in blocks of hard inequalities: equalities, products and soft statements leave no Beta distribution.
    """
    found = []
    first = distribution = 0
    for block, part in zip(region.blocks, region.parts, strict=True):
        plain = not part.equalities.shape[0] and not part.extras.shape[0]
        if block.size >= WIDE and plain and part.moves.shape[0]:  # without moves other updates have the block
            used = np.zeros(block.size, dtype=np.bool_)
            used[part.inequalities.indices] = True
            for d in range(len(block.configurations)):
                begin, end = int(block.distributions[d]), int(block.distributions[d + 1])
                named, unnamed = np.flatnonzero(used[begin:end]), np.flatnonzero(~used[begin:end])
                number = distribution + d
                if len(unnamed) >= WIDE and arrays.informative[number]:
                    ends = first + begin, first + end
                    found.append(WideDistribution(number, *ends, unnamed, named, part.inequalities, first))
        first += block.size
        distribution += len(block.configurations)
    return tuple(found)


def update_wide(
    wide: Sequence[WideDistribution], arrays: DistributionArrays, state: ChainState, rng: np.random.Generator
) -> None:
    """Draw the component and the shares of each, and how named states share with the others."""
    for each in wide:
        theta = state.theta[each.start : each.stop]
        counts = arrays.counts[each.start : each.stop]
        family, states = int(arrays.families[each.number]), each.stop - each.start
        cell = int(arrays.cells[family])
        predicted = arrays.predicted[each.start : each.stop]
        bases = np.stack((np.full(states, 1.0 / states), state.means[cell : cell + states], predicted))
        strengths = arrays.strengths[arrays.seen[each.number]]
        edges = [arrays.uniform_components[0], arrays.first_predicted[0]]
        kinds = np.searchsorted(edges, np.arange(len(strengths)), side="right")
        chances = np.log(np.maximum(state.weights[family], SMALLEST)) + component_logs(
            theta, counts, strengths[:, None] * bases[kinds], each.unnamed, each.named
        )
        chances = np.exp(chances - chances.max())
        g = int(rng.choice(len(chances), p=chances / chances.sum()))
        state.component[each.number] = g
        shape = strengths[g] * bases[int(kinds[g])] + counts
        total = float(theta[each.unnamed].sum())
        logs = log_gammas(shape[each.unnamed], rng)
        shares = np.exp(logs - logs.max())
        shares /= shares.sum()
        weight = float(shape[each.unnamed].sum())
        few = each.named if len(each.named) <= MOST_NAMED else rng.choice(each.named, MOST_NAMED, replace=False)
        for i in few.tolist():
            together = total + float(theta[i])
            low, high = _allowed(each, state.theta, each.start + i)
            value = cut_beta(float(shape[i]), weight, low / together, high / together, rng)
            if value is not None:
                theta[i] = max(value * together, SMALLEST)
                total = max(together - theta[i], SMALLEST)
        theta[each.unnamed] = np.maximum(total * shares, SMALLEST)


def component_logs(theta: Numbers, counts: Numbers, shapes: Numbers, unnamed: Indices, named: Indices) -> Numbers:
    """The log density of the data and of what is known of θ under each component's s·b, shares summed over."""
    from scipy.special import gammaln

    posterior = shapes[:, unnamed] + counts[unnamed]
    mass = posterior.sum(axis=1)
    total = max(float(theta[unnamed].sum()), SMALLEST)
    value = gammaln(shapes.sum(axis=1)) - gammaln(shapes).sum(axis=1)
    value += (shapes[:, named] - 1.0) @ np.log(np.maximum(theta[named], SMALLEST))
    value += (mass - 1.0) * np.log(total) + gammaln(posterior).sum(axis=1) - gammaln(mass)
    return np.asarray(value, dtype=np.float64)


def log_gammas(shape: Numbers, rng: np.random.Generator) -> Numbers:
    """Logarithms of gamma variates, which a small shape cannot make underflow."""
    boost = np.log(np.maximum(rng.random(len(shape)), SMALLEST)) / shape
    small = shape < 1.0
    return np.asarray(np.log(rng.standard_gamma(np.where(small, shape + 1.0, shape))) + np.where(small, boost, 0.0))


def cut_beta(a: float, b: float, low: float, high: float, rng: np.random.Generator) -> float | None:
    """A draw from Beta(a, b) between two ends; None where nothing is left that can be computed."""
    from scipy.special import betainc, betaincinv

    low, high = max(low, 0.0), min(high, 1.0)
    if not low < high:
        return None
    below, until = float(betainc(a, b, low)), float(betainc(a, b, high))
    share = float(rng.random())
    if below <= 0.5:
        value = float(betaincinv(a, b, below + share * (until - below)))
    else:  # counted from the other end, where probabilities are small and exact
        below, until = float(betainc(b, a, 1.0 - high)), float(betainc(b, a, 1.0 - low))
        value = 1.0 - float(betaincinv(b, a, below + share * (until - below)))
    return value if until > below and low <= value <= high else None


def _allowed(each: WideDistribution, theta: Numbers, number: int) -> tuple[float, float]:
    """Between which values constraints leave θ_number, with states that are not named giving and taking."""
    linear, local = each.constraints, number - each.first
    low, high = 0.0, 1.0
    for entry in np.flatnonzero(linear.indices == local).tolist():
        constraint = int(np.searchsorted(linear.starts, entry, side="right")) - 1
        own = slice(linear.starts[constraint], linear.starts[constraint + 1])
        value = float(linear.coefficients[entry])
        spare = float(linear.bounds[constraint]) - float(
            linear.coefficients[own] @ theta[each.first + linear.indices[own]]
        )
        limit = float(theta[number]) + spare / value
        low, high = (low, min(high, limit)) if value > 0.0 else (max(low, limit), high)
    return low, high
