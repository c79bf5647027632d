"""The statements that mattered: how far each moved a number, and what became of it."""

from __future__ import annotations

from textwrap import shorten
from typing import TYPE_CHECKING

from credo.explain.parts import Effect, StatementStory
from credo.plot.axes import axes_or_new, colours_for, only_across
from credo.results import Fit

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MOST = 20
LETTERS = 64  # of a statement
COLOUR = {Effect.VIOLATED: "bad", Effect.BOUND: "bound", Effect.HELD: "good"}


def plot_knowledge(fit: Fit, ax: Axes | None = None) -> Axes:
    """A bar a statement: what the data contradict or the result misses first, then by how far each moved a number."""
    told = [each for each in fit.explain().statements if each.effect is not Effect.OUTSIDE]
    stories = sorted(told, key=_order)[:MOST]
    ax = axes_or_new(ax, 10.0, 1.0 + 0.38 * max(1, len(stories)))
    colours = colours_for(ax)
    for place, each in enumerate(stories):
        ink = colours["bad" if each.contradicted else COLOUR.get(each.effect, "soft")]
        ax.barh(
            place,
            each.moved,
            height=0.6,
            color=ink,
            hatch="//" if each.contradicted else "",
            edgecolor=colours["paper"],
        )
        ax.annotate(
            _did(each), (each.moved, place), (5, 0), textcoords="offset points", va="center", fontsize=8, color=ink
        )
    ax.set_yticks(range(len(stories)), [shorten(each.text, LETTERS, placeholder=" …") for each in stories], fontsize=9)
    ax.set_ylim(max(len(stories), 1) - 0.4, -0.6)
    ax.set_xlim(0, 1.45 * max((each.moved for each in stories), default=0.0) or 1.0)
    ax.set_xlabel("largest change of a number if the statement is left out")
    only_across(ax, colours)
    if not stories:
        ax.text(0.5, 0.5, "no statements", transform=ax.transAxes, ha="center", color=colours["soft"])
    return ax


def _order(each: StatementStory) -> tuple[bool, bool, float]:
    return not each.contradicted, each.effect is not Effect.VIOLATED, -each.moved


def _did(each: StatementStory) -> str:
    did = each.effect.value + (f" by {each.amount:.2g}" if each.effect is Effect.VIOLATED else "")
    return f"contradicted by the data; {did}" if each.contradicted else did
