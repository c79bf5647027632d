"""What the knowledge allows against linear programs of SciPy, and against draws that are thrown away."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import linprog

import credo
from credo.estimation.problem import Problem
from credo.explain.allowed_ranges import allowed_ranges
from tests.helpers.clinic import CLINIC, STATEMENTS, patients


@pytest.fixture(scope="module")
def problem() -> Problem:
    found = credo.fit(CLINIC, patients(30), "\n".join(STATEMENTS), method="cmap")._problem
    assert found is not None
    return found


def test_ranges_are_those_of_linear_programs(problem: Problem) -> None:
    ranges = allowed_ranges(problem)
    for block in problem.model.blocks:
        hard = block.linear.take(block.linear.hard)
        matrix = hard.matrix(block.size).toarray()
        sums = (np.arange(len(block.configurations))[:, None] == block.distribution_of).astype(float)
        for k, parameter in enumerate(block.parameters):
            for sign, found in ((1.0, ranges.low), (-1.0, ranges.high)):
                best = linprog(
                    sign * np.eye(block.size)[k],
                    A_ub=matrix if len(matrix) else None,
                    b_ub=hard.bounds if len(matrix) else None,
                    A_eq=sums,
                    b_eq=np.ones(len(sums)),
                    bounds=(0, 1),
                )
                assert found[parameter] == pytest.approx(sign * best.fun, abs=1e-7)


def test_means_are_those_of_draws_that_statements_let_pass() -> None:
    wide = "\n".join(
        (*STATEMENTS[:1], *STATEMENTS[3:5], "P(lung=yes | age=old, each smoke) >= P(lung=yes | age=young, each smoke)")
    )
    found = credo.fit(CLINIC, patients(30), wide, method="cmap")._problem
    assert found is not None
    ranges, rng = allowed_ranges(found), np.random.default_rng(0)
    for block in found.model.blocks:
        gammas = rng.standard_exponential((100_000, block.size))
        draws = gammas / np.add.reduceat(gammas, block.distributions[:-1], axis=1)[:, block.distribution_of]
        hard = block.linear.take(block.linear.hard)
        kept = draws[(hard.matrix(block.size) @ draws.T <= hard.bounds[:, None]).all(axis=0)]
        assert len(kept) > 2_000
        assert ranges.mean[block.parameters] == pytest.approx(kept.mean(axis=0), abs=0.025)


def test_probabilities_without_a_statement_are_free() -> None:
    fit = credo.fit(CLINIC, patients(30), "P(smoke=yes) <= 0.5", method="cmap")
    found = fit.explain().configurations
    assert found["smoke"][0].high == pytest.approx([1.0, 0.5])
    assert found["smoke"][0].allowed_mean == pytest.approx([0.75, 0.25], abs=0.01)
    assert found["age"][0].low == pytest.approx([0.0] * 3)
    assert found["age"][0].high == pytest.approx([1.0] * 3)
    assert found["age"][0].allowed_mean == pytest.approx([1 / 3] * 3)
