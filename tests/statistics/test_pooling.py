"""Partial pooling: against an integral by hand, at both ends, and with an error that is lower than at both."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from scipy.stats import beta, betabinom, norm

import credo
from credo.statistics.pooling import (
    BASES,
    DECAY,
    DEVIATIONS,
    STRENGTHS,
    cases_for_a_new_member,
    pooled_cases,
    strength_chances,
)


def worth(k: float, n: float, c: float) -> float:
    """What k of n cases of one other member are worth."""
    draws = (c + 1) / (n + c) * k if c else k / n
    return c / (c + 1 + draws * n / k) * draws


def pooled(counts: np.ndarray) -> np.ndarray:
    return pooled_cases(counts, strength_chances([counts])[0])


def test_the_strength_by_hand_for_two_members() -> None:
    counts = np.array([[[7.0, 3.0]], [[20.0, 30.0]]])
    likelihoods = []
    for c in STRENGTHS:
        total = 0.0
        for base in BASES:
            logs = 0.0
            for (a, b), (k, m) in (
                ((7, 3), (20, 30)),
                ((20, 30), (7, 3)),
            ):  # each alone, or from the other
                logs += 0.5 * betabinom.logpmf(a, a + b, base, base)
                logs += 0.5 * betabinom.logpmf(k, k + m, base + worth(a, a + b, c), base + worth(b, a + b, c))
            total += np.exp(logs)
        likelihoods.append(total)
    prior = np.zeros(len(STRENGTHS))
    for mean in range(len(STRENGTHS)):
        for deviation in DEVIATIONS:
            density = norm.pdf(np.arange(len(STRENGTHS)), mean, deviation)
            prior += density / density.sum() * max(STRENGTHS[mean], 1.0) ** -DECAY
    chances = prior * likelihoods
    chances /= chances.sum()
    sizes = np.array([worth(20, 50, c) + worth(30, 50, c) for c in STRENGTHS])
    size = 1.0 / (chances / (sizes + 1.0)).sum() - 1.0  # the variance of the mixture, in units of m (1 − m)
    assert pooled(counts)[0, 0] == pytest.approx([0.4 * size, 0.6 * size])


def test_members_that_are_equal_or_unlike_keep_a_wide_prior() -> None:
    """Where half of the probability is on no pooling, thousands of cases of others cannot count as hundreds."""
    counts = np.array([[[27.0, 93.0]], [[1320.0, 2680.0]], [[2.0, 1.0]]])
    chances = np.zeros(len(STRENGTHS))
    chances[[0, -1]] = 0.5
    assert pooled_cases(counts, chances)[0].sum() == pytest.approx(1.0, abs=0.01)
    chances[[0, -1]] = 0.0, 1.0
    assert pooled_cases(counts, chances)[0].sum() == pytest.approx(4003, rel=0.01)


def test_a_large_member_does_not_drown_small_ones_that_agree() -> None:
    small = np.tile([[[6.0, 14.0]]], (4, 1, 1))
    counts = np.concatenate([small, [[[900.0, 100.0]]]])
    borrowed = pooled(counts)[0, 0]
    assert borrowed[0] / borrowed.sum() < 0.55  # of all others' cases 87% have the first state


def test_the_order_of_members_makes_no_difference() -> None:
    counts = np.random.default_rng(0).poisson(8.0, size=(5, 3, 2)).astype(float)
    assert pooled(counts[[3, 0, 4, 1, 2]]) == pytest.approx(pooled(counts)[[3, 0, 4, 1, 2]])


def test_equal_members_are_pooled_and_different_ones_are_not() -> None:
    equal = np.repeat([[[300.0, 700.0], [500.0, 500.0]]], 4, axis=0)
    assert pooled(equal).sum(axis=-1).min() > 0.5 * 3000
    different = np.array([[[950.0, 50.0]], [[50.0, 950.0]], [[500.0, 500.0]]])
    assert pooled(different).sum(axis=-1).max() < 10
    new = cases_for_a_new_member(different, strength_chances([different])[0])
    assert new.sum() < 10
    assert pooled(np.zeros((3, 2, 2))).max() == 0.0


def test_near_members_have_less_error_than_one_cpt_and_than_separate_ones() -> None:
    rng = np.random.default_rng(0)
    errors = np.zeros(3)
    for _ in range(60):
        truth = rng.dirichlet(30.0 * np.array([0.3, 0.7]), size=6)[:, 1]
        sizes = np.array([5, 10, 20, 40, 80, 200])
        k = rng.binomial(sizes, truth)
        counts = np.stack([sizes - k, k], axis=1)[:, None, :].astype(float)
        for place, table in enumerate((counts + pooled(counts), counts.sum(axis=0) + 0 * counts, counts)):
            p = (table[:, 0, 1] + 0.5) / (table[:, 0].sum(axis=-1) + 1.0)
            errors[place] += np.abs(p - truth).mean()
    assert errors[0] < 0.9 * errors[1:].min()


def test_pumps_with_nearly_one_cpt() -> None:
    text = "variables load, a, b: no, yes\na depends on load\nb depends on load\n"
    rows = pl.DataFrame(
        {
            "load": ["no", "yes"] * 100,
            "a": ["no", "yes", "no", "no"] * 50,  # 1 in 2 under load
            "b": ["no", "yes", "no", "no"] + [None] * 196,
        }
    )
    asked = "P(b=yes | load=yes)"
    near, alone = (credo.fit(text + line, rows).query(asked) for line in ("CPT of b is nearly that of a", ""))
    assert near.interval[1] - near.interval[0] < 0.8 * (alone.interval[1] - alone.interval[0])
    assert credo.fit(text + "a, b have nearly one CPT", rows, method="cmap").query(asked).probability == pytest.approx(
        0.5, abs=0.02
    )
    knowledge = credo.Knowledge(credo.declared_network(text).network, "a, b have nearly one CPT")
    assert knowledge.to_text().strip() == "a, b have nearly one CPT"
    assert str(credo.one_cpt(["a", "b"], nearly=True)) == "a, b have nearly one CPT"


def test_intervals_hold_the_truth_at_members_and_at_a_new_one() -> None:
    """Groups of few members, whose strength is hardly known: 95% intervals of their shares, over many groups."""
    rng = np.random.default_rng(7)
    for strength in (5.0, 30.0, 300.0):
        own, new = [], []
        for _ in range(60):
            mean = rng.uniform(0.1, 0.6, 4)
            truth = rng.beta(strength * mean, strength * (1.0 - mean), (6, 4))
            sizes = rng.integers(10, 150, (5, 4))
            counts = np.stack([seen := rng.binomial(sizes, truth[:5]), sizes - seen], axis=-1).astype(float)
            chances = strength_chances([counts])[0]
            own.append(held(counts + pooled_cases(counts, chances), truth[:5]))
            new.append(held(cases_for_a_new_member(counts, chances), truth[5]))
        assert np.mean(own) == pytest.approx(0.95, abs=0.03)
        assert np.mean(new) > 0.88


def held(cases: np.ndarray, truth: np.ndarray) -> np.ndarray:
    first, second = np.moveaxis(cases + 0.5, -1, 0)
    return (beta.ppf(0.025, first, second) <= truth) & (truth <= beta.ppf(0.975, first, second))
