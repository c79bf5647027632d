"""What a consistent knowledge implies: pinned numbers, numbers that cannot differ, soft statements that cannot hold."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

import numpy as np

from credo.arrays import Flags, Indices, Numbers
from credo.constraints.blocks import Block
from credo.constraints.conflicts import smallest_clash
from credo.constraints.feasibility import Interior, satisfied
from credo.constraints.program import FEASIBILITY_TOLERANCE, Program, rows_of_statements
from credo.constraints.redundancy import IMPLIED_TOLERANCE, range_on_simplex

_DENSE_LIMIT = 1_500  # parameters that equalities may connect before a dense factorisation is too slow
_FORCED_LIMIT = 50  # equalities in disguise that are told of one block
_REDUCTION_LIMIT = 100  # pinned parameters of a block for which the fewest responsible statements are named


@dataclass(frozen=True, slots=True)
class Pinned:
    """A parameter that can have one value only, and the statements that see to it."""

    parameter: int  # the network's number
    value: float
    statements: tuple[int, ...]


@dataclass(frozen=True, slots=True, eq=False)
class ForcedEqual:
    """Σ coefficients · θ[parameters] = bound, though each statement says no more than ≤: together they force it."""

    parameters: Indices  # the network's numbers
    coefficients: Numbers
    bound: float
    statements: tuple[int, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Freedom:
    """The directions in which a block's feasible points can differ; `parameters` are those that equalities connect.

    A parameter that is in no equality but that of its distribution is free, and not listed.
    """

    parameters: Indices  # (connected,) local numbers
    directions: Numbers  # (connected, directions), orthonormal


def freedom_of(block: Block, interior: Interior) -> Freedom | None:
    """The null space of all equalities, open or in disguise; None where too many parameters hang together.

    Equalities are: distributions sum to one, hard `=` rows, rows that are always tight, parameters that must be zero.
    """
    linear = block.linear
    equal = np.union1d(np.flatnonzero(linear.equality & linear.hard), interior.tight_rows)
    rows = linear.take(equal)
    touched = np.union1d(rows.indices, interior.zero_parameters)
    distributions = np.unique(block.distribution_of[touched])
    parameters = np.flatnonzero(np.isin(block.distribution_of, distributions))
    if len(parameters) > _DENSE_LIMIT:
        return None
    sums = block.distribution_of[parameters][None, :] == distributions[:, None]
    zeros = parameters[None, :] == interior.zero_parameters[:, None]
    dense = rows.matrix(block.size).tocsc()[:, parameters].toarray()
    equalities = np.concatenate((sums.astype(np.float64), zeros.astype(np.float64), dense))
    if not len(parameters):
        return Freedom(parameters, np.empty((0, 0)))
    _, singular, right = np.linalg.svd(equalities, full_matrices=True)
    rank = int(np.count_nonzero(singular > 1e-9 * singular[0]))
    return Freedom(parameters, right[rank:].T)


def pinned(block: Block, interior: Interior, freedom: Freedom, program: Program) -> tuple[Pinned, ...]:
    """Parameters with one possible value, but for those of variables with a single state.

    Where a whole distribution is pinned, the states that the responsible statements do not name are left out.
    """
    fixed = freedom.parameters[np.linalg.norm(freedom.directions, axis=1) < 1e-9]
    sizes = np.diff(block.distributions)[block.distribution_of[fixed]]
    fixed = fixed[sizes > 1]
    hard = set(block.linear.statements[block.linear.hard].tolist())
    named = set(block.linear.indices.tolist())
    whole = np.bincount(block.distribution_of[fixed], minlength=len(block.configurations)) == np.diff(
        block.distributions
    )
    found = []
    for parameter in fixed.tolist():
        if whole[block.distribution_of[parameter]] and parameter not in named:
            continue
        objective = np.zeros(block.size)
        objective[parameter] = 1.0
        sources = _fewest_that_settle(program, objective, hard, reduce=len(fixed) <= _REDUCTION_LIMIT)
        value = round(float(interior.point[parameter]), 9) + 0.0
        found.append(Pinned(int(block.parameters[parameter]), value, sources))
    return tuple(found)


def constant_rows(block: Block, freedom: Freedom | None) -> Flags:
    """Rows whose value cannot change: over all distributions, or, for rows that compare, over all that is allowed."""
    linear = block.linear
    lowest, highest = range_on_simplex(block, linear)
    constant = highest - lowest <= FEASIBILITY_TOLERANCE
    if freedom is None or not len(freedom.parameters):
        return np.asarray(constant, dtype=np.bool_)
    place = np.full(block.size, -1)
    place[freedom.parameters] = np.arange(len(freedom.parameters))
    outside = np.zeros(len(linear), dtype=np.bool_)
    outside[linear.entry_constraints[place[linear.indices] < 0]] = True
    compares = (linear.lengths > 1) & ~outside
    moved = linear.take(compares).matrix(block.size).tocsc()[:, freedom.parameters] @ freedom.directions
    fixed = np.ones(np.count_nonzero(compares), dtype=np.bool_)
    if freedom.directions.shape[1]:
        fixed = np.abs(moved).max(axis=1) < FEASIBILITY_TOLERANCE
    constant[compares] |= fixed
    return np.asarray(constant, dtype=np.bool_)


def forced_equal(
    block: Block, interior: Interior, program: Program, following: Collection[int], pins: Collection[int]
) -> tuple[ForcedEqual, ...]:
    """Comparisons that are always tight: a·θ ≤ b, where other statements see to a·θ ≥ b.

    Left out are rows of statements that follow from others, and rows over numbers that are pinned: both are told as
    such. A row and its opposite are one equality.
    """
    linear, known = block.linear, set[tuple[float, ...]]()
    hard = set(linear.statements[linear.hard].tolist())
    found: list[ForcedEqual] = []
    for row in interior.tight_rows.tolist():
        entries = slice(linear.starts[row], linear.starts[row + 1])
        indices, coefficients = linear.indices[entries], linear.coefficients[entries]
        # Numbers that must be zero are told as pinned; what is left of the row says nothing more.
        if int(linear.statements[row]) in following or len(indices) < 2 or np.isin(indices, list(pins)).any():
            continue
        sign = 1.0 if coefficients[np.argmin(indices)] > 0.0 else -1.0
        order = np.argsort(indices)
        key = (*indices[order].tolist(), *(sign * coefficients[order]).tolist(), sign * float(linear.bounds[row]))
        if key in known or len(found) == _FORCED_LIMIT:
            continue
        known.add(key)
        objective = np.zeros(block.size)
        objective[indices] = coefficients
        sources = _fewest_that_settle(program, objective, hard, reduce=len(hard) <= _REDUCTION_LIMIT)
        found.append(ForcedEqual(indices, coefficients, float(linear.bounds[row]), sources))
    return tuple(found)


def cannot_hold(block: Block, interior: Interior, program: Program) -> dict[int, tuple[int, ...]]:
    """Soft statements that the hard ones rule out, each with the hard statements that it clashes with."""
    linear = block.linear
    hard = set(linear.statements[linear.hard].tolist())
    fine = satisfied(linear, interior.point)
    found = {}
    for statement, rows in rows_of_statements(linear).items():
        if statement in hard or fine[rows].all():
            continue
        clash = smallest_clash(program, {*hard, statement})
        if clash is not None:
            found[statement] = tuple(member for member in clash.statements if member != statement)
    return found


def _fewest_that_settle(
    program: Program, objective: Numbers, hard: Collection[int], *, reduce: bool
) -> tuple[int, ...]:
    """As few of the statements as leave objective · θ a single value."""
    found = _range_sources(program, objective, hard)
    members = sorted(found if found is not None else hard)
    if reduce:
        for candidate in list(reversed(members)):
            rest = [member for member in members if member != candidate]
            if _range_sources(program, objective, rest) is not None:
                members = rest
    return tuple(members)


def _range_sources(program: Program, objective: Numbers, statements: Collection[int]) -> set[int] | None:
    """The statements with a price where an objective is largest and least; None where these values differ."""
    program.switch_statements(statements)
    most, least = program.maximise(objective), program.maximise(-objective)
    if most is None or least is None or most.value + least.value > IMPLIED_TOLERANCE:
        return None
    priced = (most.duals > FEASIBILITY_TOLERANCE) | (least.duals > FEASIBILITY_TOLERANCE)
    return set(program.linear.statements[priced].tolist()) & set(statements)
