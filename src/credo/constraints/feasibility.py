"""Whether the hard constraints of a block are feasible: an inner point, and which of them are implied equalities.

Linear programs are exact to about 1e-9, so that in θ itself a tiny number looks like zero. Ranges of numbers that
follow from one constraint after the other have no such errors [Savelsbergh, 1994]. With θ = σ·φ, σ the largest
value that a tiny number can have, φ is between 0 and 1. Where a number is almost one, the others of its distribution
are tiny, and it is replaced by one minus their sum.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np

from credo.constraints.blocks import Block
from credo.constraints.constraint_set import LinearConstraints
from credo.constraints.merged_states import merged_states
from credo.constraints.program import FEASIBILITY_TOLERANCE, SparseMatrix, load, simplex_constraints, stacked
from credo.errors import CredoError
from credo.types import Flags, Indices, Numbers

# Slack below this counts as zero: the smallest margin that people write is about 0.001, and HiGHS is exact to 1e-9.
NO_SLACK = 1e-7
MERGED_SIZE = 200  # parameters from which equal columns are merged; the simplex method's time grows with their square


class NoStartError(CredoError):
    """No CPTs were found at which all statements hold, which is no proof that there are none."""


class InfeasibleError(CredoError, ValueError):
    """The hard constraints of a block are infeasible; `credo.check` finds the conflicting statements."""

    exit_code = 3

    def __init__(self) -> None:
        super().__init__(
            "The statements without a confidence cannot all hold. Run credo.check to see which of them conflict."
        )


@dataclass(frozen=True, slots=True, eq=False)
class Interior:
    """A point that satisfies every hard constraint, as far from all their boundaries as possible.

    `slack` is the smallest distance to a boundary or to zero. Where it is zero, some constraints are always tight:
    these are in `tight_constraints`, and parameters that must be zero in `zero_parameters`; both are empty otherwise.
    """

    point: Numbers  # (parameters,)
    slack: float
    tight_constraints: Indices  # of block.linear: hard inequalities that are equalities in effect
    zero_parameters: Indices


NONE: Indices = np.empty(0, dtype=np.int64)


def interior_of(block: Block) -> Interior | None:
    """max s such that Aθ + |a|·s ≤ b for hard inequalities, θ ≥ s, equalities and distributions as they are.

    |a| is the Euclidean length of a constraint's coefficients, so that s is a distance. None where this is infeasible.
    In large blocks parameters that no constraint distinguishes are one variable of the program: exchanging them changes
    nothing, so that their mean over all exchanges is an optimum too.
    """
    hard = block.linear.hard
    block = block.take(hard)
    merged = merged_states(block) if block.size >= MERGED_SIZE else None
    if merged is None:
        found = _interior_of(block, np.ones(block.size))
    else:
        found = _interior_of(merged.block, merged.sizes.astype(np.float64))
    if found is None:
        return None
    tight = np.flatnonzero(hard)[found.tight_constraints]
    if merged is None:
        return replace(found, tight_constraints=tight)
    zero = np.zeros(merged.block.size, dtype=np.bool_)
    zero[found.zero_parameters] = True
    return Interior(found.point[merged.class_of], found.slack, tight, np.flatnonzero(zero[merged.class_of]))


def _interior_of(block: Block, members: Numbers) -> Interior | None:
    """The same for a block with hard constraints alone, where each parameter stands for so many equal ones."""
    lengths = _lengths(block.linear, members)
    linear = replace(block.linear, coefficients=block.linear.coefficients * members[block.linear.indices])
    found = _centre(block, linear, members, lengths)
    if found is None or found.slack > NO_SLACK or (other := scaled(block, members)) is None:
        return found
    # What looks like zero may be tiny.
    again = _centre(block, other.linear, members * other.scales, _lengths(other.linear, np.ones(block.size)))
    return found if again is None else replace(again, point=again.point * other.scales, slack=found.slack)


def _centre(block: Block, linear: LinearConstraints, members: Numbers, lengths: Numbers) -> Interior | None:
    """The same for these constraints, which are weighted already; `members` weigh the sums of distributions."""
    size = block.size
    extra = np.where(linear.equality, 0.0, lengths)  # the coefficient of s
    simplex = (block.distributions, np.arange(size), members)
    matrix = stacked(simplex, _with_column(linear, extra, size), _parameter_constraints(size))
    ones, nothing = np.ones(len(block.configurations)), np.zeros(size)
    lower = np.concatenate((ones, np.where(linear.equality, linear.bounds, -np.inf), nothing))
    upper = np.concatenate((ones, linear.bounds, np.full(size, np.inf)))
    cost = np.zeros(size + 1)
    cost[-1] = -1.0
    bounds = np.concatenate((nothing, [-1.0])), np.ones(size + 1)
    point = solved(cost, bounds, matrix, (lower, upper))
    if point is None or point[-1] < -FEASIBILITY_TOLERANCE:
        return None
    if point[-1] > NO_SLACK:
        return Interior(point[:-1], float(point[-1]), NONE, NONE)
    return _tight(block, linear, members, point)


def _tight(block: Block, linear: LinearConstraints, members: Numbers, start: Numbers) -> Interior:
    """max Σ t such that Aθ + t ≤ b·τ, θ ≥ t, 0 ≤ t ≤ 1, τ ≥ 1, all distributions summing to τ.

    At the optimum t is 1 for every constraint that can have slack and 0 for every one that never has: one program finds
    all implied equalities [Freund, Roundy and Todd, 1985]. θ/τ is in the relative interior.
    """
    size, count, distributions = block.size, len(linear), len(block.configurations)
    # Columns: θ, τ, then t of the constraints, then t of the parameters.
    columns = size + 1 + count + size
    simplex = _insert(
        block.distributions, np.arange(size), members, np.full(distributions, size), np.full(distributions, -1.0)
    )
    matrix = _insert(linear.starts, linear.indices, linear.coefficients, np.full(count, size), -linear.bounds)
    matrix = _insert(*matrix, size + 1 + np.arange(count), np.where(linear.equality, 0.0, 1.0))
    own = np.arange(size)
    parameters = (
        2 * np.arange(size + 1),
        np.stack((own, size + 1 + count + own), 1).ravel(),
        np.tile([1.0, -1.0], size),
    )
    lower = np.concatenate((np.zeros(distributions), np.where(linear.equality, 0.0, -np.inf), np.zeros(size)))
    upper = np.concatenate((np.zeros(distributions), np.zeros(count), np.full(size, np.inf)))
    cost = -np.concatenate((np.zeros(size + 1), np.ones(count), members))
    least = np.concatenate((np.zeros(size), [1.0], np.zeros(count + size)))
    most = np.concatenate((np.full(size + 1, 1.0 / NO_SLACK), np.where(linear.equality, 0.0, 1.0), np.ones(size)))
    assert len(cost) == columns
    point = solved(cost, (least, most), stacked(simplex, matrix, parameters), (lower, upper))
    if point is None:  # HiGHS failed: take the point, and call tight what is tight there
        theta = start[:-1]
        slack = linear.bounds - linear.values(theta)
        tight, zero = (slack < NO_SLACK) & ~linear.equality, theta < NO_SLACK
    else:
        theta = point[:size] / point[size]
        tight = (point[size + 1 : size + 1 + count] < 0.5) & ~linear.equality
        zero = point[size + 1 + count :] < 0.5
    return Interior(theta, 0.0, np.flatnonzero(tight), np.flatnonzero(zero))


def least_relaxation(block: Block, constraints: Indices) -> float:
    """min g ≥ 0 such that Aθ ≤ b + g for these constraints at some point, and Aθ ≥ b − g for equalities among them."""
    linear = block.linear.take(constraints)
    size, count = block.size, len(linear)
    above = _with_column(linear, np.full(count, -1.0), size)
    below = _with_column(linear, np.where(linear.equality, 1.0, 0.0), size)
    ones = np.ones(len(block.configurations))
    lower = np.concatenate((ones, np.full(count, -np.inf), np.where(linear.equality, linear.bounds, -np.inf)))
    upper = np.concatenate((ones, linear.bounds, np.full(count, np.inf)))
    cost = np.concatenate((np.zeros(size), [1.0]))
    columns = np.zeros(size + 1), np.concatenate((np.ones(size), [np.inf]))
    point = solved(cost, columns, stacked(simplex_constraints(block), above, below), (lower, upper))
    return float("nan") if point is None else float(point[-1])


def solved(
    cost: Numbers, columns: tuple[Numbers, Numbers], matrix: SparseMatrix, bounds: tuple[Numbers, Numbers]
) -> Numbers | None:
    import highspy

    highs = load((cost, *columns), matrix, bounds)
    highs.run()
    if highs.getModelStatus() != highspy.HighsModelStatus.kOptimal:
        return None
    return np.asarray(highs.getSolution().col_value, dtype=np.float64)


def _lengths(linear: LinearConstraints, members: Numbers) -> Numbers:
    squares = np.zeros(len(linear))
    np.add.at(squares, linear.entry_constraints, linear.coefficients**2 * members[linear.indices])
    return np.sqrt(squares)


def _with_column(linear: LinearConstraints, extra: Numbers, column: int) -> SparseMatrix:
    return _insert(linear.starts, linear.indices, linear.coefficients, np.full(len(linear), column), extra)


def _insert(starts: Indices, indices: Indices, values: Numbers, column: Indices, extra: Numbers) -> SparseMatrix:
    """Each row of a matrix with one more entry at its end."""
    ends = starts[1:]
    return (
        starts + np.arange(len(starts)),
        np.insert(indices, ends, column),
        np.insert(values, ends, extra),
    )


def _parameter_constraints(size: int) -> SparseMatrix:
    """θ_j − s ≥ 0 for every parameter."""
    own = np.arange(size)
    return 2 * np.arange(size + 1), np.stack((own, np.full(size, size)), 1).ravel(), np.tile([1.0, -1.0], size)


def satisfied(linear: LinearConstraints, theta: Numbers, tolerance: float = FEASIBILITY_TOLERANCE) -> Flags:
    """Which constraints hold at a point."""
    values = linear.values(theta)
    excess = np.where(linear.equality, np.abs(values - linear.bounds), values - linear.bounds)
    return np.asarray(excess <= tolerance, dtype=np.bool_)


# Numbers of very different sizes --------------------------------------------------------------------------------------


TINY = 1e-4  # a largest value below this has a scale of its own
SMALLEST = 1e-200  # what is below is zero
ROUNDING = 1e-15  # of one minus a number that is almost one: what is left is no narrower than the tiny one stated
ROUNDS = 4


@dataclass(frozen=True, slots=True, eq=False)
class Scaled:
    """The hard constraints of a block in other coordinates."""

    linear: LinearConstraints
    scales: Numbers  # (parameters,) σ


def scaled(block: Block, members: Numbers) -> Scaled | None:
    """The hard constraints of a block for θ/σ, each divided by its largest coefficient; None where nothing is tiny.

    Each parameter stands for so many equal `members`.
    """
    low, high = ranges(block, members)
    scales = np.where((high < TINY) & (high > SMALLEST), high, 1.0)
    if (scales == 1.0).all():
        return None
    linear = _without_dominating(block, members, low)
    coefficients = linear.coefficients * scales[linear.indices]
    largest = np.zeros(len(linear))
    np.maximum.at(largest, linear.entry_constraints, np.abs(coefficients))
    largest[largest == 0.0] = 1.0
    linear = replace(
        linear, coefficients=coefficients / largest[linear.entry_constraints], bounds=linear.bounds / largest
    )
    return Scaled(linear, scales)


def ranges(block: Block, members: Numbers) -> tuple[Numbers, Numbers]:
    """The smallest and the largest value of each parameter that follow from one constraint after the other."""
    low, high = np.zeros(block.size), np.ones(block.size)
    constraints = _constraints_of(block, members)
    for _ in range(ROUNDS):
        for columns, values, bound in constraints:
            least = np.where(values > 0.0, values * low[columns], values * high[columns])
            room = bound - (least.sum() - least)  # for each one, if all others are as small as they can be
            if bound == 1.0 + ROUNDING:  # nothing is left by a sum but for rounding
                room = np.where(room < 1.5 * ROUNDING, 0.0, room)
            with np.errstate(divide="ignore", over="ignore"):
                limits = room / values
            up, down = values > 0.0, values < 0.0
            np.minimum.at(high, columns[up], limits[up])
            np.maximum.at(low, columns[down], limits[down])
        np.clip(low, 0.0, 1.0, out=low)
        np.clip(high, 0.0, 1.0, out=high)
    return low, high


def _constraints_of(block: Block, members: Numbers) -> list[tuple[Indices, Numbers, float]]:
    """Every constraint as Σ a·θ ≤ b, equalities and the sums of distributions (but for rounding) in both directions."""
    linear, found = block.linear, list[tuple[Indices, Numbers, float]]()
    for (start, stop), bound, is_equality in zip(
        pairwise(linear.starts.tolist()), linear.bounds.tolist(), linear.equality.tolist(), strict=True
    ):
        columns = linear.indices[start:stop]
        values = linear.coefficients[start:stop] * members[columns]
        found.append((columns, values, bound))
        if is_equality:
            found.append((columns, -values, -bound))
    for start, stop in pairwise(block.distributions.tolist()):
        columns = np.arange(start, stop)
        found += [(columns, members[columns], 1.0 + ROUNDING), (columns, -members[columns], -1.0 + ROUNDING)]
    return found


def _without_dominating(block: Block, members: Numbers, low: Numbers) -> LinearConstraints:
    """The constraints, weighted by members, with 1 − Σ others in the place of every parameter that is almost one."""
    from scipy.sparse import coo_array, csr_array

    linear = block.linear
    linear = replace(linear, coefficients=linear.coefficients * members[linear.indices])
    dominating = np.flatnonzero(low > 1.0 - TINY)
    if not np.isin(linear.indices, dominating).any():
        return linear
    kept = np.setdiff1d(np.arange(block.size), dominating)
    entries = [(kept, kept, np.ones(len(kept)))]
    for place in dominating.tolist():
        owner = int(block.distribution_of[place])
        others = np.arange(block.distributions[owner], block.distributions[owner + 1])
        others = others[others != place]
        entries.append((np.full(len(others), place), others, -members[others]))
    rows, columns, values = (np.concatenate(part) for part in zip(*entries, strict=True))
    replaced = coo_array((values, (rows, columns)), shape=(block.size, block.size))
    matrix = csr_array(linear.matrix(block.size) @ replaced.tocsr())
    matrix.eliminate_zeros()
    constants = np.isin(np.arange(block.size), dominating).astype(np.float64)
    return replace(
        linear,
        starts=matrix.indptr.astype(np.int64),
        indices=matrix.indices.astype(np.int64),
        coefficients=np.asarray(matrix.data, dtype=np.float64),
        bounds=linear.bounds - linear.values(constants),
    )
