"""Distinct rows, against NumPy's own and slower search."""

from __future__ import annotations

import numpy as np
import pytest

from credo.io.dataset import distinct_rows


@pytest.mark.parametrize(("columns", "largest"), [(1, 2), (3, 3), (40, 4), (6, 2**40), (3, 2**62), (0, 1)])
def test_distinct_rows_are_found_in_the_order_in_which_they_appear(columns: int, largest: int) -> None:
    rng = np.random.default_rng(columns)
    some = rng.integers(-1, largest, (20, columns))
    rows = some[rng.integers(0, 20, 200)]
    first, which = distinct_rows(rows)
    assert np.array_equal(rows[first][which], rows)
    assert (np.diff(first) > 0).all()
    assert len(first) == len(np.unique(rows, axis=0)) if columns else len(first) == 1
    assert [len(each) for each in distinct_rows(rows[:0])] == [0, 0]
