"""Tied rows completed given CPTs: expected counts, and an identity for failed attempts."""

from __future__ import annotations

from itertools import product

import numpy as np
import polars as pl
import pytest

import credo
from credo import Dataset, Network, TieError, TieReading
from credo.constraints.constraint_set import RowTie
from credo.statistics.counts import layout_for_counts
from credo.statistics.inference.draw_missing import draw_missing, seeded
from credo.statistics.ties.draw_tied import draw_tied, fractional_tied_rows, tied_draws, why_not_drawn
from credo.statistics.ties.failed_attempts import Agreement, failed_rows
from credo.statistics.ties.likelihood import TiedData, tie_rows
from credo.testing import random_network

DRAWS = 3000
ROWS = [[0, -1, 1], [-1, -1, 3], [1, -1, 2], [-1, -1, 0], [-1, -1, 2], [1, 2, 0], [0, 2, 1], [-1, 1, -1], [0, -1, 3]]
WEIGHTS = np.array([1.0, 2.0, 1.0, 1.0, 1.0, 1.0, 1.0, 2.0, 1.0])


@pytest.fixture
def chain() -> Network:
    """A middle variable that both ends inform."""
    return random_network({"a": 2, "b": 3, "c": 4}, {"c": ("b",), "b": ("a",)}, seed=5)


def share(*rows: int, names: tuple[str, ...] = ("b",), differ: bool = False) -> RowTie:
    return RowTie(names, None, rows, 0, differ)


def tied_rows(network: Network, ties: list[RowTie], reading: str, weights: np.ndarray | None = WEIGHTS) -> TiedData:
    dataset = Dataset(network.names, np.array(ROWS, dtype=np.int16), weights)
    return tie_rows(layout_for_counts(network), ties, dataset, reading=TieReading(reading))


def counts_of(tied: TiedData, theta: np.ndarray, least: float = 0.0) -> np.ndarray:
    """(draws, cells) of tied rows alone."""
    each = np.repeat(theta[:, None], DRAWS, 1)
    return draw_tied(tied_draws(tied), each, seeded(3), np.random.default_rng(4), least).T


def agree_but_for_chance(drawn: np.ndarray, expected: np.ndarray) -> bool:
    error = drawn.std(axis=0, ddof=1) / np.sqrt(len(drawn))
    rare = 10.0 / len(drawn)  # what is expected so seldom may never be drawn
    return bool((np.abs(drawn.mean(axis=0) - expected) < 4.5 * error + rare).all())


TIES = {
    "share": [share(1, 2, 3), share(4, 5), share(6, 7)],
    "tuple": [share(2, 4, names=("a", "b"))],
    "differ": [share(1, 3, differ=True), share(4, 6, differ=True)],
    "share and differ": [share(1, 2, 3), share(4, 6, differ=True)],
}
TREES = {
    "two ties": [share(1, 4), share(4, 5, names=("a",))],
    "three levels": [share(1, 4), share(4, 5, names=("a",)), share(5, 3, 9), share(9, 6, differ=True)],
    "one value twice": [share(1, 4), share(4, 5, differ=True)],
}


@pytest.mark.parametrize("ties", [*TIES.values(), *TREES.values()], ids=[*TIES.keys(), *TREES.keys()])
def test_completed_counts_have_the_means_that_messages_expect(chain: Network, ties: list[RowTie]) -> None:
    tied = tied_rows(chain, ties, "joint")
    assert not why_not_drawn(tied)
    theta = tied.prepared.layout.pack(chain.cpts)
    drawn = counts_of(tied, theta)
    drawn[:, tied.prepared.observed_cells] += tied.prepared.observed_counts
    drawn += draw_missing(tied.seen.rest, np.repeat(theta[:, None], len(drawn), 1), seeded(1)).T
    assert agree_but_for_chance(drawn, tied.expected(theta, tied.start()).seen)


def test_values_along_a_tree_are_drawn_together(chain: Network) -> None:
    """Means and covariances of completed counts against all completions of four rows that three ties connect."""
    rows = np.array([[-1, -1, 1], [-1, -1, 3], [-1, -1, 2], [-1, -1, 0]], dtype=np.int16)
    ties = [share(1, 2), share(2, 3, names=("a",)), share(3, 4)]
    dataset = Dataset(chain.names, rows)
    tied = tie_rows(layout_for_counts(chain), ties, dataset, reading=TieReading.JOINT)
    assert not tied.seen.is_direct
    layout = tied.prepared.layout
    theta = layout.pack(chain.cpts)
    cells, chances = [], []
    for values in product(product(range(2), range(3)), repeat=4):
        if values[0][1] == values[1][1] and values[1][0] == values[2][0] and values[2][1] == values[3][1]:
            own = [
                (layout.index("a", 0, a), layout.index("b", a, b), layout.index("c", b, int(rows[row, 2])))
                for row, (a, b) in enumerate(values)
            ]
            cells.append(np.bincount(np.ravel(own), minlength=layout.size))
            chances.append(theta[np.ravel(own)].prod())
    shares, counts = np.array(chances) / np.sum(chances), np.array(cells)
    mean = shares @ counts
    covariance = (counts - mean).T @ (shares[:, None] * (counts - mean))
    drawn = counts_of(tied, theta)
    assert agree_but_for_chance(drawn, mean)
    away = drawn - mean
    products = (away[:, :, None] * away[:, None, :]).reshape(len(away), -1)
    assert agree_but_for_chance(products, covariance.ravel())


@pytest.mark.parametrize("ties", TIES.values(), ids=TIES.keys())
def test_failed_attempts_are_what_the_probability_of_ties_demands(chain: Network, ties: list[RowTie]) -> None:
    """Their expected score is the derivative of −log P(ties): −(N2 − n·θ), N2 being expected of the ties alone."""
    tied = tied_rows(chain, ties, "selected")
    layout = tied.prepared.layout
    theta = layout.pack(chain.cpts)
    drawn = counts_of(tied, theta)
    same = counts_of(tied_rows(chain, ties, "joint"), theta)
    failed = drawn - same.mean(axis=0)
    starts = layout.distribution_starts()
    sizes = np.diff(starts, append=layout.size)

    def score(counts: np.ndarray) -> np.ndarray:
        return counts - np.repeat(np.add.reduceat(counts, starts, axis=-1), sizes, axis=-1) * theta

    chance = tied.expected(theta, tied.start()).chance
    scores = score(failed)
    error = np.hypot(scores.std(axis=0), score(same).std(axis=0)) / np.sqrt(len(scores))
    assert (np.abs(scores.mean(axis=0) + score(chance)) < 4.5 * error + 10.0 / len(scores)).all()
    assert (counts_of(tied, theta, least=1.0).sum(axis=1) < drawn.sum(axis=1).max()).all()


def test_failed_attempts_by_hand() -> None:
    """Two rows and chances of 0.7 and 0.3 fail with 0.42; a failed attempt has one row of each value."""
    chances = np.repeat([[0.7], [0.3]], 20_000, axis=1)
    rows = failed_rows(Agreement(0, 3, 2, None), chances, np.random.default_rng(0))
    np.testing.assert_array_equal(rows[0], rows[1])
    assert rows[0].mean() == pytest.approx(3 * 0.42 / 0.58, rel=0.03)
    pairs = failed_rows(Agreement(0, 3, 2, ~np.eye(2, dtype=bool)), chances, np.random.default_rng(0))
    assert (pairs % 2 == 0).all()  # both values of a failed pair are equal
    assert pairs.sum(axis=0).mean() == pytest.approx(2 * 3 * 0.58 / 0.42, rel=0.03)
    certain = np.array([[1.0], [0.0]])
    assert not failed_rows(Agreement(0, 3, 4, None), certain, np.random.default_rng(0)).any()
    assert not failed_rows(Agreement(0, 3, 4, None), np.ones((1, 5)), np.random.default_rng(0)).any()


def test_the_value_of_a_merged_tie_counts_once(chain: Network) -> None:
    rows = [[-1, 0, 1], [-1, 1, 3], [-1, 2, 2], [1, 0, 0], [1, -1, 1]]
    dataset = Dataset(chain.names, np.array(rows, dtype=np.int16), np.array([1.0, 2.0, 1.0, 1.0, 1.0]))
    ties = [share(1, 2, 3, names=("a",)), share(4, 5, names=("a",))]
    tied = tie_rows(layout_for_counts(chain), ties, dataset, reading=TieReading.MERGED)
    theta = tied.prepared.layout.pack(chain.cpts)
    drawn = counts_of(tied, theta)
    own = drawn[:, tied.prepared.layout.slice_of("a")]
    assert set(map(tuple, own.tolist())) == {(1.0, 0.0), (0.0, 1.0)}
    draws = tied_draws(tied)
    assert draws.copies[tied.prepared.layout.index("a", 0, 1)] == 1.0


def test_what_cannot_be_drawn_has_a_reason(chain: Network) -> None:
    two = [share(1, 4), share(4, 5, names=("a",))]
    assert not why_not_drawn(tied_rows(chain, two, "joint", None))
    assert "several ties at once" in why_not_drawn(tied_rows(chain, two, "selected", None))
    assert "form cycles" in why_not_drawn(tied_rows(chain, [*two, share(4, 5)], "joint", None))
    weights = np.array([1.0, 1.0, 1.0, 2.0, 1.0, 1.0, 1.0, 1.0, 1.0])
    assert "their copies form cycles" in why_not_drawn(tied_rows(chain, two, "joint", weights))
    many = [share(*range(1, 10))]
    rows = np.full((9, 3), -1, dtype=np.int16)
    rare = tie_rows(layout_for_counts(chain), many, Dataset(chain.names, rows))
    assert why_not_drawn(rare) == "9 rows of one tie agree on one of 3 values too rarely for the attempts to be drawn"
    assert not why_not_drawn(
        tie_rows(layout_for_counts(chain), many, Dataset(chain.names, rows), reading=TieReading.JOINT)
    )
    parts = tied_rows(chain, [share(6, 7)], "selected", np.array([1.0] * 5 + [0.5] * 2 + [1.0] * 2))
    assert not why_not_drawn(parts)
    parts = tied_rows(chain, [share(6, 7)], "selected", np.array([1.0] * 5 + [0.7] * 2 + [1.0] * 2))
    assert "do not add up to a whole number" in why_not_drawn(parts)
    assert fractional_tied_rows(tied_rows(chain, [share(1, 2)], "joint", np.full(9, 0.7))) == (1, 0.7)
    assert fractional_tied_rows(tied_rows(chain, [share(1, 2)], "joint", None)) is None


def test_rows_that_no_value_suits_are_named(chain: Network) -> None:
    tied = tied_rows(chain, [share(1, 2)], "joint", None)
    cpts = {name: chain.cpt_array(name).copy() for name in chain.names}
    cpts["c"][0, [1, 3]], cpts["c"][1, [1, 3]], cpts["c"][2, [1, 3]] = [0.0, 0.5], [0.5, 0.0], [0.0, 0.5]
    theta = tied.prepared.layout.pack(cpts)
    with pytest.raises(TieError, match=r"Rows 1, 2 must share b"):
        draw_tied(tied_draws(tied), theta[:, None], seeded(0), np.random.default_rng(0))


def test_a_tie_of_rows_of_which_one_counts_says_nothing() -> None:
    network = credo.Network({"a": ["n", "y"], "b": ["u"]})
    rows = pl.DataFrame({"a": ["y", "y", "n"], "b": ["u", "u", "u"], "w": [0.0, 0.5, 0.5]})
    text = "rows 1, 2 share b and a"
    fit, plain = (credo.fit(network, rows, known, weights="w", method="posterior") for known in (text, None))
    np.testing.assert_allclose(fit.network.cpt_array("a"), plain.network.cpt_array("a"), atol=0.05)
