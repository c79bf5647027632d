"""Means with their standard errors, and the frame of every picture."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import polars as pl


def summary(lines: pl.DataFrame, keys: Sequence[str], column: str) -> pl.DataFrame:
    """`mean`, `error` (standard, 0 for one line) and `lines` of a column for each of the keys."""
    deviation = pl.col(column).std().fill_null(0.0)
    return (
        lines.group_by(keys)
        .agg(pl.col(column).mean().alias("mean"), (deviation / pl.len().sqrt()).alias("error"), pl.len().alias("lines"))
        .sort(keys)
    )


def figure(mean: float, error: float, digits: int = 3, sign: str = "") -> str:
    """A mean and its standard error."""
    return f"{mean:{sign}.{digits}f} ± {error:.{digits}f}"


def panels(rows: int, columns: int, width: float = 5, height: float = 3.8) -> tuple[Any, Any]:
    """A figure and its panels, (rows, columns)."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    return pyplot.subplots(rows, columns, figsize=(width * columns, height * rows), squeeze=False, layout="constrained")


def save(drawing: Any, axes: Iterable[Any], path: Path) -> None:
    """Finish a figure: a light grid, and one legend below for all panels."""
    from matplotlib import pyplot

    axes = list(axes)
    for panel in axes:
        panel.grid(alpha=0.3)
    handles, labels = axes[0].get_legend_handles_labels()
    drawing.legend(handles, labels, loc="outside lower center", ncols=min(len(labels), 4))
    drawing.savefig(path, dpi=110)
    pyplot.close(drawing)
