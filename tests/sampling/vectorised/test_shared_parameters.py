"""What the distributions of a CPT share, drawn with what would hold it in its place summed over."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import gammaln
from scipy.stats import dirichlet_multinomial

import credo
from credo import PosteriorOptions, read_table
from credo.sampling.distributions import Hyperparameters, sampled_distributions
from credo.sampling.posterior import DirichletChains, sample_chains
from credo.sampling.vectorised.chain_states import InformativeDistributions, SummedDistributions
from credo.sampling.vectorised.moves import EVERY
from credo.sampling.vectorised.shared_parameters import Splits
from credo.statistics.counts import count, layout_for_counts
from credo.testing import made_up_network
from tests.helpers.posterior_runs import Given, family


def test_distributions_that_are_summed_over_are_dirichlet_multinomial() -> None:
    counts = np.random.default_rng(0).integers(0, 5, size=(6, 3)).astype(float)
    sampled = sampled_distributions(family(6, 3), ("x",), Given({"x": counts}), ())  # type: ignore[arg-type]
    hyper = Hyperparameters().resolved(sampled)
    assert hyper.predicts
    found = SummedDistributions.of(sampled, hyper)
    predicted = sampled.layout.view(sampled.predicted, "x")
    for row, own in enumerate(counts[sampled.configurations]):
        base = [np.full(3, 1 / 3)] * 3 + [predicted[sampled.configurations[row]]] * 2
        for g, strength in enumerate(hyper.strengths()[1]):
            expected = dirichlet_multinomial.logpmf(own.astype(int), strength * base[g], int(own.sum()))
            orders = gammaln(own.sum() + 1) - gammaln(own + 1).sum()  # in which the rows can come
            assert found.logs[row, g] == pytest.approx(expected - orders)
            mean = (strength * base[g] + own) / (strength + own.sum())
            cells = slice(sampled.starts[row], sampled.starts[row + 1])
            np.testing.assert_allclose(found.first[g, cells], mean)


def test_densities_of_some_points_are_those_of_all() -> None:
    rng = np.random.default_rng(1)
    network = made_up_network(6, seed=2)
    sampled = learned(network, 40, False).sampled
    informative = InformativeDistributions.of(sampled, np.ones(len(sampled.numbers), dtype=bool))
    families, chains = len(informative.families), 8
    weights = rng.dirichlet(np.ones(5), size=(families, chains)).transpose(0, 2, 1)
    values = rng.random((len(informative.numbers), 5, chains))
    i, j = np.zeros((families, chains), dtype=int), np.ones((families, chains), dtype=int)
    splits = Splits.of(informative, weights, np.ones((5, chains)), values, i, j)
    odds = rng.normal(size=families * chains)
    every = splits.log_density(odds, EVERY)
    some = np.array([3, 17])
    np.testing.assert_allclose(splits.log_density(odds[some], some), every[some])
    now = splits.odds.ravel()
    expected = np.log(np.einsum("dgc,dgc->dc", weights[informative.owners], values))
    sums = np.add.reduceat(expected, informative.starts[:-1], axis=0).ravel()
    priors = splits.log_density(now, EVERY) - sums
    np.testing.assert_allclose(priors, np.log(weights[:, 0] * weights[:, 1] / splits.both**2).ravel())


def test_both_samplers_agree_about_what_cpts_share() -> None:
    """Short chains were stopped before the weights had got to where they belong, and nothing showed it."""
    network = made_up_network(12, seed=5)
    short, long = learned(network, 50, False), learned(network, 50, True, draws=1500)
    for name in network.names:
        errors = np.sqrt(short.errors[name] ** 2 + long.errors[name] ** 2)
        np.testing.assert_array_less(np.abs(short.means[name] - long.means[name]), 5 * errors + 2e-3)
    shares = [found.cpt_weights.mean(axis=(0, 1, 2)) for found in (short, long)]
    np.testing.assert_allclose(*shares, atol=0.03)


def learned(network: credo.Network, rows: int, compiled: bool, draws: int = 250) -> DirichletChains:
    """The posterior without statements."""
    counts = count(layout_for_counts(network), read_table(network, network.sample(rows, seed=1)))
    options = PosteriorOptions(draws=draws, max_draws=max(draws, 1000))
    return sample_chains(network, network.names, counts, (), options=options, compiled=compiled)


def test_few_rows_of_an_ordinary_network_are_enough_for_chains_to_mix() -> None:
    network = made_up_network(15, seed=3)
    fitted = credo.fit(network.without_cpts(), network.sample(50, seed=0), method="posterior", seed=0)
    assert fitted.status.name == "AVERAGED"
    assert fitted.diagnostics()["r_hat"].max() < 1.03
