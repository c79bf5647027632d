"""What a notebook shows of a network: its size and, where it stays small, its picture."""

from __future__ import annotations

from html import escape

from credo.drawing.colours import css
from credo.drawing.svg import network_svg
from credo.model.network import Network

LARGE = 150  # variables above which there is no picture
_STYLE = (
    "<style>"
    + css(".credo")
    + (
        ".credo{color:var(--ink);background:var(--paper);padding:.5em}.credo svg{max-width:100%;height:auto}"
        ".credo svg text{fill:var(--ink);font:12px system-ui,sans-serif;text-anchor:middle;paint-order:stroke;"
        "stroke:var(--paper);stroke-width:4px}.credo svg text.left{stroke:none;text-anchor:start}"
        ".credo svg circle{fill:var(--changed);stroke:var(--ink)}"
        ".credo svg :is(.raises,.lowers,.neutral){fill:none;stroke-width:1.6;marker-end:url(#tip)}"
        ".credo svg .raises{stroke:var(--raises)}.credo svg .lowers{stroke:var(--lowers);stroke-dasharray:6 3}"
        ".credo svg .neutral{stroke:var(--neutral)}"
        ".credo svg.crowded :is(.raises,.lowers,.neutral){stroke-width:.8;marker-end:none}"
        ".credo svg .statement{fill:var(--panel);stroke:var(--bad)}"
        ".credo svg .distribution{fill:var(--paper);stroke:var(--soft)}"
        ".credo svg .edge{fill:none;stroke:var(--bad);stroke-width:1.5}"
        "</style>"
    )
)


def network_html(network: Network) -> str:
    """A network: its size and its picture."""
    probabilities = sum(network.configurations(name) * len(network.states(name)) for name in network.names)
    arcs = sum(len(network.parents[name]) for name in network.names)
    size = f"{len(network)} variables, {arcs} arcs, {probabilities:,} probabilities"
    return framed(f"<p><strong>{escape(network.name)}</strong>: {size}</p>{picture(network)}")


def picture(network: Network) -> str:
    """The picture of a network; nothing where it would be too large."""
    return network_svg(network) if 0 < len(network) <= LARGE else ""


def framed(content: str) -> str:
    """HTML with the style that its pictures need."""
    return f'{_STYLE}<div class="credo">{content}</div>'
