"""What the estimators share: tables of any kind, with names, texts and gaps."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sklearn.utils.validation import validate_data

from credo.sklearn.columns import as_frame

if TYPE_CHECKING:
    import polars as pl


class TabularMixin:
    """Input that may be a frame or an array, with texts and missing values."""

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()  # type: ignore[misc]
        tags.input_tags.allow_nan = True
        tags.input_tags.categorical = True
        tags.input_tags.string = True
        return tags

    def _frame(self, features: Any, *, reset: bool) -> pl.DataFrame:
        if hasattr(features, "columns") or hasattr(features, "column_names"):
            validate_data(self, features, skip_check_array=True, reset=reset)
            header = getattr(features, "column_names", None) or features.columns
            return as_frame(features, [str(name) for name in header])
        checked = validate_data(self, features, dtype=None, ensure_all_finite="allow-nan", reset=reset)
        return as_frame(checked, [f"x{place}" for place in range(checked.shape[1])])
