"""Partial pooling: against an integral by hand, at both ends, and with an error that is lower than at both."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from scipy.stats import betabinom

import credo
from credo.statistics.pooling import STRENGTHS, cases_for_a_new_member, pooled_cases


def test_the_strength_by_hand_for_two_members() -> None:
    counts = np.array([[[7.0, 3.0]], [[20.0, 30.0]]])
    logs = []
    for c in STRENGTHS:
        total = 0.0
        for (a, b), (k, m) in (((7, 3), (20, 30)), ((20, 30), (7, 3))):
            w = c / (c + a + b) if c else 0.0
            total += betabinom.logpmf(a, a + b, 0.5, 0.5) + betabinom.logpmf(k, k + m, 0.5 + w * a, 0.5 + w * b)
        logs.append(0.5 * total)
    chances = np.exp(np.array(logs) - max(logs))
    chances /= chances.sum()
    share = sum(p * (c / (c + 50) if c else 0.0) for p, c in zip(chances, STRENGTHS, strict=True))
    pooled, _ = pooled_cases(counts)
    assert pooled[0, 0] == pytest.approx(share * np.array([20.0, 30.0]))


def test_equal_members_are_pooled_and_different_ones_are_not() -> None:
    equal = np.repeat([[[300.0, 700.0], [500.0, 500.0]]], 4, axis=0)
    pooled, _ = pooled_cases(equal)
    assert pooled.sum(axis=-1).min() > 0.6 * 3000
    different = np.array([[[950.0, 50.0]], [[50.0, 950.0]], [[500.0, 500.0]]])
    pooled, _ = pooled_cases(different)
    assert pooled.sum(axis=-1).max() < 10
    new = cases_for_a_new_member(different)
    assert new.sum() < 10
    assert pooled_cases(np.zeros((3, 2, 2)))[0].max() == 0.0


def test_near_members_have_less_error_than_one_cpt_and_than_separate_ones() -> None:
    rng = np.random.default_rng(0)
    errors = np.zeros(3)
    for _ in range(60):
        truth = rng.dirichlet(30.0 * np.array([0.3, 0.7]), size=6)[:, 1]
        sizes = np.array([5, 10, 20, 40, 80, 200])
        k = rng.binomial(sizes, truth)
        counts = np.stack([sizes - k, k], axis=1)[:, None, :].astype(float)
        pooled, _ = pooled_cases(counts)
        for place, table in enumerate((counts + pooled, counts.sum(axis=0) + 0 * counts, counts)):
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
