"""Values of tied rows as part of what chains draw: against weighted draws from the prior, in every reading."""

from __future__ import annotations

import numpy as np
import pytest

from credo import Dataset, Network, PosteriorOptions, TieReading
from credo.constraints.blocks import blocks_of
from credo.constraints.constraint_set import RowTie
from credo.constraints.lower import lower
from credo.estimation.tied import countable
from credo.knowledge import knowledge_for
from credo.sampling.distributions import Hyperparameters
from credo.sampling.missing_values import MissingValues
from credo.sampling.posterior import DirichletChains, sample_chains
from credo.statistics.counts import layout_for_counts
from credo.statistics.ties.likelihood import tie_rows
from tests.helpers.tied_posterior import Tie, tied_posterior

FIXED = Hyperparameters(uniform_strengths=(2.0,), pooled_strengths=())  # one pseudo-count for each of two states
# Rows 0 to 2 are tied, 3 and 4, 5 and 6; the others stand alone.
ROWS = np.array(
    [[0, -1, 1], [1, -1, 1], [-1, -1, 1], [1, -1, 0], [0, -1, 0], [1, 1, 1], [0, 1, 1], [-1, 1, 0], [0, -1, 1]]
)
TRIPLE, PAIR, KNOWN = Tie((0, 1, 2), ("b",)), Tie((3, 4), ("b",)), Tie((5, 6), ("b",))


@pytest.fixture
def line() -> Network:
    """a → b → c."""
    return Network({name: ["no", "yes"] for name in "abc"}, {"b": ["a"], "c": ["b"]})


def learn(
    network: Network,
    rows: np.ndarray,
    ties: tuple[Tie, ...],
    reading: str,
    compiled: bool = False,
    knowledge: str = "",
    weights: np.ndarray | None = None,
) -> DirichletChains:
    stated = [RowTie(tie.variables, None, tuple(row + 1 for row in tie.rows), 0, tie.differ) for tie in ties]
    dataset = Dataset(network.names, np.asarray(rows, dtype=np.int16), weights)
    tied = tie_rows(layout_for_counts(network), stated, dataset, reading=TieReading(reading))
    uniform = tied.prepared.layout.pack({name: np.full(network.shape(name), 0.5) for name in network.names})
    found = tied.expected(uniform, tied.start())
    start = countable(found.seen, found.chance, uniform, tied.prepared.layout.distribution_starts())
    return sample_chains(
        network,
        network.names,
        tied.prepared.observed,
        blocks_of(lower(knowledge_for(network, knowledge))),
        hyperparameters=FIXED,
        options=PosteriorOptions(draws=1000, max_draws=4000),
        compiled=compiled,
        missing=MissingValues.of(network, network.names, tied.prepared, found.seen, tied=tied, start=start),
    )


def accuracy(result: DirichletChains, means: np.ndarray, deviations: np.ndarray) -> tuple[float, float]:
    """The largest difference of a mean, in standard deviations, and the largest relative one of a deviation."""
    layout = result.sampled.layout
    found, spread = layout.pack(result.means), layout.pack(result.deviations)
    return float(np.abs((found - means) / deviations).max()), float(np.abs(spread / deviations - 1.0).max())


slow_compiled = pytest.mark.parametrize(
    "compiled", [False, pytest.param(True, marks=pytest.mark.slow)], ids=["vectorised", "compiled"]
)


CASES: dict[str, tuple[np.ndarray, tuple[Tie, ...], np.ndarray | None]] = {
    "share": (ROWS, (TRIPLE, PAIR, KNOWN), None),
    "tuple": (ROWS[[0, 2, 2, 3, 7]], (Tie((1, 2), ("a", "b")),), None),
    "differ": (ROWS, (Tie((0, 1), ("b",), True), Tie((3, 5), ("b",), True)), None),
    "weights": (ROWS, (PAIR,), np.array([1.0, 2.0, 1.0, 2.0, 1.0, 1.0, 1.0, 3.0, 1.0])),
}
ALWAYS = (("share", "selected"), ("tuple", "joint"), ("differ", "selected"), ("weights", "joint"))


@slow_compiled
@pytest.mark.parametrize(
    ("case", "reading"),
    [
        pytest.param(case, reading, marks=() if (case, reading) in ALWAYS else pytest.mark.slow)
        for case in CASES
        for reading in ("selected", "joint")
    ],
)
def test_it_is_the_exact_posterior(line: Network, case: str, reading: str, compiled: bool) -> None:
    rows, ties, weights = CASES[case]
    exact = tied_posterior(line, rows, ties, reading, None if weights is None else weights.astype(int))
    assert exact.effective_size > 7_000
    shift, spread = accuracy(learn(line, rows, ties, reading, compiled, weights=weights), *exact.moments())
    assert shift < 0.1
    assert spread < 0.08


@slow_compiled
def test_merged_ties_are_one_draw(line: Network, compiled: bool) -> None:
    rows = np.array([[-1, 1, 1], [-1, 0, 1], [-1, 1, 0], [0, 1, -1], [1, -1, 1], [1, 0, 0], [-1, 1, 1], [-1, 0, 0]])
    ties = (Tie((0, 1, 2), ("a",)), Tie((4, 5), ("a",)), Tie((6, 7), ("a",)))
    exact = tied_posterior(line, rows, ties, "merged")
    shift, spread = accuracy(learn(line, rows, ties, "merged", compiled), *exact.moments())
    assert shift < 0.1
    assert spread < 0.08


@slow_compiled
@pytest.mark.parametrize("reading", ["selected", pytest.param("joint", marks=pytest.mark.slow)])
def test_statements_hold_in_every_draw(line: Network, reading: str, compiled: bool) -> None:
    ties = (TRIPLE, PAIR)
    result = learn(line, ROWS, ties, reading, compiled, "a raises b")
    exact = tied_posterior(line, ROWS, ties, reading)
    no, yes = (exact.layout.index("b", a, 1) for a in (0, 1))
    shift, spread = accuracy(result, *exact.where(exact.draws[:, yes] >= exact.draws[:, no]).moments())
    assert shift < 0.1
    assert spread < 0.1
    kept = dict(
        zip(result.sampled.parameters().tolist(), result.draws.reshape(-1, result.draws.shape[2]).T, strict=True)
    )
    assert (kept[yes] >= kept[no] - 1e-9).all()
