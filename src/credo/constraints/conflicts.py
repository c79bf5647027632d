"""Smallest clashing sets of statements: no member can be left out of one, and each comes with the proof of that."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass

import numpy as np

from credo.arrays import Indices, Numbers
from credo.constraints.blocks import Block
from credo.constraints.constraint_set import Constraints
from credo.constraints.feasibility import least_widening
from credo.constraints.program import Program
from credo.errors import CredoError

MANY_STATEMENTS = 8  # up to this many, leaving out one after another is as quick as anything
MANY_ROWS = 500


@dataclass(frozen=True, slots=True, eq=False)
class Witness:
    """A point where a clashing set holds but for one statement, which so cannot be left out of the set."""

    left_out: int
    parameters: Indices  # network's numbers of the block's parameters
    point: Numbers


@dataclass(frozen=True, slots=True, eq=False)
class Clash:
    """Statements that cannot hold together, though any of them may be left out and the rest can.

    `witnesses` has one point for each member; a statement that is false by itself needs none. `gap` is the least by
    which rows must be widened, all by the same distance, for the clash to be gone.
    """

    statements: tuple[int, ...]
    witnesses: tuple[Witness, ...]
    gap: float


class ConflictError(CredoError):
    """The knowledge contradicts itself; `conflicts` are the smallest clashing sets."""

    exit_code = 3

    def __init__(self, message: str, conflicts: tuple[object, ...] = ()) -> None:
        super().__init__(message)
        self.conflicts = conflicts


def false_statements(constraints: Constraints) -> tuple[Clash, ...]:
    """Statements with a row that is false whatever the numbers are, such as `P(a=x) <= P(a=x) by at least 0.1`."""
    linear = constraints.linear
    false = np.flatnonzero((linear.lengths == 0) & linear.hard)
    gaps: dict[int, float] = {}
    for row in false.tolist():
        statement = int(linear.statements[row])
        gaps[statement] = max(gaps.get(statement, 0.0), abs(float(linear.bounds[row])))
    return tuple(Clash((statement,), (), gap) for statement, gap in gaps.items())


def clashes(block: Block, without: Collection[int] = ()) -> tuple[Clash, ...]:
    """Disjoint clashing sets of a block's hard statements, until the rest can hold together; `without` do not count."""
    program = Program(block)
    hard = set(block.linear.statements[block.linear.hard].tolist()) - set(without)
    found: list[Clash] = []
    while True:
        clash = smallest_clash(program, hard)
        if clash is None:
            return tuple(found)
        found.append(clash)
        hard -= set(clash.statements)


def smallest_clash(program: Program, statements: Iterable[int]) -> Clash | None:
    """One irreducible clash within the statements: HiGHS narrows the search, a deletion filter settles it.

    First by a ray of the dual, which costs next to nothing; then by HiGHS's irreducible infeasible system, where many
    statements are left. It works row by row, so where statements became thousands of rows the filter is quicker.
    """
    members = sorted(statements)
    if _point(program, members) is not None:
        return None
    members = _narrowed(program, members, program.refuting_rows())
    rows = sum(len(program.rows_of(member)) for member in members)
    if len(members) > MANY_STATEMENTS and rows <= MANY_ROWS and _point(program, members) is None:
        members = _narrowed(program, members, program.infeasible_rows())
    members = deletion_filter(program, members)
    return Clash(tuple(members), _witnesses(program, members), gap_of(program, members))


def _narrowed(program: Program, members: list[int], rows: Indices | None) -> list[int]:
    """The statements of these rows, where they clash by themselves: what HiGHS says is tried before it is believed."""
    if rows is None or not len(rows):
        return members
    fewer = sorted(set(program.linear.statements[rows].tolist()) & set(members))
    return fewer if len(fewer) < len(members) and _point(program, fewer) is None else members


def deletion_filter(program: Program, members: list[int]) -> list[int]:
    """Leave out one statement after another for as long as the rest still clashes [Chinneck and Dravnieks, 1991]."""
    for candidate in list(reversed(members)):  # later lines go first, so that the lines first written stay
        rest = [member for member in members if member != candidate]
        if _point(program, rest) is None:
            members = rest
    return members


def gap_of(program: Program, members: Collection[int]) -> float:
    """min g such that Aθ ≤ b + g and |Aθ − b| ≤ g hold somewhere: how far the statements are from agreeing."""
    rows = np.concatenate([program.rows_of(member) for member in members])
    return least_widening(program.block, rows)


def _witnesses(program: Program, members: list[int]) -> tuple[Witness, ...]:
    found = []
    for member in members:
        point = _point(program, [other for other in members if other != member])
        if point is None:
            raise ArithmeticError(f"The clash of statements {members} is not minimal: {member} can be left out.")
        found.append(Witness(member, program.block.parameters, point))
    return tuple(found)


def _point(program: Program, statements: Collection[int]) -> Numbers | None:
    program.switch_statements(statements)
    return program.feasible_point()
