"""Missing values drawn given CPTs: means and covariances of completed counts, against all completions."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from scipy.stats import binom, kstest

from credo import Dataset, ImpossibleRowError, Network
from credo.statistics.counts import layout_for_counts
from credo.statistics.inference.draw_missing import draw_missing, fractional_rows, seeded
from credo.statistics.inference.expected_counts import Prepared, expected_cells, prepare
from credo.testing import random_network

DRAWS = 2000
ROWS = [[0, -1, 1], [-1, 1, 3], [-1, -1, 2], [1, 0, 0], [-1, 2, 0], [0, 1, 1], [-1, 2, 0]]  # nothing is barren
WEIGHTS = np.array([1.0, 7.0, 3.0, 1.0, 1.0, 2.0, 1.0])


@pytest.fixture
def chain() -> Network:
    """A middle variable that both ends inform."""
    return random_network({"a": 2, "b": 3, "c": 4}, {"c": ("b",), "b": ("a",)}, seed=5)


def prepared_rows(network: Network, rows: list[list[int]], weights: np.ndarray | None = None) -> Prepared:
    return prepare(layout_for_counts(network), Dataset(network.names, np.array(rows, dtype=np.int16), weights))


def draws_of(prepared: Prepared, theta: np.ndarray) -> np.ndarray:
    """(draws, cells), with the counts of complete families."""
    found = draw_missing(prepared, np.repeat(theta[:, None], DRAWS, 1), seeded(3)).T
    found[:, prepared.observed_cells] += prepared.observed_counts
    return found


def completions(network: Network, row: list[int]) -> tuple[np.ndarray, np.ndarray]:
    """All completions of a row as counts of all cells, (completions, cells), and their chances."""
    layout = layout_for_counts(network)
    cells, chances = [], []
    known = [[k] if k >= 0 else range(len(v.states)) for k, v in zip(row, network.variables, strict=True)]
    for states in product(*known):
        values, chance, vector = dict(zip(network.names, states, strict=True)), 1.0, np.zeros(layout.size)
        for name in network.names:
            place = (*(values[parent] for parent in network.parents[name]), values[name])
            chance *= network.cpt_array(name)[place]
            layout.unpack(vector)[name][place] = 1.0
        cells.append(vector)
        chances.append(chance)
    shares = np.array(chances)
    return np.array(cells), shares / shares.sum()


def test_completed_counts_have_the_moments_of_all_completions(chain: Network) -> None:
    """Means and covariances of all cells: what is drawn together belongs together."""
    prepared = prepared_rows(chain, ROWS, WEIGHTS)
    theta = prepared.layout.pack(chain.cpts)
    drawn = draws_of(prepared, theta)
    mean, covariance = np.zeros(len(theta)), np.zeros((len(theta),) * 2)
    for row, weight in zip(ROWS, WEIGHTS, strict=True):
        cells, chances = completions(chain, row)
        own = chances @ cells
        mean += weight * own
        covariance += weight * ((cells - own).T * chances @ (cells - own))
    error = np.sqrt(np.diag(covariance).clip(0) / DRAWS)
    assert (np.abs(drawn.mean(axis=0) - mean) <= 4.5 * error + 1e-9).all()
    assert np.cov(drawn.T) == pytest.approx(covariance, abs=0.3)


def test_the_mean_is_the_expected_count_for_large_components() -> None:
    parents = {"b": ("a",), "c": ("a", "b"), "d": ("c",), "e": ("b", "d"), "f": ("e",)}
    network = random_network(dict.fromkeys("abcdef", 2), parents, seed=2)
    rows = [[-1, -1, -1, -1, -1, 1], [-1, -1, 0, -1, 1, 0], [0, -1, -1, -1, 1, -1]]
    prepared = prepared_rows(network, rows, np.array([5.0, 2.0, 1.0]))
    theta = prepared.layout.pack(network.cpts)
    drawn = draws_of(prepared, theta)
    expected, _ = expected_cells(prepared, theta)
    error = drawn.std(axis=0) / np.sqrt(DRAWS)
    assert (np.abs(drawn.mean(axis=0) - expected) <= 5.0 * error + 1e-9).all()
    assert drawn == pytest.approx(np.round(drawn), abs=1e-12)


def test_tiny_probabilities_are_split_by_their_ratio() -> None:
    network = Network({"a": ["x", "y"], **{f"b{k}": ["x", "y"] for k in range(3)}}, {f"b{k}": ["a"] for k in range(3)})
    tiny = np.array([[1.0, 1e-150], [1.0, 3e-150]])
    cpts = {"a": np.array([0.5, 0.5]), **{f"b{k}": tiny if k else np.array([[0.5, 0.5]] * 2) for k in range(3)}}
    prepared = prepared_rows(network, [[-1, 1, 1, 1]])
    drawn = draws_of(prepared, prepared.layout.pack(cpts))
    assert drawn[:, 1].mean() == pytest.approx(0.9, abs=0.02)


def test_an_impossible_row_is_an_error(chain: Network) -> None:
    prepared = prepared_rows(chain, [[0, 1, 1], [-1, 1, 3]])
    theta = prepared.layout.pack(chain.cpts)
    theta[[prepared.layout.index("b", 0, 1), prepared.layout.index("b", 1, 1)]] = 0.0
    with pytest.raises(ImpossibleRowError) as raised:
        draws_of(prepared, theta)
    assert raised.value.row == 2


@pytest.mark.parametrize("rows", [15, 16, 40, 1000, 10**7])
def test_many_equal_rows_are_split_at_once(chain: Network, rows: int) -> None:
    """The number of rows with a=0 is binomial, by its whole distribution, however many rows there are."""
    prepared = prepared_rows(chain, [[-1, 1, 3]], np.array([float(rows)]))
    theta = prepared.layout.pack(chain.cpts)
    chances = chain.cpt_array("a") * chain.cpt_array("b")[:, 1]
    p = float(chances[0] / chances.sum())
    drawn = draws_of(prepared, theta)
    first = drawn[:, prepared.layout.index("a", 0, 0)]
    assert (first + drawn[:, prepared.layout.index("a", 0, 1)] == rows).all()
    assert kstest(first + np.random.default_rng(0).random(DRAWS), lambda x: _smooth_binomial(x, rows, p)).pvalue > 1e-3


def _smooth_binomial(x: np.ndarray, n: int, p: float) -> np.ndarray:
    """The distribution function of a binomial number plus a uniform one."""
    whole = np.floor(x)
    return binom.cdf(whole - 1, n, p) + (x - whole) * binom.pmf(whole, n, p)


def test_chains_have_draws_of_their_own(chain: Network) -> None:
    """Each under its own CPTs."""
    prepared = prepared_rows(chain, [[-1, 1, 3]], np.array([500.0]))
    theta = np.repeat(prepared.layout.pack(chain.cpts)[:, None], 3, axis=1)
    theta[prepared.layout.slice_of("a"), 1] = [1.0, 0.0]
    theta[prepared.layout.slice_of("a"), 2] = [0.0, 1.0]
    drawn = draw_missing(prepared, theta, seeded(1))[prepared.layout.slice_of("a")]
    assert 0 < drawn[0, 0] < 500
    assert drawn[:, 1].tolist() == [500.0, 0.0]
    assert drawn[:, 2].tolist() == [0.0, 500.0]


def test_fractional_weights_matter_where_values_are_missing(chain: Network) -> None:
    rows = [[0, 1, 1], [-1, 1, 3], [-1, 1, 2], [0, 1, -1]]
    assert fractional_rows(prepared_rows(chain, rows)) is None
    assert fractional_rows(prepared_rows(chain, rows, np.array([0.5, 2.0, 1.0, 1.0]))) is None  # it is complete
    assert fractional_rows(prepared_rows(chain, rows, np.array([1.0, 2.0, 1.0, 0.5]))) is None  # it is barren
    # What b is observed to be is all that matters for a: both rows share an evaluation.
    assert fractional_rows(prepared_rows(chain, rows, np.array([1.0, 0.5, 2.0, 1.0]))) == (2, 2.5)
    assert fractional_rows(prepared_rows(chain, rows, np.array([1.0, 0.5, 0.5, 1.0]))) is None
