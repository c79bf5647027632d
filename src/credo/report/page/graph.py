"""The network as a picture: arrows by influence, circles by how far the knowledge moved their tables."""

from __future__ import annotations

from collections.abc import Mapping
from html import escape

import numpy as np

from credo.drawing.influence import influence
from credo.drawing.layout import Places as Layout
from credo.drawing.layout import layered
from credo.model.network import Network
from credo.report.page.anchors import Places

MARGIN = 60
LETTER = 6.6  # how wide a letter is
LONG = 18  # letters of a name that are shown
CROWD = 60  # variables from which there is room for circles alone; names come with the pointer
CROWDED_WIDTH = 1_040


def network_picture(network: Network, moved: Mapping[str, float], places: Places | None = None) -> str:
    """An SVG of the network, parents above their children."""
    crowded = len(network) > CROWD
    at, radius = (_crowded(network), 5) if crowded else (_roomy(network), 9)
    width, height = (max(place[k] for place in at.values()) + MARGIN for k in (0, 1))
    parts = [
        f'<svg viewBox="0 0 {width:.0f} {height:.0f}" width="{width:.0f}" height="{height:.0f}" role="img" '
        f'aria-label="The network" class="{"crowded" if crowded else "roomy"}">'
        '<defs><marker id="tip" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="6" markerHeight="6" orient="auto">'
        '<path d="M0 0 8 4 0 8z" fill="context-stroke"/></marker></defs>'
    ]
    for child in network.names:
        for parent in network.parents[child]:
            parts.append(_arrow(at[parent], at[child], influence(network, parent, child), radius))
    for name in network.names:
        circle = _circle(name, at[name], moved.get(name, 0.0), radius, named=not crowded)
        known = places is not None and name in places.shown
        parts.append(f'<a href="#{places.cpt(name)}">{circle}</a>' if places is not None and known else circle)
    return "".join([*parts, "</svg>"])


def _roomy(network: Network) -> Layout:
    across = 16 + LETTER * min(LONG, max(len(name) for name in network.names))
    return {name: (MARGIN + x * across, MARGIN / 2 + y * 78) for name, (x, y) in layered(network).items()}


def _crowded(network: Network) -> Layout:
    """The same as wide as a page, and with layers close to each other."""
    places = layered(network)
    across = CROWDED_WIDTH / max(1.0, *(x for x, _ in places.values()))
    return {name: (MARGIN / 2 + x * across, MARGIN / 2 + y * 19) for name, (x, y) in places.items()}


def _circle(name: str, place: tuple[float, float], moved: float, radius: int, named: bool) -> str:
    x, y = place
    shown = name if len(name) <= LONG else f"{name[: LONG - 1]}…"
    label = f'<text x="{x:.0f}" y="{y + radius + 14:.0f}">{escape(shown)}</text>' if named else ""
    return (
        f'<circle cx="{x:.0f}" cy="{y:.0f}" r="{radius}" fill-opacity="{min(1.0, 0.05 + 2 * moved):.2f}">'
        f"<title>{escape(name)}: moved by {moved:.2f}</title></circle>{label}"
    )


def _arrow(start: tuple[float, float], end: tuple[float, float], kind: str, radius: int) -> str:
    (x1, y1), (x2, y2) = start, end
    length = max(1.0, float(np.hypot(x2 - x1, y2 - y1)))
    back = (radius + 3) / length
    return (
        f'<path class="{kind}" d="M{x1 + (x2 - x1) * back:.0f} {y1 + (y2 - y1) * back:.0f} '
        f'L{x2 - (x2 - x1) * back:.0f} {y2 - (y2 - y1) * back:.0f}"/>'
    )
