"""A table as bars: for each number the data, what the knowledge allows, what was learned, and its interval."""

from __future__ import annotations

from math import isnan
from typing import TYPE_CHECKING

from credo.errors import OptionError
from credo.model.expansion import expand
from credo.plot.axes import axes_or_new, colours_for, only_across
from credo.results import Fit

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MOST = 40  # numbers in one picture


def plot_cpt(fit: Fit, name: str, ax: Axes | None = None) -> Axes:
    """One line a number; of a table with more than fits, the rows that the knowledge moved most."""
    network = expand(fit.network).network
    told = fit.explain().rows
    if name not in told:
        fit.network.variable(name)
        near = ", ".join(each for each in told if each.startswith(f"{name} by "))
        hint = f" Its small tables are {near}." if near else ""
        raise OptionError(f"The table of {name} was not learned: there is nothing to draw.{hint}")
    states = network.states(name)
    shown = range(len(states)) if len(states) != 2 else [1]
    rows = sorted(told[name], key=lambda each: (-each.moved, -each.seen))[: max(1, MOST // len(list(shown)))]
    cells = [(row, k) for row in sorted(rows, key=lambda each: each.row) for k in shown]
    labels = [f"{network.describe(name, row.row, k)}  n={row.seen:,.4g}" for row, k in cells]
    ax = axes_or_new(ax, 5.0 + 0.075 * max(map(len, labels)), 1.0 + 0.42 * len(cells))
    colours = colours_for(ax)
    for place, (row, k) in enumerate(cells):
        if not isnan(row.low[k]):
            ax.barh(place, row.high[k] - row.low[k], left=row.low[k], height=0.7, color=colours["allowed"])
            ax.plot([row.allowed[k]] * 2, [place - 0.35, place + 0.35], color=colours["mean"], linewidth=1)
        if row.interval is not None:
            ax.plot([row.interval[0][k], row.interval[1][k]], [place] * 2, color=colours["learned"], linewidth=2.5)
        ax.plot(row.learned[k], place, "o", color=colours["learned"], markersize=8, clip_on=False, zorder=3)
        if row.data is not None:
            ax.plot(row.data[k], place - 0.22, "v", color=colours["data"], markersize=7, clip_on=False, zorder=3)
    ax.set_yticks(range(len(cells)), labels)
    ax.set_ylim(len(cells) - 0.4, -0.6)
    ax.set_xlim(-0.02, 1.02)
    only_across(ax, colours)
    _explain_marks(ax, with_interval=any(row.interval is not None for row in rows))
    return ax


def _explain_marks(ax: Axes, with_interval: bool) -> None:
    from matplotlib.lines import Line2D
    from matplotlib.patches import Patch

    colours = colours_for(ax)
    marks = [
        Patch(color=colours["allowed"], label="what the knowledge allows"),
        Line2D([], [], color=colours["mean"], linewidth=1, label="its mean"),
        Line2D([], [], color=colours["data"], marker="v", linestyle="", label="the data alone"),
        Line2D([], [], color=colours["learned"], marker="o", linestyle="", label="learned"),
    ]
    if with_interval:
        marks.append(Line2D([], [], color=colours["learned"], linewidth=2.5, label="95% interval"))
    ax.legend(
        handles=marks,
        loc="lower right",
        bbox_to_anchor=(1.0, 1.0),
        ncols=len(marks),
        frameon=False,
        labelcolor=colours["ink"],
        fontsize="small",
        handletextpad=0.4,
        columnspacing=1.0,
    )
