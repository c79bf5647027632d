"""The network as a picture: arrows by influence, circles by how far the knowledge moved their tables."""

from __future__ import annotations

from html import escape

import numpy as np

from credo.diagnostics.explain.story import Explanation
from credo.network import Network
from credo.report.layered import layered
from credo.result import Fit

ACROSS, DOWN, MARGIN, RADIUS = 92, 74, 46, 9
LONG = 16  # letters of a name that are shown


def network_picture(fit: Fit, story: Explanation) -> str:
    """An SVG of the network, parents above their children."""
    network = fit.network
    places = layered(network)
    width = max(x for x, _ in places.values()) * ACROSS + 2 * MARGIN
    height = max(y for _, y in places.values()) * DOWN + 2 * MARGIN
    at = {name: (MARGIN + x * ACROSS, MARGIN + y * DOWN) for name, (x, y) in places.items()}
    parts = [
        f'<svg viewBox="0 0 {width:.0f} {height:.0f}" width="{width:.0f}" role="img" aria-label="The network">',
        '<defs><marker id="tip" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" orient="auto">'
        '<path d="M0 0 8 4 0 8z" fill="context-stroke"/></marker></defs>',
    ]
    for child in network.names:
        for parent in network.parents[child]:
            parts.append(_arrow(at[parent], at[child], influence(network, parent, child)))
    for name in network.names:
        x, y = at[name]
        moved = max((row.moved for row in story.rows.get(name, ())), default=0.0)
        shown = name if len(name) <= LONG else f"{name[: LONG - 1]}…"
        parts.append(
            f'<circle cx="{x:.0f}" cy="{y:.0f}" r="{RADIUS}" fill="var(--bound)" stroke="var(--ink)" '
            f'fill-opacity="{min(1.0, 2 * moved):.2f}"><title>{escape(name)}: moved by {moved:.2f}</title></circle>'
            f'<text x="{x:.0f}" y="{y + RADIUS + 13:.0f}" text-anchor="middle">{escape(shown)}</text>'
        )
    return "".join([*parts, "</svg>"])


def influence(network: Network, parent: str, child: str) -> str:
    """Whether a parent raises or lowers its child in every context, by the learned table; "neutral" where neither."""
    if child not in network.tables:
        return "neutral"
    from credo.knowledge.orders import state_order

    table = network.table(child)
    low_to_high = [network.states(child).index(state) for state in state_order(network.variable(child)).states]
    axis = network.parents[child].index(parent)
    steps = [network.states(parent).index(state) for state in state_order(network.variable(parent)).states]
    cumulative = np.cumsum(table[..., low_to_high], axis=-1)[..., :-1]
    change = np.diff(cumulative.take(steps, axis=axis), axis=axis)
    if (change <= 1e-9).all() and (change < -1e-6).any():
        return "raises"
    return "lowers" if (change >= -1e-9).all() and (change > 1e-6).any() else "neutral"


def _arrow(start: tuple[float, float], end: tuple[float, float], kind: str) -> str:
    (x1, y1), (x2, y2) = start, end
    length = max(1.0, float(np.hypot(x2 - x1, y2 - y1)))
    back = (RADIUS + 3) / length
    return (
        f'<path d="M{x1 + (x2 - x1) * back:.0f} {y1 + (y2 - y1) * back:.0f} '
        f'L{x2 - (x2 - x1) * back:.0f} {y2 - (y2 - y1) * back:.0f}" '
        f'stroke="var(--{kind})" stroke-width="1.6" fill="none" marker-end="url(#tip)"/>'
    )
