"""A picture of a check: which statements conflict, and over which probabilities."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from credo.drawing.conflict_graph import ConflictGraph, conflict_graph
from credo.errors import OptionError
from credo.plot.axes import canvas
from credo.results.check_results import Check

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MAX_CONFLICTS = 4  # in one picture
LINE_HEIGHT = 0.26  # of an inch
LEFT, RIGHT = 0.5, 0.64  # where statements end and distributions begin


def conflicts(check: Check, *, ax: Axes | None = None) -> Axes:
    """Draw the conflicts: statements on the left, the probabilities that they are about on the right.

    Parameters
    ----------
    check
        The result of `check`.
    ax
        The axes to draw on; new ones if not given.

    Returns
    -------
    matplotlib.axes.Axes
        The axes.
    """
    if not isinstance(check, Check):
        raise OptionError(f"This picture shows what credo.check returned; this is of the type {type(check).__name__}.")
    graphs = [
        conflict_graph([str(each) for each in conflict.statements], conflict.configurations)
        for conflict in check.conflicts[:MAX_CONFLICTS]
    ]
    heights = [_height(graph) for graph in graphs]
    ax, colours = canvas(ax, 10.0, max(1.2, LINE_HEIGHT * sum(heights) + 0.3))
    ax.set_xlim(0, 1)
    ax.set_ylim(max(sum(heights), 1), 0)
    ax.set_axis_off()
    if not graphs:
        ax.text(0.5, 0.5, "There are no conflicts.", ha="center", va="center", color=colours["good"])
    if len(check.conflicts) > MAX_CONFLICTS:
        ax.set_title(f"the first {MAX_CONFLICTS} of {len(check.conflicts):,} conflicts", color=colours["soft"])
    top = 0.0
    for graph, height in zip(graphs, heights, strict=True):
        _draw(ax, graph, top, height, colours)
        top += height
    return ax


def _height(graph: ConflictGraph) -> float:
    return 1.0 + max(sum(len(lines) + 1.5 for lines in graph.statements), 2.0 * len(graph.distributions))


def _draw(ax: Axes, graph: ConflictGraph, top: float, height: float, colours: Mapping[str, str]) -> None:
    spare = (height - 1.0 - sum(len(lines) + 1.5 for lines in graph.statements)) / len(graph.statements)
    middles, y = [], top + 0.5
    for lines in graph.statements:
        room = len(lines) + 1.5 + spare
        middles.append(y + room / 2)
        y += room
    step = (height - 1.0) / max(1, len(graph.distributions))
    ends = [top + 0.5 + step * (place + 0.5) for place in range(len(graph.distributions))]
    for statement, distribution in graph.edges:
        ends_of_line = [middles[statement], ends[distribution]]
        ax.plot([LEFT, RIGHT], ends_of_line, color=colours["bad"], linewidth=1.4, zorder=1)
    for lines, middle in zip(graph.statements, middles, strict=True):
        _text(ax, LEFT, middle, "\n".join(lines), colours, "bad", "panel")
    for name, end in zip(graph.distributions, ends, strict=True):
        _text(ax, RIGHT, end, name, colours, "soft", "paper")
    if graph.omitted:
        style: dict[str, Any] = {"fontsize": 9, "color": colours["soft"], "va": "bottom"}
        ax.text(RIGHT, top + height, f"and {graph.omitted:,} more", **style)


def _text(ax: Axes, x: float, y: float, text: str, colours: Mapping[str, str], edge: str, face: str) -> None:
    box = {"boxstyle": "round,pad=0.4", "facecolor": colours[face], "edgecolor": colours[edge]}
    style: dict[str, Any] = {"family": "monospace", "fontsize": 9, "color": colours["ink"]}
    side = "right" if x == LEFT else "left"
    ax.text(x, y, text, ha=side, va="center", multialignment="left", bbox=box, zorder=2, **style)
