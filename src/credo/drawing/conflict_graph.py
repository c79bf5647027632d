"""The graph of a conflict: its statements, and the distributions that each is about."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from textwrap import wrap

LINE_LENGTH = 46  # letters
MAX_LINES = 5  # of a statement
MAX_DISTRIBUTIONS = 10


@dataclass(frozen=True, slots=True)
class ConflictGraph:
    """The text of each statement in lines, the distributions, and which statement is about which distribution."""

    statements: tuple[tuple[str, ...], ...]
    distributions: tuple[str, ...]
    edges: tuple[tuple[int, int], ...]  # (statement, distribution)
    omitted: int  # distributions that there is no room for


def conflict_graph(statements: Sequence[str], configurations: Sequence[Sequence[str]]) -> ConflictGraph:
    """The graph of statements and, for each, the distributions it is about; those of several statements come first."""
    times: dict[str, int] = {}
    for names in configurations:
        for name in names:
            times[name] = times.get(name, 0) + 1
    ordered = sorted(times, key=lambda name: -times[name])
    shown = tuple(ordered[:MAX_DISTRIBUTIONS])
    edges = [
        (number, shown.index(name)) for number, names in enumerate(configurations) for name in names if name in shown
    ]
    return ConflictGraph(
        tuple(tuple(_lines(text)) for text in statements), shown, tuple(edges), len(ordered) - len(shown)
    )


def _lines(text: str) -> list[str]:
    lines = wrap(text, LINE_LENGTH)
    return lines if len(lines) <= MAX_LINES else [*lines[: MAX_LINES - 1], f"{lines[MAX_LINES - 1]} …"]
