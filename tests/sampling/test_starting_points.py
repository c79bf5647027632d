"""Where chains start: weighted centres of what statements allow, under the component that the data favour."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy.special import betaln

from credo.constraints.feasibility import interior_of
from credo.sampling.directions import directions
from credo.sampling.distributions import Hyperparameters, arrays_of, sampled_distributions
from credo.sampling.region import region_of
from credo.sampling.starting_points import BARRIER, component_evidence, starting_points, weighted_centre
from tests.helpers.blocks import at_most, block_of, random_block
from tests.helpers.posterior_runs import Given, family

TIED = 12


def centre(block, weights):  # type: ignore[no-untyped-def]
    interior = interior_of(block)
    assert interior is not None
    return weighted_centre(block, directions(block, interior), interior.point, weights)


def tied_block():  # type: ignore[no-untyped-def]
    """Distributions of two states, each about the same as the next."""
    pairs = [(2 * k, 2 * k + 2) for k in range(TIED - 1)]
    within = [at_most({i: sign, j: -sign}, 0.05) for i, j in pairs for sign in (1.0, -1.0)]
    return block_of((2,) * TIED, within)


def test_without_statements_the_centre_is_the_share_of_the_weights() -> None:
    weights = np.array([1.0, 3.0, 2.0, 2.0, 6.0])
    found = centre(block_of((2, 3)), weights)
    np.testing.assert_allclose(found, [0.25, 0.75, 0.2, 0.2, 0.6], atol=0.01)


def test_a_bound_pushes_by_its_weight() -> None:
    """max 8·log θ + 2·log(1 − θ) + μ·log(0.5 − θ): the derivative is zero."""
    found = centre(block_of((2,), [at_most({0: 1.0}, 0.5)]), np.array([8.0, 2.0]))
    slope = 8.0 / found[0] - 2.0 / found[1] - BARRIER / (0.5 - found[0])
    assert abs(slope) < 0.5
    assert 0.4 < found[0] < 0.5


@pytest.mark.parametrize("seed", range(20))
def test_no_point_nearby_is_better_and_all_statements_hold(seed: int) -> None:
    block = random_block(seed, (3, 2, 4), 6)
    rng = np.random.default_rng(seed)
    weights = rng.gamma(0.5, 4.0, block.size) + 0.05
    found = centre(block, weights)
    interior = interior_of(block)
    assert interior is not None
    linear = directions(block, interior).inequalities

    def value(point: np.ndarray) -> float:
        slack = linear.bounds - linear.values(point)
        return float(weights @ np.log(point) + BARRIER * np.log(slack).sum()) if (slack > 0.0).all() else -np.inf

    assert (linear.values(found) < linear.bounds).all()
    np.testing.assert_allclose(np.add.reduceat(found, block.distributions[:-1]), 1.0)
    for _ in range(50):
        other = rng.dirichlet(np.ones(block.size))
        other = other / np.add.reduceat(other, block.distributions[:-1])[block.distribution_of]
        assert value(found) >= value(found + 0.05 * (other - found)) - 0.01


def test_equalities_are_kept() -> None:
    block = block_of((2, 2), [replace(at_most({0: 1.0, 2: -1.0}, 0.1), equality=True)])
    found = centre(block, np.array([9.0, 1.0, 9.0, 1.0]))
    assert found[0] - found[2] == pytest.approx(0.1, abs=1e-9)
    assert found[0] > 0.9


def test_evidence_is_a_quotient_of_beta_functions() -> None:
    counts = np.array([[3.0, 1.0], [0.0, 0.0]])
    block = block_of((2, 2), [at_most({0: 1.0, 2: -1.0}, 0.1)])
    sampled = sampled_distributions(family(2, 2), ("x",), Given({"x": counts}), (block,))  # type: ignore[arg-type]
    hyper = Hyperparameters().resolved(sampled)
    region = region_of((block,))
    found = component_evidence(arrays_of(sampled, region.start, region.compared, hyper))
    for g, strength in enumerate((0.2, 1.0, 30.0)):
        half = strength / 2.0
        assert found[0, g] == pytest.approx(betaln(half + 3.0, half + 1.0) - betaln(half, half))
    np.testing.assert_allclose(found[1], 0.0, atol=1e-12)


def test_chains_start_where_the_data_are() -> None:
    """The point inside is far from them, perhaps in a mode that chains take thousands of sweeps to leave."""
    counts = np.tile([0.0, 4.0], (TIED, 1))
    block = tied_block()
    sampled = sampled_distributions(family(TIED, 2), ("x",), Given({"x": counts}), (block,))  # type: ignore[arg-type]
    region, hyper = region_of((block,)), Hyperparameters().resolved(sampled)
    arrays = arrays_of(sampled, region.start, region.compared, hyper)
    closed = np.zeros(1, dtype=np.bool_)
    points = starting_points(region, arrays, closed, 0, 4)
    assert (region.start[::2] > 0.5).all()
    assert all((point[::2] < 0.15).all() for point in points)
    again = starting_points(region, arrays, closed, 0, 4)
    np.testing.assert_array_equal(points, again)
    for point in starting_points(region, arrays, ~closed, 0, 4):
        np.testing.assert_array_equal(point, region.start)
