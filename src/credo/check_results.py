"""What the check of a knowledge found, in the user's words."""

from __future__ import annotations

from dataclasses import dataclass, fields, is_dataclass
from enum import Enum
from math import isfinite
from pathlib import Path
from typing import TYPE_CHECKING, Any

from credo.explain.plausibility import Plausibility
from credo.explain.usable import FamilyUse
from credo.options import checked_page

if TYPE_CHECKING:
    from matplotlib.axes import Axes


@dataclass(frozen=True, slots=True)
class Said:
    """A statement as it was written: its number from 0, its line (0 where it was made in Python), and its words.

    `place` says where it stands: `line 3`, `clinic.txt:3` where there are several files, nothing for Python.
    """

    number: int
    line: int
    text: str
    source: str = ""
    place: str = ""

    def __str__(self) -> str:
        return f"{self.place}: {self.text}" if self.place else self.text


@dataclass(frozen=True, slots=True)
class WithoutOne:
    """The proof that a statement belongs to a conflict: without it all the others hold, for one with these numbers."""

    statement: Said
    numbers: tuple[tuple[str, float], ...]  # P(…) and its value, for the numbers that the conflict names


@dataclass(frozen=True, slots=True)
class Conflict:
    """Statements that cannot hold together; leave out any one of them, and the others can.

    `gap` is how far each of their rows must give way for all of them to hold. With products among them it is None
    and `without_one` is empty: that they clash is proved, that each is needed for it is not. `speaks_of` has for each
    statement the rows of tables that it speaks of, such as `P(lung | smoke=yes)`.
    """

    statements: tuple[Said, ...]
    gap: float | None
    without_one: tuple[WithoutOne, ...]
    speaks_of: tuple[tuple[str, ...], ...] = ()


@dataclass(frozen=True, slots=True)
class Follows:
    """A statement that follows from others; from none, where it holds for all probabilities."""

    statement: Said
    sources: tuple[Said, ...]


@dataclass(frozen=True, slots=True)
class PinnedNumber:
    """A number of a table that can have one value only."""

    parameter: str
    value: float
    statements: tuple[Said, ...]


@dataclass(frozen=True, slots=True)
class ForcedEquality:
    """An equality that nobody stated, but that statements force together: one raises what the other lowers."""

    equation: str
    statements: tuple[Said, ...]


@dataclass(frozen=True, slots=True)
class CannotDiffer:
    """A statement about numbers that are what they are without it."""

    statement: Said
    reason: str


@dataclass(frozen=True, slots=True)
class CannotHold:
    """A statement with a confidence that the statements without one rule out."""

    statement: Said
    because: tuple[Said, ...]


@dataclass(frozen=True, slots=True)
class OrderUsed:
    """The order of states, from low to high, that an influence was read with."""

    variable: str
    states: tuple[str, ...]
    reason: str


@dataclass(frozen=True, slots=True)
class StatementCheck:
    """One statement: its kind (with its number in Guo's table 1), how many rows it became, and what data say of it."""

    said: Said
    kind: str
    guo_type: int | None
    rows: int
    confidence: float | None
    plausibility: Plausibility | None
    note: str = ""


@dataclass(frozen=True, slots=True)
class Check:
    """Whether a knowledge can hold, and what it amounts to. Printing it gives the whole story."""

    feasible: bool
    conflicts: tuple[Conflict, ...]
    redundant: tuple[Follows, ...]
    pinned: tuple[PinnedNumber, ...]
    cannot_differ: tuple[CannotDiffer, ...]
    forced_equal: tuple[ForcedEquality, ...]
    cannot_hold: tuple[CannotHold, ...]
    statements: tuple[StatementCheck, ...]
    orders: tuple[OrderUsed, ...]
    notes: tuple[str, ...]  # what was checked by other means than linear programs
    not_checked: tuple[str, ...]
    hidden: tuple[str, ...]  # variables without a column in the data
    partly_used: tuple[FamilyUse, ...]  # families that could not use every row of the data
    rows: int
    blocks: int
    with_data: bool
    seconds: float

    @property
    def exit_code(self) -> int:
        """0 where the knowledge can hold, 3 where it contradicts itself."""
        return 0 if self.feasible else 3

    def to_dict(self) -> dict[str, Any]:
        """Everything as dictionaries, lists, texts and finite numbers: what JSON can hold."""
        found = plain(self)
        assert isinstance(found, dict)
        return found

    def report(self, path: str | Path) -> Path:
        """Write the check as one page of HTML that needs nothing else, conflicts as pictures; returns where it is."""
        from credo.report.page.check import check_page

        target = checked_page(path)
        target.write_text(check_page(self), encoding="utf-8")
        return target

    def plot_conflicts(self, ax: Axes | None = None) -> Axes:
        """Draw which statements clash, and over which rows of tables; needs matplotlib (`credo[plots]`)."""
        from credo.plot.conflicts import plot_conflicts

        return plot_conflicts(self, ax)

    def _repr_html_(self) -> str:
        from credo.report.notebook import check_html

        return check_html(self)

    def __str__(self) -> str:
        from credo.report.check_text import check_plain_text

        return check_plain_text(self)


def starting(place: str) -> str:
    """A place at the start of a sentence: `Line 3`, `Lines 3 and 4`; the name of a file stays as it is."""
    return f"L{place[1:]}" if place.startswith(("line ", "lines ")) else place


def plain(value: Any) -> Any:
    """A result as JSON can hold it; numbers that are not finite become null."""
    if is_dataclass(value) and not isinstance(value, type):
        found = {field.name: plain(getattr(value, field.name)) for field in fields(value)}
        if isinstance(value, Plausibility):
            found["data_say"] = None if value.verdict is None else value.verdict.value
        return found
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, tuple | list):
        return [plain(each) for each in value]
    if isinstance(value, float):
        return value if isfinite(value) else None
    return str(value) if isinstance(value, str) else value
