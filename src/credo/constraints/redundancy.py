"""Statements that follow from the others: cheap tests settle most of them, a linear program a row the rest."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

import numpy as np

from credo.arrays import Flags, Indices, Numbers
from credo.constraints.blocks import Block
from credo.constraints.constraint_set import LinearConstraints
from credo.constraints.feasibility import NO_SLACK, Interior
from credo.constraints.program import FEASIBILITY_TOLERANCE, Program, rows_of_statements

IMPLIED_TOLERANCE = 1e-8  # a little above what HiGHS is right to
PROGRAM_LIMIT = 5_000  # programs spent on one statement in one block
_REDUCTION_LIMIT = 200  # programs spent on naming the fewest statements that something follows from
_RAY_CELLS = 2_000_000  # rays times rows looked at, at most


@dataclass(frozen=True, slots=True)
class Followers:
    """Of the statements in one block: those whose rows all follow from others, with these others, and the undecided."""

    follows_from: dict[int, tuple[int, ...]]
    undecided: tuple[int, ...]


def followers(block: Block, interior: Interior, program: Program) -> Followers:
    """max a·θ over distributions and the rows of all other hard statements ≤ b, for every row of the statement."""
    linear, hard = block.linear, block.linear.hard
    lowest, highest = range_on_simplex(block, linear)
    always = implied_by_simplex(linear, lowest, highest)
    hard_statements = set(linear.statements[hard].tolist())
    needed = shown_needed(block, interior) if len(hard_statements) > 1 else set()
    parallel = implied_by_parallel(block)
    follows_from: dict[int, tuple[int, ...]] = {}
    undecided: list[int] = []
    for statement, rows in rows_of_statements(linear).items():
        if always[rows].all():
            follows_from[statement] = ()
        elif statement in needed or not hard_statements - {statement}:
            continue
        elif np.all(always[rows] | (parallel[rows] >= 0)):
            found = set(parallel[rows[~always[rows]]].tolist())
            follows_from[statement] = _fewest(program, rows[~always[rows]], found)
        elif np.count_nonzero(~always[rows]) > PROGRAM_LIMIT:
            undecided.append(statement)
        else:
            used = _implied(program, rows[~always[rows]], hard_statements - {statement})
            if used is not None:
                follows_from[statement] = _fewest(program, rows[~always[rows]], used)
    return Followers(follows_from, tuple(undecided))


def range_on_simplex(block: Block, linear: LinearConstraints) -> tuple[Numbers, Numbers]:
    """The least and the largest value of each row over all distributions: Σ_d min coefficient, Σ_d max coefficient."""
    owner = block.distribution_of[linear.indices]
    key = linear.entry_constraints * len(block.configurations) + owner
    order = np.argsort(key, kind="stable")
    groups, firsts, counts = np.unique(key[order], return_index=True, return_counts=True)
    if not len(groups):
        return np.zeros(len(linear)), np.zeros(len(linear))
    values = linear.coefficients[order]
    row, distribution = np.divmod(groups, len(block.configurations))
    partial = counts < np.diff(block.distributions)[distribution]  # states not named have the coefficient zero
    least, most = np.minimum.reduceat(values, firsts), np.maximum.reduceat(values, firsts)
    lowest, highest = np.zeros(len(linear)), np.zeros(len(linear))
    np.add.at(lowest, row, np.where(partial, np.minimum(least, 0.0), least))
    np.add.at(highest, row, np.where(partial, np.maximum(most, 0.0), most))
    return lowest, highest


def implied_by_simplex(linear: LinearConstraints, lowest: Numbers, highest: Numbers) -> Flags:
    """Which rows hold for all distributions."""
    below = highest <= linear.bounds + FEASIBILITY_TOLERANCE
    return np.asarray(below & (~linear.equality | (lowest >= linear.bounds - FEASIBILITY_TOLERANCE)), dtype=np.bool_)


def shown_needed(block: Block, interior: Interior) -> set[int]:
    """Statements that rays from an inner point cross alone: beyond such a crossing only that statement is broken.

    Rays follow each row's own normal, kept within the distributions, and some random mixtures of them. Only where the
    block has an inside and no equalities; elsewhere nothing is shown.
    """
    linear = block.linear.take(block.linear.hard)
    if interior.slack <= NO_SLACK or linear.equality.any():
        return set()
    rows = len(linear)
    normals = linear.matrix(block.size)
    if rows * block.size > _RAY_CELLS:
        return set()
    dense = normals.toarray()
    sizes = np.diff(block.distributions)
    means = np.add.reduceat(dense, block.distributions[:-1], axis=1) / sizes
    inside = dense - np.repeat(means, sizes, axis=1)
    mixtures = min(rows, max(1, _RAY_CELLS // (rows + block.size) - rows))
    rays = np.concatenate((inside, np.random.default_rng(0).standard_normal((mixtures, rows)) @ inside / rows))
    slack = np.concatenate((linear.bounds - dense @ interior.point, interior.point))
    owner = np.concatenate((linear.statements, np.full(block.size, -1)))
    rate = np.concatenate((rays @ dense.T, -rays), axis=1)  # how fast each row, and each θ ≥ 0, is approached
    with np.errstate(divide="ignore", invalid="ignore"):
        arrival = np.where(rate > 1e-12, slack / rate, np.inf)
    first = np.argmin(arrival, axis=1)
    soonest = arrival[np.arange(len(rays)), first]
    others = np.where(owner[None, :] == owner[first][:, None], np.inf, arrival).min(axis=1)
    alone = np.isfinite(soonest) & (soonest * (1 + 1e-6) < others)
    return set(owner[first[alone]].tolist()) - {-1}


def implied_by_parallel(block: Block) -> Indices:
    """For each row, a hard statement other than its own with a row in the same direction and a bound no larger; or −1.

    A constant added to the coefficients of a whole distribution only moves the bound: `P(a=no) >= 0.7` and
    `P(a=yes) <= 0.3` are parallel. Equalities count as two rows for others, but are not settled here themselves.
    """
    linear, found = block.linear, np.full(len(block.linear), -1, dtype=np.int64)
    if len(linear) * block.size > _RAY_CELLS:
        return found
    keys, bounds = _directions(block, linear.matrix(block.size).toarray(), linear.bounds)
    back = np.flatnonzero(linear.equality & linear.hard)
    back_keys, back_bounds = _directions(block, -linear.matrix(block.size).toarray()[back], -linear.bounds[back])
    tightest: dict[bytes, list[tuple[float, int]]] = {}  # the tightest bounds, of two different statements
    hard = np.flatnonzero(linear.hard)
    for key, bound, statement in (
        *((keys[row], float(bounds[row]), int(linear.statements[row])) for row in hard.tolist()),
        *zip(back_keys, back_bounds.tolist(), linear.statements[back].tolist(), strict=True),
    ):
        best = tightest.setdefault(key, [])
        best.append((bound, statement))
        best.sort()
        others = [each for each in best[1:] if each[1] != best[0][1]]
        best[1:] = others[:1]
    for row in np.flatnonzero(~linear.equality).tolist():
        for bound, statement in tightest.get(keys[row], []):
            if statement != linear.statements[row] and bound <= bounds[row] + FEASIBILITY_TOLERANCE:
                found[row] = statement
                break
    return found


def _directions(block: Block, dense: Numbers, bounds: Numbers) -> tuple[list[bytes], Numbers]:
    """Each row with the least coefficient of every distribution moved to 0 and the largest of all to 1, as a key."""
    if not len(dense):
        return [], bounds
    least = np.minimum.reduceat(dense, block.distributions[:-1], axis=1)
    moved = dense - np.repeat(least, np.diff(block.distributions), axis=1)
    scale = np.maximum(moved.max(axis=1), 1e-300)
    rounded = np.round(moved / scale[:, None], 9) + 0.0
    return [row.tobytes() for row in rounded], (bounds - least.sum(axis=1)) / scale


def _fewest(program: Program, rows: Indices, members: Collection[int]) -> tuple[int, ...]:
    """As few of the statements as can be found cheaply from which the rows still follow."""
    kept = sorted(members)
    if len(kept) > 1 and len(kept) * len(rows) <= _REDUCTION_LIMIT:
        for candidate in list(reversed(kept)):
            rest = [member for member in kept if member != candidate]
            if rest and _implied(program, rows, rest) is not None:
                kept = rest
    return tuple(kept)


def _implied(program: Program, rows: Indices, others: Collection[int]) -> set[int] | None:
    """The statements among `others` that carry a price where the rows are largest; None where a row can be broken."""
    program.switch_statements(others)
    linear, used = program.linear, set()
    for row in rows.tolist():
        entries = slice(linear.starts[row], linear.starts[row + 1])
        objective = np.zeros(program.block.size)
        objective[linear.indices[entries]] = linear.coefficients[entries]
        for sign in (1.0, -1.0) if linear.equality[row] else (1.0,):
            best = program.maximise(sign * objective)
            if best is None or best.value > sign * linear.bounds[row] + IMPLIED_TOLERANCE:
                return None
            used |= set(linear.statements[best.duals > FEASIBILITY_TOLERANCE].tolist())
    return used & set(others)
