"""Pictures of what a classifier learned about its features."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from credo.errors import OptionError
from credo.plot.axes import canvas, style_axes

if TYPE_CHECKING:
    from matplotlib.axes import Axes

COLUMNS = ("class", "feature", "value", "number", "probability", "low", "high")


def effects(curves: pl.DataFrame, feature: str | None = None, ax: Axes | None = None) -> Axes:
    """Draw the effect of a feature: the probability of a class at each of its values, with a band.

    Parameters
    ----------
    curves
        What `KnowledgeClassifier.effect_curves` returned.
    feature
        One of its features; the one with the largest effect if not given.
    ax
        The axes to draw on; new ones if not given.

    Returns
    -------
    matplotlib.axes.Axes
        The axes.

    Raises
    ------
    OptionError
        If these are not curves of effects, or there is no such feature.
    MissingExtraError
        If matplotlib is not installed.
    """
    if not isinstance(curves, pl.DataFrame) or not set(COLUMNS) <= set(curves.columns) or curves.is_empty():
        raise OptionError("credo.plot.effects draws what effect_curves() of a classifier returned.")
    if feature is None:
        ranges = curves.group_by("feature", maintain_order=True).agg(
            (pl.col("probability").max() - pl.col("probability").min()).alias("range")
        )
        feature = str(ranges.sort("range", descending=True, maintain_order=True)["feature"][0])
    own = curves.filter(pl.col("feature") == feature)
    if own.is_empty():
        raise OptionError(f'There is no feature "{feature}" among these curves.')
    ax, colours = canvas(ax, 5.2, 3.4)
    labels = own["class"].unique(maintain_order=True).to_list()
    for place, label in enumerate(labels):
        each = own.filter(pl.col("class") == label)
        shade = 1.0 - 0.6 * place / len(labels)
        ax.fill_between(each["number"], each["low"], each["high"], color=colours["learned"], alpha=0.2 * shade)
        ax.plot(each["number"], each["probability"], color=colours["learned"], alpha=shade, marker="o", markersize=3)
        ax.annotate(label, (each["number"][-1], each["probability"][-1]), xytext=(4, 0), textcoords="offset points")
    values = own.filter(pl.col("class") == labels[0])
    if values["value"].cast(pl.Float64, strict=False).null_count():
        ax.set_xticks(values["number"].to_list(), values["value"].to_list())
    ax.set_xlabel(feature)
    ax.set_ylabel("probability if all rows had this value")
    style_axes(ax, colours)
    ax.yaxis.label.set_color(colours["ink"])
    return ax
