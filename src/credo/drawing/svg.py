"""Pictures as SVG, for pages and notebooks: a conflict, the iterations of a fit, a tornado."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import isfinite

from credo.drawing.conflict_graph import LINE_LENGTH, ConflictGraph
from credo.terminal import escape

# A conflict
LINE_HEIGHT, PADDING, SPACING, MONO_WIDTH = 17, 8, 14, 7.3
BOX_WIDTH = LINE_LENGTH * MONO_WIDTH + 2 * PADDING
EDGE_WIDTH = 120
# The iterations
TORNADO_WIDTH, TORNADO_ROW, TORNADO_BAR, TORNADO_LETTER = 640, 34, 13, 7.5
HISTORY_WIDTH, HISTORY_HEIGHT, HISTORY_LEFT, HISTORY_BOTTOM = 640, 200, 90, 30


def conflict_svg(graph: ConflictGraph) -> str:
    """Statements in boxes on the left, distributions on the right, a line where one is about the other."""
    if not graph.distributions:
        return ""
    heights = [len(lines) * LINE_HEIGHT + 2 * PADDING for lines in graph.statements]
    used = sum(heights) + SPACING * (len(heights) - 1)
    one = LINE_HEIGHT + 2 * PADDING
    total = max(used, len(graph.distributions) * (one + SPACING) - SPACING)
    tops, top = [], (total - used) / 2
    for height in heights:
        tops.append(top)
        top += height + SPACING
    step = total / len(graph.distributions)
    middles = [step * (place + 0.5) for place in range(len(graph.distributions))]
    right = BOX_WIDTH + EDGE_WIDTH
    width = max(len(name) for name in graph.distributions) * MONO_WIDTH + 2 * PADDING
    whole = total + (LINE_HEIGHT if graph.omitted else 0)
    parts = [
        f'<svg viewBox="-2 -2 {right + width + 4:.0f} {whole + 4:.0f}" width="{right + width + 4:.0f}" '
        f'height="{whole + 4:.0f}" role="img" aria-label="Which statements conflict over which probabilities">'
    ]
    if graph.omitted:
        y = total + 0.75 * LINE_HEIGHT
        parts.append(f'<text class="left" x="{right:.0f}" y="{y:.0f}">and {graph.omitted:,} more</text>')
    for statement, distribution in graph.edges:
        y, end, bend = tops[statement] + heights[statement] / 2, middles[distribution], EDGE_WIDTH / 2
        parts.append(
            f'<path class="edge" d="M{BOX_WIDTH:.0f} {y:.0f} C{BOX_WIDTH + bend:.0f} {y:.0f} '
            f'{right - bend:.0f} {end:.0f} {right} {end:.0f}"/>'
        )
    for lines, top, height in zip(graph.statements, tops, heights, strict=True):
        parts.append(_box("statement", 0, top, BOX_WIDTH, height, lines))
    for name, middle in zip(graph.distributions, middles, strict=True):
        parts.append(_box("distribution", right, middle - one / 2, width, one, (name,)))
    return "".join([*parts, "</svg>"])


def _box(kind: str, x: float, y: float, width: float, height: float, lines: Sequence[str]) -> str:
    text = "".join(
        f'<text class="left" x="{x + PADDING:.0f}" y="{y + PADDING + (place + 0.75) * LINE_HEIGHT:.0f}">'
        f"{escape(line)}</text>"
        for place, line in enumerate(lines)
    )
    return f'<rect class="{kind}" x="{x:.0f}" y="{y:.0f}" width="{width:.0f}" height="{height:.0f}" rx="5"/>{text}'


def history_svg(history: Sequence[float]) -> str:
    """The objective after each iteration, as a line; nothing for fewer than two."""
    values = [value for value in history if isfinite(value)]
    if len(values) < 2:
        return ""
    low, high = min(values), max(values)
    span = (high - low) or 1.0
    across = (HISTORY_WIDTH - HISTORY_LEFT - 20) / (len(values) - 1)
    up = HISTORY_HEIGHT - HISTORY_BOTTOM - 20
    points = " ".join(
        f"{HISTORY_LEFT + place * across:.1f},{10 + up * (1 - (value - low) / span):.1f}"
        for place, value in enumerate(values)
    )
    return (
        f'<svg viewBox="0 0 {HISTORY_WIDTH} {HISTORY_HEIGHT}" width="{HISTORY_WIDTH}" role="img" '
        f'aria-label="Objective after each iteration" class="history">'
        f'<polyline points="{points}" fill="none" stroke="var(--learned)" stroke-width="2"/>'
        f'<text class="right" x="{HISTORY_LEFT - 8}" y="18">{high:.5g}</text>'
        f'<text class="right" x="{HISTORY_LEFT - 8}" y="{10 + up}">{low:.5g}</text>'
        f'<text class="left" x="{HISTORY_LEFT}" y="{HISTORY_HEIGHT - 8}">iteration 1</text>'
        f'<text class="right" x="{HISTORY_WIDTH - 20}" y="{HISTORY_HEIGHT - 8}">iteration {len(values)}</text></svg>'
    )


def tornado_svg(value: float, bars: Sequence[tuple[str, float, float]], shown: Callable[[float], str]) -> str:
    """How far an answer moves with each thing that it rests on: a label and two ends for each bar, in their order."""
    if not bars:
        return ""
    ends = [value, *(end for _, low, high in bars for end in (low, high))]
    least, span = min(ends), (max(ends) - min(ends)) or 1.0
    height = TORNADO_ROW * len(bars) + 24

    def x(end: float) -> float:
        return 8 + (TORNADO_WIDTH - 16) * (end - least) / span

    parts = [
        f'<svg viewBox="0 0 {TORNADO_WIDTH} {height}" width="{TORNADO_WIDTH}" role="img" '
        f'aria-label="How far the answer moves with each number" class="tornado">'
    ]
    for place, (label, low, high) in enumerate(bars):
        top = TORNADO_ROW * place
        parts.append(f'<text class="left" x="8" y="{top + 14}">{escape(label)}</text>')
        for end, colour in ((low, "lowers"), (high, "raises")):
            left, width = min(x(end), x(value)), abs(x(end) - x(value))
            box = f'x="{left:.1f}" y="{top + 18}" width="{width:.1f}" height="{TORNADO_BAR}"'
            parts.append(f'<rect {box} fill="var(--{colour})"/>')
    first, own, last = (escape(shown(end)) for end in (least, value, max(ends)))
    half = TORNADO_LETTER * len(own) / 2
    rightmost = TORNADO_WIDTH - 16 - TORNADO_LETTER * len(last) - half
    middle = min(max(x(value), 16 + TORNADO_LETTER * len(first) + half), rightmost)
    parts.append(f'<path d="M{x(value):.1f} 0V{height - 20}" stroke="var(--ink)"/>')
    parts.append(f'<text class="left" x="8" y="{height - 6}">{first}</text>')
    parts.append(f'<text x="{middle:.1f}" y="{height - 6}" text-anchor="middle">{own}</text>')
    parts.append(f'<text class="right" x="{TORNADO_WIDTH - 8}" y="{height - 6}">{last}</text>')
    return "".join([*parts, "</svg>"])
