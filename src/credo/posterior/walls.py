"""The statements that trajectories keep, as functions of all CPTs: linear ones, products, any probability.

Every wall tells by how much it is violated at a point, and its derivatives there. So trajectories need not know which
kinds there are, and a further kind is one more class with these two methods.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from scipy.sparse import csr_array

from credo.constraints.constraint_set import ProductConstraint
from credo.posterior.model import SampledModel
from credo.statistics.network_statements import NetworkStatements
from credo.types import Flags, Indices, Numbers

HOLDS = 1e-12  # by which sums of probabilities may miss a bound
PRODUCT_HOLDS = 1e-7  # and logarithms of products
LEAST = 1e-300


class Walls(Protocol):
    """Constraints on all CPTs."""

    @property
    def statements(self) -> Indices:
        """The place of each among the statements that may be wrong, or -1: (constraints,)."""

    def excess(self, theta: Numbers) -> Numbers:
        """By how much each is violated, negative where it holds: (constraints,)."""

    def slope(self, theta: Numbers, weights: Numbers) -> Numbers:
        """The derivatives of their sum with these weights with respect to all cells, (cells,)."""


@dataclass(frozen=True, slots=True, eq=False)
class LinearWalls:
    """Aθ ≤ b."""

    matrix: csr_array
    bounds: Numbers
    statements: Indices

    @classmethod
    def of(cls, model: SampledModel) -> LinearWalls:
        """Those that chains keep, on the cells of the layout."""
        rows = model.rows
        shape = (len(rows), model.layout.size)
        matrix = csr_array((rows.coefficients, model.cells[rows.cells], rows.starts), shape=shape)
        return cls(matrix, rows.bounds, model.row_statement)

    def excess(self, theta: Numbers) -> Numbers:
        """See `Walls`."""
        return np.asarray(self.matrix @ theta - self.bounds - HOLDS)

    def slope(self, theta: Numbers, weights: Numbers) -> Numbers:
        """See `Walls`."""
        return np.asarray(self.matrix.T @ weights)


@dataclass(frozen=True, slots=True, eq=False)
class ProductWalls:
    """Σ exponents · log θ ≤ log bound."""

    exponents: csr_array
    bounds: Numbers
    statements: Indices

    @classmethod
    def of(cls, products: Sequence[ProductConstraint], size: int) -> ProductWalls:
        """Those that must hold."""
        rows = [number for number, each in enumerate(products) for _ in each.indices]
        columns = [index for each in products for index in each.indices]
        values = [exponent for each in products for exponent in each.exponents]
        exponents = csr_array((values, (rows, columns)), shape=(len(products), size))
        bounds = np.array([each.log_bound for each in products], dtype=np.float64)
        return cls(exponents, bounds, np.full(len(products), -1, dtype=np.int64))

    def excess(self, theta: Numbers) -> Numbers:
        """See `Walls`."""
        return np.asarray(self.exponents @ np.log(np.maximum(theta, LEAST)) - self.bounds - PRODUCT_HOLDS)

    def slope(self, theta: Numbers, weights: Numbers) -> Numbers:
        """See `Walls`."""
        return np.asarray(self.exponents.T @ weights) / np.maximum(theta, LEAST)


@dataclass(frozen=True, slots=True, eq=False)
class NetworkWalls:
    """Statements about any probability."""

    constraints: NetworkStatements
    statements: Indices

    def excess(self, theta: Numbers) -> Numbers:
        """See `Walls`."""
        return self.constraints.drawn_excess(theta)

    def slope(self, theta: Numbers, weights: Numbers) -> Numbers:
        """See `Walls`."""
        values = np.nan_to_num(self.constraints.values_at(theta))
        signs = np.where(self.constraints.equality, np.sign(values), 1.0)
        return self.constraints.slope(theta, weights * signs)


def excesses(walls: Sequence[Walls], theta: Numbers) -> list[Numbers]:
    """By how much each constraint of each kind is violated."""
    return [each.excess(theta) for each in walls]


def true_statements(walls: Sequence[Walls], found: Sequence[Numbers], count: int) -> Flags:
    """Which of the statements that may be wrong have all their walls intact."""
    true = np.ones(count, dtype=np.bool_)
    for each, own in zip(walls, found, strict=True):
        wrong = (own > 0.0) & (each.statements >= 0)
        true[each.statements[wrong]] = False
    return true


def are_kept(walls: Sequence[Walls], found: Sequence[Numbers], kept: Flags) -> bool:
    """Whether all constraints hold that must, and those of the statements that are kept."""
    return all(not (own > 0.0)[_must_hold(each, kept)].any() for each, own in zip(walls, found, strict=True))


def normal(walls: Sequence[Walls], found: Sequence[Numbers], theta: Numbers, kept: Flags) -> Numbers:
    """The derivatives of the sum of what is violated, each kind scaled to one."""
    total = np.zeros(len(theta))
    for each, own in zip(walls, found, strict=True):
        violated = (own > 0.0) & _must_hold(each, kept)
        if violated.any():
            slope = each.slope(theta, violated.astype(np.float64))
            total += slope / max(float(np.abs(slope).max()), LEAST)
    return total


def _must_hold(walls: Walls, kept: Flags) -> Flags:
    if not len(kept):
        return walls.statements < 0
    return (walls.statements < 0) | kept[np.maximum(walls.statements, 0)]
