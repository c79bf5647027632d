"""The network: arrows by influence, circles by how far the knowledge moved their tables."""

from __future__ import annotations

from typing import TYPE_CHECKING

from credo.drawing.influence import influence
from credo.drawing.layout import layered
from credo.plot.axes import axes_or_new, bare, colours_for
from credo.results import Fit

if TYPE_CHECKING:
    from matplotlib.axes import Axes

CROWD = 60  # variables from which names would cover each other
STYLES = {"raises": "-", "lowers": "--", "neutral": ":"}


def plot_network(fit: Fit, ax: Axes | None = None) -> Axes:
    """Parents above their children; blue and whole raises, orange and dashed lowers, grey and dotted neither."""
    network, places = fit.network, layered(fit.network)
    wide, deep = (max(place[k] for place in places.values()) for k in (0, 1))
    ax = axes_or_new(ax, min(16.0, 3.0 + 1.5 * wide), min(12.0, 2.0 + 1.1 * deep))
    colours = colours_for(ax)
    crowded = len(network) > CROWD
    for child in network.names:
        for parent in network.parents[child]:
            kind = influence(network, parent, child)
            ax.annotate(
                "",
                xy=_at(places[child]),
                xytext=_at(places[parent]),
                arrowprops={
                    "arrowstyle": "-" if crowded else "-|>",
                    "color": colours[kind],
                    "linestyle": STYLES[kind],
                    "linewidth": 0.6 if crowded else 1.4,
                    "shrinkA": 9,
                    "shrinkB": 9,
                },
            )
    told = fit.explain().rows
    moved = [max((row.moved for row in told.get(name, ())), default=0.0) for name in network.names]
    ax.scatter(
        [places[name][0] for name in network.names],
        [-places[name][1] for name in network.names],
        s=40 if crowded else 180,
        c=[_mixed(colours["paper"], colours["moved"], min(1.0, 0.05 + 2 * each)) for each in moved],
        edgecolors=colours["ink"],
        linewidths=0.8,
        zorder=3,
    )
    if not crowded:
        beneath = {"facecolor": colours["paper"], "edgecolor": "none", "pad": 0.5, "alpha": 0.8}
        for name in network.names:
            ax.annotate(
                name,
                _at(places[name]),
                (0, -17),
                textcoords="offset points",
                ha="center",
                color=colours["ink"],
                fontsize=9,
                zorder=4,
                bbox=beneath,
            )
    ax.margins(0.15)
    bare(ax)
    return ax


def _at(place: tuple[float, float]) -> tuple[float, float]:
    return place[0], -place[1]


def _mixed(one: str, other: str, share: float) -> tuple[float, ...]:
    from matplotlib.colors import to_rgb

    return tuple((1 - share) * a + share * b for a, b in zip(to_rgb(one), to_rgb(other), strict=True))
