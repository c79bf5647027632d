"""Draws from the prior, which simulations take their truths from: they are what the sampler draws without data."""

from __future__ import annotations

import numpy as np
import pytest

from credo import Network, PosteriorOptions
from credo.constraints.blocks import blocks_of
from credo.constraints.lower import lower
from credo.knowledge import knowledge_for
from credo.sampling.posterior import sample_chains
from credo.sampling.prior_draws import draw_from_prior, with_unseen
from tests.helpers.posterior_runs import Given


def test_distributions_without_data_are_drawn_again() -> None:
    network = Network({"a": ["no", "yes"], "x": ["no", "yes", "much"]}, {"x": ["a"]})
    for seed in range(10):
        rng = np.random.default_rng(seed)
        found = draw_from_prior(network, ("x",), rng)
        other = with_unseen(network, found, {"x": np.array([True, False])}, rng)
        assert found.cpts["x"].sum(axis=1) == pytest.approx(1.0)
        assert (other.cpts["x"][0] != found.cpts["x"][0]).all()
        np.testing.assert_array_equal(other.cpts["x"][1], found.cpts["x"][1])


def test_the_sampler_draws_the_same_without_data() -> None:
    """Where a statement holds; moments of both distributions of a CPT, and of how near they are to each other."""
    network = Network({"a": ["no", "yes"], "x": ["no", "yes"]}, {"x": ["a"]})
    blocks = blocks_of(lower(knowledge_for(network, "a raises x")))
    result = sample_chains(
        network, ("x",), Given({"x": np.zeros((2, 2))}), blocks, options=PosteriorOptions(draws=2000, max_draws=2000)
    )  # type: ignore[arg-type]
    no, yes = result.draws.reshape(-1, 4)[:, [1, 3]].T
    rng = np.random.default_rng(0)
    unseen = {"x": np.array([True, True])}
    every = np.array(
        [with_unseen(network, draw_from_prior(network, ("x",), rng), unseen, rng).cpts["x"][:, 1] for _ in range(6_000)]
    )
    prior_no, prior_yes = every[every[:, 0] <= every[:, 1]].T

    def moments(first: np.ndarray, second: np.ndarray) -> list[float]:
        functions = (first, second, second - first, (second - first) ** 2, (first < 0.05) + 0.0, (second > 0.95) + 0.0)
        return [float(each.mean()) for each in functions]

    assert moments(no, yes) == pytest.approx(moments(prior_no, prior_yes), abs=0.03)
