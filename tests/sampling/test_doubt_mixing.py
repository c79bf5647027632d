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


TIED = (
    "P(x=yes | a=a0) ~ P(x=yes | a=a1) within 0.02",
    "P(x=yes | a=a0) ~ P(x=yes | a=a1) within 0.03",
    "P(x=no | a=a0) ~ P(x=no | a=a1) within 0.04",
    "P(x=yes | a=a0) <= 0.1",
    "P(x=yes | a=a1) <= 0.15",
    "P(x=yes | a=a0) >= 0.9",
    "P(x=yes | a=a1) >= 0.85",
    "P(x=yes | a=a1) >= 0.8",
)


def enumerated(reliability: float, widening: np.ndarray, cells: int = 2000) -> np.ndarray:
    """How probable each of `TIED` is without data, by a sum over a grid of both probabilities."""
    first, second = np.meshgrid(*2 * [(np.arange(cells) + 0.5) / cells], indexing="ij")
    difference = np.abs(first - second)
    near = [difference <= width for width in (0.02, 0.03, 0.04)]
    true = np.stack([*near, first <= 0.1, second <= 0.15, first >= 0.9, second >= 0.85, second >= 0.8])
    odds = np.log(reliability / (1.0 - reliability)) + widening
    weights = np.exp(np.tensordot(odds, true.astype(float), axes=1))
    return np.asarray((true * weights).sum(axis=(1, 2)) / weights.sum())


@pytest.mark.parametrize("compiled", [False, True])
def test_distributions_that_are_held_together_change_sides(compiled: bool) -> None:
    """Two statements say low, three say high, and each probability alone cannot leave the other."""
    network = Network({"a": ["a0", "a1"], "x": ["no", "yes"]}, {"x": ["a"]})
    constraints = lower(Knowledge(network, TIED))
    zeros, widening = np.zeros(len(TIED), dtype=np.int64), np.array([3.0, 2.5, 2.0, 2.0, 1.5, 2.0, 0.5, 0.5])
    doubts = DoubtedStatements(
        np.arange(len(TIED)), (Expert("", 0.9),), zeros, np.full(len(TIED), np.nan), widening, zeros > 0
    )
    result = posterior(
        network,
        ("x",),
        Given({"x": np.zeros((2, 2))}),  # type: ignore[arg-type]
        blocks_of(constraints),
        hyperparameters=FLAT,
        options=PosteriorOptions(draws=1000, max_draws=1000),
        doubts=doubts,
        compiled=compiled,
        seed=4,
    )
    assert result.doubt is not None
    found = np.array([each.probability for each in result.doubt.statements])
    errors = np.array([each.error for each in result.doubt.statements])
    assert (errors < 0.03).all()
    np.testing.assert_array_less(np.abs(found - enumerated(0.9, widening)), 4.0 * errors + 0.003)
    assert (result.doubt.r_hat < 1.05).all()
