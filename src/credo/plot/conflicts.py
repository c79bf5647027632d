"""The conflicts of a knowledge: which statements clash, and over which rows of tables."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from credo.check_results import Check, Conflict
from credo.drawing.conflict_graph import clash_graph
from credo.plot.axes import axes_or_new, bare, colours_for

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MOST = 4  # conflicts in one picture
LINE = 0.26  # of an inch
LEFT, RIGHT = 0.5, 0.64  # where statements end and rows of tables begin


def plot_conflicts(check: Check, ax: Axes | None = None) -> Axes:
    """Statements in boxes on the left, rows of tables on the right, a line where one speaks of the other."""
    shown = check.conflicts[:MOST]
    heights = [_height(conflict) for conflict in shown]
    ax = axes_or_new(ax, 10.0, max(1.2, LINE * sum(heights) + 0.3))
    colours = colours_for(ax)
    ax.set_xlim(0, 1)
    ax.set_ylim(max(sum(heights), 1), 0)
    bare(ax)
    if not shown:
        ax.text(0.5, 0.5, "Nothing clashes.", ha="center", va="center", color=colours["good"])
    top = 0.0
    for conflict, height in zip(shown, heights, strict=True):
        _draw(ax, conflict, top, height, colours)
        top += height
    return ax


def _height(conflict: Conflict) -> float:
    graph = clash_graph(conflict)
    return 1.0 + max(sum(len(lines) + 1.5 for lines in graph.statements), 2.0 * len(graph.rows))


def _draw(ax: Axes, conflict: Conflict, top: float, height: float, colours: Mapping[str, str]) -> None:
    graph = clash_graph(conflict)
    spare = (height - 1.0 - sum(len(lines) + 1.5 for lines in graph.statements)) / len(graph.statements)
    middles, y = [], top + 0.5
    for lines in graph.statements:
        room = len(lines) + 1.5 + spare
        middles.append(y + room / 2)
        y += room
    step = (height - 1.0) / max(1, len(graph.rows))
    ends = [top + 0.5 + step * (place + 0.5) for place in range(len(graph.rows))]
    for statement, row in graph.lines:
        ax.plot([LEFT, RIGHT], [middles[statement], ends[row]], color=colours["bad"], linewidth=1.4, zorder=1)
    for lines, middle in zip(graph.statements, middles, strict=True):
        _words(ax, LEFT, middle, "\n".join(lines), colours, "bad", "panel")
    for name, end in zip(graph.rows, ends, strict=True):
        _words(ax, RIGHT, end, name, colours, "soft", "paper")


def _words(ax: Axes, x: float, y: float, text: str, colours: Mapping[str, str], edge: str, face: str) -> None:
    box = {"boxstyle": "round,pad=0.4", "facecolor": colours[face], "edgecolor": colours[edge]}
    style: dict[str, Any] = {"family": "monospace", "fontsize": 9, "color": colours["ink"]}
    side = "right" if x == LEFT else "left"
    ax.text(x, y, text, ha=side, va="center", multialignment="left", bbox=box, zorder=2, **style)
