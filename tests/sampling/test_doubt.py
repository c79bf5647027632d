"""Statements that may be wrong, against importance sampling: exact but for the error of many draws."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import betaln

from credo.constraints.blocks import blocks_of
from credo.constraints.lower import lower
from credo.knowledge import Knowledge
from credo.sampling.distributions import Hyperparameters
from credo.sampling.doubted_statements import DoubtedStatements, Expert
from credo.sampling.posterior import PosteriorResult, posterior
from tests.helpers.posterior_runs import Given, both, family

FLAT = Hyperparameters((3.0,), (), least_unseen_strength=3.0)  # Dirichlet(1, 1, 1)
COUNTS = np.array([[6.0, 2.0, 1.0], [1.0, 1.0, 0.0], [0.0, 0.0, 0.0], [2.0, 0.0, 7.0]])
STATEMENTS = (
    "P(x=x0 | a=a0) <= 0.4",  # against the data
    "0.3 <= P(x=x1 | a=a2) <= 0.4",  # narrow, no data
    "P(x=x0 | a=a0) <= P(x=x0 | a=a1)",
    "P(x=x0 | a=a1) ~ P(x=x0 | a=a2) within 0.1",
    "P(x=x0 | a=a2) >= 0.6",  # contradicts the second
    "P(x=x2 | a=a3) >= 0.5",
)
HARD = "P(x=x2 | a=a1) <= 0.3"


def doubts(
    count: int, expert: Expert, confidences: dict[int, float] | None = None, widening: float = 0.0
) -> DoubtedStatements:
    given = np.full(count, np.nan)
    for number, confidence in (confidences or {}).items():
        given[number] = confidence
    zeros = np.zeros(count, dtype=np.int64)
    return DoubtedStatements(
        np.arange(count), (expert,), zeros, given, np.full(count, widening), np.zeros(count, dtype=np.bool_)
    )


def sampled(doubted: DoubtedStatements, compiled: bool) -> PosteriorResult:
    network = family(*COUNTS.shape)
    constraints = lower(Knowledge(network, [*STATEMENTS, HARD]))
    return posterior(
        network,
        ("x",),
        Given({"x": COUNTS}),  # type: ignore[arg-type]
        blocks_of(constraints),
        hyperparameters=FLAT,
        doubts=doubted,
        compiled=compiled,
        seed=1,
    )


def weighted(doubted: DoubtedStatements, draws: int = 400_000) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Means and deviations of θ, the probability of each statement, and the mean reliability."""
    rng = np.random.default_rng(5)
    network = family(*COUNTS.shape)
    constraints = lower(Knowledge(network, [*STATEMENTS, HARD]))
    theta = np.concatenate([rng.dirichlet(1.0 + counts, draws) for counts in COUNTS], axis=1)
    layout = constraints.layout
    whole = np.full((draws, layout.size), 1.0 / 4.0)
    whole[:, layout.slice_of("x")] = theta
    values = constraints.linear.values(whole)
    holds = values <= constraints.linear.bounds
    true = np.stack([holds[:, constraints.linear.statements == s].all(axis=1) for s in range(len(STATEMENTS) + 1)])
    logs = np.where(true[-1], 0.0, -np.inf)
    true = true[:-1]
    learned = doubted.learned >= 0
    logs = logs + np.where(true, doubted.log_widening[:, None], 0.0).sum(axis=0)
    expert = doubted.experts[0]
    held = true[learned].sum(axis=0)
    if expert.reliability is None:
        a, b = expert.prior
        logs = logs + betaln(a + held, b + learned.sum() - held)
        reliability = (a + held) / (a + b + learned.sum())
    else:
        reliability = np.full(draws, expert.reliability)
    r = np.where(np.isnan(doubted.confidences), expert.reliability or np.nan, doubted.confidences)[~learned][:, None]
    logs = logs + np.where(true[~learned], np.log(r), np.log1p(-r)).sum(axis=0)
    weights = np.exp(logs - logs.max())
    weights /= weights.sum()
    mean = weights @ theta
    deviation = np.sqrt(weights @ theta**2 - mean**2)
    return mean, deviation, true @ weights, float(weights @ reliability)  # type: ignore[return-value]


CASES = {
    "given": doubts(6, Expert("", 0.9)),
    "learned": doubts(6, Expert("", None, (4.0, 1.0))),
    "confidences": doubts(6, Expert("", None, (2.0, 2.0)), {0: 0.95, 1: 0.2, 4: 0.7}),
    "widened": doubts(6, Expert("", 0.8), widening=1.5),
}


@both
@pytest.mark.parametrize("case", CASES)
def test_draws_agree_with_weighted_ones(case: str, compiled: bool) -> None:
    result = sampled(CASES[case], compiled)
    mean, deviation, chances, reliability = weighted(CASES[case])
    assert result.doubt is not None
    found = np.array([each.probability for each in result.doubt.statements])
    errors = np.array([each.error for each in result.doubt.statements])
    print(found, chances, errors, result.doubt.r_hat)
    np.testing.assert_array_less(np.abs(found - chances), 4.0 * errors + 0.006)
    np.testing.assert_allclose(result.means["x"].ravel(), mean, atol=0.02)
    np.testing.assert_allclose(result.deviations["x"].ravel(), deviation, atol=0.015)
    assert result.doubt.experts[0].reliability == pytest.approx(reliability, abs=0.02)
    assert (result.draws[:, :, 5] <= 0.3 + 1e-9).all()  # what must hold does
