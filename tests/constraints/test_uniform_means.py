"""The mean of what a block allows: against exact centroids, rejection sampling, and what a mean has to hold."""

from __future__ import annotations

import numpy as np
import pytest

from credo import CredoError
from credo.constraints.blocks import Block
from credo.constraints.constraint_set import ProductConstraint
from credo.constraints.uniform_means import STANDARD_ERROR, null_space, uniform_mean, uniform_means
from tests.helpers.blocks import at_most, block_of, random_block, rejected


def ordered_mean(size: int) -> np.ndarray:
    """θ_1 ≤ … ≤ θ_n: corners (0, …, 0, 1/k, …, 1/k), so that the mean of θ_i is Σ_{k > n−i} 1/k / n."""
    return np.array([sum(1.0 / k for k in range(size - i, size + 1)) / size for i in range(size)])


def agrees(block: Block, found: np.ndarray, seed: int, draws: int = 4000) -> bool:
    """Whether a mean is that of draws by rejection, and what it has to be."""
    oracle = rejected(block, np.ones(block.size), draws, seed)
    error = 5.0 * oracle.std(axis=0) * np.sqrt(1 / draws + STANDARD_ERROR**2)
    holds = (block.linear.values(found) <= block.linear.bounds + 1e-9).all()
    sums = np.add.reduceat(found, block.distributions[:-1])
    return bool(holds and np.allclose(sums, 1.0, atol=1e-12) and (np.abs(found - oracle.mean(axis=0)) <= error).all())


def test_an_interval_has_its_middle() -> None:
    block = block_of((2,), [at_most({0: 1.0}, 0.7), at_most({0: -1.0}, -0.2)])
    assert uniform_mean(block, 1) == pytest.approx([0.45, 0.55], abs=1e-9)


@pytest.mark.parametrize("size", [3, 5, 9])
def test_the_mean_of_the_ordered_simplex(size: int) -> None:
    block = block_of((size,), [at_most({i: 1.0, i + 1: -1.0}, 0.0) for i in range(size - 1)])
    assert uniform_mean(block, 3) == pytest.approx(ordered_mean(size), abs=0.01)


def test_a_long_chain_of_near_equalities() -> None:
    """Sixteen binary distributions, each within 0.01 of the next: by symmetry all means are a half."""
    constraints = [at_most({2 * i: sign, 2 * i + 2: -sign}, 0.01) for i in range(15) for sign in (1.0, -1.0)]
    assert uniform_mean(block_of((2,) * 16, constraints), 5) == pytest.approx(0.5, abs=0.04)


@pytest.mark.parametrize(
    ("seed", "sizes", "constraints"),
    [(1, (2, 2), 3), (2, (3, 2), 4), (3, (3, 3), 5), (4, (2, 2, 2), 5), (5, (4, 3), 4), (6, (8,), 3)],
)
def test_rejection_finds_the_same(seed: int, sizes: tuple[int, ...], constraints: int) -> None:
    block = random_block(seed, sizes, constraints)
    assert agrees(block, uniform_mean(block, seed), seed)


def test_equalities_in_disguise_and_zeros() -> None:
    """θ_0 ≤ 0.3 and θ_0 ≥ 0.3; θ_2 ≤ 0; the second distribution has θ_3 ≥ 0.7, a simplex again."""
    constraints = [
        at_most({0: 1.0}, 0.3),
        at_most({0: -1.0}, -0.3),
        at_most({2: 1.0}, 0.0),
        at_most({1: 1.0, 3: -1.0}, 0.0),
    ]
    found = uniform_mean(block_of((3, 3), constraints), 2)
    assert found == pytest.approx([0.3, 0.7, 0.0, 0.8, 0.1, 0.1], abs=0.01)
    assert found[:3] == pytest.approx([0.3, 0.7, 0.0], abs=1e-9)
    pinned = block_of((2,), [at_most({0: 1.0}, 0.25, equality=True)])
    assert uniform_mean(pinned, 2) == pytest.approx([0.25, 0.75])


def test_an_equality_across_distributions() -> None:
    """θ_0 + θ_2 = 0.8: both are uniform on [0, 0.8]."""
    block = block_of((2, 2), [at_most({0: 1.0, 2: 1.0}, 0.8, equality=True)])
    found = uniform_mean(block, 4)
    assert found == pytest.approx([0.4, 0.6, 0.4, 0.6], abs=0.03)
    assert found[0] + found[2] == pytest.approx(0.8, abs=1e-9)


def test_an_equality_of_distributions_with_three_states() -> None:
    """θ_0 = θ_3: the density of what they share is (1 − t)², so that its mean is a quarter."""
    block = block_of((3, 3), [at_most({0: 1.0, 3: -1.0}, 0.0, equality=True)])
    assert uniform_mean(block, 4) == pytest.approx([0.25, 0.375, 0.375] * 2, abs=0.03)


def test_without_hard_constraints_everything_is_uniform() -> None:
    free = block_of((4, 2), [at_most({0: 1.0}, 0.1, confidence=0.5)])
    assert uniform_mean(free, 1) == pytest.approx([0.25] * 4 + [0.5] * 2)


def test_products() -> None:
    """θ_0 ≤ θ_2 as a product; then what is not convex, with linear constraints and without."""
    compared = block_of((2, 2), [], [ProductConstraint((0, 2), (1.0, -1.0), 0.0, 0)])
    assert uniform_mean(compared, 1) == pytest.approx([1 / 3, 2 / 3, 2 / 3, 1 / 3], abs=0.03)
    hollow = [ProductConstraint((0, 2), (1.0, 1.0), float(np.log(0.1)), 0)]
    for constraints in ([], [at_most({0: 1.0, 2: -1.0}, 0.1)]):
        block = block_of((2, 2), constraints, hollow)
        assert agrees(block, uniform_mean(block, 2), 2)
    odds = [ProductConstraint((0, 4, 1, 3), (1.0, 1.0, -1.0, -1.0), float(np.log(2.0)), 0)]
    block = block_of((3, 3, 2), [at_most({0: 1.0, 6: 1.0}, 0.9)], odds)
    assert agrees(block, uniform_mean(block, 3), 3)


def test_a_product_with_an_equality() -> None:
    """θ_0 = θ_2 = t with t² ≤ 0.25: uniform on [0, 0.5]."""
    product = ProductConstraint((0, 2), (1.0, 1.0), float(np.log(0.25)), 0)
    block = block_of((2, 2), [at_most({0: 1.0, 2: -1.0}, 0.0, equality=True)], [product])
    assert uniform_mean(block, 3) == pytest.approx([0.25, 0.75] * 2, abs=0.02)


def test_a_thin_product() -> None:
    """Odds ratios within 2 % of each other: the mean is that of rejection sampling, and the seed tells little."""
    bound = float(np.log(1.02))
    products = [ProductConstraint((0, 2), sign, bound, 0) for sign in ((1.0, -1.0), (-1.0, 1.0))]
    block = block_of((2, 2), [at_most({0: -1.0}, -0.2)], products)
    assert agrees(block, uniform_mean(block, 3), 3)


def test_large_sparse_blocks() -> None:
    """Three hundred ordered pairs of distributions in one chain of loose constraints; equal columns are merged."""
    count = 600
    constraints = [at_most({2 * i: 1.0, 2 * i + 2: -1.0}, 0.0) for i in range(0, count, 2)]
    constraints += [at_most({2 * i: 1.0, 2 * i + 2: 1.0}, 2.0) for i in range(1, count - 1, 2)]  # hold always
    block = block_of((2,) * count, constraints)
    found = uniform_mean(block, 1)
    assert found == pytest.approx(np.tile([1 / 3, 2 / 3, 2 / 3, 1 / 3], count // 2), abs=0.05)
    assert found[::4].mean() == pytest.approx(1 / 3, abs=0.005)


def test_many_states_that_no_constraint_distinguishes() -> None:
    """θ_0 ≤ 1/n of n states: as in P(θ_0) = (n − 1)(1 − t)^(n − 2), cut off."""
    size = 2000
    grid = (np.arange(4000) + 0.5) / 4000 / size
    weights = (1.0 - grid) ** (size - 2)
    exact = float(weights @ grid / weights.sum())
    found = uniform_mean(block_of((size,), [at_most({0: 1.0}, 1.0 / size)]), 1)
    assert found[0] == pytest.approx(exact, rel=0.03)
    assert found[1:] == pytest.approx((1.0 - found[0]) / (size - 1))


def test_a_large_block_with_equalities() -> None:
    """Each of four hundred distributions has the same first state as its neighbour: (1 − t)² of t."""
    count = 400
    constraints = [at_most({3 * i: 1.0, 3 * i + 3: -1.0}, 0.0, equality=True) for i in range(0, count, 2)]
    found = uniform_mean(block_of((3,) * count, constraints), 1)
    assert found == pytest.approx(np.tile([0.25, 0.375, 0.375], count), abs=0.06)
    assert found[::3].mean() == pytest.approx(0.25, abs=0.01)
    np.testing.assert_allclose(found[::6], found[3::6], atol=1e-9)


def test_a_seed_fixes_the_means_and_equal_blocks_share_one() -> None:
    blocks = (random_block(5, (3, 2, 2), 4), random_block(6, (2, 2, 3), 3), random_block(5, (3, 2, 2), 4))
    first, second, other = uniform_means(blocks, seed=1), uniform_means(blocks, seed=1), uniform_means(blocks, seed=2)
    for one, two in zip(first, second, strict=True):
        np.testing.assert_array_equal(one, two)
    np.testing.assert_array_equal(first[0], first[2])
    assert (first[0] != other[0]).any()


def test_nothing_to_average_is_an_error() -> None:
    constraints = [at_most({0: 1.0}, 0.2), at_most({0: -1.0}, -0.3)]
    product = ProductConstraint((0, 2), (-1.0, 1.0), float(np.log(0.5)), 0)  # θ_2 ≤ θ_0 / 2, and θ_2 ≥ 0.6
    for block in (
        block_of((2,), constraints),
        block_of((2, 2), constraints, [product]),
        block_of((2, 2), [at_most({2: -1.0}, -0.6)], [product]),
    ):
        with pytest.raises(CredoError, match="cannot all hold"):
            uniform_mean(block, 0)


def test_the_null_space_is_one() -> None:
    rng = np.random.default_rng(3)
    matrix = rng.integers(-1, 2, (4, 9)).astype(float)
    matrix[3] = matrix[0] + matrix[1]
    basis = null_space(matrix).toarray()
    assert basis.shape == (9 - np.linalg.matrix_rank(matrix), 9)
    assert np.linalg.matrix_rank(basis) == len(basis)
    np.testing.assert_allclose(matrix @ basis.T, 0.0, atol=1e-9)
