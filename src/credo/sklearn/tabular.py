"""What the estimators share: input as arrays or frames, with texts and missing values, and random states."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils import check_random_state
from sklearn.utils.validation import validate_data

from credo.io.columns import require_distinct
from credo.io.tables import header_of
from credo.options import resolve_seed
from credo.sklearn.columns import as_frame
from credo.types import FrameLike

if TYPE_CHECKING:
    import polars as pl

Features = ArrayLike | FrameLike
# An int, a NumPy Generator, or a RandomState or None as in scikit-learn.
RandomState = int | np.random.Generator | np.random.RandomState | None


class TabularMixin:
    """Input that may be a frame or an array, with texts and missing values."""

    random_state: RandomState
    _names: list[str]  # of the columns that were learned from

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()  # type: ignore[misc]
        tags.input_tags.allow_nan = True
        tags.input_tags.categorical = True
        tags.input_tags.string = True
        return tags

    def _frame(self, features: Any, *, reset: bool) -> pl.DataFrame:
        """The features as a polars frame with texts as names of columns."""
        if (header := header_of(features)) is not None:
            require_distinct(header)
            validate_data(self, features, skip_check_array=True, reset=reset)
            checked, names = features, header
        else:
            checked = validate_data(self, features, dtype=None, ensure_all_finite="allow-nan", reset=reset)
            names = [f"x{place}" for place in range(checked.shape[1])]
        if reset:
            self._names = names
        # Later features may be an array where a frame was learned from, or the reverse: columns keep their places.
        return as_frame(checked, self._names)

    def _seed(self) -> int:
        """The seed that `random_state` means."""
        if self.random_state is None or isinstance(self.random_state, np.random.RandomState):
            return int(check_random_state(self.random_state).randint(2**31 - 1))
        return resolve_seed(self.random_state)
