"""What a notebook shows of a network: its size and, where it stays small, its picture."""

from __future__ import annotations

from credo.drawing.colours import css
from credo.drawing.network_boxes import Bars
from credo.drawing.network_svg import NETWORK_STYLE, network_svg
from credo.errors import counted
from credo.model.network import Network
from credo.terminal import escape

LARGE = 150  # variables above which there is no picture
_STYLE = (
    "<style>"
    + css(".credo")
    + ".credo{color:var(--ink);background:var(--paper);padding:.5em}.credo .wide{overflow:auto}"
    ".credo svg:not(.net){max-width:100%;height:auto}.credo svg{display:block}"
    ".credo svg text{fill:var(--ink);font:12px system-ui,sans-serif}"
    ".credo svg .statement{fill:var(--panel);stroke:var(--bad)}"
    ".credo svg .distribution{fill:var(--paper);stroke:var(--soft)}"
    ".credo svg .edge{fill:none;stroke:var(--bad);stroke-width:1.5}" + NETWORK_STYLE + "</style>"
)


def network_html(network: Network) -> str:
    """A network: its size and its picture."""
    probabilities = sum(network.configurations(name) * len(network.states(name)) for name in network.names)
    arrows = sum(len(network.parents[name]) for name in network.names)
    size = f"{counted(len(network), 'variable')}, {counted(arrows, 'arrow')}, {probabilities:,} probabilities"
    return framed(f"<p><strong>{escape(network.name)}</strong>: {size}</p>{picture(network)}")


def picture(network: Network, bars: Bars | None = None) -> str:
    """The picture of a network; nothing where it would be too large."""
    return f'<div class="wide">{network_svg(network, bars)}</div>' if 0 < len(network) <= LARGE else ""


def framed(content: str) -> str:
    """HTML with the style that its pictures need."""
    return f'{_STYLE}<div class="credo">{content}</div>'
