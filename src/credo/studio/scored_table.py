"""A table whose rows are scored: the probabilities of a variable's states, beside what the table holds."""

from __future__ import annotations

import re
from dataclasses import dataclass
from math import isfinite
from pathlib import Path
from typing import TYPE_CHECKING, Any

from credo.io.categories import read_frame
from credo.results.fit_results import Fit
from credo.studio.table import OpenTable

if TYPE_CHECKING:
    import polars as pl

FORMULA = r"^[=+\-@\t\r]"  # how a text begins that a spreadsheet may run


@dataclass(frozen=True, slots=True)
class ScoredTable:
    """A table with the probabilities of some variables' states in front.

    Attributes
    ----------
    frame
        The table; its columns keep their names, unless a score has the same.
    scores
        How many of its columns are scores: a probability, and where there are intervals, its bounds.
    """

    frame: pl.DataFrame
    scores: int

    def write(self, path: Path) -> None:
        """Write all rows as CSV; text that a spreadsheet would take for a formula begins with an apostrophe there."""
        import polars as pl

        text = pl.selectors.string()
        is_formula = text.str.contains(FORMULA) & text.cast(pl.Float64, strict=False).is_null()  # and no number
        categories = pl.selectors.categorical() | pl.selectors.enum()
        plain = self.frame.with_columns(categories.cast(pl.String))
        safe = plain.with_columns(pl.when(is_formula).then("'" + text).otherwise(text).name.keep())
        safe.rename({name: f"'{name}" for name in safe.columns if re.match(FORMULA, name)}).write_csv(path)

    def first_rows(self, most: int, by: object = None) -> dict[str, Any]:
        """The first rows as JSON can hold them; where `by` names a score, those in which it is largest."""
        if isinstance(by, str) and by in self.frame.columns[: self.scores]:
            order = self.frame.get_column(by).arg_sort(descending=True, nulls_last=True).head(most).to_list()
        else:
            order = list(range(min(most, len(self.frame))))
        return {
            "columns": self.frame.columns,
            "scores": self.scores,
            "numbers": [number + 1 for number in order],
            "rows": [[as_json(cell) for cell in row] for row in self.frame[order].iter_rows()],
            "total": len(self.frame),
        }


def scored_table(fit: Fit, table: OpenTable, targets: list[str]) -> ScoredTable:
    """Score every row of a table."""
    import polars as pl

    found = fit.predict(table.data, targets)
    own = read_frame(table.columns())
    own = own.rename({name: f"{name} (in the table)" for name in own.columns if name in found.columns})
    return ScoredTable(pl.concat([found, own], how="horizontal"), found.width)


def as_json(cell: object) -> str | float | int | None:
    """A cell as JSON can hold it: dates and numbers that are not finite are text."""
    if cell is None or isinstance(cell, (str, int)):
        return cell
    return cell if isinstance(cell, float) and isfinite(cell) else str(cell)
