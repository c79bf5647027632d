"""All minimal conflicts of a set of statements, by MARCO [Liffiton et al., 2016], with a limit that is reported.

Whether statements conflict is monotone: more of them conflict all the more. So every set is either above a minimal
conflict or below a maximal consistent set. A map of what is known, an integer program, gives the largest set that is
neither above a known conflict nor below a known consistent set. If it conflicts, a minimal conflict in it is new;
otherwise it is itself a maximal consistent set. When the map is exhausted, all minimal conflicts are known.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

MOST_CONFLICTS = 20  # of one block
MOST_STEPS = 300  # sets that are looked at


@dataclass(frozen=True, slots=True)
class Enumeration:
    """Minimal conflicts, as sorted numbers of statements; all of them where it is complete."""

    conflicts: tuple[tuple[int, ...], ...]
    is_complete: bool


def enumerate_conflicts(
    statements: Collection[int],
    conflict_in: Callable[[list[int]], Sequence[int] | None],
    *,
    most_conflicts: int = MOST_CONFLICTS,
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
        if len(found) >= most_conflicts:
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
