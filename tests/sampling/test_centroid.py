"""The mean of what a block allows: against exact centroids, the sampler of blocks, and what a mean has to hold."""

from __future__ import annotations

import numpy as np
import pytest

from credo import CredoError
from credo.constraints.constraint_set import ProductConstraint
from credo.sampling import centroid
from credo.sampling.centroid import uniform_mean, uniform_means
from credo.sampling.polytope import sample_block
from tests.helpers.blocks import at_most, block_of, random_block, rejected
from tests.helpers.posterior_runs import both


@both
def test_an_interval_has_its_middle(compiled: bool) -> None:
    block = block_of((2,), [at_most({0: 1.0}, 0.7), at_most({0: -1.0}, -0.2)])
    assert uniform_mean(block, 1, compiled=compiled) == pytest.approx([0.45, 0.55], abs=1e-9)


@both
@pytest.mark.parametrize("size", [3, 5, 9])
def test_the_mean_of_the_ordered_simplex(size: int, compiled: bool) -> None:
    """θ_1 ≤ … ≤ θ_n: corners (0, …, 0, 1/k, …, 1/k), so that the mean of θ_i is Σ_{k > n−i} 1/k / n."""
    block = block_of((size,), [at_most({i: 1.0, i + 1: -1.0}, 0.0) for i in range(size - 1)])
    exact = np.array([sum(1.0 / k for k in range(size - i, size + 1)) / size for i in range(size)])
    assert uniform_mean(block, 3, compiled=compiled) == pytest.approx(exact, abs=0.01)


@both
def test_a_long_chain_of_near_equalities(compiled: bool) -> None:
    """Sixteen binary distributions, each within 0.01 of the next: by symmetry all means are a half."""
    constraints = [at_most({2 * i: sign, 2 * i + 2: -sign}, 0.01) for i in range(15) for sign in (1.0, -1.0)]
    assert uniform_mean(block_of((2,) * 16, constraints), 5, compiled=compiled) == pytest.approx(0.5, abs=0.03)


@both
@pytest.mark.parametrize(
    ("seed", "sizes", "constraints"), [(1, (2, 2), 3), (2, (3, 2), 4), (3, (3, 3), 5), (4, (2, 2, 2), 5)]
)
def test_rejection_finds_the_same(seed: int, sizes: tuple[int, ...], constraints: int, compiled: bool) -> None:
    block = random_block(seed, sizes, constraints)
    oracle = rejected(block, np.ones(block.size), 4000, seed)
    error = 5.0 * oracle.std(axis=0) * np.sqrt(1 / 4000 + centroid.STANDARD_ERROR**2)
    assert (np.abs(uniform_mean(block, seed, compiled=compiled) - oracle.mean(axis=0)) <= error + 1e-9).all()


@both
@pytest.mark.parametrize("seed", range(6))
def test_the_sampler_of_blocks_finds_the_same(seed: int, compiled: bool) -> None:
    block = random_block(seed, (4, 3, 2, 2, 3), 14)
    drawn = sample_block(block, np.ones(block.size), draws=3000, seed=seed)
    error = np.sqrt(1.0 / drawn.effective_sizes + centroid.STANDARD_ERROR**2) * drawn.values.std(axis=(0, 1))
    found = uniform_mean(block, seed, compiled=compiled)
    assert (np.abs(found - drawn.mean) <= 5.0 * error + 1e-9).all()
    assert (block.linear.values(found) <= block.linear.bounds + 1e-9).all()
    assert np.add.reduceat(found, block.distributions[:-1]) == pytest.approx(1.0, abs=1e-12)


@both
def test_equalities_in_disguise_and_zeros(compiled: bool) -> None:
    """θ_0 ≤ 0.3 and θ_0 ≥ 0.3; θ_2 ≤ 0; the second distribution has θ_3 ≥ 0.7, a simplex again."""
    constraints = [
        at_most({0: 1.0}, 0.3),
        at_most({0: -1.0}, -0.3),
        at_most({2: 1.0}, 0.0),
        at_most({1: 1.0, 3: -1.0}, 0.0),
    ]
    assert uniform_mean(block_of((3, 3), constraints), 2, compiled=compiled) == pytest.approx(
        [0.3, 0.7, 0.0, 0.8, 0.1, 0.1], abs=0.01
    )
    pinned = block_of((2,), [at_most({0: 1.0}, 0.25, equality=True)])
    assert uniform_mean(pinned, 2, compiled=compiled) == pytest.approx([0.25, 0.75])


@both
def test_an_equality_across_distributions(compiled: bool) -> None:
    """θ_0 + θ_2 = 0.8: both are uniform on [0, 0.8]."""
    block = block_of((2, 2), [at_most({0: 1.0, 2: 1.0}, 0.8, equality=True)])
    assert uniform_mean(block, 4, compiled=compiled) == pytest.approx([0.4, 0.6, 0.4, 0.6], abs=1e-9)


@both
def test_what_is_no_such_polytope_is_drawn(monkeypatch: pytest.MonkeyPatch, compiled: bool) -> None:
    """Products, and matrices that are too large; without constraints nothing is."""
    product = block_of((2, 2), [], [ProductConstraint((0, 2), (1.0, -1.0), 0.0, 0)])
    assert uniform_mean(product, 1, compiled=compiled) == pytest.approx([1 / 3, 2 / 3, 2 / 3, 1 / 3], abs=0.03)
    free = block_of((4, 2), [at_most({0: 1.0}, 0.1, confidence=0.5)])
    assert uniform_mean(free, 1, compiled=compiled) == pytest.approx([0.25] * 4 + [0.5] * 2)
    monkeypatch.setattr(centroid, "LARGE", 0)
    interval = block_of((2,), [at_most({0: 1.0}, 0.5)])
    assert uniform_mean(interval, 1, compiled=compiled) == pytest.approx([0.25, 0.75], abs=0.02)


def test_a_seed_fixes_the_means_and_equal_blocks_share_one() -> None:
    blocks = (random_block(5, (3, 2, 2), 4), random_block(6, (2, 2, 3), 3), random_block(5, (3, 2, 2), 4))
    first, second, other = uniform_means(blocks, seed=1), uniform_means(blocks, seed=1), uniform_means(blocks, seed=2)
    for one, two in zip(first, second, strict=True):
        np.testing.assert_array_equal(one, two)
    np.testing.assert_array_equal(first[0], first[2])
    assert (first[0] != other[0]).any()


def test_the_size_of_the_work_decides_which_code_runs() -> None:
    one = block_of((2, 2), [at_most({0: 1.0, 2: -1.0}, 0.0)])
    assert centroid.is_small([one] * centroid.VECTORISED_BLOCKS)
    assert not centroid.is_small([one] * (centroid.VECTORISED_BLOCKS + 1))
    assert not centroid.is_small([random_block(1, (20,) * 12, 10)])


@both
def test_nothing_to_sample_is_an_error(compiled: bool) -> None:
    with pytest.raises(CredoError, match="cannot all hold"):
        uniform_mean(block_of((2,), [at_most({0: 1.0}, 0.2), at_most({0: -1.0}, -0.3)]), 0, compiled=compiled)
