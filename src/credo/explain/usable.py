"""How much of a table each family could use: a row with a gap in a family tells nothing about it here."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from credo.errors import listing
from credo.statistics.counts import Counts


@dataclass(frozen=True, slots=True)
class FamilyUse:
    """A family that could not use every row: the variable, the rows without a gap, all rows, and who has no column.

    Rows with weights count as much as they weigh.
    """

    variable: str
    rows_used: float
    rows: float
    hidden: tuple[str, ...]

    def sentence(self) -> str:
        """What a reader of the check should know."""
        if self.hidden:
            verb = "have no columns" if len(self.hidden) > 1 else "has no column"
            return f"The table of {self.variable} was compared with no data: {listing(self.hidden)} {verb}."
        return (
            f"The table of {self.variable} was compared with {self.rows_used:,g} of {self.rows:,g} rows: "
            "in the others it, or one of its parents, has a gap."
        )


def partly_used(counts: Counts, hidden: Collection[str], families: Collection[str]) -> tuple[FamilyUse, ...]:
    """Of these families, those that could not use every row, in the order of the variables."""
    network = counts.layout.network
    return tuple(
        FamilyUse(
            name,
            max(0.0, counts.total - missed),
            counts.total,
            tuple(member for member in (name, *network.parents[name]) if member in hidden),
        )
        for name, missed in counts.missing().items()
        if name in families
    )
