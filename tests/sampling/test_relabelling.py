"""Exchangeable states of hidden variables: every draw is named like the reference, and nothing else changes."""

from __future__ import annotations

from itertools import permutations

import numpy as np
import pytest

from credo import Network, PosteriorOptions
from credo.sampling.distributions import Draws, Hyperparameters, sampled_distributions
from credo.sampling.missing_values import MissingValues
from credo.sampling.posterior import DirichletChains, sample_chains
from credo.sampling.relabelling import renamed, renamings_of
from tests.helpers.completions import exact_posterior, missing_values
from tests.helpers.posterior_runs import both

FIXED = Hyperparameters(uniform_strengths=(2.0,), pooled_strengths=())
ROWS = np.array([[-1, 1, 1], [-1, 1, 1], [-1, 0, 0], [-1, 0, 0], [-1, 1, 0], [-1, 0, 0]])


@pytest.fixture
def signs() -> Network:
    """A hidden class with two signs."""
    return Network({name: ["no", "yes"] for name in "hxy"}, {"x": ["h"], "y": ["h"]})


def reference(network: Network) -> dict[str, np.ndarray]:
    sign = np.array([[0.7, 0.3], [0.4, 0.6]])
    return {"h": np.array([0.5, 0.5]), "x": sign, "y": sign} | {n: sign for n in network.names if n not in "hxy"}


def learn(network: Network, compiled: bool) -> DirichletChains:
    plain = missing_values(network, ROWS)
    missing = MissingValues.of(
        network, network.names, plain.prepared, plain.expected, {"h": [[0, 1]]}, reference(network)
    )
    return sample_chains(
        network, network.names, plain.prepared.observed, (), hyperparameters=FIXED, missing=missing,
        options=PosteriorOptions(draws=1000, max_draws=4000), compiled=compiled,
    )  # fmt: skip


@both
def test_draws_are_the_exact_mixture_with_the_names_of_the_reference(signs: Network, compiled: bool) -> None:
    """The oracle: independent draws from the mixture over all completions, named the same way by hand."""
    result, exact = learn(signs, compiled), exact_posterior(signs, ROWS)
    draws = exact.draw(40_000, np.random.default_rng(2))
    swapped = exact.layout.pack({name: np.arange(exact.layout.size)[exact.layout.slice_of(name)].reshape(
        signs.shape(name))[::-1] for name in signs.names}).astype(int)  # fmt: skip
    wanted = exact.layout.pack(reference(signs))
    other = draws[:, swapped]
    near = ((draws - wanted) ** 2).sum(axis=1) <= ((other - wanted) ** 2).sum(axis=1)
    named = np.where(near[:, None], draws, other)
    assert exact.layout.pack(result.means) == pytest.approx(named.mean(axis=0), abs=0.025)
    assert exact.layout.pack(result.deviations) == pytest.approx(named.std(axis=0), rel=0.1)
    assert abs(named.mean(axis=0)[exact.layout.index("x", 1, 1)] - 0.5) > 0.1  # without names it would be 0.5
    assert not result.findings


def test_states_of_a_group_are_exchanged_and_no_others(signs: Network) -> None:
    network = Network({"h": ["a", "b", "c"], "x": ["no", "yes"]}, {"x": ["h"]})
    wanted = {"h": np.array([0.2, 0.3, 0.5]), "x": np.array([[0.9, 0.1], [0.5, 0.5], [0.1, 0.9]])}
    missing = missing_values(network, np.array([[-1, 0], [-1, 1]]))
    sampled = sampled_distributions(network, network.names, missing.prepared.observed, (), None, missing)
    layout = sampled.layout
    every = []
    for order in permutations(range(3)):
        cpts = {"h": wanted["h"][list(order)], "x": wanted["x"][list(order)]}
        every.append(layout.pack(cpts)[sampled.parameters()])
    theta = np.array(every)[None]  # one chain, six draws
    component = np.array([[sampled.configurations for _ in every]], dtype=np.int8)
    means = theta[:, :, : int(sampled.cells[-1])]
    nothing = np.zeros((1, 1, 0))
    draws = Draws(theta, component, means, nothing, nothing, np.zeros(0), np.array([6]))
    target = layout.pack(wanted)[sampled.parameters()]
    free = renamed(draws, renamings_of(sampled, {"h": [[0, 1, 2]]}, wanted))
    assert free.theta[0] == pytest.approx(np.tile(target, (6, 1)))
    held = renamed(draws, renamings_of(sampled, {"h": [[0, 1], [2]]}, wanted))
    changed = [order for order, now in zip(permutations(range(3)), held.theta[0], strict=True) if (now == target).all()]
    assert changed == [(0, 1, 2), (1, 0, 2)]
    assert sorted(free.component[0, 5].tolist()) == sorted(component[0, 5].tolist())
    assert renamings_of(sampled, {"h": [[0], [1], [2]]}, wanted) == []
    assert renamed(draws, []) is draws
