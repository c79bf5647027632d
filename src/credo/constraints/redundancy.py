"""Redundant statements, which follow from others: cheap tests decide most, linear programs the rest."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass

import numpy as np

from credo.constraints.blocks import Block
from credo.constraints.constraint_set import LinearConstraints
from credo.constraints.feasibility import NO_SLACK, Interior
from credo.constraints.program import FEASIBILITY_TOLERANCE, Program, constraints_of_statements
from credo.types import Flags, Indices, Numbers

IMPLIED_TOLERANCE = 1e-8  # a little above the precision of HiGHS
PROGRAM_LIMIT = 5_000  # linear programs for one statement in one block
_REDUCTION_LIMIT = 200  # linear programs for finding the fewest statements that imply another
_RAY_CELLS = 2_000_000  # rays times constraints that are compared, at most


@dataclass(frozen=True, slots=True)
class Redundancy:
    """The statements of a block whose constraints all follow from others, with these others; and the undecided ones."""

    follows_from: Mapping[int, tuple[int, ...]]
    undecided: tuple[int, ...]


def redundant_statements(block: Block, interior: Interior, program: Program) -> Redundancy:
    """Statements with max a·θ ≤ b for all their constraints, over distributions and all other hard statements."""
    linear, hard = block.linear, block.linear.hard
    lowest, highest = range_on_simplex(block, linear)
    always = implied_by_simplex(linear, lowest, highest)
    hard_statements = set(linear.statements[hard].tolist())
    needed = necessary_statements(block, interior) if len(hard_statements) > 1 else set()
    parallel = implied_by_parallel(block)
    follows_from: dict[int, tuple[int, ...]] = {}
    undecided: list[int] = []
    for statement, own in constraints_of_statements(linear).items():
        if always[own].all():
            follows_from[statement] = ()
        elif statement in needed or not hard_statements - {statement}:
            continue
        elif np.all(always[own] | (parallel[own] >= 0)):
            found = set(parallel[own[~always[own]]].tolist())
            follows_from[statement] = _fewest(program, own[~always[own]], found)
        elif np.count_nonzero(~always[own]) > PROGRAM_LIMIT:
            undecided.append(statement)
        else:
            used = _implied(program, own[~always[own]], hard_statements - {statement})
            if used is not None:
                follows_from[statement] = _fewest(program, own[~always[own]], used)
    return Redundancy(follows_from, tuple(undecided))


def range_on_simplex(block: Block, linear: LinearConstraints) -> tuple[Numbers, Numbers]:
    """The least and largest value of each constraint over all distributions: Σ_d min and Σ_d max of coefficients."""
    owner = block.distribution_of[linear.indices]
    key = linear.entry_constraints * len(block.configurations) + owner
    order = np.argsort(key, kind="stable")
    groups, firsts, counts = np.unique(key[order], return_index=True, return_counts=True)
    if not len(groups):
        return np.zeros(len(linear)), np.zeros(len(linear))
    values = linear.coefficients[order]
    constraint, distribution = np.divmod(groups, len(block.configurations))
    partial = counts < np.diff(block.distributions)[distribution]  # states not named have the coefficient zero
    least, most = np.minimum.reduceat(values, firsts), np.maximum.reduceat(values, firsts)
    lowest, highest = np.zeros(len(linear)), np.zeros(len(linear))
    np.add.at(lowest, constraint, np.where(partial, np.minimum(least, 0.0), least))
    np.add.at(highest, constraint, np.where(partial, np.maximum(most, 0.0), most))
    return lowest, highest


def implied_by_simplex(linear: LinearConstraints, lowest: Numbers, highest: Numbers) -> Flags:
    """Which constraints hold for all distributions."""
    below = highest <= linear.bounds + FEASIBILITY_TOLERANCE
    return np.asarray(below & (~linear.equality | (lowest >= linear.bounds - FEASIBILITY_TOLERANCE)), dtype=np.bool_)


def necessary_statements(block: Block, interior: Interior) -> set[int]:
    """Statements that a ray from an inner point violates first and alone, which shows that no others imply them.

    Rays follow the normal of each constraint, projected onto the distributions, and random mixtures of normals. Only
    for blocks with an interior and without equalities; elsewhere the set is empty.
    """
    linear = block.linear.take(block.linear.hard)
    if interior.slack <= NO_SLACK or linear.equality.any():
        return set()
    count = len(linear)
    normals = linear.matrix(block.size)
    if count * block.size > _RAY_CELLS:
        return set()
    dense = normals.toarray()
    sizes = np.diff(block.distributions)
    means = np.add.reduceat(dense, block.distributions[:-1], axis=1) / sizes
    inside = dense - np.repeat(means, sizes, axis=1)
    mixtures = min(count, max(1, _RAY_CELLS // (count + block.size) - count))
    rays = np.concatenate((inside, np.random.default_rng(0).standard_normal((mixtures, count)) @ inside / count))
    slack = np.concatenate((linear.bounds - dense @ interior.point, interior.point))
    owner = np.concatenate((linear.statements, np.full(block.size, -1)))
    # How fast the boundary of each constraint, and of each θ ≥ 0, is approached.
    rate = np.concatenate((rays @ dense.T, -rays), axis=1)
    with np.errstate(divide="ignore", invalid="ignore"):
        arrival = np.where(rate > 1e-12, slack / rate, np.inf)
    first = np.argmin(arrival, axis=1)
    soonest = arrival[np.arange(len(rays)), first]
    others = np.where(owner[None, :] == owner[first][:, None], np.inf, arrival).min(axis=1)
    alone = np.isfinite(soonest) & (soonest * (1 + 1e-6) < others)
    return set(owner[first[alone]].tolist()) - {-1}


def implied_by_parallel(block: Block) -> Indices:
    """For each constraint, another hard statement with a parallel constraint and a bound no larger; or −1.

    A constant added to all coefficients of a distribution only moves the bound: `P(a=no) >= 0.7` and `P(a=yes) <= 0.3`
    are parallel. An equality counts as two inequalities for others, but is not decided here itself.
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
        *((keys[number], float(bounds[number]), int(linear.statements[number])) for number in hard.tolist()),
        *zip(back_keys, back_bounds.tolist(), linear.statements[back].tolist(), strict=True),
    ):
        best = tightest.setdefault(key, [])
        best.append((bound, statement))
        best.sort()
        others = [entry for entry in best[1:] if entry[1] != best[0][1]]
        best[1:] = others[:1]
    for number in np.flatnonzero(~linear.equality).tolist():
        for bound, statement in tightest.get(keys[number], []):
            if statement != linear.statements[number] and bound <= bounds[number] + FEASIBILITY_TOLERANCE:
                found[number] = statement
                break
    return found


def _directions(block: Block, dense: Numbers, bounds: Numbers) -> tuple[list[bytes], Numbers]:
    """Each constraint as a key: every distribution's least coefficient moved to 0, the largest of all scaled to 1."""
    if not len(dense):
        return [], bounds
    least = np.minimum.reduceat(dense, block.distributions[:-1], axis=1)
    moved = dense - np.repeat(least, np.diff(block.distributions), axis=1)
    scale = moved.max(axis=1)
    scale = np.where(scale > 0.0, scale, 1.0)  # a variable with one state has one distribution
    rounded = np.round(moved / scale[:, None], 9) + 0.0
    return [direction.tobytes() for direction in rounded], (bounds - least.sum(axis=1)) / scale


def _fewest(program: Program, constraints: Indices, members: Collection[int]) -> tuple[int, ...]:
    """As few of the statements as a cheap search finds that still imply the constraints."""
    kept = sorted(members)
    if len(kept) > 1 and len(kept) * len(constraints) <= _REDUCTION_LIMIT:
        for candidate in list(reversed(kept)):
            rest = [member for member in kept if member != candidate]
            if rest and _implied(program, constraints, rest) is not None:
                kept = rest
    return tuple(kept)


def _implied(program: Program, constraints: Indices, others: Collection[int]) -> set[int] | None:
    """The statements among `others` with a multiplier at the maxima; None where a constraint is not implied."""
    program.switch_statements(others)
    linear, used = program.linear, set()
    for number in constraints.tolist():
        entries = slice(linear.starts[number], linear.starts[number + 1])
        objective = np.zeros(program.block.size)
        objective[linear.indices[entries]] = linear.coefficients[entries]
        for sign in (1.0, -1.0) if linear.equality[number] else (1.0,):
            best = program.maximise(sign * objective)
            if best is None or best.value > sign * linear.bounds[number] + IMPLIED_TOLERANCE:
                return None
            used |= set(linear.statements[best.multipliers > FEASIBILITY_TOLERANCE].tolist())
    return used & set(others)
