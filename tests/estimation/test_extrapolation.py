"""Where steps lead: a linear iteration ends at its fixed point at once, and straight steps get longer."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

from credo.estimation.network_steps import extrapolated


@pytest.mark.parametrize("size", [1, 2, 3])
def test_a_linear_iteration_is_extrapolated_to_its_fixed_point(size: int) -> None:
    rng = np.random.default_rng(size)
    matrix = 0.7 * np.linalg.qr(rng.normal(size=(size, size)))[0]
    fixed = rng.normal(size=size)
    taken, point = [], rng.normal(size=size)
    for _ in range(size + 1):
        end = fixed + matrix @ (point - fixed)
        taken.append((point, end))
        point = end
    found = extrapolated(taken, rng.uniform(0.5, 2.0, size))
    assert found is not None
    np.testing.assert_allclose(found, fixed, atol=1e-9)


def test_steps_in_one_direction_get_twice_as_long_each_time() -> None:
    points = [np.array([float(k), 1.0]) for k in range(4)]
    taken = list(pairwise(points))
    for count, ahead in ((2, 2.0), (3, 4.0)):
        found = extrapolated(taken[:count], np.ones(2))
        assert found is not None
        np.testing.assert_allclose(found, [count + ahead, 1.0])


def test_one_step_tells_nothing() -> None:
    assert extrapolated([(np.zeros(1), np.ones(1))], np.ones(1)) is None
