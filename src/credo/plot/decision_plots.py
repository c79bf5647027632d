"""Pictures of what comes next, what an answer or a decision rests on, and what experts believe."""

from __future__ import annotations

from textwrap import fill
from typing import TYPE_CHECKING

import numpy as np

from credo.errors import OptionError
from credo.explain.evidence_used import learned_of
from credo.knowledge.evidence import CURVE_LEVEL, beta_interval
from credo.plot.axes import canvas, style_axes
from credo.posterior.draws import PosteriorResult
from credo.questions.next_tests import NextTests
from credo.questions.sensitivity import Sensitivity
from credo.results.check_results import Check, expert_curves
from credo.results.fit_results import Fit

if TYPE_CHECKING:
    from matplotlib.axes import Axes


POINTS = 200  # of a curve
HEIGHT = 0.85  # of the highest curve, in lines of the picture
MOST_CURVES = 20  # in one picture


def expert_numbers(found: Check | Fit, ax: Axes | None = None) -> Axes:
    """Draw experts' numbers as curves, one a line; of a fit also what was learned, with its 95% interval.

    Parameters
    ----------
    found
        What `credo.check` or `credo.fit` returned; the first twenty numbers are drawn.
    ax
        The axes to draw on; new ones if not given.

    Returns
    -------
    matplotlib.axes.Axes
        The axes.

    Raises
    ------
    OptionError
        If this is neither, or no expert gave a number.
    MissingExtraError
        If matplotlib is not installed.
    """
    if not isinstance(found, Check | Fit):
        raise OptionError("credo.plot.expert_numbers draws what credo.check(…) or credo.fit(…) returned.")
    curves = (found.curves if isinstance(found, Check) else expert_curves(found.knowledge.statements))[:MOST_CURVES]
    if not curves:
        raise OptionError(
            "No expert gave a number. Write, for instance: P(lung=yes | smoke=yes) is 12%, worth 50 cases"
        )
    from scipy.stats import beta

    ax, colours = canvas(ax, 6.4, 1.2 + 0.6 * len(curves))
    learned = _learned(found) if isinstance(found, Fit) else {}
    for line, each in enumerate(reversed(curves)):
        low, high = beta_interval(*each.cases, CURVE_LEVEL)
        p = np.linspace(low, high, POINTS)
        heights = beta.pdf(p, *each.cases)
        top = np.quantile(heights, 0.9) if min(each.cases) < 1.0 else heights.max()  # else an end is infinite
        heights = heights * HEIGHT / top
        ax.fill_between(p, line, line + np.minimum(heights, HEIGHT), color=colours["learned"], alpha=0.45, linewidth=0)
        if (ends := learned.get(each.number)) is not None:
            ax.hlines(line, ends[1], ends[2], color=colours["ink"], linewidth=1.6)
            ax.plot([ends[0]], [line], "o", color=colours["ink"], markersize=4)
    ax.set_yticks(range(len(curves)), [each.subject for each in reversed(curves)])
    ax.set_xlim(left=0.0)
    ax.set_xlabel("probability" if not learned else "what was said (curve), what was learned (95% interval)")
    style_axes(ax, colours)
    return ax


def _learned(fit: Fit) -> dict[int, tuple[float, float, float]]:
    """What was learned of each number, where there are draws."""
    if fit._problem is None or not isinstance(fit.posterior, PosteriorResult):
        return {}
    cpts = {name: fit.network.cpts[name] for name in fit._problem.model.names if name in fit.network.cpts}
    return learned_of(fit.knowledge, fit._problem, fit.posterior, cpts)


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
    ax, colours = canvas(ax, 6.4, 1.2 + 0.3 * len(shown))
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
    ax, colours = canvas(ax, 7.2, 1.2 + 0.3 * len(bars))
    for place, (_, low, high) in enumerate(bars):
        for end, colour in ((low, "lowers"), (high, "raises")):
            ax.barh(place, end - found.probability, left=found.probability, color=colours[colour], height=0.6)
    ax.axvline(found.probability, color=colours["ink"], linewidth=1.0)
    ax.set_yticks(list(range(len(bars))), [label for label, _, _ in bars])
    ax.set_xlabel(fill(found.query, LABEL_LETTERS))
    style_axes(ax, colours)
    return ax
