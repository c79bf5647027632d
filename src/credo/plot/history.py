"""What was maximised, after each step."""

from __future__ import annotations

from math import isfinite
from typing import TYPE_CHECKING

from credo.plot.axes import axes_or_new, colours_for, only_across
from credo.results import Fit

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def plot_history(fit: Fit, ax: Axes | None = None) -> Axes:
    """A line over the steps of the best start; a fit without steps is one point."""
    ax = axes_or_new(ax, 7.0, 3.2)
    colours = colours_for(ax)
    steps = [(step, value) for step, value in enumerate(fit.history, start=1) if isfinite(value)]
    ax.plot(
        [step for step, _ in steps],
        [value for _, value in steps],
        color=colours["learned"],
        linewidth=2,
        marker="o" if len(steps) < 30 else "",
        markersize=4,
    )
    ax.set_xlabel("step")
    ax.set_ylabel("what is maximised", color=colours["ink"])
    only_across(ax, colours)
    ax.grid(axis="y", color=colours["line"], linewidth=0.6)
    ax.locator_params(axis="x", integer=True)
    return ax
