"""Whether the hard rows of a block allow anything: a point well inside, and which rows are equalities in disguise."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from credo.arrays import Flags, Indices, Numbers
from credo.constraints.blocks import Block
from credo.constraints.constraint_set import LinearConstraints
from credo.constraints.program import FEASIBILITY_TOLERANCE, Rows, load, simplex_rows, stacked
from credo.errors import CredoError

# Slack below this is none: a person's smallest margin is 0.001 or so, and HiGHS is right to 1e-9.
NO_SLACK = 1e-7


class InfeasibleError(CredoError):
    """A block has no point at all; the caller, who knows the statements, says which conflict."""

    exit_code = 3

    def __init__(self) -> None:
        super().__init__("The hard statements allow no distribution. See credo.check.")


@dataclass(frozen=True, slots=True, eq=False)
class Interior:
    """A point that every hard row allows, as far from all of them as can be.

    `slack` is the smallest distance to a row or to zero. Where it is zero, some rows are always tight: these are in
    `tight_rows`, and parameters that must be zero in `zero_parameters`; both are empty otherwise.
    """

    point: Numbers  # (parameters,)
    slack: float
    tight_rows: Indices  # rows of block.linear that are hard inequalities, but equalities in effect
    zero_parameters: Indices


NONE: Indices = np.empty(0, dtype=np.int64)


def interior_of(block: Block) -> Interior | None:
    """max s such that Aθ + |a|·s ≤ b for hard inequalities, θ ≥ s, equalities and distributions as they are.

    None where the hard rows allow nothing: |a| is the Euclidean length of a row, so that s is a distance.
    """
    linear = block.linear.take(block.linear.hard)
    lengths = _lengths(linear)
    free = ~linear.equality
    extra = np.where(free, lengths, 0.0)  # the coefficient of s
    size = block.size
    rows = stacked(simplex_rows(block), _with_column(linear, extra, size), _parameter_rows(size))
    ones, nothing = np.ones(len(block.configurations)), np.zeros(size)
    lower = np.concatenate((ones, np.where(linear.equality, linear.bounds, -np.inf), nothing))
    upper = np.concatenate((ones, linear.bounds, np.full(size, np.inf)))
    cost = np.zeros(size + 1)
    cost[-1] = -1.0
    bounds = np.concatenate((nothing, [-1.0])), np.ones(size + 1)
    point = _solved(cost, bounds, rows, (lower, upper))
    if point is None or point[-1] < -FEASIBILITY_TOLERANCE:
        return None
    if point[-1] > NO_SLACK:
        return Interior(point[:-1], float(point[-1]), NONE, NONE)
    return _tight(block, linear, point)


def _tight(block: Block, linear: LinearConstraints, start: Numbers) -> Interior:
    """max Σ t such that Aθ + t ≤ b·τ, θ ≥ t, 0 ≤ t ≤ 1, τ ≥ 1, all distributions summing to τ.

    At the optimum t is 1 for every row that can have slack and 0 for every row that never has: one program finds all
    equalities in disguise [Freund, Roundy and Todd, 1985]. θ/τ is a point inside everything that has an inside.
    """
    size, count, tables = block.size, len(linear), len(block.configurations)
    # Columns: θ, τ, then t of the rows, then t of the parameters.
    columns = size + 1 + count + size
    starts, indices, values = simplex_rows(block)
    simplex = _insert(starts, indices, values, np.full(tables, size), np.full(tables, -1.0))
    rows = _insert(linear.starts, linear.indices, linear.coefficients, np.full(count, size), -linear.bounds)
    rows = _insert(*rows, size + 1 + np.arange(count), np.where(linear.equality, 0.0, 1.0))
    own = np.arange(size)
    parameters = (
        2 * np.arange(size + 1),
        np.stack((own, size + 1 + count + own), 1).ravel(),
        np.tile([1.0, -1.0], size),
    )
    lower = np.concatenate((np.zeros(tables), np.where(linear.equality, 0.0, -np.inf), np.zeros(size)))
    upper = np.concatenate((np.zeros(tables), np.zeros(count), np.full(size, np.inf)))
    cost = np.concatenate((np.zeros(size + 1), -np.ones(count + size)))
    least = np.concatenate((np.zeros(size), [1.0], np.zeros(count + size)))
    most = np.concatenate((np.full(size + 1, 1.0 / NO_SLACK), np.where(linear.equality, 0.0, 1.0), np.ones(size)))
    assert len(cost) == columns
    point = _solved(cost, (least, most), stacked(simplex, rows, parameters), (lower, upper))
    if point is None:  # HiGHS could not: take the point, and call tight what is tight there
        theta = start[:-1]
        slack = linear.bounds - linear.values(theta)
        tight, zero = (slack < NO_SLACK) & ~linear.equality, theta < NO_SLACK
    else:
        theta = point[:size] / point[size]
        tight = (point[size + 1 : size + 1 + count] < 0.5) & ~linear.equality
        zero = point[size + 1 + count :] < 0.5
    hard_rows = np.flatnonzero(block.linear.hard)
    return Interior(theta, 0.0, hard_rows[tight], np.flatnonzero(zero))


def least_widening(block: Block, rows: Indices) -> float:
    """min g ≥ 0 such that Aθ ≤ b + g holds for these rows at some point, and Aθ ≥ b − g for equalities among them."""
    linear = block.linear.take(rows)
    size, count = block.size, len(linear)
    above = _with_column(linear, np.full(count, -1.0), size)
    below = _with_column(linear, np.where(linear.equality, 1.0, 0.0), size)
    ones = np.ones(len(block.configurations))
    lower = np.concatenate((ones, np.full(count, -np.inf), np.where(linear.equality, linear.bounds, -np.inf)))
    upper = np.concatenate((ones, linear.bounds, np.full(count, np.inf)))
    cost = np.concatenate((np.zeros(size), [1.0]))
    columns = np.zeros(size + 1), np.concatenate((np.ones(size), [np.inf]))
    point = _solved(cost, columns, stacked(simplex_rows(block), above, below), (lower, upper))
    return float("nan") if point is None else float(point[-1])


def _solved(
    cost: Numbers, columns: tuple[Numbers, Numbers], rows: Rows, bounds: tuple[Numbers, Numbers]
) -> Numbers | None:
    import highspy

    highs = load((cost, *columns), rows, bounds)
    highs.run()
    if highs.getModelStatus() != highspy.HighsModelStatus.kOptimal:
        return None
    return np.asarray(highs.getSolution().col_value, dtype=np.float64)


def _lengths(linear: LinearConstraints) -> Numbers:
    squares = np.zeros(len(linear))
    np.add.at(squares, linear.entry_constraints, linear.coefficients**2)
    return np.sqrt(squares)


def _with_column(linear: LinearConstraints, extra: Numbers, column: int) -> Rows:
    return _insert(linear.starts, linear.indices, linear.coefficients, np.full(len(linear), column), extra)


def _insert(starts: Indices, indices: Indices, values: Numbers, column: Indices, extra: Numbers) -> Rows:
    """Each row with one more entry at its end."""
    ends = starts[1:]
    return (
        starts + np.arange(len(starts)),
        np.insert(indices, ends, column),
        np.insert(values, ends, extra),
    )


def _parameter_rows(size: int) -> Rows:
    """θ_j − s ≥ 0 for every parameter."""
    own = np.arange(size)
    return 2 * np.arange(size + 1), np.stack((own, np.full(size, size)), 1).ravel(), np.tile([1.0, -1.0], size)


def satisfied(rows: LinearConstraints, theta: Numbers, tolerance: float = FEASIBILITY_TOLERANCE) -> Flags:
    """Which rows hold at a point."""
    values = rows.values(theta)
    missed = np.where(rows.equality, np.abs(values - rows.bounds), values - rows.bounds)
    return np.asarray(missed <= tolerance, dtype=np.bool_)
