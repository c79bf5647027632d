"""The two implementations of the posterior draw from the same distribution, whatever statements there are."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from credo.constraints.blocks import Block
from credo.constraints.constraint_set import LinearConstraint, ProductConstraint
from credo.posterior.convergence import effective_sizes, effective_sizes_of_short_chains
from credo.sampling.polytope import sample_block
from tests.helpers.amounts import seeds
from tests.helpers.blocks import at_most, block_of, random_block
from tests.helpers.posterior_runs import learn

SIZES = (3, 2, 3, 2)
OF_TWO = (2, 2, 2, 2)


def with_soft(seed: int) -> Block:
    hard = random_block(seed, OF_TWO, 3)
    rng = np.random.default_rng(seed)
    soft = [
        at_most(
            {int(2 * i): 1.0, int(2 * j + 1): -0.5},
            float(rng.uniform(-0.2, 0.3)),
            confidence=float(rng.uniform(0.3, 0.9)),
        )
        for i, j in rng.choice(4, (3, 2))
        if i != j
    ]
    return block_of(OF_TWO, [*hard.linear, *soft])


def with_products(seed: int) -> Block:
    rng = np.random.default_rng(seed)
    first, second, third, fourth = (2 * rng.permutation(4)).tolist()
    synergy = ProductConstraint((first, second, third, fourth), (1.0, 1.0, -1.0, -1.0), 0.0, 0)
    return block_of(OF_TWO, [at_most({first: 1.0, third: -1.0}, 0.3)], [synergy])


def with_soft_products(seed: int) -> Block:
    first, second, third, fourth = (2 * np.random.default_rng(seed).permutation(4)).tolist()
    synergy = ProductConstraint((first, second, third, fourth), (1.0, 1.0, -1.0, -1.0), -0.5, 0, 0.8)
    hard = ProductConstraint((first, third), (1.0, -1.0), 1.0, 1)
    soft = at_most({second: 1.0, fourth: -1.0}, 0.1, confidence=0.5)
    return block_of(OF_TWO, [at_most({first: 1.0, third: -1.0}, 0.3), soft], [synergy, hard])


def with_equalities(seed: int) -> Block:
    rng = np.random.default_rng(seed)
    rows: list[LinearConstraint] = [
        at_most({0: 1.0, 3: -1.0}, 0.0, equality=True),
        at_most({1: 1.0, 4: -1.0, 6: float(rng.uniform(-0.2, 0.2))}, 0.05),
    ]
    return block_of((3, 3, 3), rows)


def with_zeros(seed: int) -> Block:
    return block_of((3, 3, 3), [at_most({5: 1.0}, 0.0), at_most({0: 1.0, 3: -1.0}, 0.05 * seed), *pinned(6, 0.4, 0.5)])


def pinned(i: int, low: float, high: float) -> list[LinearConstraint]:
    return [at_most({i: 1.0}, high), at_most({i: -1.0}, -low)]


def of_three(seed: int) -> Block:
    return random_block(seed, (3, 3, 3), 6)


@pytest.mark.parametrize("seed", seeds(1, 3))
@pytest.mark.parametrize("make", [of_three, with_soft, with_products, with_soft_products, with_equalities, with_zeros])
def test_moments_agree(make: Callable[[int], Block], seed: int) -> None:
    """First and second moments within four and a half standard errors; about 150 comparisons in all."""
    block = make(seed)
    states = int(np.diff(block.distributions)[0])
    configurations = len(block.configurations) + 2
    counts = np.random.default_rng(seed).poisson(1.0, (configurations, states)).astype(float)
    if make is with_equalities:  # no chain jumps into a corner that equalities close: let there be nothing in it
        counts += 1.0
    given = {"seed": seed, "soft_weight": 30.0, "max_draws": 1500}
    short = learn(counts, (block,), draws=1500, compiled=False, **given)
    long = learn(counts, (block,), draws=1500, compiled=True, **given)
    for power in (1, 2):
        one, two = short.draws**power, long.draws**power
        variance = one.var(axis=(0, 1))
        error = np.sqrt(variance * (1.0 / effective_sizes_of_short_chains(one) + 1.0 / effective_sizes(two)))
        assert (np.abs(one.mean(axis=(0, 1)) - two.mean(axis=(0, 1))) <= 4.5 * error + 1e-9).all()
    # Configurations without statements: averaged over exact distributions, so nearly equal.
    assert short.means["x"] == pytest.approx(long.means["x"], abs=0.05)
    assert short.deviations["x"] == pytest.approx(long.deviations["x"], abs=0.05)
    for low_or_high, other in zip(short.interval("x", 0.9), long.interval("x", 0.9), strict=True):
        assert low_or_high == pytest.approx(other, abs=0.12)


@pytest.mark.parametrize("compiled", [False, True])
@pytest.mark.parametrize("weight", [5.0, 60.0])
def test_soft_products_have_the_density_that_they_should_have(compiled: bool, weight: float) -> None:
    """Against independent Beta draws that are weighted by exp(−W·C/2·violation²)."""
    product = ProductConstraint((0, 2, 4), (1.0, 1.0, -1.0), -0.7, 0, 0.6)
    block = block_of((2, 2, 2), [at_most({0: 1.0}, 0.9)], [product])
    shape = np.array([4.0, 2.0, 3.0, 3.0, 2.0, 4.0])
    found = sample_block(block, shape, draws=4_000, seed=1, soft_weight=weight, compiled=compiled)
    rng = np.random.default_rng(2)
    theta = np.stack([rng.beta(shape[k], shape[k + 1], 400_000) for k in (0, 2, 4)], axis=1)
    missed = np.maximum(np.log(theta) @ [1.0, 1.0, -1.0] + 0.7, 0.0)
    chances = np.where(theta[:, 0] <= 0.9, np.exp(-0.5 * weight * 0.6 * missed**2), 0.0)
    expected = chances @ theta / chances.sum()
    deviation = np.sqrt(chances @ (theta - expected) ** 2 / chances.sum())
    error = deviation * np.sqrt(1.0 / found.effective_sizes[[0, 2, 4]] + chances @ chances / chances.sum() ** 2)
    assert (np.abs(found.mean[[0, 2, 4]] - expected) <= 4.5 * error).all()
    unweighted = sample_block(block, shape, draws=4_000, seed=1, compiled=compiled).mean
    assert np.abs(unweighted - found.mean).max() > 0.02  # the statement matters
