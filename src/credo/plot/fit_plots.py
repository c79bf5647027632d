"""Pictures of a fit: a CPT, the statements, the iterations."""

from __future__ import annotations

from collections.abc import Mapping
from math import isfinite, isnan
from textwrap import shorten
from typing import TYPE_CHECKING

from credo.errors import OptionError
from credo.explain.explanation import Effect, Explanation, StatementExplanation
from credo.model.expansion import expand
from credo.plot.axes import canvas, style_axes
from credo.probability_texts import count_digits
from credo.results.fit_results import Fit
from credo.results.fit_statements import explain_fit

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MAX_PROBABILITIES = 40  # in one picture of a CPT
MAX_STATEMENTS = 20
LONG_STATEMENT = 64  # letters
EFFECT_COLOURS = {Effect.VIOLATED: "bad", Effect.BINDING: "binding", Effect.SATISFIED: "good"}


def cpt(fit: Fit, name: str, *, page: int = 1, explanation: Explanation | None = None, ax: Axes | None = None) -> Axes:
    """Draw a CPT: for each probability the data, what the knowledge allows, what was learned, and its interval.

    A CPT with more probabilities than fit has several pages. The configurations that the knowledge changed most are on
    the first, and the picture says how many there are.

    Parameters
    ----------
    fit
        The result of `fit`.
    name
        The variable, or a small CPT of a noisy family, such as `attack by chol, bp`.
    page
        Which part of a large CPT to draw, from 1.
    explanation
        What `fit.explain()` returned; computed if not given.
    ax
        The axes to draw on; new ones if not given.

    Returns
    -------
    matplotlib.axes.Axes
        The axes.

    Raises
    ------
    OptionError
        If the CPT was not learned, or has no such page.
    MissingExtraError
        If matplotlib is not installed.
    """
    require_fit(fit)
    explained = explain_fit(fit) if explanation is None else explanation
    network = expand(fit.network).network
    if name not in explained.configurations:
        fit.network.variable(name)
        small = ", ".join(each for each in explained.configurations if each.startswith(f"{name} by "))
        hint = f" Its small CPTs are {small}." if small else ""
        raise OptionError(f"The CPT of {name} was not learned: there is nothing to draw.{hint}")
    states = network.states(name)
    columns = list(range(len(states))) if len(states) != 2 else [1]
    ranked = sorted(explained.configurations[name], key=lambda each: (-each.largest_change, -each.observations))
    room = max(1, MAX_PROBABILITIES // len(columns))
    pages = max(1, -(-len(ranked) // room))
    if not isinstance(page, int) or not 1 <= page <= pages:
        has = "one page" if pages == 1 else f"{pages} pages"
        raise OptionError(f"The picture of the CPT of {name} has {has}: there is no page {page}.")
    shown = sorted(ranked[room * (page - 1) : room * page], key=lambda each: each.index)
    cells = [(each, k) for each in shown for k in columns]
    labels = [f"{network.describe(name, each.index, k)}  n={count_digits(each.observations)}" for each, k in cells]
    ax, colours = canvas(ax, 5.0 + 0.075 * max(map(len, labels)), 1.0 + 0.42 * len(cells))
    for y, (each, k) in enumerate(cells):
        if not isnan(each.low[k]):
            ax.barh(y, each.high[k] - each.low[k], left=each.low[k], height=0.7, color=colours["allowed"])
            ax.plot([each.allowed_mean[k]] * 2, [y - 0.35, y + 0.35], color=colours["mean"], linewidth=1)
        if each.interval is not None:
            ax.plot([each.interval[0][k], each.interval[1][k]], [y] * 2, color=colours["learned"], linewidth=2.5)
        ax.plot(each.learned[k], y, "o", color=colours["learned"], markersize=8, clip_on=False, zorder=3)
        if each.frequencies is not None:
            ax.plot(each.frequencies[k], y - 0.22, "v", color=colours["data"], markersize=7, clip_on=False, zorder=3)
    ax.set_yticks(range(len(cells)), labels)
    ax.set_ylim(len(cells) - 0.4, -0.6)
    ax.set_xlim(-0.02, 1.02)
    whole = network.configurations(name)
    if len(shown) < whole:
        others = f"page {page} of {pages}; " if pages > 1 else ""
        ax.set_xlabel(f"showing {len(shown):,} of {whole:,} configurations; {others}all are in fit.cpt({name!r})")
    style_axes(ax, colours)
    _add_legend(ax, colours, with_interval=any(each.interval is not None for each in shown))
    return ax


def knowledge(fit: Fit, *, explanation: Explanation | None = None, ax: Axes | None = None) -> Axes:
    """Draw the statements: how much each changed a probability, and what became of it.

    What the data contradict and what the result does not satisfy come first, then the largest changes.

    Parameters
    ----------
    fit
        The result of `fit`.
    explanation
        What `fit.explain()` returned; computed if not given.
    ax
        The axes to draw on; new ones if not given.

    Returns
    -------
    matplotlib.axes.Axes
        The axes.
    """
    require_fit(fit)
    explained = explain_fit(fit) if explanation is None else explanation
    about_probabilities = [each for each in explained.statements if each.effect is not Effect.NO_CONSTRAINT]
    shown = sorted(about_probabilities, key=_most_important_first)[:MAX_STATEMENTS]
    ax, colours = canvas(ax, 10.0, 1.0 + 0.38 * max(1, len(shown)))
    for y, each in enumerate(shown):
        colour = colours["bad" if each.is_contradicted else EFFECT_COLOURS.get(each.effect, "soft")]
        hatch = "//" if each.is_contradicted else ""
        ax.barh(y, each.largest_change, height=0.6, color=colour, hatch=hatch, edgecolor=colours["paper"])
        ax.annotate(
            each.describe_effect(),
            (each.largest_change, y),
            (5, 0),
            textcoords="offset points",
            va="center",
            fontsize=8,
            color=colour,
        )
    labels = [shorten(each.statement.text, LONG_STATEMENT, placeholder=" …") for each in shown]
    ax.set_yticks(range(len(shown)), labels, fontsize=9)
    ax.set_ylim(max(len(shown), 1) - 0.4, -0.6)
    ax.set_xlim(0, 1.45 * max((each.largest_change for each in shown), default=0.0) or 1.0)
    left_out = len(about_probabilities) - len(shown)
    rest = f"\nshowing {len(shown)} of {len(about_probabilities):,} statements; all are in fit.explain().statements"
    ax.set_xlabel(f"largest change of a probability if the statement is left out{rest if left_out else ''}")
    style_axes(ax, colours)
    if not shown:
        ax.text(0.5, 0.5, "no statements", transform=ax.transAxes, ha="center", color=colours["soft"])
    return ax


def history(fit: Fit, *, ax: Axes | None = None) -> Axes:
    """Draw the objective after each iteration of the best start; a fit without iterations is one point.

    Parameters
    ----------
    fit
        The result of `fit`.
    ax
        The axes to draw on; new ones if not given.

    Returns
    -------
    matplotlib.axes.Axes
        The axes.
    """
    require_fit(fit)
    ax, colours = canvas(ax, 7.0, 3.2)
    points = [(number, value) for number, value in enumerate(fit.history, start=1) if isfinite(value)]
    ax.plot(
        [number for number, _ in points],
        [value for _, value in points],
        color=colours["learned"],
        linewidth=2,
        marker="o" if len(points) < 30 else "",
        markersize=4,
    )
    ax.set_xlabel("iteration")
    ax.set_ylabel("objective", color=colours["ink"])
    style_axes(ax, colours)
    ax.grid(axis="y", color=colours["line"], linewidth=0.6)
    ax.locator_params(axis="x", integer=True)
    return ax


def require_fit(fit: object) -> None:
    """Raise if something else than a fit is to be drawn."""
    if not isinstance(fit, Fit):
        raise OptionError(f"This picture shows what credo.fit returned; this is of the type {type(fit).__name__}.")


def _most_important_first(each: StatementExplanation) -> tuple[bool, bool, float]:
    return not each.is_contradicted, each.effect is not Effect.VIOLATED, -each.largest_change


def _add_legend(ax: Axes, colours: Mapping[str, str], with_interval: bool) -> None:
    from matplotlib.lines import Line2D
    from matplotlib.patches import Patch

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
