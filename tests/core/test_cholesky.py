"""Factors of symmetric systems, dense and sparse, against NumPy; and orders of elimination."""

from __future__ import annotations

import numpy as np
import pytest

from credo.core.cholesky import DenseFactors, SparseFactors, minimum_degree


@pytest.mark.parametrize("size", [1, 5, 129, 300, 700, 1300])
def test_dense_systems(size: int) -> None:
    """Quasi-definite matrices with the signs of their pivots in any order, across the edges of panels and strips."""
    generator = np.random.default_rng(size)
    signs = generator.choice([-1.0, 1.0], size)
    matrix = generator.normal(size=(size, size)) / np.sqrt(size)
    matrix = np.where(signs[:, None] == signs[None, :], 0.0, matrix + matrix.T) + 2.0 * np.diag(signs)
    right = generator.normal(size=size)
    solution = DenseFactors(size).solution_of(matrix, right, signs)
    np.testing.assert_allclose(matrix @ solution, right, atol=1e-10)


@pytest.mark.parametrize(("size", "pairs"), [(1, 0), (3, 2), (30, 40), (300, 500), (400, 12_000)])
def test_sparse_systems(size: int, pairs: int) -> None:
    """Few entries, and so many that the end of the elimination is done densely."""
    generator = np.random.default_rng(size)
    positive = size - size // 3
    rows, columns = some_pairs(generator, positive, size, pairs)
    values, diagonal = generator.normal(size=len(rows)), np.where(np.arange(size) < positive, 2.0, -1.5)
    factors = SparseFactors(size, positive, rows, columns)
    factors.set_entries(values)
    right = generator.normal(size=size)
    matrix = np.diag(diagonal)
    matrix[rows, columns] = matrix[columns, rows] = values
    np.testing.assert_allclose(matrix @ factors.solution_of(diagonal, right), right, atol=1e-8)


def some_pairs(generator: np.random.Generator, positive: int, size: int, count: int) -> tuple[np.ndarray, np.ndarray]:
    """Pairs of a positive and a negative unknown, each once."""
    drawn = generator.integers(0, positive, count), generator.integers(min(positive, size - 1), size, count)
    rows, columns = np.unique(np.stack(drawn), axis=1)
    return rows.astype(np.int64), columns.astype(np.int64)


def test_an_order_names_every_unknown_once_and_leaves_trees_without_fill() -> None:
    """A tree has an order without fill: every unknown is a leaf when its turn comes."""
    generator = np.random.default_rng(1)
    size = 500
    children = np.arange(1, size)
    parents = (generator.random(size - 1) * children).astype(np.int64)
    order = minimum_degree(size, parents, children)
    np.testing.assert_array_equal(np.sort(order), np.arange(size))
    assert filled(size, parents, children, order) == size - 1


def test_an_order_is_about_as_good_as_that_of_exact_degrees() -> None:
    generator = np.random.default_rng(2)
    for _ in range(20):
        size = int(generator.integers(2, 60))
        rows, columns = some_pairs(generator, max(1, size - size // 3), size, 2 * size)
        own = filled(size, rows, columns, minimum_degree(size, rows, columns))
        assert own <= 1.3 * filled(size, rows, columns, by_exact_degrees(size, rows, columns)) + 5


def filled(size: int, rows: np.ndarray, columns: np.ndarray, order: np.ndarray) -> int:
    """How many entries the factor has below its diagonal."""
    place = np.argsort(order)
    later: list[set[int]] = [set() for _ in range(size)]
    for a, b in zip(place[rows].tolist(), place[columns].tolist(), strict=True):
        later[min(a, b)].add(max(a, b))
    for own in later:
        if own:
            later[min(own)] |= own - {min(own)}
    return sum(map(len, later))


def by_exact_degrees(size: int, rows: np.ndarray, columns: np.ndarray) -> np.ndarray:
    adjacent: dict[int, set[int]] = {i: set() for i in range(size)}
    for a, b in zip(rows.tolist(), columns.tolist(), strict=True):
        adjacent[a].add(b)
        adjacent[b].add(a)
    order = []
    while adjacent:
        best = min(adjacent, key=lambda i: len(adjacent[i]))
        neighbours = adjacent.pop(best)
        for i in neighbours:
            adjacent[i] = (adjacent[i] | neighbours) - {best, i}
        order.append(best)
    return np.array(order)
