"""The parts of an explanation: statements, rows of tables, and everything together."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum

from credo.arrays import Numbers
from credo.explain.held_out import HeldOut
from credo.explain.next_observation import Look
from credo.explain.plausibility import Plausibility, Verdict


class Effect(Enum):
    """What a statement did; the value is what a reader sees."""

    VIOLATED = "is not satisfied"
    BOUND = "shaped the result"
    HELD = "holds with room"
    NOTHING = "had no effect"
    OUTSIDE = "speaks of no table"


@dataclass(frozen=True, slots=True)
class StatementStory:
    """One statement and what became of it."""

    number: int
    line: int
    text: str
    effect: Effect
    price: float  # log-likelihood gained if its bound moved by 0.01
    amount: float  # by how much its tightest row is missed; negative: the room that is left
    moved: float  # the largest change of a number if it is left out
    plausibility: Plausibility | None  # before and after the data, by itself
    rows: tuple[tuple[str, int], ...] = field(repr=False)  # the rows of tables that it speaks of
    confidence: float | None = None

    @property
    def contradicted(self) -> bool:
        """Whether the data by themselves contradict it."""
        return self.plausibility is not None and self.plausibility.verdict is Verdict.CONTRADICTED

    @property
    def matters(self) -> bool:
        """Whether a reader wants to know of it: it did something, or the data contradict it."""
        return self.contradicted or self.effect in (Effect.VIOLATED, Effect.BOUND)


@dataclass(frozen=True, slots=True, eq=False)
class RowStory:
    """One row of a table: what the data say, what the knowledge allows, what was learned."""

    variable: str
    row: int
    seen: float
    data: Numbers | None  # None where it was never seen
    low: Numbers  # what the knowledge allows; NaN where it was not worked out
    high: Numbers
    allowed: Numbers  # the mean of all that the knowledge allows
    learned: Numbers
    interval: tuple[Numbers, Numbers] | None
    moved_by: tuple[tuple[int, float], ...]  # statements and how far each moved it, the farthest first

    @property
    def moved(self) -> float:
        """How far the knowledge moved it, at most."""
        return self.moved_by[0][1] if self.moved_by else 0.0


@dataclass(frozen=True, slots=True, eq=False)
class Explanation:
    """Everything that can be said of a fit."""

    summary: tuple[str, ...]
    statements: tuple[StatementStory, ...]  # what matters first
    rows: Mapping[str, tuple[RowStory, ...]] = field(repr=False)
    held_out: HeldOut | None = field(repr=False)  # one by one; None where it is not available; `notes` say why
    cross_validated: HeldOut | None = field(repr=False)  # a tenth at a time
    looks: tuple[Look, ...]
    notes: tuple[str, ...] = ()

    def __str__(self) -> str:
        return "\n".join([*self.summary, *self.notes])
