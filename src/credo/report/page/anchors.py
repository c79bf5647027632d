"""Where things are on the page: an anchor for every statement, table and row that is shown."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape

from credo.explain.parts import Explanation, RowStory
from credo.model.network import Network

CELLS = 4_000  # numbers of tables on a page, so that it stays small
CAPS = (256, 64, 32, 16, 8, 4, 2, 1)  # rows of a table that are shown: as many as the page has room for
FEW_LINKS = 8  # rows of tables that a statement links to


@dataclass(frozen=True, slots=True, eq=False)
class Places:
    """The tables in their order, and the rows of each that are shown."""

    network: Network  # noisy families taken apart
    numbers: Mapping[str, int]
    shown: Mapping[str, Sequence[RowStory]]

    @classmethod
    def of(cls, network: Network, story: Explanation) -> Places:
        """All rows where the page has room for them, and else those of each table that tell most."""
        cap = next((cap for cap in CAPS if _cells(network, story, cap) <= CELLS), CAPS[-1])
        return cls(
            network,
            {name: number for number, name in enumerate(network.names)},
            {name: _most_telling(rows, cap) for name, rows in story.rows.items()},
        )

    def cpt(self, name: str) -> str:
        """The anchor of a table."""
        return f"t{self.numbers[name]}"

    def row(self, name: str, row: int) -> str:
        """The anchor of a row."""
        return f"{self.cpt(name)}r{row}"

    def link(self, name: str, row: int) -> str:
        """A link to a row in full words; to its table where the row is not shown."""
        return f'<a href="#{self._target(name, row)}">{escape(self.network.describe(name, row))}</a>'

    def links(self, rows: Sequence[tuple[str, int]]) -> str:
        """Short links to rows, by their number: `coma 1 2 3`."""
        parts, last = [], None
        for name, row in rows[:FEW_LINKS]:
            parts.append(f"{escape(name)} " if name != last else "")
            parts.append(f"<a href=#{self._target(name, row)}>{row + 1}</a> ")
            last = name
        if len(rows) > FEW_LINKS and last is not None:
            parts.append(f"<a href=#{self.cpt(last)}>and {len(rows) - FEW_LINKS:,} more</a>")
        return "".join(parts).rstrip()

    def _target(self, name: str, row: int) -> str:
        known = any(each.row == row for each in self.shown.get(name, ()))
        return self.row(name, row) if known else self.cpt(name)


def _cells(network: Network, story: Explanation, cap: int) -> int:
    return sum(min(len(rows), cap) * max(1, len(network.states(name)) - 1) for name, rows in story.rows.items())


def _most_telling(rows: Sequence[RowStory], cap: int) -> Sequence[RowStory]:
    """Those that the knowledge moved farthest, then those that were seen most; in their order."""
    if len(rows) <= cap:
        return rows
    return sorted(sorted(rows, key=lambda each: (-each.moved, -each.seen))[:cap], key=lambda each: each.row)
