"""Published tables with known classes, prepared for naive Bayes as the paper does with Weka [section 7.2]."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import polars as pl
from numpy.typing import NDArray

MISSING = "?"
FEW = 10  # numeric columns with up to so many values are categories
BINS = 10  # of equal width, as in Weka's filter


@dataclass(frozen=True, slots=True)
class Labelled:
    """Categorical features without missing values, and the true class of each row."""

    features: pl.DataFrame
    labels: NDArray[np.int64]

    @property
    def classes(self) -> int:
        """The number of classes."""
        return int(self.labels.max()) + 1


def read_labelled(path: Path) -> Labelled:
    """Read a table whose last column is the class; two tables need a column dropped or classes merged."""
    table = pl.read_csv(path, infer_schema=False)
    label = table.columns[-1]
    if path.stem == "zoo":
        table = table.drop("animal")  # the name of each animal
    if path.stem == "heart_cleveland":  # 0 is healthy, 1 to 4 are grades of disease
        healthy = pl.col(label) == "0"
        table = table.with_columns(pl.when(healthy).then(pl.lit("healthy")).otherwise(pl.lit("ill")).alias(label))
    return labelled(table, label)


def labelled(table: pl.DataFrame, label: str) -> Labelled:
    """Replace missing values by the mode, or by the mean of numeric columns, and divide numeric columns into bins."""
    features = [_categories(table[name]) for name in table.columns if name != label]
    kept = [column for column in features if column.n_unique() > 1]
    _, labels = np.unique(table[label].to_numpy(), return_inverse=True)
    return Labelled(pl.DataFrame(kept), labels.astype(np.int64))


def _categories(column: pl.Series) -> pl.Series:
    text = column.replace(MISSING, None)
    numbers = text.cast(pl.Float64, strict=False)
    if numbers.null_count() > text.null_count() or numbers.n_unique() <= FEW:
        return text.fill_null(text.drop_nulls().mode().sort()[0])
    filled = numbers.fill_null(numbers.mean()).to_numpy()
    edges = np.linspace(filled.min(), filled.max(), BINS + 1)[1:-1]
    return pl.Series(column.name, [f"bin {i}" for i in np.digitize(filled, edges)])
