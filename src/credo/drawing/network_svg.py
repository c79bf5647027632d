"""The picture of a network as SVG: a box for each variable with its probabilities as bars, and arrows by influence."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from credo.drawing.colours import css
from credo.drawing.layered_layout import Point
from credo.drawing.network_boxes import (
    HEAD_HEIGHT,
    LONG_STATE,
    PADDING,
    ROW_HEIGHT,
    Bar,
    Bars,
    Box,
    cut_text,
    far_lines,
    influence,
    network_boxes,
    network_picture,
    shortened,
)
from credo.errors import counted
from credo.model.network import Network, Variable
from credo.probability_texts import short_percent
from credo.terminal import escape

TIP = 5  # pixels in front of a box where an arrow's line ends
LEAST_CHANGE = 5e-4
BAR_HEIGHT = 9.0

# Quotes that HTML does not need are left out, since a network may have hundreds of boxes.

# Fonts, colours and lines; pages and notebooks share them.
NETWORK_STYLE = (
    ".net text{font:12px system-ui,sans-serif;fill:var(--ink);stroke:none;text-anchor:start}"
    ".net .s{font-size:10.5px;fill:var(--soft)}.net .p{text-anchor:end;fill:var(--ink)}"
    ".net .n{font-weight:600}.net .f{display:none;font-weight:600;text-anchor:middle}"
    ".net .x{fill:var(--panel);stroke:var(--soft);stroke-width:1}.net .h{fill:var(--changed)}"
    ".net .t{fill:var(--line)}.net .b{fill:var(--learned)}"
    ".net .i{fill:none;stroke:var(--ink);stroke-width:1.3}"
    ".net :is(.raises,.lowers,.neutral){fill:none;stroke-width:1.5}"
    ".net .raises{stroke:var(--raises);marker-end:url(#tip-raises)}"
    ".net .lowers{stroke:var(--lowers);stroke-dasharray:6 3;marker-end:url(#tip-lowers)}"
    ".net .neutral{stroke:var(--neutral);stroke-width:1.1;marker-end:url(#tip-neutral)}"
    "#tip-raises path{fill:var(--raises)}#tip-lowers path{fill:var(--lowers)}#tip-neutral path{fill:var(--neutral)}"
    ".net a:is(:hover,:focus-visible) .x{stroke:var(--learned);stroke-width:2.5}.net a:focus-visible{outline:none}"
)


def network_svg(
    network: Network,
    bars: Bars | None = None,
    changes: Mapping[str, float] | None = None,
    links: Mapping[str, str] | None = None,
    kinds: Mapping[tuple[str, str], str] | None = None,
) -> str:
    """The network, parents above their children.

    `bars` has the probabilities of each variable's states, `changes` by how much the knowledge changed one at most,
    `links` the address that a box leads to, `kinds` what each arrow means, where that is known better than from the
    network alone.
    """
    boxes = network_boxes(network, bars)
    picture = network_picture(network, boxes)
    number = {name: place for place, name in enumerate(network.names)}
    size = f"{picture.width:.0f}", f"{picture.height:.0f}"
    tips = "".join(
        f'<marker id="tip-{kind}" viewBox="0 0 8 8" refX="2" refY="4" markerWidth="7" markerHeight="7" '
        'markerUnits="userSpaceOnUse" orient="auto"><path d="M0 0 8 4 0 8z"/></marker>'
        for kind in ("raises", "lowers", "neutral")
    )
    parts = [
        f'<svg class="net" viewBox="0 0 {size[0]} {size[1]}" width="{size[0]}" height="{size[1]}" role="group" '
        f'aria-label="The network"><defs>{tips}</defs>'
    ]
    for (parent, child), route in picture.routes.items():
        kind = influence(network, parent, child) if kinds is None else kinds[parent, child]
        parts.append(f'<path class={kind} data-e="{number[parent]} {number[child]}" d="{_curve(route)}"/>')
    for name, box in boxes.items():
        left, top, _, _ = picture.box(name)
        change = None if changes is None else changes.get(name, 0.0)
        title = _title(network.variable(name), change, (bars or {}).get(name, ()))
        drawn = (
            f'<g id=v{number[name]} class=v data-name="{escape(name)}" transform="translate({left:.0f} {top:.0f})">'
            f"<title>{escape(title)}</title>{_drawn(box, change)}</g>"
        )
        link = (links or {}).get(name)
        parts.append(drawn if link is None else f'<a href="{escape(link)}">{drawn}</a>')
    return "".join([*parts, "</svg>"])


def _curve(route: tuple[Point, ...]) -> str:
    """Lines and curves in turns, up to a little above the child."""
    *points, (x, y) = route
    points.append((x, y - TIP))
    text = f"M{points[0][0]:.0f} {points[0][1]:.0f}"
    for place, (x, y) in enumerate(points[1:], start=1):
        before_x, before_y = points[place - 1]
        if place % 2 == 1:
            text += f"V{y:.0f}" if abs(y - before_y) > 0.5 else ""
        elif abs(x - before_x) < 0.5:
            text += f"V{y:.0f}"
        else:
            middle = (before_y + y) / 2
            text += f"C{before_x:.0f} {middle:.0f} {x:.0f} {middle:.0f} {x:.0f} {y:.0f}"
    return text


def _title(variable: Variable, change: float | None, bars: Sequence[Bar]) -> str:
    """What the pointer shows: the whole name, every state in words, and where numbers are cut into states."""
    lines = [variable.name, *map(str, bars)]
    if variable.cuts is not None:
        lines.append(cut_text(variable))
    if change is not None and change >= LEAST_CHANGE:
        lines.append(f"The knowledge changed a probability of it by up to {change:.2f}.")
    return "\n".join(lines)


def _drawn(box: Box, change: float | None) -> str:
    """A box from its upper left corner."""
    width, height = f"{box.width:.0f}", f"{box.height:.0f}"
    parts = [f"<rect class=x width={width} height={height} rx=4 />"]
    if change is not None and change >= LEAST_CHANGE:
        opacity = min(0.75, 0.1 + 1.5 * change)
        parts.append(f"<rect class=h width={width} height={HEAD_HEIGHT:.0f} rx=4 opacity={opacity:.2f} />")
    parts.append(f"<text class=n x={PADDING:.0f} y=15.5>{escape(box.name)}</text>")
    if box.rows:
        parts += _rows(box)
    lines, size = far_lines(box)
    middle = box.width / 2
    first = box.height / 2 - (len(lines) - 1) * 0.55 * size + 0.35 * size
    text = "".join(
        f"<tspan x={middle:.0f} y={first + place * 1.1 * size:.0f}>{escape(line)}</tspan>"
        for place, line in enumerate(lines)
    )
    parts.append(f"<text class=f style=font-size:{size:.0f}px>{text}</text>")
    return "".join(parts)


def _rows(box: Box) -> list[str]:
    left = PADDING + box.label_width + 5
    room = box.bar_width
    texts, track, bars, intervals = [], "", "", ""
    for place, bar in enumerate(box.rows):
        top = HEAD_HEIGHT + ROW_HEIGHT * place
        y = top + (ROW_HEIGHT - BAR_HEIGHT) / 2
        texts.append(
            f"<text class=s x={PADDING:.0f} y={top + 10.5:.1f}>{escape(shortened(bar.state, LONG_STATE))}"
            f"<tspan class=p x={box.width - PADDING + 2:.0f}>{escape(short_percent(bar.probability))}</tspan></text>"
        )
        track += f"M{left:.1f} {y:.1f}h{room:.1f}v{BAR_HEIGHT:.0f}h-{room:.1f}z"
        length = room * bar.probability
        bars += f"M{left:.1f} {y:.1f}h{length:.1f}v{BAR_HEIGHT:.0f}h-{length:.1f}z"
        if bar.low is not None and bar.high is not None:
            middle = y + BAR_HEIGHT / 2
            start, end = left + room * bar.low, left + room * bar.high
            intervals += f"M{start:.1f} {middle - 2:.1f}v4m0-2H{end:.1f}m0-2v4"
    if box.omitted:
        y = HEAD_HEIGHT + ROW_HEIGHT * len(box.rows) + 10.5
        texts.append(f"<text class=s x={PADDING:.0f} y={y:.1f}>and {box.omitted:,} more states</text>")
    shapes = [f'<path class=t d="{track}"/>', f'<path class=b d="{bars}"/>']
    if intervals:
        shapes.append(f'<path class=i d="{intervals}"/>')
    return [f"<g class=d>{''.join([*shapes, *texts])}</g>"]


# What a notebook shows ------------------------------------------------------------------------------------------------


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
