"""Minimal conflicts: sets of statements that cannot all hold, though any one can be left out and the rest can."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from credo.constraints.blocks import Block
from credo.constraints.constraint_set import Constraints
from credo.constraints.feasibility import least_relaxation
from credo.constraints.program import Program
from credo.errors import CredoError
from credo.types import Indices, Numbers

MANY_STATEMENTS = 8  # up to this many, the deletion filter alone is quickest
MANY_CONSTRAINTS = 500
MOST_CONFLICTS = 20  # of one block
MOST_STEPS = 300  # sets that are examined


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


# All minimal conflicts ------------------------------------------------------------------------------------------------
#
# By MARCO [Liffiton et al., 2016], with a limit that is reported. Whether statements conflict is monotone: more of
# them conflict all the more. So every set is either above a minimal conflict or below a maximal consistent set. A map
# of what is known, an integer program, gives the largest set that is neither above a known conflict nor below a known
# consistent set. If it conflicts, a minimal conflict in it is new; otherwise it is itself a maximal consistent set.
# When the map is exhausted, all minimal conflicts are known.


@dataclass(frozen=True, slots=True)
class Enumeration:
    """Minimal conflicts, as sorted numbers of statements; all of them where it is complete."""

    conflicts: tuple[tuple[int, ...], ...]
    is_complete: bool


def enumerate_conflicts(
    statements: Collection[int],
    conflict_in: Callable[[list[int]], Sequence[int] | None],
    *,
    most_steps: int = MOST_STEPS,
    known: Iterable[Sequence[int]] = (),
) -> Enumeration:
    """The minimal conflicts among statements, after those that are known already.

    `conflict_in` gives a minimal conflict in a set of statements, or None where there is none.
    """
    unexplored = _UnexploredSets(sorted(statements))
    found = [tuple(sorted(conflict)) for conflict in known]
    for conflict in found:
        unexplored.exclude_supersets_of(conflict)
    for _ in range(most_steps):
        chosen = unexplored.largest()
        if chosen is None:
            return Enumeration(tuple(found), True)
        if len(found) >= MOST_CONFLICTS:
            break  # the sets that are left may all be consistent, but this was not examined
        new = conflict_in(chosen)
        if new is None:
            unexplored.exclude_subsets_of(chosen)
        else:
            found.append(tuple(sorted(new)))
            unexplored.exclude_supersets_of(new)
    return Enumeration(tuple(found), unexplored.largest() is None)


def fewest_to_drop(conflicts: Collection[Collection[int]]) -> tuple[int, ...]:
    """A smallest set of statements with a member in every conflict."""
    members = sorted({member for conflict in conflicts for member in conflict})
    kept = _UnexploredSets(members)
    for conflict in conflicts:
        kept.exclude_supersets_of(conflict)
    largest = kept.largest()
    assert largest is not None
    return tuple(member for member in members if member not in set(largest))


def minimal_sets(sets: Iterable[tuple[int, ...]]) -> list[tuple[int, ...]]:
    """Those of the sets that contain none of the others, the smallest first."""
    found: list[tuple[int, ...]] = []
    for candidate in sorted(set(sets), key=lambda each: (len(each), each)):
        if not any(set(smaller) <= set(candidate) for smaller in found):
            found.append(candidate)
    return found


class _UnexploredSets:
    """max Σ x, x binary, Σ x ≤ |C| − 1 over each known conflict C, Σ x ≥ 1 outside each known consistent set.

    A class because HiGHS has a state.
    """

    def __init__(self, members: Sequence[int]) -> None:
        import highspy

        self._members = members
        self._place = {member: place for place, member in enumerate(members)}
        self._highs: Any = highspy.Highs()
        for option, value in (("output_flag", False), ("threads", 1), ("mip_rel_gap", 0.0)):
            self._highs.setOptionValue(option, value)
        count = len(members)
        self._highs.addVars(count, np.zeros(count), np.ones(count))
        columns = np.arange(count, dtype=np.int32)
        # Of equally large sets, the one with the earlier statements: an answer that does not depend on the solver.
        costs = -1.0 - np.linspace(0.1, 0.0, count) / max(1, count)
        self._highs.changeColsCost(count, columns, costs)
        self._highs.changeColsIntegrality(count, columns, np.full(count, int(highspy.HighsVarType.kInteger), np.uint8))
        self._is_exhausted = False

    def largest(self) -> list[int] | None:
        """A largest set that is not excluded; None where all are."""
        import highspy

        if self._is_exhausted:
            return None
        if not self._members:
            return []
        self._highs.run()
        status = self._highs.getModelStatus()
        if status == highspy.HighsModelStatus.kInfeasible:
            self._is_exhausted = True
            return None
        if status != highspy.HighsModelStatus.kOptimal:
            raise ArithmeticError(f"HiGHS ended an integer program of {len(self._members)} statements with {status}.")
        values = np.asarray(self._highs.getSolution().col_value)
        return [member for member, value in zip(self._members, values.tolist(), strict=True) if value > 0.5]

    def exclude_supersets_of(self, conflict: Collection[int]) -> None:
        """No set that contains this conflict."""
        self._add_row(conflict, -np.inf, len(conflict) - 1.0)

    def exclude_subsets_of(self, consistent: Collection[int]) -> None:
        """No set inside this one."""
        outside = set(self._members) - set(consistent)
        if outside:
            self._add_row(outside, 1.0, np.inf)
        else:
            self._is_exhausted = True

    def _add_row(self, members: Collection[int], low: float, high: float) -> None:
        columns = np.array(sorted(self._place[member] for member in members), dtype=np.int32)
        self._highs.addRow(low, high, len(columns), columns, np.ones(len(columns)))
