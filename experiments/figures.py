"""Means with standard errors, and what all figures have in common."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import polars as pl


def summarise(results: pl.DataFrame, keys: Sequence[str], column: str) -> pl.DataFrame:
    """The `mean` of a column for each key, its standard `error` (0 for one result), and the `number` of results."""
    deviation = pl.col(column).std().fill_null(0.0)
    return (
        results.group_by(keys)
        .agg(
            pl.col(column).mean().alias("mean"), (deviation / pl.len().sqrt()).alias("error"), pl.len().alias("number")
        )
        .sort(keys)
    )


def mean_and_error(mean: float, error: float, digits: int = 3, sign: str = "") -> str:
    """A mean and its standard error as text."""
    return f"{mean:{sign}.{digits}f} ± {error:.{digits}f}"


def panels(rows: int, columns: int, width: float = 5, height: float = 3.8, **options: Any) -> tuple[Any, Any]:
    """A figure and its panels, an array (rows, columns); width and height are those of one panel, in inches."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    size = (width * columns, height * rows)
    return pyplot.subplots(rows, columns, figsize=size, squeeze=False, layout="constrained", **options)


def save(figure: Any, axes: Iterable[Any], path: Path, *, legend_columns: int = 4) -> None:
    """Add a light grid and one legend below all panels, write the figure, and close it."""
    axes = list(axes)
    for panel in axes:
        panel.grid(alpha=0.3)
        panel.set_axisbelow(True)
    handles, labels = axes[0].get_legend_handles_labels()
    if legend_columns:
        figure.legend(handles, labels, loc="outside lower center", ncols=min(len(labels), legend_columns))
    write(figure, path)


def write(figure: Any, path: Path) -> None:
    """Write a figure and close it."""
    from matplotlib import pyplot

    figure.savefig(path, dpi=110)
    pyplot.close(figure)
