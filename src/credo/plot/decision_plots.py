"""Pictures of what comes next: which test, and what an answer or a decision rests on."""

from __future__ import annotations

from textwrap import fill
from typing import TYPE_CHECKING

from credo.errors import OptionError
from credo.plot.axes import axes_or_new, colours_for, style_axes
from credo.questions.next_tests import NextTests
from credo.questions.sensitivity import Sensitivity

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MAX_TESTS = 20  # in one picture
LABEL_LETTERS = 36  # in a line below a picture


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


def tornado(found: Sensitivity, of: str = "parameters", ax: Axes | None = None) -> Axes:
    """Draw what an answer or a decision rests on, the most important on top.

    Parameters
    ----------
    found
        What `fit.sensitivity` or `fit.decision_sensitivity` returned.
    of
        "parameters": from the answer with a number of a CPT at the lower end of its 95% interval to that at the upper
        end. "findings": from the least to the greatest answer that a state of a variable would lead to. "evidence" and
        "statements": from the answer without it to the answer.
    ax
        The axes to draw on; new ones if not given.

    Returns
    -------
    matplotlib.axes.Axes
        The axes.

    Raises
    ------
    OptionError
        If there is nothing of this kind to draw.
    MissingExtraError
        If matplotlib is not installed.
    """
    if not isinstance(found, Sensitivity):
        raise OptionError("credo.plot.tornado draws what fit.sensitivity(…) returned.")
    bars = found.bars(of)[:MAX_TESTS][::-1]
    if not bars:
        raise OptionError(f"{found.query} depends on none of the {of}, or there are no draws to say how far.")
    ax = axes_or_new(ax, 7.2, 1.2 + 0.3 * len(bars))
    colours = colours_for(ax)
    for place, (_, low, high) in enumerate(bars):
        for end, colour in ((low, "lowers"), (high, "raises")):
            ax.barh(place, end - found.probability, left=found.probability, color=colours[colour], height=0.6)
    ax.axvline(found.probability, color=colours["ink"], linewidth=1.0)
    ax.set_yticks(list(range(len(bars))), [label for label, _, _ in bars])
    ax.set_xlabel(fill(found.query, LABEL_LETTERS))
    style_axes(ax, colours)
    return ax
