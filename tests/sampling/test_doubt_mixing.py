"""Whether chains find out that a statement about many distributions is true, and that it is false."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest

from credo import Knowledge, Network, PosteriorOptions
from credo.constraints.blocks import blocks_of
from credo.constraints.lower import lower
from credo.sampling.distributions import Hyperparameters
from credo.sampling.doubted_statements import DoubtedStatements, Expert
from credo.sampling.posterior import DirichletChains, sample_chains
from tests.helpers.posterior_runs import Given

FLAT = Hyperparameters((2.0,), (), least_unseen_strength=2.0)


def influence(others: int, reliability: float, compiled: bool, draws: int = 250) -> DirichletChains:
    """`a raises x` whatever the other parent is, without data: true in one of 2^others CPTs."""
    states = {"a": ["no", "yes"], "b": [f"b{i}" for i in range(others)], "x": ["no", "yes"]}
    network = Network(states, {"x": ["a", "b"]})
    constraints = lower(Knowledge(network, "a raises x"))
    zeros, count = np.zeros(1, dtype=np.int64), 2**others
    doubts = DoubtedStatements(
        np.arange(1), (Expert("", reliability),), zeros, np.array([np.nan]), np.log([count - 1.0]), zeros > 0
    )
    return sample_chains(
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


@dataclass(frozen=True)
class Tied:
    """Statements that hold P(x=yes | a) of neighbouring configurations together, and others that pull them apart."""

    widths: tuple[tuple[int, int, float], ...]  # configurations, and how near they are
    bounds: tuple[tuple[int, str, float], ...]
    widening: tuple[float, ...]
    cells: int  # of a grid, for each probability

    @property
    def count(self) -> int:
        return 1 + max(configuration for configuration, *_ in self.bounds)

    @property
    def statements(self) -> list[str]:
        near = [f"P(x=yes | a=a{i}) ~ P(x=yes | a=a{j}) within {width}" for i, j, width in self.widths]
        return [*near, *(f"P(x=yes | a=a{i}) {relation} {bound}" for i, relation, bound in self.bounds)]

    def probabilities(self, reliability: float) -> np.ndarray:
        """How probable each statement is without data, by a sum over a grid of all probabilities."""
        axes = self.count * [(np.arange(self.cells) + 0.5) / self.cells]
        theta = np.meshgrid(*axes, indexing="ij", sparse=True)
        true = [np.abs(theta[i] - theta[j]) <= width for i, j, width in self.widths]
        true += [theta[i] <= bound if relation == "<=" else theta[i] >= bound for i, relation, bound in self.bounds]
        odds = np.log(reliability / (1.0 - reliability)) + np.array(self.widening)
        weights = np.exp(sum(odd * own for odd, own in zip(odds, true, strict=True)))
        return np.array([(own * weights).sum() / weights.sum() for own in true])


# Each probability alone, and of three of them each two, cannot leave the others.
TIED = {
    "two": Tied(
        ((0, 1, 0.02025), (0, 1, 0.03025), (0, 1, 0.04025)),
        ((0, "<=", 0.1), (1, "<=", 0.15), (0, ">=", 0.9), (1, ">=", 0.85), (1, ">=", 0.8)),
        (3.0, 2.5, 2.0, 2.0, 1.5, 2.0, 0.5, 0.5),
        2000,
    ),
    "a corner": Tied(
        ((0, 1, 0.045), (1, 2, 0.045)),
        ((0, "<=", 0.02), (1, "<=", 0.02), (2, "<=", 0.03), (0, ">=", 0.4), (1, ">=", 0.5), (2, ">=", 0.3)),
        (2.5, 2.5, 4.0, 3.0, 2.5, 1.0, 1.0, 1.0),
        100,
    ),
}


@pytest.mark.parametrize(
    ("case", "compiled"),
    [
        ("two", False),
        ("a corner", True),
        pytest.param("two", True, marks=pytest.mark.slow),
        pytest.param("a corner", False, marks=pytest.mark.slow),
    ],
)
def test_distributions_that_are_held_together_change_sides(case: str, compiled: bool) -> None:
    tied = TIED[case]
    network = Network({"a": [f"a{i}" for i in range(tied.count)], "x": ["no", "yes"]}, {"x": ["a"]})
    constraints, count = lower(Knowledge(network, tied.statements)), len(tied.widening)
    zeros = np.zeros(count, dtype=np.int64)
    doubts = DoubtedStatements(
        np.arange(count), (Expert("", 0.9),), zeros, np.full(count, np.nan), np.array(tied.widening), zeros > 0
    )
    result = sample_chains(
        network,
        ("x",),
        Given({"x": np.zeros((tied.count, 2))}),  # type: ignore[arg-type]
        blocks_of(constraints),
        hyperparameters=FLAT,
        options=PosteriorOptions(draws=2000, max_draws=2000),
        doubts=doubts,
        compiled=compiled,
        seed=4,
    )
    assert result.doubt is not None
    found = np.array([each.probability for each in result.doubt.statements])
    errors = np.array([each.error for each in result.doubt.statements])
    assert (errors < 0.03).all()
    np.testing.assert_array_less(np.abs(found - tied.probabilities(0.9)), 4.0 * errors + 0.003)
    assert (result.doubt.r_hat < 1.05).all()
