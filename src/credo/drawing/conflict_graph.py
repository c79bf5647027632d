"""A conflict as a small graph: statements on the left, the rows of tables that they clash over on the right."""

from __future__ import annotations

from dataclasses import dataclass
from textwrap import wrap

from credo.check_results import Conflict

LETTERS = 46  # of a line
MOST_LINES = 5  # of a statement
MOST_ROWS = 10  # of tables


@dataclass(frozen=True, slots=True)
class ClashGraph:
    """The words of each statement in lines, the rows of tables, and which statement speaks of which row."""

    statements: tuple[tuple[str, ...], ...]
    rows: tuple[str, ...]
    lines: tuple[tuple[int, int], ...]  # (statement, row)
    left_out: int  # rows that there is no room for


def clash_graph(conflict: Conflict) -> ClashGraph:
    """Rows that several statements speak of come first: it is there that these clash."""
    times: dict[str, int] = {}
    for rows in conflict.speaks_of:
        for row in rows:
            times[row] = times.get(row, 0) + 1
    ordered = sorted(times, key=lambda row: -times[row])
    rows = tuple(ordered[:MOST_ROWS])
    lines = [(number, rows.index(row)) for number, own in enumerate(conflict.speaks_of) for row in own if row in rows]
    return ClashGraph(
        tuple(tuple(_in_lines(str(each))) for each in conflict.statements),
        rows,
        tuple(lines),
        len(ordered) - len(rows),
    )


def _in_lines(text: str) -> list[str]:
    lines = wrap(text, LETTERS)
    return lines if len(lines) <= MOST_LINES else [*lines[: MOST_LINES - 1], f"{lines[MOST_LINES - 1]} …"]
