"""Axes to draw on, and the colours that suit them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from credo.drawing.colours import DARK, LIGHT
from credo.errors import MissingExtraError

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def canvas(ax: Axes | None, width: float, height: float) -> tuple[Axes, Mapping[str, str]]:
    """The axes that were given, or those of a new figure of this size in inches; and the colours that suit them."""
    if ax is None:
        try:
            from matplotlib import pyplot
        except ImportError:
            raise MissingExtraError("matplotlib", "plots", "A picture") from None
        ax = pyplot.figure(figsize=(width, height), layout="constrained").add_subplot()
    return ax, colours_for(ax)


def colours_for(ax: Axes) -> Mapping[str, str]:
    """Light colours on a light background, dark ones on a dark."""
    from matplotlib.colors import to_rgb

    red, green, blue = to_rgb(ax.get_facecolor())
    return LIGHT if 0.2126 * red + 0.7152 * green + 0.0722 * blue > 0.5 else DARK


def mixed(one: str, other: str, share: float) -> tuple[float, ...]:
    """A colour between two others."""
    from matplotlib.colors import to_rgb

    return tuple((1 - share) * a + share * b for a, b in zip(to_rgb(one), to_rgb(other), strict=True))


def style_axes(ax: Axes, colours: Mapping[str, str]) -> None:
    """No frame but the line below, and faint vertical lines to read numbers by."""
    for side in ("top", "right", "left"):
        ax.spines[side].set_visible(False)
    ax.spines["bottom"].set_color(colours["line"])
    ax.tick_params(colors=colours["ink"], length=0)
    ax.grid(axis="x", color=colours["line"], linewidth=0.6)
    ax.set_axisbelow(True)
    ax.xaxis.label.set_color(colours["ink"])
