"""What to observe next, against simulated observations."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

import credo
from credo.explain.next_observation import (
    _of_dirichlet,
    _of_draws,
    _of_matching_dirichlet,
    _of_moments,
    next_observations,
)
from tests.helpers.clinic import CLINIC, COIN, counted, patients


def test_the_reduction_of_a_dirichlet_distribution_is_that_of_simulated_observations() -> None:
    counts = np.array([[3.0, 1.0, 0.0]])
    prior = np.full((1, 1), 1.0)
    (variance,), (reduction,) = _of_dirichlet(counts, prior)
    weights, rng = counts[0] + 1.0, np.random.default_rng(0)

    def summed(own: np.ndarray) -> float:
        draws = rng.dirichlet(own, 200_000)
        return float(draws.var(axis=0).sum())

    after = sum(p * summed(weights + np.eye(3)[k]) for k, p in enumerate(weights / weights.sum()))
    assert variance == pytest.approx(summed(weights), rel=0.02)
    assert variance - reduction == pytest.approx(after, rel=0.02)


def test_draws_and_moments_give_the_same_as_the_formula() -> None:
    weights = np.array([4.0, 2.0, 1.5])
    (variance,), (reduction,) = _of_dirichlet(weights[None, :] - 1.0, np.full((1, 1), 1.0))
    total, mean = weights.sum(), weights / weights.sum()
    covariance = (np.diag(mean) - np.outer(mean, mean)) / (total + 1)
    assert _of_moments(mean, covariance) == pytest.approx((variance, reduction))
    matched = _of_matching_dirichlet(mean[None, :], np.sqrt(np.diag(covariance))[None, :])
    assert [float(each[0]) for each in matched] == pytest.approx([variance, reduction])
    draws = np.random.default_rng(1).dirichlet(weights, 100_000)
    assert _of_moments(draws.mean(axis=0), np.cov(draws.T)) == pytest.approx((variance, reduction), rel=0.03)


@pytest.mark.parametrize("method", ["cmap", "posterior"])
def test_what_was_seen_least_comes_first(method: str) -> None:
    data = patients(300, seed=1).filter(~((pl.col("age") == "old") & (pl.col("smoke") == "yes")))
    fit = credo.fit(CLINIC, data, "smoke raises lung", method=method)
    found = fit.explain().next_observations
    assert [each.variance_reduction for each in found] == sorted(
        (each.variance_reduction for each in found), reverse=True
    )
    assert (found[0].variable, found[0].index, found[0].observations) == ("lung", 5, 0.0)
    assert "never observed so far" in fit.explain().summary[-1]


def test_more_data_leave_less_to_learn() -> None:
    problems = [credo.fit(COIN, counted(n, n), method="map")._problem for n in (1, 10, 100)]
    reductions = [next_observations(problem, None)[0].variance_reduction for problem in problems if problem is not None]
    assert reductions == pytest.approx([0.5 / (2 * n + 3) ** 2 for n in (1, 10, 100)])


def test_what_the_knowledge_determines_needs_no_observation() -> None:
    text = (
        "smoke raises lung by at least 0.05\nP(lung=yes | age=young, each smoke) <= 0.05"  # so 0 and 0.05 for the young
    )
    for method in ("cmap", "cml", "posterior"):
        explanation = credo.fit(CLINIC, patients(14, seed=4), text, method=method).explain()
        assert all(
            (each.variable, each.index) not in (("lung", 0), ("lung", 1)) for each in explanation.next_observations[:5]
        )


def test_more_states_than_draws_need_no_covariance_matrix() -> None:
    draws = np.random.default_rng(1).dirichlet(np.ones(30), 20)
    assert _of_draws(draws) == pytest.approx(_of_moments(draws.mean(axis=0), np.cov(draws.T)))
