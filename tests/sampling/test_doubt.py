"""Statements that may be wrong, against importance sampling: exact but for the error of many draws."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import pytest
from scipy.special import betaln

from credo import Knowledge
from credo.constraints.blocks import blocks_of
from credo.constraints.lower import lower
from credo.sampling.distributions import Hyperparameters
from credo.sampling.doubted_statements import DoubtedStatements, Expert
from credo.sampling.posterior import DirichletChains, sample_chains
from tests.helpers.posterior_runs import Given, family

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


def sampled(doubted: DoubtedStatements, compiled: bool) -> DirichletChains:
    network = family(*COUNTS.shape)
    constraints = lower(Knowledge(network, [*STATEMENTS, HARD]))
    return sample_chains(
        network,
        ("x",),
        Given({"x": COUNTS}),  # type: ignore[arg-type]
        blocks_of(constraints),
        hyperparameters=FLAT,
        doubts=doubted,
        compiled=compiled,
        seed=1,
    )


@dataclass(frozen=True)
class Expected:
    """What draws from the data alone say, each with the weight that statements give it; and the errors of that."""

    mean: np.ndarray
    deviation: np.ndarray
    chances: np.ndarray
    without: np.ndarray
    reliability: float
    errors: np.ndarray  # of chances


def weighted(doubted: DoubtedStatements, draws: int = 250_000, batches: int = 10) -> Expected:
    rng = np.random.default_rng(5)
    constraints = lower(Knowledge(family(*COUNTS.shape), [*STATEMENTS, HARD]))
    theta = np.concatenate([rng.dirichlet(1.0 + counts, draws) for counts in COUNTS], axis=1)
    whole = np.full((draws, constraints.layout.size), 0.25)
    whole[:, constraints.layout.slice_of("x")] = theta
    holds = constraints.linear.values(whole) <= constraints.linear.bounds
    true = np.stack([holds[:, constraints.linear.statements == s].all(axis=1) for s in range(len(STATEMENTS) + 1)])
    true, hard = true[:-1], true[-1]
    logs, reliability = _log_weights(doubted, true)
    logs[~hard] = -np.inf

    def chances(logs: np.ndarray, which: np.ndarray) -> np.ndarray:
        weights = np.exp(logs - logs.max())
        return np.asarray(which @ weights / weights.sum())

    weights = np.exp(logs - logs.max())
    weights /= weights.sum()
    mean = weights @ theta
    alone = []
    for place in range(len(true)):
        others = np.arange(len(true)) != place
        kept = replace(
            doubted,
            numbers=doubted.numbers[others],
            expert_of=doubted.expert_of[others],
            confidences=doubted.confidences[others],
            log_widening=doubted.log_widening[others],
            false=doubted.false[others],
        )
        without, _ = _log_weights(kept, true[others])
        alone.append(chances(np.where(hard, without, -np.inf), true[place : place + 1])[0])
    parts = [chances(each, own) for each, own in zip(np.split(logs, batches), np.split(true, batches, 1), strict=True)]
    return Expected(
        mean,
        np.sqrt(weights @ theta**2 - mean**2),
        chances(logs, true),
        np.array(alone),
        float(weights @ reliability),
        np.std(parts, axis=0) / np.sqrt(batches),
    )


def _log_weights(doubted: DoubtedStatements, true: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """log of the weights of draws in which these statements hold, r summed over where it is learned; and E r."""
    learned, expert = doubted.learned >= 0, doubted.experts[0]
    logs = np.where(true, doubted.log_widening[:, None], 0.0).sum(axis=0)
    held = true[learned].sum(axis=0)
    if expert.reliability is None:
        a, b = expert.prior
        logs = logs + betaln(a + held, b + learned.sum() - held)
        reliability = (a + held) / (a + b + learned.sum())
    else:
        reliability = np.full(true.shape[1], expert.reliability)
    given = np.nan if expert.reliability is None else expert.reliability
    r = np.where(np.isnan(doubted.confidences), given, doubted.confidences)[~learned][:, None]
    return logs + np.where(true[~learned], np.log(r), np.log1p(-r)).sum(axis=0), reliability


CASES = {
    "learned": doubts(6, Expert("", None, (4.0, 1.0)), widening=0.5),
    "confidences": doubts(6, Expert("", None, (2.0, 2.0)), {0: 0.95, 1: 0.2, 4: 0.7}),
    "given": doubts(6, Expert("", 0.85)),
}
RUNS = [
    ("learned", False),
    ("confidences", True),
    *(pytest.param(*run, marks=pytest.mark.slow) for run in (("learned", True), ("confidences", False))),
    *(pytest.param("given", compiled, marks=pytest.mark.slow) for compiled in (False, True)),
]


@pytest.mark.parametrize(("case", "compiled"), RUNS)
def test_draws_agree_with_weighted_ones(case: str, compiled: bool) -> None:
    result, expected = sampled(CASES[case], compiled), weighted(CASES[case])
    assert result.doubt is not None
    found = np.array([each.probability for each in result.doubt.statements])
    errors = np.array([each.error for each in result.doubt.statements])
    np.testing.assert_array_less(np.abs(found - expected.chances), 4.0 * np.hypot(errors, expected.errors) + 0.002)
    without = np.array([each.without for each in result.doubt.statements])
    np.testing.assert_allclose(without, expected.without, atol=0.08)
    np.testing.assert_allclose(result.means["x"].ravel(), expected.mean, atol=0.03)
    np.testing.assert_allclose(result.deviations["x"].ravel(), expected.deviation, atol=0.03)
    assert result.doubt.experts[0].reliability == pytest.approx(expected.reliability, abs=0.03)
    assert (result.draws[:, :, 5] <= 0.3 + 1e-9).all()  # what must hold does
    assert (result.doubt.r_hat < 1.05).all()


def test_a_narrow_statement_is_as_probable_as_its_expert_is_reliable() -> None:
    """Without data, whatever it says: its odds before it was made are even."""
    network = family(2, 2)
    text = "0.30 <= P(x=x0 | a=a0) <= 0.31"
    constraints = lower(Knowledge(network, text))
    widening = float(np.log(0.99 / 0.01))
    result = sample_chains(
        network,
        ("x",),
        Given({"x": np.zeros((2, 2))}),  # type: ignore[arg-type]
        blocks_of(constraints),
        hyperparameters=Hyperparameters((2.0,), (), least_unseen_strength=2.0),
        doubts=doubts(1, Expert("", 0.8), widening=widening),
        seed=2,
    )
    assert result.doubt is not None
    (belief,) = result.doubt.statements
    assert belief.probability == pytest.approx(0.8, abs=0.03)
    assert belief.without == pytest.approx(0.01, abs=0.003)
