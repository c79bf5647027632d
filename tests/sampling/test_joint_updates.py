"""Joint updates: whatever they propose together, draws have the moments that weighted draws of the prior have."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

from credo.constraints.blocks import Block
from credo.constraints.constraint_set import LinearConstraint
from credo.kernels.sampler_arrays import Mixture
from credo.posterior.convergence import effective_sizes, effective_sizes_of_short_chains
from credo.sampling.compiled_chains import CompiledChains
from credo.sampling.distributions import Hyperparameters, SampledDistributions, arrays_of, sampled_distributions
from credo.sampling.joint_updates import supports_of
from credo.sampling.predicted_components import predicted_cpt
from credo.sampling.region import geometry_of, region_of, seeded
from credo.sampling.vectorised.chain_states import model_of, start
from credo.sampling.vectorised.gibbs import plan_of
from credo.sampling.vectorised.joint_updates import MixtureDensity, update_jointly
from credo.sampling.vectorised.shared_parameters import component_density, component_norms
from tests.helpers.blocks import at_most, block_of
from tests.helpers.posterior_runs import Given, family, learn

PRIOR_DRAWS = 500_000


def held(terms: dict[int, float], width: float) -> list[LinearConstraint]:
    """|Σ coefficient · θ| ≤ width."""
    return [at_most({i: sign * value for i, value in terms.items()}, width) for sign in (1.0, -1.0)]


def about(i: int, j: int, width: float) -> list[LinearConstraint]:
    """|θ_i − θ_j| ≤ width."""
    return held({i: 1.0, j: -1.0}, width)


def order(*numbers: int) -> list[LinearConstraint]:
    """θ_i ≤ θ_j for each and its next."""
    return [at_most({i: 1.0, j: -1.0}, 0.0) for i, j in pairwise(numbers)]


# The statements, and how often each state was seen in each configuration.
CASES: dict[str, tuple[Block, list[list[float]]]] = {
    "two states, about the same": (block_of((2, 2), about(0, 2, 0.1)), [[0, 0], [0, 0]]),
    "two states, a chain": (block_of((2, 2, 2), [*about(0, 2, 0.2), *about(2, 5, 0.2)]), [[1, 0], [0, 0], [0, 0]]),
    "about the same": (block_of((3, 3), about(0, 3, 0.1)), [[0, 0, 0], [0, 0, 0]]),
    "about the same, twice": (block_of((3, 3), [*about(0, 3, 0.2), *about(1, 4, 0.2)]), [[2, 0, 1], [0, 0, 0]]),
    "an order": (block_of((3, 3, 3), order(0, 3, 6)), [[1, 1, 0], [0, 0, 0], [0, 2, 0]]),
    "an order within about the same": (
        block_of((3, 3, 3), [*about(0, 3, 0.15), *order(3, 6), *order(2, 5)]),
        [[0, 0, 0], [1, 0, 0], [0, 1, 0]],
    ),
    "sums against sums": (
        block_of((3, 3), [at_most({0: 1.0, 1: 1.0, 3: -1.0, 4: -1.0}, 0.1), at_most({0: -1.0, 3: 2.0}, 0.3)]),
        [[0, 1, 0], [0, 0, 1]],
    ),
    "a sum within bounds": (
        block_of(
            (3, 3), [*held({0: 1.0, 1: 1.0, 3: -1.0}, 0.1), *held({0: 1.0, 4: -1.0}, 0.2), at_most({3: 1.0}, 0.6)]
        ),
        [[0, 0, 0], [0, 1, 1]],
    ),
    "two states, sums": (
        block_of((2,) * 4, [*held({0: 1.0, 2: 1.0, 4: -1.0, 6: -1.0}, 0.1), at_most({6: -1.0}, -0.5)]),
        [[0, 0], [0, 0], [1, 0], [0, 0]],
    ),
    "four states": (
        block_of((4, 4), [*about(0, 4, 0.2), *about(3, 7, 0.3), *order(1, 0), at_most({2: -1.0}, -0.05)]),
        [[0, 0, 0, 0], [1, 0, 0, 0]],
    ),
}


def prior_draws(
    rng: np.random.Generator, hyper: Hyperparameters, seen: np.ndarray, predicted: np.ndarray
) -> np.ndarray:
    """θ of one table from the model as `posterior.py` writes it, (draws, rows, states)."""
    strengths = hyper.strengths()
    rows, components, states = len(seen), strengths.shape[1], predicted.shape[1]
    pool = rng.dirichlet(np.ones(components), PRIOR_DRAWS)
    weights = dirichlets(rng, np.maximum(hyper.pooling_concentration * pool, 1e-9))
    means = rng.dirichlet(np.full(states, hyper.mean_concentration), PRIOR_DRAWS)
    chosen = (rng.random((PRIOR_DRAWS, rows, 1)) > weights.cumsum(axis=1)[:, None]).sum(axis=2)
    chosen = np.minimum(chosen, components - 1)
    bases = np.where((chosen < len(hyper.uniform_strengths))[:, :, None], 1.0 / states, means[:, None])
    is_predicted = (chosen >= hyper.first_predicted)[:, :, None]
    bases = np.where(is_predicted, predicted, bases)
    return dirichlets(rng, strengths[seen.astype(int), chosen][:, :, None] * bases)


def dirichlets(rng: np.random.Generator, shapes: np.ndarray) -> np.ndarray:
    """One draw for each shape, (…, states); in logarithms, so that none underflows."""
    logs = np.log(rng.standard_gamma(shapes + 1.0)) + np.log(rng.random(shapes.shape)) / shapes
    values = np.exp(logs - logs.max(axis=-1, keepdims=True))
    return np.asarray(values / values.sum(axis=-1, keepdims=True))


def oracle(block: Block, counts: np.ndarray, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Draws of the prior that hold every statement, (draws, parameters), and how likely each makes the counts."""
    rng = np.random.default_rng(seed)
    predicted = predicted_cpt(counts, (len(counts),))
    hyper = Hyperparameters(predicts=bool((predicted != 1.0 / counts.shape[1]).any()))
    theta = prior_draws(rng, hyper, counts.sum(axis=1) > 0, predicted).reshape(PRIOR_DRAWS, -1)
    theta = theta[(block.linear.values(theta) <= block.linear.bounds).all(axis=1)]
    return theta, np.prod(theta ** counts.ravel(), axis=1)


@pytest.mark.parametrize(
    ("name", "compiled"),
    [
        # Every case by one of the two samplers; by the other with the slow tests.
        pytest.param(
            name,
            compiled,
            id=f"{name}-{'compiled' if compiled else 'vectorised'}",
            marks=[pytest.mark.slow] if (number % 2 == 0) is compiled else [],
        )
        for number, name in enumerate(CASES)
        for compiled in (False, True)
    ],
)
def test_moments_are_those_of_rejection(name: str, compiled: bool) -> None:
    block, counts = CASES[name][0], np.array(CASES[name][1], dtype=float)
    draws = 4000 if compiled else 1500
    result = learn(counts, (block,), draws=draws, max_draws=4000, seed=1, compiled=compiled)
    theta, weights = oracle(block, counts, seed=2)
    mean = np.average(theta, axis=0, weights=weights)
    square = np.average(theta**2, axis=0, weights=weights)
    effective = weights.sum() ** 2 / (weights**2).sum()
    sizes = effective_sizes if compiled else effective_sizes_of_short_chains
    for drawn, expected, spread in ((result.draws, mean, theta), (result.draws**2, square, theta**2)):
        variance = np.average((spread - expected) ** 2, axis=0, weights=weights)
        error = np.sqrt(variance * (1.0 / effective + 1.0 / sizes(drawn)))
        assert (np.abs(drawn.mean(axis=(0, 1)) - expected) <= 4.0 * error).all()


def exact_draws(name: str) -> tuple[Block, SampledDistributions, np.ndarray]:
    """Draws of a case's distributions, (draws, parameters), where π and m are uniform; and what is sampled."""
    block, counts = CASES[name][0], np.array(CASES[name][1], dtype=float)
    states = counts.shape[1]
    sampled = sampled_distributions(family(*counts.shape), ("x",), Given({"x": counts}), (block,))  # type: ignore[arg-type]
    # Given π and m, distributions are independent but for the statements.
    rng = np.random.default_rng(3)
    hyper = Hyperparameters().resolved(sampled)
    all_strengths = hyper.strengths()
    chosen = rng.integers(all_strengths.shape[1], size=(400_000, len(counts)))
    strengths = all_strengths[sampled.seen.astype(int), chosen]
    is_predicted = (chosen >= hyper.first_predicted)[:, :, None]
    bases = np.where(is_predicted, sampled.predicted.reshape(counts.shape), 1.0 / states)
    theta = dirichlets(rng, strengths[:, :, None] * bases).reshape(len(chosen), -1)
    theta = theta[(block.linear.values(theta) <= block.linear.bounds).all(axis=1)]
    likely = np.prod(theta ** counts.ravel(), axis=1)
    return block, sampled, np.maximum(theta[rng.random(len(theta)) * likely.max() < likely][:6_000], 1e-280)


def assert_same_law(block: Block, theta: np.ndarray, after: np.ndarray) -> None:
    """What exact draws became has the same moments, and nearly no draw stayed."""
    assert (block.linear.values(after) <= block.linear.bounds + 1e-9).all()
    assert (np.abs(after - theta).max(axis=1) > 0.0).mean() > 0.9
    for old, new in ((theta, after), (theta**2, after**2), (np.log(theta), np.log(after))):
        change = new - old
        assert (np.abs(change.mean(axis=0)) <= 4.0 * change.std(axis=0) / np.sqrt(len(change))).all()


@pytest.mark.parametrize("name", CASES)
def test_compiled_joint_updates_alone_keep_the_distribution(name: str) -> None:
    from credo.kernels.collapsed import set_norms
    from credo.kernels.joint_updates import update_jointly
    from credo.kernels.posterior_gibbs import set_density

    block, sampled, theta = exact_draws(name)
    region, hyper = region_of((block,)), Hyperparameters().resolved(sampled)
    arrays = arrays_of(sampled, region.start, region.compared, hyper)
    chains = CompiledChains(region, sampled, arrays, hyper, 1, 0)
    state = chains.states[0]
    density = np.empty((1, 2, arrays.strengths.shape[1]))
    passes = np.ones(len(chains.joint_updates.chances), dtype=np.int64)
    norms = np.empty_like(density)
    set_norms(arrays, state.means, norms)
    set_density(state, norms, density)
    prior = arrays.cells, state.means, arrays.seen, arrays.strengths, arrays.uniform_components[0]
    prior = *prior, arrays.first_predicted[0], arrays.predicted, arrays.predicted_logs, density, state.weights
    totals = np.add.reduceat(arrays.counts, arrays.starts[:-1])
    mixture = Mixture(arrays.starts, arrays.families, arrays.counts, totals, *prior)
    geometry, extras = geometry_of(region.blocks, region.parts)
    after, spare, order = theta.copy(), np.empty(block.size), np.empty(len(sampled.numbers), dtype=np.int64)
    generator, work, chances = seeded(4), np.empty(block.size), np.empty(arrays.strengths.shape[1])
    others = spare, order, work, chances, generator
    for point in after:
        for _ in range(8):
            update_jointly(
                geometry, extras, mixture, chains.joint_updates, np.arange(len(passes)), passes, 0, point, *others
            )
    assert_same_law(block, theta, after)


@pytest.mark.parametrize("name", CASES)
def test_vectorised_joint_updates_alone_keep_the_distribution(name: str) -> None:
    block, sampled, theta = exact_draws(name)
    region = region_of((block,))
    model = model_of(region, sampled, Hyperparameters().resolved(sampled))
    plan = plan_of(region, supports_of(region.blocks, region.parts, region.start))
    state = start(model, theta, np.random.default_rng(0))
    state.means[:], state.weights[:] = 1.0 / len(state.means), 1.0 / state.weights.shape[1]
    means = np.concatenate((state.means, np.zeros((1, len(theta)))))
    density = component_density(state, component_norms(model, state))
    mixture = MixtureDensity(model.arrays, np.append(sampled.counts, 0.0)[:, None], model.cell_of, means, density)
    after, rng = np.concatenate((theta.T, np.ones((1, len(theta))))), np.random.default_rng(4)
    for _ in range(8):
        for batch in plan.updates:
            update_jointly(batch, mixture, plan.extras, after, rng)
    assert_same_law(block, theta, after[:-1].T)
