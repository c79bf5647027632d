"""Moves of hidden distributions: which are proposed, and that they leave the posterior as it is."""

from __future__ import annotations

import numpy as np
import pytest

from credo import Network
from credo.estimation.prepare import prepare_model
from credo.kernels.sampler_arrays import ChainState
from credo.knowledge import knowledge_for
from credo.model.layout import Layout
from credo.sampling import hidden_moves as module
from credo.sampling.distributions import Hyperparameters, arrays_of, sampled_distributions
from credo.sampling.general_updates import GeneralRegion, general_updates, with_general_blocks
from credo.sampling.hidden_moves import HiddenMoves, hidden_moves, move_hidden
from credo.sampling.missing_values import augmentation_of
from credo.statistics.network_statements import NetworkStatements
from tests.helpers.completions import exact_posterior, missing_values

FIXED = Hyperparameters(uniform_strengths=(2.0,), pooled_strengths=())
ROWS = np.array([[0, -1, 1], [1, -1, 1], [1, -1, 0], [-1, -1, 1], [0, -1, 0], [0, -1, 1]])


@pytest.fixture
def line() -> Network:
    """a → b → c, of which no row shows b."""
    return Network({name: ["no", "yes"] for name in "abc"}, {"b": ["a"], "c": ["b"]})


def test_alone_they_leave_the_exact_posterior_of_what_they_move(line: Network) -> None:
    """Long chains of these moves alone, P(a) as it is: means and deviations given P(a), by weighted draws."""
    missing = missing_values(line, ROWS)
    sampled = sampled_distributions(line, line.names, missing.prepared.observed, (), None, missing)
    moves = hidden_moves(sampled, augmentation_of(missing, sampled, compiled=True))
    assert moves is not None
    names = [sampled.names[family] for family in sampled.families[moves.distributions]]
    assert names == ["b", "b", "c", "c"]
    arrays = arrays_of(sampled, np.zeros(0), np.zeros(0, dtype=np.bool_), FIXED)
    count = len(sampled.numbers)
    state = ChainState(np.full(10, 0.5), np.zeros(count, np.int64), np.full(6, 0.5), np.ones((3, 1)), np.ones(1))
    rng, drawn = np.random.default_rng(0), []
    tried, accepted = np.zeros((2, count), dtype=np.int64)
    for _ in range(3000):
        move_hidden(moves, arrays, state, rng, tried, accepted)
        drawn.append(state.theta.copy())
    assert (accepted[moves.distributions] > 0.1 * tried[moves.distributions]).all()
    place = {int(cell): number for number, cell in enumerate(sampled.parameters())}
    exact = exact_posterior(line, ROWS)
    every = exact.draw(60_000, np.random.default_rng(1))
    near = np.abs(every[:, 1] - 0.5) < 0.05
    for name, configuration in (("b", 0), ("b", 1), ("c", 0), ("c", 1)):
        cell = exact.layout.index(name, configuration, 1)
        found = np.array(drawn)[200:, place[cell]]
        assert found.mean() == pytest.approx(every[near, cell].mean(), abs=0.04)
        assert found.std() == pytest.approx(every[near, cell].std(), rel=0.08)


def test_statements_about_any_probability_hold_after_every_move(line: Network) -> None:
    """P(c=yes) ≥ 0.6 reaches all CPTs, and so binds what is moved: against weighted draws that satisfy it."""
    constraints = prepare_model(knowledge_for(line, "P(c=yes) >= 0.6")).constraints
    start = np.array([0.5, 0.5, *[0.5] * 4, *[0.3, 0.7] * 2])
    region = GeneralRegion(NetworkStatements.of(constraints, line), start)
    blocks = with_general_blocks((), region, Layout.of(line))
    missing = missing_values(line, ROWS)
    sampled = sampled_distributions(line, line.names, missing.prepared.observed, blocks, None, missing)
    augmentation = augmentation_of(missing, sampled, compiled=True)
    assert hidden_moves(sampled, augmentation, None, blocks) is None
    moves = hidden_moves(sampled, augmentation, general_updates(region, sampled, blocks, None), blocks)
    assert moves is not None
    own = start[sampled.parameters()]
    arrays = arrays_of(sampled, own, np.zeros(5, dtype=np.bool_), FIXED)
    state = ChainState(own.copy(), np.zeros(5, np.int64), np.full(6, 0.5), np.ones((3, 1)), np.ones(1))
    rng, drawn = np.random.default_rng(0), np.empty((2500, 10))
    tried, accepted = np.zeros((2, 5), dtype=np.int64)
    for draw in drawn:
        move_hidden(moves, arrays, state, rng, tried, accepted)
        draw[sampled.parameters()] = state.theta
    exact = exact_posterior(line, ROWS)
    every = exact.draw(100_000, np.random.default_rng(1))
    every = every[np.abs(every[:, 1] - 0.5) < 0.05]

    def probability(cells: np.ndarray) -> np.ndarray:
        hidden = cells[:, :1] * cells[:, 2:4] + cells[:, 1:2] * cells[:, 4:6]
        return np.asarray((hidden * cells[:, [7, 9]]).sum(axis=1))

    assert probability(drawn).min() >= 0.6
    every = every[probability(every) >= 0.6]
    for name, configuration in (("b", 0), ("b", 1), ("c", 0), ("c", 1)):
        cell = exact.layout.index(name, configuration, 1)
        assert drawn[200:, cell].mean() == pytest.approx(every[:, cell].mean(), abs=0.04)
        assert drawn[200:, cell].std() == pytest.approx(every[:, cell].std(), rel=0.1)


def test_proposals_that_are_never_accepted_end(line: Network, monkeypatch: pytest.MonkeyPatch) -> None:
    missing = missing_values(line, ROWS)
    sampled = sampled_distributions(line, line.names, missing.prepared.observed, (), None, missing)
    augmentation = augmentation_of(missing, sampled, compiled=True)
    moves = hidden_moves(sampled, augmentation)
    assert isinstance(moves, HiddenMoves)
    assert moves.proposals == 2
    tried, accepted = np.full((2, len(sampled.numbers)), 100)
    accepted[moves.distributions[1:]] = 1
    left = moves.worthwhile(tried, accepted)
    assert left is not None
    assert left.distributions.tolist() == moves.distributions[:1].tolist()
    assert moves.worthwhile(tried, np.zeros_like(tried)) is None
    monkeypatch.setattr(module, "MOST_CELLS", 1)
    assert hidden_moves(sampled, augmentation) is None
    shown = missing_values(line, np.array([[0, -1, 1], [0, 1, 1]]))
    sampled = sampled_distributions(line, line.names, shown.prepared.observed, (), None, shown)
    assert hidden_moves(sampled, augmentation_of(shown, sampled, compiled=True)) is None
