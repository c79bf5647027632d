"""Pictures of what comes next: which test."""

from __future__ import annotations

from typing import TYPE_CHECKING

from credo.errors import OptionError
from credo.plot.axes import axes_or_new, colours_for, style_axes
from credo.questions.next_tests import NextTests

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MAX_TESTS = 20  # in one picture


def next_tests(found: NextTests, ax: Axes | None = None) -> Axes:
    """Draw the ranking of tests: a bar for each, with its interval under the draws.

    Parameters
    ----------
    found
        What `fit.next_tests` returned; the best twenty are drawn.
    ax
        The axes to draw on; new ones if not given.

    Returns
    -------
    matplotlib.axes.Axes
        The axes.

    Raises
    ------
    OptionError
        If this is not a ranking of tests.
    MissingExtraError
        If matplotlib is not installed.
    """
    if not isinstance(found, NextTests):
        raise OptionError("credo.plot.next_tests draws what fit.next_tests(…) returned.")
    shown = found.tests.head(MAX_TESTS).reverse()
    ax = axes_or_new(ax, 6.4, 1.2 + 0.3 * len(shown))
    colours = colours_for(ax)
    places = range(len(shown))
    ax.barh(places, shown["net"].to_list(), color=colours["learned"], height=0.6)
    if not found.note:
        ax.hlines(places, shown["low"].to_list(), shown["high"].to_list(), color=colours["ink"], linewidth=1.2)
    ax.set_yticks(list(places), shown["test"].to_list())
    by = "expected gain in utility, less the cost" if found.by == "utility" else "expected information in bits"
    ax.set_xlabel(f"{by}, about {found.goal}")
    style_axes(ax, colours)
    ax.axvline(0.0, color=colours["line"], linewidth=0.8)
    return ax
