"""A picture of the network of a fit, the same as on its page: boxes with probabilities, arrows by influence."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from credo.drawing.layered_layout import Picture, Point
from credo.drawing.network_boxes import (
    HEAD_HEIGHT,
    LONG_STATE,
    PADDING,
    ROW_HEIGHT,
    Box,
    far_lines,
    network_boxes,
    network_picture,
    shortened,
)
from credo.errors import counted
from credo.explain.explanation import Explanation
from credo.model.network import Network
from credo.plot.axes import canvas, mixed
from credo.plot.fit_plots import require_fit
from credo.probability_texts import short_percent
from credo.questions.marginals import fit_marginals, network_marginals
from credo.questions.question_draws import arrow_kinds
from credo.results.fit_results import Fit
from credo.results.fit_statements import explain_fit

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.path import Path

PIXELS = 96  # of the picture in an inch
POINTS = 72 / PIXELS  # in a pixel
MOST_WIDE, MOST_HIGH = 16.0, 14.0  # inches of a new figure
FAR = 0.62  # scale below which a box shows its name only
LINE_STYLES = {"raises": "-", "lowers": "--", "neutral": ":"}
BAR_HEIGHT = 9.0


def network(fit: Fit | Network, *, explanation: Explanation | None = None, ax: Axes | None = None) -> Axes:
    """Draw the network: arrows by influence, boxes with how probable each state is when nothing else is known.

    Solid blue arrows raise, dashed orange ones lower, dotted grey ones do neither clearly and throughout. The more
    colour behind a name, the more the knowledge changed the variable's CPT. Where there is little room, boxes show
    names only.

    Parameters
    ----------
    fit
        The result of `fit`; or a network, which shows names alone where it has no CPTs.
    explanation
        What `fit.explain()` returned; computed if not given.
    ax
        The axes to draw on; new ones if not given.

    Returns
    -------
    matplotlib.axes.Axes
        The axes.
    """
    if isinstance(fit, Network):
        drawn, bars, explained = fit, network_marginals(fit).bars, None
    else:
        require_fit(fit)
        drawn, bars = fit.network, fit_marginals(fit).bars
        explained = explain_fit(fit) if explanation is None else explanation
    boxes = network_boxes(drawn, bars)
    picture = network_picture(drawn, boxes)
    shrunk = min(1.0, MOST_WIDE * PIXELS / picture.width, MOST_HIGH * PIXELS / picture.height)
    ax, colours = canvas(ax, shrunk * picture.width / PIXELS, shrunk * picture.height / PIXELS)
    ax.set_xlim(0, picture.width)
    ax.set_ylim(picture.height, 0)
    ax.set_aspect("equal")
    ax.set_axis_off()
    extent = ax.get_window_extent()
    inches = extent.width / ax.figure.dpi, extent.height / ax.figure.dpi
    scale = PIXELS * min(inches[0] / picture.width, inches[1] / picture.height)
    _draw_arrows(ax, arrow_kinds(fit), picture, scale, colours)
    for name, box in boxes.items():
        change = 0.0 if explained is None else explained.largest_change(name)
        _draw_box(ax, picture.box(name)[:2], box, change, scale, colours)
    return ax


def _draw_arrows(
    ax: Axes, kinds: Mapping[tuple[str, str], str], picture: Picture, scale: float, colours: Mapping[str, str]
) -> None:
    from matplotlib.patches import FancyArrowPatch

    for (parent, child), route in picture.routes.items():
        kind = kinds[parent, child]
        ax.add_patch(
            FancyArrowPatch(
                path=_path(route),
                arrowstyle="-|>",
                mutation_scale=9 * scale,
                color=colours[kind],
                linestyle=LINE_STYLES[kind],
                linewidth=max(0.4, 1.2 * scale),
            )
        )


def _path(route: tuple[Point, ...]) -> Path:
    """Lines and curves in turns."""
    from matplotlib.path import Path

    points, codes = [route[0]], [Path.MOVETO]
    for place, (x, y) in enumerate(route[1:], start=1):
        before_x, before_y = route[place - 1]
        if place % 2 == 1:
            points.append((x, y))
            codes.append(Path.LINETO)
        else:
            middle = (before_y + y) / 2
            points += [(before_x, middle), (x, middle), (x, y)]
            codes += [Path.CURVE4] * 3
    return Path(points, codes)


def _draw_box(ax: Axes, corner: Point, box: Box, change: float, scale: float, colours: Mapping[str, str]) -> None:
    from matplotlib.patches import Rectangle

    left, top = corner
    tint = mixed(colours["panel"], colours["changed"], min(0.75, 1.5 * change))
    is_far = scale < FAR
    face = tint if is_far else colours["panel"]
    ax.add_patch(Rectangle(corner, box.width, box.height, facecolor=face, edgecolor=colours["soft"], linewidth=0.8))
    if is_far:
        lines, size = far_lines(box)
        middle = left + box.width / 2, top + box.height / 2
        ax.text(
            *middle,
            "\n".join(lines),
            ha="center",
            va="center",
            fontsize=0.9 * size * POINTS * scale,
            linespacing=1.0,
            color=colours["ink"],
        )
        return
    ax.add_patch(Rectangle(corner, box.width, HEAD_HEIGHT, facecolor=tint, edgecolor=colours["soft"], linewidth=0.8))
    style: dict[str, Any] = {"va": "center", "color": colours["ink"], "clip_on": True}
    size = 12 * POINTS * scale
    ax.text(left + PADDING, top + HEAD_HEIGHT / 2, box.name, fontsize=0.95 * size, fontweight="bold", **style)
    start = left + PADDING + box.label_width + 5
    room = box.bar_width
    for place, bar in enumerate(box.rows):
        middle_y = top + HEAD_HEIGHT + ROW_HEIGHT * (place + 0.5)
        low = middle_y - BAR_HEIGHT / 2
        ax.add_patch(Rectangle((start, low), room, BAR_HEIGHT, color=colours["line"], linewidth=0))
        ax.add_patch(Rectangle((start, low), room * bar.probability, BAR_HEIGHT, color=colours["learned"], linewidth=0))
        if bar.low is not None and bar.high is not None:
            ends = [start + room * bar.low, start + room * bar.high]
            ax.plot(ends, [middle_y] * 2, color=colours["ink"], linewidth=max(0.5, scale), solid_capstyle="butt")
        ax.text(left + PADDING, middle_y, shortened(bar.state, LONG_STATE), fontsize=0.85 * size, **style)
        right = left + box.width - PADDING + 2
        ax.text(right, middle_y, short_percent(bar.probability), ha="right", fontsize=0.85 * size, **style)
    if box.omitted:
        y = top + HEAD_HEIGHT + ROW_HEIGHT * (len(box.rows) + 0.5)
        ax.text(left + PADDING, y, f"and {counted(box.omitted, 'more state')}", fontsize=0.85 * size, **style)
