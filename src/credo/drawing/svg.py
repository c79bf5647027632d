"""Pictures as SVG, for pages and notebooks: a network, a conflict, the iterations of a fit."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
from math import hypot, isfinite

from credo.drawing.graphs import LINE_LENGTH, ConflictGraph, Positions, influence, layered_positions
from credo.model.network import Network

# A network
MARGIN = 60
LETTER_WIDTH = 6.6
LONG_NAME = 18  # letters of a name that are shown
CROWDED = 60  # variables above which there is room for circles only; names come with the pointer
CROWDED_WIDTH = 1_040
# A conflict
LINE_HEIGHT, PADDING, SPACING, MONO_WIDTH = 17, 8, 14, 7.3
BOX_WIDTH = LINE_LENGTH * MONO_WIDTH + 2 * PADDING
EDGE_WIDTH = 120
# The iterations
HISTORY_WIDTH, HISTORY_HEIGHT, HISTORY_LEFT, HISTORY_BOTTOM = 640, 200, 90, 30


def network_svg(
    network: Network, changes: Mapping[str, float] | None = None, links: Mapping[str, str] | None = None
) -> str:
    """The network, parents above their children; arrows by influence, circles filled by how much changed.

    `changes` has for each variable the largest change of a probability, `links` the address that its circle leads to.
    """
    crowded = len(network) > CROWDED
    positions, radius = (_crowded(network), 5) if crowded else (_roomy(network), 9)
    width, height = (max(position[axis] for position in positions.values()) + MARGIN for axis in (0, 1))
    parts = [
        f'<svg viewBox="0 0 {width:.0f} {height:.0f}" width="{width:.0f}" height="{height:.0f}" role="img" '
        f'aria-label="The network" class="{"crowded" if crowded else "roomy"}">'
        '<defs><marker id="tip" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="6" markerHeight="6" orient="auto">'
        '<path d="M0 0 8 4 0 8z" fill="context-stroke"/></marker></defs>'
    ]
    for child in network.names:
        for parent in network.parents[child]:
            kind = influence(network, parent, child)
            parts.append(_arrow(positions[parent], positions[child], kind, radius))
    for name in network.names:
        change = None if changes is None else changes.get(name, 0.0)
        circle = _circle(name, positions[name], change, radius, named=not crowded)
        link = (links or {}).get(name)
        parts.append(circle if link is None else f'<a href="{escape(link)}">{circle}</a>')
    return "".join([*parts, "</svg>"])


def _roomy(network: Network) -> Positions:
    across = 16 + LETTER_WIDTH * min(LONG_NAME, max(len(name) for name in network.names))
    return {name: (MARGIN + x * across, MARGIN / 2 + y * 78) for name, (x, y) in layered_positions(network).items()}


def _crowded(network: Network) -> Positions:
    """The same as wide as a page, and with layers close to each other."""
    positions = layered_positions(network)
    across = CROWDED_WIDTH / max(1.0, *(x for x, _ in positions.values()))
    return {name: (MARGIN / 2 + x * across, MARGIN / 2 + y * 19) for name, (x, y) in positions.items()}


def _circle(name: str, position: tuple[float, float], change: float | None, radius: int, named: bool) -> str:
    x, y = position
    shown = name if len(name) <= LONG_NAME else f"{name[: LONG_NAME - 1]}…"
    label = f'<text x="{x:.0f}" y="{y + radius + 14:.0f}">{escape(shown)}</text>' if named else ""
    opacity = min(1.0, 0.05 + 2 * (change or 0.0))
    title = name if change is None else f"{name}: the knowledge changed a probability by up to {change:.2f}"
    return (
        f'<circle cx="{x:.0f}" cy="{y:.0f}" r="{radius}" fill-opacity="{opacity:.2f}">'
        f"<title>{escape(title)}</title></circle>{label}"
    )


def _arrow(start: tuple[float, float], end: tuple[float, float], kind: str, radius: int) -> str:
    (x1, y1), (x2, y2) = start, end
    gap = (radius + 3) / max(1.0, hypot(x2 - x1, y2 - y1))
    return (
        f'<path class="{kind}" d="M{x1 + (x2 - x1) * gap:.0f} {y1 + (y2 - y1) * gap:.0f} '
        f'L{x2 - (x2 - x1) * gap:.0f} {y2 - (y2 - y1) * gap:.0f}"/>'
    )


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
    parts = [
        f'<svg viewBox="-2 -2 {right + width + 4:.0f} {total + 4:.0f}" width="{right + width + 4:.0f}" '
        f'height="{total + 4:.0f}" role="img" aria-label="Which statements conflict over which probabilities">'
    ]
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
