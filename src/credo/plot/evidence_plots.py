"""A picture of experts' numbers: what each of them believes, and what was learned."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from credo.errors import OptionError
from credo.explain.evidence_used import learned_of
from credo.knowledge.evidence import CURVE_LEVEL, beta_interval
from credo.plot.axes import axes_or_new, colours_for, style_axes
from credo.posterior.draws import PosteriorResult
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

    ax = axes_or_new(ax, 6.4, 1.2 + 0.6 * len(curves))
    colours = colours_for(ax)
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
