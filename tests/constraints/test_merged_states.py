"""States that no constraint distinguishes are one variable of a program: the same answers, however many there are."""

from __future__ import annotations

from dataclasses import replace
from time import process_time

import numpy as np
import pytest

from credo.constraints import feasibility
from credo.constraints.feasibility import interior_of, satisfied
from credo.constraints.merged_states import classes_of, merged_states
from tests.helpers.block_tasks import at_most, general_task, make_block


def test_classes_by_hand() -> None:
    block = make_block([4, 3], [at_most([0, 2, 4], [1.0, 1.0, -1.0], 0.0), at_most([2], [1.0], 0.5)])
    assert classes_of(block.linear, block.distribution_of).tolist() == [0, 1, 2, 1, 3, 4, 4]
    merged = merged_states(block)
    assert merged is not None
    assert merged.sizes.tolist() == [1, 2, 1, 1, 2]
    assert merged.block.distributions.tolist() == [0, 3, 5]
    assert merged.block.linear.indices.tolist() == [0, 2, 3, 2]
    shared = merged.shared(np.array([0.1, 0.6, 0.3, 0.5, 0.5]), np.array([1.0, 1.0, 1.0, 2.0, 0.0, 9.0, 0.0]))
    np.testing.assert_allclose(shared, [0.1, 0.2, 0.3, 0.4, 0.5, 0.5, 0.0])


def test_nothing_to_merge() -> None:
    assert merged_states(make_block([2], [at_most([0], [1.0], 0.5)])) is None


def test_the_inner_point_is_as_far_inside(monkeypatch: pytest.MonkeyPatch) -> None:
    """Random blocks, also infeasible ones and ones with implied equalities, with and without merging."""
    generator = np.random.default_rng(5)
    kinds = set()
    for _ in range(150):
        block = general_task(generator).block
        if generator.random() < 0.3 and len(block.linear):  # the opposite of a constraint: an equality in effect
            linear = block.linear.take(np.array([*range(len(block.linear)), 0]))
            last = slice(linear.starts[-2], linear.starts[-1])
            coefficients, bounds = linear.coefficients.copy(), linear.bounds.copy()
            coefficients[last] *= -1.0
            bounds[-1] *= -1.0
            linear = replace(linear, coefficients=coefficients, bounds=bounds)
            numbers = np.append(block.constraint_numbers, 0)
            block = replace(block, linear=linear, constraint_numbers=numbers)
        plain = interior_of(block)
        with monkeypatch.context() as patch:
            patch.setattr(feasibility, "MERGED_SIZE", 1)
            merged = interior_of(block)
        kinds.add(None if plain is None else plain.slack > 0.0)
        assert (plain is None) == (merged is None)
        if plain is None or merged is None:
            continue
        assert merged.slack == pytest.approx(plain.slack, abs=1e-8)
        assert merged.tight_constraints.tolist() == plain.tight_constraints.tolist()
        assert merged.zero_parameters.tolist() == plain.zero_parameters.tolist()
        assert satisfied(block.linear, merged.point, 1e-8)[block.linear.hard].all()
    assert kinds >= {True, False}


def test_a_wide_variable_takes_no_time() -> None:
    block = make_block([100_000], [at_most([7], [-1.0], -0.1)])
    began = process_time()
    found = interior_of(block)
    assert process_time() - began < 1.0
    assert found is not None
    assert found.slack > 1e-6
    assert found.point.sum() == pytest.approx(1.0)
