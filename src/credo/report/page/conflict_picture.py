"""A conflict as an SVG: statements, and the rows of tables that they clash over."""

from __future__ import annotations

from html import escape

from credo.check_results import Conflict
from credo.drawing.conflict_graph import LETTERS, clash_graph

LINE, PAD, GAP, LETTER = 17, 8, 14, 7.3
BOX = LETTERS * LETTER + 2 * PAD
BETWEEN = 120


def clash_picture(conflict: Conflict) -> str:
    """Boxes of statements on the left, rows of tables on the right, a line where one speaks of the other."""
    graph = clash_graph(conflict)
    if not graph.rows:
        return ""
    heights = [len(lines) * LINE + 2 * PAD for lines in graph.statements]
    total = max(sum(heights) + GAP * (len(heights) - 1), len(graph.rows) * (LINE + 2 * PAD + GAP) - GAP)
    tops, top = [], (total - sum(heights) - GAP * (len(heights) - 1)) / 2
    for height in heights:
        tops.append(top)
        top += height + GAP
    step = total / len(graph.rows)
    middles = [step * (place + 0.5) for place in range(len(graph.rows))]
    right, width = BOX + BETWEEN, max(len(row) for row in graph.rows) * LETTER + 2 * PAD
    parts = [
        f'<svg viewBox="-2 -2 {right + width + 4:.0f} {total + 4:.0f}" width="{right + width + 4:.0f}" '
        f'height="{total + 4:.0f}" role="img" aria-label="Which statements clash over which rows of tables">'
    ]
    for statement, row in graph.lines:
        y, end, bend = tops[statement] + heights[statement] / 2, middles[row], BETWEEN / 2
        parts.append(
            f'<path class="tie" d="M{BOX:.0f} {y:.0f} C{BOX + bend:.0f} {y:.0f} {right - bend:.0f} {end:.0f} '
            f'{right} {end:.0f}"/>'
        )
    for lines, top, height in zip(graph.statements, tops, heights, strict=True):
        parts.append(_box("box", 0, top, BOX, height, lines))
    for name, middle in zip(graph.rows, middles, strict=True):
        height = LINE + 2 * PAD
        parts.append(_box("number", right, middle - height / 2, width, height, (name,)))
    return "".join([*parts, "</svg>"])


def _box(kind: str, x: float, y: float, width: float, height: float, lines: tuple[str, ...]) -> str:
    words = "".join(
        f'<text class="left" x="{x + PAD:.0f}" y="{y + PAD + (place + 0.75) * LINE:.0f}">{escape(line)}</text>'
        for place, line in enumerate(lines)
    )
    return f'<rect class="{kind}" x="{x:.0f}" y="{y:.0f}" width="{width:.0f}" height="{height:.0f}" rx="5"/>{words}'
