"""Sampling a block, against rejection, exact densities, exact centroids, and hopsy."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from credo import CredoError
from credo.constraints.blocks import Block
from credo.constraints.constraint_set import ProductConstraint
from credo.sampling.directions import null_space
from credo.sampling.polytope import Samples, sample_block
from credo.sampling.vectorised import CHAINS
from tests.helpers.blocks import at_most, block_of, random_block, rejected
from tests.helpers.posterior_runs import both


def flat(samples: Samples) -> np.ndarray:
    return samples.values.reshape(-1, samples.values.shape[-1])


def assert_inside(block: Block, samples: Samples) -> None:
    values = flat(samples)
    missed = block.linear.values(values) - block.linear.bounds
    assert missed[:, block.linear.hard].max(initial=-1.0) <= 1e-9
    equal = block.linear.hard & block.linear.equality
    assert np.abs(missed[:, equal]).max(initial=0.0) <= 1e-9
    assert values.min() >= 0.0
    np.testing.assert_allclose(np.add.reduceat(values, block.distributions[:-1], axis=1), 1.0, atol=1e-12)


def assert_same_law(block: Block, samples: Samples, oracle: np.ndarray) -> None:
    """Means within five standard errors, deviations within a tenth, and a Kolmogorov-Smirnov test of each margin."""
    values, sizes = flat(samples), samples.effective_sizes
    error = oracle.std(axis=0) * np.sqrt(1.0 / sizes + 1.0 / len(oracle))
    assert (np.abs(values.mean(axis=0) - oracle.mean(axis=0)) <= 5.0 * error + 1e-9).all()
    np.testing.assert_allclose(values.std(axis=0), oracle.std(axis=0), rtol=0.1, atol=1e-4)
    for i in range(block.size):
        independent = values[:: int(np.ceil(len(values) / min(sizes[i], 2000)))]
        assert stats.ks_2samp(independent[:, i], oracle[:, i]).pvalue > 1e-4


# Against rejection ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("concentration", "compiled"), [(1.0, True), (0.3, True), (4.0, True), (1.0, False), (4.0, False)]
)
@pytest.mark.parametrize(
    ("seed", "sizes", "constraints"), [(1, (2, 2), 3), (2, (3, 2), 4), (3, (3, 3), 5), (4, (2, 2, 2), 5)]
)
def test_it_draws_what_rejection_draws(
    seed: int, sizes: tuple[int, ...], constraints: int, concentration: float, compiled: bool
) -> None:
    block = random_block(seed, sizes, constraints)
    shape = np.full(block.size, concentration)
    samples = sample_block(block, shape, draws=1500, seed=seed, compiled=compiled)
    assert_inside(block, samples)
    assert samples.r_hat.max() < 1.02
    assert_same_law(block, samples, rejected(block, shape, 3000, seed))


def test_shapes_may_differ_between_states() -> None:
    block = block_of((3, 3), [at_most({2: 1.0, 3: -1.0}, -0.1), at_most({0: 1.0, 5: -1.0}, 0.02)])
    shape = np.array([0.4, 1.0, 3.0, 6.0, 1.0, 0.6])
    samples = sample_block(block, shape, draws=2000)
    assert_same_law(block, samples, rejected(block, shape, 3000))


def test_product_constraints_bound_the_moves() -> None:
    """θ_0·θ_4 ≤ θ_2·θ_6 over four distributions of two states."""
    product = ProductConstraint((0, 4, 2, 6), (1.0, 1.0, -1.0, -1.0), 0.0, 0)
    block = block_of((2, 2, 2, 2), [at_most({0: 1.0, 2: -1.0}, 0.1)], [product])
    shape = np.full(8, 0.8)
    samples = sample_block(block, shape, draws=2500)
    logs = np.log(flat(samples))
    assert (logs[:, 0] + logs[:, 4] - logs[:, 2] - logs[:, 6]).max() <= 1e-9
    assert_same_law(block, samples, rejected(block, shape, 3000))


def test_products_bound_the_moves_of_many_chains() -> None:
    """The same with concentrations of one and more, where no compiled code is needed."""
    product = ProductConstraint((0, 4, 2, 6), (1.0, 1.0, -1.0, -1.0), 0.0, 0)
    block = block_of((2, 2, 2, 2), [at_most({0: 1.0, 2: -1.0}, 0.1)], [product])
    shape = np.array([1.0, 2.0, 1.5, 1.0, 1.0, 1.0, 3.0, 1.0])
    samples = sample_block(block, shape, draws=1500)
    assert len(samples.values) == CHAINS
    logs = np.log(flat(samples))
    assert (logs[:, 0] + logs[:, 4] - logs[:, 2] - logs[:, 6]).max() <= 1e-9
    assert_same_law(block, samples, rejected(block, shape, 3000))


@both
def test_soft_constraints_weigh_instead_of_forbid(compiled: bool) -> None:
    """exp(−W·C/2·violation²), by weighing exact draws; without a weight they say nothing."""
    block = block_of((2,), [at_most({0: 1.0}, 0.2, confidence=0.5)])
    weight = 100.0
    samples = sample_block(block, np.ones(2), draws=4000, soft_weight=weight, compiled=compiled)
    grid = (np.arange(20000) + 0.5) / 20000
    density = np.exp(-0.5 * weight * 0.5 * np.maximum(0.0, grid - 0.2) ** 2)
    assert flat(samples)[:, 0].mean() == pytest.approx((grid * density).sum() / density.sum(), abs=0.01)
    assert flat(samples)[:, 0].max() > 0.25
    assert sample_block(block, np.ones(2), compiled=compiled).mean[0] == pytest.approx(0.5, abs=0.03)


# Against what is known exactly ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(("a", "b"), [(1.0, 1.0), (0.1, 0.1), (0.05, 2.0), (30.0, 4.0), (1.0, 0.5)])
def test_two_states_between_bounds_are_a_truncated_beta(a: float, b: float) -> None:
    block = block_of((2,), [at_most({0: 1.0}, 0.7), at_most({0: -1.0}, -0.002)])
    samples = sample_block(block, np.array([a, b]), draws=4000, thinning=3)
    law = stats.beta(a, b)
    low, high = law.cdf([0.002, 0.7])
    thinned = flat(samples)[::4, 0]
    assert stats.kstest(thinned, lambda x: (law.cdf(x) - low) / (high - low)).pvalue > 1e-4


def test_corners_are_reached_at_small_concentrations() -> None:
    """Dirichlet(0.1, 0.1, 0.1) with θ_0 ≥ θ_1: by symmetry the mean is known, and each corner has its share."""
    block = block_of((3,), [at_most({0: -1.0, 1: 1.0}, 0.0)])
    samples = sample_block(block, np.full(3, 0.1), draws=4000, thinning=3)
    oracle = rejected(block, np.full(3, 0.1), 20000)
    for corner in (0, 2):
        share = (flat(samples)[:, corner] > 0.99).mean()
        assert share == pytest.approx((oracle[:, corner] > 0.99).mean(), abs=0.03)
    assert samples.mean == pytest.approx(oracle.mean(axis=0), abs=0.03)
    assert samples.r_hat.max() < 1.02


@both
@pytest.mark.parametrize("size", [3, 5, 9])
def test_the_mean_of_the_ordered_simplex(size: int, compiled: bool) -> None:
    """θ_1 ≤ … ≤ θ_n: corners (0, …, 0, 1/k, …, 1/k), so that the mean of θ_i is Σ_{k > n−i} 1/k / n."""
    constraints = [at_most({i: 1.0, i + 1: -1.0}, 0.0) for i in range(size - 1)]
    block = block_of((size,), constraints)
    exact = np.array([sum(1.0 / k for k in range(size - i, size + 1)) / size for i in range(size)])
    assert sample_block(block, np.ones(size), draws=4000, chains=2, compiled=compiled).mean == pytest.approx(
        exact, abs=0.01
    )


def test_without_constraints_the_draws_are_dirichlet() -> None:
    shape = np.array([0.02, 1.0, 3.0, 2.0, 2.0])
    samples = sample_block(block_of((3, 2)), shape, draws=5000)
    sums = np.repeat([4.02, 4.0], [3, 2])
    assert samples.mean == pytest.approx(shape / sums, abs=0.01)
    assert samples.effective_sizes.min() > 5000


# Equalities -----------------------------------------------------------------------------------------------------------


def test_equalities_are_kept_in_the_subspace() -> None:
    """Two equal distributions with Dirichlet(a) and Dirichlet(b) are one with Dirichlet(a + b − 1)."""
    constraints = [at_most({k: 1.0, k + 3: -1.0}, 0.0, equality=True) for k in range(2)]
    block = block_of((3, 3), constraints)
    shape = np.array([2.0, 0.7, 1.0, 1.5, 3.0, 0.6])
    samples = sample_block(block, shape, draws=4000)
    assert_inside(block, samples)
    joint = shape[:3] + shape[3:] - 1.0
    oracle = np.random.default_rng(0).dirichlet(joint, 4000)
    assert_same_law(block, samples, np.concatenate((oracle, oracle), axis=1))


@both
def test_equalities_in_disguise_and_zeros(compiled: bool) -> None:
    """θ_0 ≤ 0.3 and θ_0 ≥ 0.3; θ_2 ≤ 0; what is left is θ_1 = 0.7 and a free second distribution."""
    constraints = [
        at_most({0: 1.0}, 0.3),
        at_most({0: -1.0}, -0.3),
        at_most({2: 1.0}, 0.0),
        at_most({1: 1.0, 3: -1.0}, 0.0),
    ]
    block = block_of((3, 3), constraints)
    samples = sample_block(block, np.ones(6), draws=2000, compiled=compiled)
    assert_inside(block, samples)
    assert samples.values[:, :, :3] == pytest.approx(np.broadcast_to([0.3, 0.7, 0.0], samples.values[:, :, :3].shape))
    assert samples.mean[3] == pytest.approx(0.7 + 0.3 / 3.0, abs=0.01)  # the corner that is left is a simplex again
    assert np.isfinite(samples.effective_sizes).all()


@both
def test_a_single_point_is_its_own_sample(compiled: bool) -> None:
    block = block_of((2,), [at_most({0: 1.0}, 0.25, equality=True)])
    samples = sample_block(block, np.ones(2), draws=5, compiled=compiled)
    assert samples.values == pytest.approx(np.broadcast_to([0.25, 0.75], samples.values.shape))
    assert (samples.r_hat == 1.0).all()


@both
def test_an_equality_across_distributions_with_coefficients(compiled: bool) -> None:
    """θ_0 + θ_2 = 0.8 in two binary distributions: θ_0 is uniform on [0, 0.8]."""
    block = block_of((2, 2), [at_most({0: 1.0, 2: 1.0}, 0.8, equality=True)])
    samples = sample_block(block, np.ones(4), draws=3000, thinning=3, compiled=compiled)
    assert_inside(block, samples)
    assert stats.kstest(flat(samples)[::3, 0], stats.uniform(0.0, 0.8).cdf).pvalue > 1e-4


def test_the_null_space_is_one() -> None:
    rng = np.random.default_rng(3)
    matrix = rng.choice([-1.0, 0.0, 0.0, 1.0], (6, 11))
    matrix[5] = matrix[0] + matrix[1]
    basis = null_space(matrix)
    assert basis.shape == (11 - np.linalg.matrix_rank(matrix), 11)
    assert np.linalg.matrix_rank(basis) == len(basis)
    assert matrix @ basis.T == pytest.approx(0.0, abs=1e-12)


# Mixing, seeds, errors ------------------------------------------------------------------------------------------------


@both
def test_long_chains_of_near_equalities_mix(compiled: bool) -> None:
    """Sixteen binary distributions, each within 0.01 of the next: single moves alone would need thousands of sweeps."""
    constraints = [at_most({2 * i: sign, 2 * i + 2: -sign}, 0.01) for i in range(15) for sign in (1.0, -1.0)]
    block = block_of((2,) * 16, constraints)
    samples = sample_block(block, np.ones(32), draws=1000, compiled=compiled)
    assert_inside(block, samples)
    assert samples.effective_sizes.min() > 400
    assert samples.r_hat.max() < 1.02
    assert samples.mean[::2] == pytest.approx(0.5, abs=0.06)


def test_a_seed_fixes_the_draws_whatever_the_threads() -> None:
    block = random_block(5, (3, 2, 2), 4)
    shape = np.full(7, 0.5)
    one = sample_block(block, shape, draws=50, seed=3, threads=1)
    two = sample_block(block, shape, draws=50, seed=3, threads=4)
    other = sample_block(block, shape, draws=50, seed=4)
    np.testing.assert_array_equal(one.values, two.values)
    assert (one.values != other.values).any()


def test_states_may_be_relabelled() -> None:
    """The same polytope with the states turned round has the same mean, turned round."""
    block = block_of((3,), [at_most({0: 1.0, 1: -1.0}, 0.0), at_most({2: 1.0}, 0.5)])
    turned = block_of((3,), [at_most({2: 1.0, 1: -1.0}, 0.0), at_most({0: 1.0}, 0.5)])
    shape = np.array([0.5, 2.0, 1.0])
    means = [sample_block(block, shape, draws=4000).mean, sample_block(turned, shape[::-1], draws=4000).mean[::-1]]
    assert means[0] == pytest.approx(means[1], abs=0.015)


@both
def test_nothing_to_sample_is_an_error(compiled: bool) -> None:
    with pytest.raises(CredoError, match="cannot all hold"):
        sample_block(block_of((2,), [at_most({0: 1.0}, 0.2), at_most({0: -1.0}, -0.3)]), np.ones(2), compiled=compiled)


@both
def test_many_states_and_many_constraints(compiled: bool) -> None:
    """Forty states, where not every pair is a move, against a bound on a sum."""
    block = block_of((40,), [at_most(dict.fromkeys(range(20), 1.0), 0.4)])
    samples = sample_block(block, np.ones(40), draws=1500, compiled=compiled)
    law = stats.beta(20, 20)
    grid = np.linspace(0.0, 0.4, 4001)
    mean = (grid * law.pdf(grid)).sum() / law.pdf(grid).sum()
    assert samples.mean[:20].sum() == pytest.approx(mean, abs=0.01)
    assert samples.r_hat.max() < 1.05


# Against hopsy --------------------------------------------------------------------------------------------------------


@pytest.mark.filterwarnings("ignore")
def test_hopsy_finds_the_same_uniform_means() -> None:
    hopsy = pytest.importorskip("hopsy")
    block = random_block(11, (3, 3, 2, 2), 8)
    own = sample_block(block, np.ones(block.size), draws=4000)
    free, basis, centre = hopsy_problem(block)
    problem = hopsy.Problem(*free)
    proposal = hopsy.UniformCoordinateHitAndRunProposal(problem, starting_point=hopsy.compute_chebyshev_center(problem))
    chain = hopsy.MarkovChain(problem, proposal=proposal)
    _, draws = hopsy.sample(chain, hopsy.RandomNumberGenerator(1), n_samples=20_000, thinning=10)
    values = draws.reshape(-1, basis.shape[1]) @ basis.T + centre
    assert own.mean == pytest.approx(values.mean(axis=0), abs=0.01)
    assert flat(own).std(axis=0) == pytest.approx(values.std(axis=0), rel=0.1)


def hopsy_problem(block: Block) -> tuple[tuple[np.ndarray, np.ndarray], np.ndarray, np.ndarray]:
    """The block without the last state of each distribution: (A, b), and θ = basis·x + centre."""
    last = block.distributions[1:] - 1
    kept = np.setdiff1d(np.arange(block.size), last)
    basis = np.zeros((block.size, len(kept)))
    basis[kept, np.arange(len(kept))] = 1.0
    basis[last[block.distribution_of[kept]], np.arange(len(kept))] = -1.0
    centre = np.zeros(block.size)
    centre[last] = 1.0
    constraints = block.linear.matrix(block.size).toarray()
    left = np.concatenate((constraints @ basis, -basis))
    return (left, np.concatenate((block.linear.bounds - constraints @ centre, centre))), basis, centre
