"""The base over rows of a table: that of parents where columns are theirs, and statements as probable as they are."""

from __future__ import annotations

import numpy as np
import pytest

from credo.core.additive_base import AdditiveBase
from credo.core.additive_columns import AdditiveColumns
from credo.posterior.chains import PriorConstants
from tests.helpers.amounts import seeds

CONSTANTS = PriorConstants()
STRENGTHS = (*CONSTANTS.following, *CONSTANTS.free)
CENTRES, SPREADS = np.array(CONSTANTS.centres), np.array(CONSTANTS.spreads)
SHARED = np.array([1.0, 0.5, 0.0, -1.0, 0.0, -0.5])


def chain(
    columns: np.ndarray, sizes: list[int], counts: np.ndarray, signs: list[int], trust: float, seed: int = 0
) -> AdditiveColumns:
    return AdditiveColumns(
        columns, sizes, counts.shape[1], counts, STRENGTHS, 1.0, len(CONSTANTS.following), CENTRES, SPREADS, SHARED,
        CONSTANTS.share_spread, 1.0, [seed], signs, trust,
    )  # fmt: skip


@pytest.mark.parametrize("seed", seeds(12, 200))
def test_with_the_columns_of_parents_it_is_their_base(seed: int) -> None:
    rng = np.random.default_rng(seed)
    sizes = rng.integers(2, 5, size=rng.integers(1, 4)).tolist()
    states, rows = int(rng.integers(2, 5)), int(np.prod(sizes))
    counts = rng.choice([0.0, 0.3, 1.0, 2.0, 7.5, 40.0], size=(rows, states), p=[0.4, 0.1, 0.2, 0.1, 0.1, 0.1])
    counts[::2] = np.eye(states)[rng.integers(states, size=len(counts[::2]))]
    grid = np.stack(np.unravel_index(np.arange(rows), sizes), axis=1)
    signs = rng.choice([-1, 0, 1], len(sizes)).tolist() if states == 2 else [0] * len(sizes)
    columns = np.hstack(
        [
            (grid[:, [p]] > np.arange(size - 1)) - (size - 1.0 - np.arange(size - 1)) / size
            for p, size in enumerate(sizes)
        ]
    )
    parents = AdditiveBase(
        sizes, states, grid, counts, STRENGTHS, 1.0, np.ones(rows), len(CONSTANTS.following), CENTRES, SPREADS, SHARED,
        CONSTANTS.share_spread, [seed], signs,
    )  # fmt: skip
    own = chain(columns, [size - 1 for size in sizes], counts, signs, 1.0)
    x = rng.normal(size=len(parents.position))
    for found, expected in zip(own.log_density(x), parents.log_density(x), strict=True):
        assert found == pytest.approx(expected, rel=1e-9, abs=1e-9)


def by_importance(columns: np.ndarray, counts: np.ndarray, sign: int, trust: float) -> tuple[float, np.ndarray]:
    """How probable it is that all effects have the sign, and the effects' means, from draws of the prior."""
    rng = np.random.default_rng(9)
    draws, n = 400_000, columns.shape[1]
    width = np.exp(CENTRES[0] + SPREADS[0] * rng.normal(size=draws))
    a = (width * np.exp(CENTRES[1] + SPREADS[1] * rng.normal(size=draws)))[:, None] * rng.normal(size=(draws, n))
    c = width * (rng.normal(size=draws) - rng.normal(size=draws))
    odds = SHARED + CONSTANTS.share_spread * rng.normal(size=(draws, len(SHARED)))
    shares = np.exp(odds) / np.exp(odds).sum(axis=1, keepdims=True)
    follows = shares[:, : len(CONSTANTS.following)].sum(axis=1)
    right = (sign * a > 0.0).all(axis=1)
    weights = np.where(right, trust * 2.0**n, (1.0 - trust) / (1.0 - 0.5**n))
    for row, count in zip(columns, counts, strict=True):  # one row each, for which the strengths do not matter
        chance = 1.0 / (1.0 + np.exp(-(c + a @ row)))
        chance = chance if count[1] else 1.0 - chance
        weights = weights * (follows * chance + (1.0 - follows) / 2.0)
    return float((weights * right).sum() / weights.sum()), (weights[:, None] * a).sum(axis=0) / weights.sum()


@pytest.mark.parametrize(("sign", "trust"), [(1, 0.9), (-1, 0.9), (1, 0.6)])
@pytest.mark.parametrize("steps", [1, 3])
def test_statements_are_as_probable_as_rows_make_them(sign: int, trust: float, steps: int) -> None:
    rng = np.random.default_rng(steps)
    values = rng.integers(0, steps + 1, 14)
    columns = (values[:, None] > np.arange(steps)) - 0.5
    counts = np.eye(2)[(values + rng.normal(size=14) > steps / 2).astype(int)]
    probability, effects = by_importance(columns, counts, sign, trust)
    own = chain(columns, [steps], counts, [sign], trust)
    found, slopes = [], []
    for update in range(12_000):
        own.update(update < 500)
        if update >= 500:
            _, slope, _, _, agrees = own.current()
            found.append(agrees[0])
            slopes.append(slope)
    assert np.mean(found) == pytest.approx(probability, abs=0.03)
    assert np.mean(slopes, axis=0) == pytest.approx(effects, abs=0.12)  # chains that change their minds mix slowly


def test_a_certain_statement_holds_always() -> None:
    columns = np.linspace(-1.0, 1.0, 40)[:, None]
    counts = np.eye(2)[(columns[:, 0] < 0.0).astype(int)]
    own = chain(columns, [1], counts, [1], 1.0)
    for update in range(300):
        own.update(update < 100)
        assert own.current()[1][0] >= 0.0


def test_what_it_cannot_do_is_refused() -> None:
    counts = np.eye(3)
    with pytest.raises(ValueError, match="two states"):
        chain(np.zeros((3, 1)), [1], counts, [1], 0.9)
    with pytest.raises(ValueError, match="columns"):
        chain(np.zeros((3, 2)), [1], counts, [0], 0.9)
    with pytest.raises(ValueError, match="counts"):
        chain(np.zeros((4, 1)), [1], counts, [0], 0.9)
    with pytest.raises(ValueError, match="sign"):
        chain(np.zeros((3, 2)), [1, 1], counts[:, :2].copy(), [1], 0.9)
    own = chain(np.zeros((3, 1)), [1], counts[:, :2].copy(), [1], 0.9)
    with pytest.raises(IndexError):
        own.set_rows(np.array([7]), np.ones((1, 1)))


def test_odd_columns_do_not_stop_it() -> None:
    counts = np.array([[0.0, 0.0], [0.3, 1.7], [1e5, 3.0], [1.0, 0.0]])
    for columns in (np.zeros((4, 2)), np.full((4, 2), 1e3), np.array([[1e-300, 0.0]] * 4)):
        own = chain(columns, [1, 1], counts, [1, 0], 0.9)
        for update in range(50):
            own.update(update < 20)
        assert all(np.isfinite(each).all() for each in own.current())
