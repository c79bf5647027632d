"""Minimal conflicts: sets of statements that cannot all hold, though any one can be left out and the rest can."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass

import numpy as np

from credo.constraints.blocks import Block
from credo.constraints.constraint_set import Constraints
from credo.constraints.feasibility import least_relaxation
from credo.constraints.program import Program
from credo.errors import CredoError
from credo.types import Indices, Numbers

MANY_STATEMENTS = 8  # up to this many, the deletion filter alone is quickest
MANY_CONSTRAINTS = 500


@dataclass(frozen=True, slots=True, eq=False)
class Witness:
    """A point that satisfies a conflict except for one statement: the proof that the conflict needs this statement."""

    left_out: int
    parameters: Indices  # the network's numbers of the block's parameters
    point: Numbers


@dataclass(frozen=True, slots=True, eq=False)
class MinimalConflict:
    """Statements that cannot all hold, though without any one of them the others can.

    `witnesses` has one point for each statement; one that is false by itself needs none. `relaxation` is the least by
    which all their bounds must be relaxed for the statements to hold together.
    """

    statements: tuple[int, ...]
    witnesses: tuple[Witness, ...]
    relaxation: float


class ConflictError(CredoError, ValueError):
    """The statements contradict each other.

    Attributes
    ----------
    conflicts : tuple
        Minimal sets of conflicting statements, as `credo.check` reports them.
    """

    exit_code = 3

    def __init__(self, message: str, conflicts: tuple[object, ...] = ()) -> None:
        super().__init__(message)
        self.conflicts = conflicts


def false_statements(constraints: Constraints) -> tuple[MinimalConflict, ...]:
    """Statements with a constraint that no parameters satisfy, such as `P(a=x) <= P(a=x) by at least 0.1`."""
    linear = constraints.linear
    false = np.flatnonzero((linear.lengths == 0) & linear.hard)
    relaxations: dict[int, float] = {}
    for number in false.tolist():
        statement = int(linear.statements[number])
        relaxations[statement] = max(relaxations.get(statement, 0.0), abs(float(linear.bounds[number])))
    return tuple(MinimalConflict((statement,), (), relaxation) for statement, relaxation in relaxations.items())


def minimal_conflicts(block: Block, without: Collection[int] = ()) -> tuple[MinimalConflict, ...]:
    """Disjoint conflicts among a block's hard statements but those in `without`, until the rest can hold together."""
    program = Program(block)
    hard = set(block.linear.statements[block.linear.hard].tolist()) - set(without)
    found: list[MinimalConflict] = []
    while True:
        conflict = minimal_conflict(program, hard)
        if conflict is None:
            return tuple(found)
        found.append(conflict)
        hard -= set(conflict.statements)


def minimal_conflict(program: Program, statements: Iterable[int]) -> MinimalConflict | None:
    """One minimal conflict among the statements: HiGHS narrows the search, a deletion filter makes it minimal.

    First by a dual ray, which costs next to nothing; then, where many statements are left, by HiGHS's irreducible
    infeasible subsystem. That works constraint by constraint, so that the filter is quicker for thousands of them.
    """
    members = sorted(statements)
    if _point(program, members) is not None:
        return None
    members = _narrowed(program, members, program.refuting_constraints())
    count = sum(len(program.constraints_of(member)) for member in members)
    if len(members) > MANY_STATEMENTS and count <= MANY_CONSTRAINTS and _point(program, members) is None:
        members = _narrowed(program, members, program.irreducible_infeasible_constraints())
    members = deletion_filter(program, members)
    return MinimalConflict(tuple(members), _witnesses(program, members), relaxation_of(program, members))


def _narrowed(program: Program, members: list[int], constraints: Indices | None) -> list[int]:
    """The statements of these constraints, if they conflict by themselves: the answer of HiGHS is verified."""
    if constraints is None or not len(constraints):
        return members
    fewer = sorted(set(program.linear.statements[constraints].tolist()) & set(members))
    return fewer if len(fewer) < len(members) and _point(program, fewer) is None else members


def deletion_filter(program: Program, members: list[int]) -> list[int]:
    """Leave out one statement after another while the rest still conflicts [Chinneck and Dravnieks, 1991]."""
    for candidate in list(reversed(members)):  # later statements go first, so that the earlier ones stay
        rest = [member for member in members if member != candidate]
        if _point(program, rest) is None:
            members = rest
    return members


def relaxation_of(program: Program, members: Collection[int]) -> float:
    """min g such that Aθ ≤ b + g and |Aθ − b| ≤ g at some point: how far the statements are from agreeing."""
    constraints = np.concatenate([program.constraints_of(member) for member in members])
    return least_relaxation(program.block, constraints)


def _witnesses(program: Program, members: list[int]) -> tuple[Witness, ...]:
    found = []
    for member in members:
        point = _point(program, [other for other in members if other != member])
        if point is None:
            raise ArithmeticError(f"The conflict of statements {members} is not minimal: {member} can be left out.")
        found.append(Witness(member, program.block.parameters, point))
    return tuple(found)


def _point(program: Program, statements: Collection[int]) -> Numbers | None:
    program.switch_statements(statements)
    return program.feasible_point()
