"""Whether chains find out that a statement about many distributions is true, and that it is false."""

from __future__ import annotations

import numpy as np
import pytest

from credo.constraints.blocks import blocks_of
from credo.constraints.lower import lower
from credo.knowledge import Knowledge
from credo.model.network import Network
from credo.options import PosteriorOptions
from credo.sampling.distributions import Hyperparameters
from credo.sampling.doubted_statements import DoubtedStatements, Expert
from credo.sampling.posterior import PosteriorResult, posterior
from tests.helpers.posterior_runs import Given

FLAT = Hyperparameters((2.0,), (), least_unseen_strength=2.0)


def influence(others: int, reliability: float, compiled: bool, draws: int = 250) -> PosteriorResult:
    """`a raises x` whatever the other parent is, without data: true in one of 2^others CPTs."""
    states = {"a": ["no", "yes"], "b": [f"b{i}" for i in range(others)], "x": ["no", "yes"]}
    network = Network(states, {"x": ["a", "b"]})
    constraints = lower(Knowledge(network, "a raises x"))
    zeros, count = np.zeros(1, dtype=np.int64), 2**others
    doubts = DoubtedStatements(
        np.arange(1), (Expert("", reliability),), zeros, np.array([np.nan]), np.log([count - 1.0]), zeros > 0
    )
    return posterior(
        network,
        ("x",),
        Given({"x": np.zeros((2 * others, 2))}),  # type: ignore[arg-type]
        blocks_of(constraints),
        hyperparameters=FLAT,
        options=PosteriorOptions(draws=draws, max_draws=4 * draws),
        doubts=doubts,
        compiled=compiled,
        seed=4,
    )


@pytest.mark.parametrize(("others", "compiled"), [(8, True), pytest.param(4, False, marks=pytest.mark.slow)])
def test_an_influence_becomes_true_and_false(others: int, compiled: bool) -> None:
    result = influence(others, 0.7, compiled)
    assert result.doubt is not None
    (belief,) = result.doubt.statements
    assert belief.probability == pytest.approx(0.7, abs=4.0 * belief.error + 0.02)
    assert belief.error < 0.08
    assert result.doubt.r_hat[0] < 1.1
