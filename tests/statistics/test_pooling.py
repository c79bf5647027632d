"""Partial pooling: against an integral by hand, at both ends, and with an error that is lower than at both."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from scipy.special import betaln
from scipy.stats import beta, norm

import credo
from credo.statistics.pooling import (
    DECAY,
    DEVIATIONS,
    STRONGEST,
    WEAKEST,
    borrowed_cases,
    cases_for_a_new_member,
    common_cpts,
    share_of_others,
)


def pooled(counts: np.ndarray) -> np.ndarray:
    found = common_cpts([counts])[0]
    borrowed = np.zeros(counts.shape)
    borrowed[:, found.seen] = borrowed_cases(counts[:, found.seen], found.strengths, found.means)
    return borrowed


def strength_prior(logs: np.ndarray, decay: float) -> np.ndarray:
    """Of log₂ of a strength, its mean and deviation summed over."""
    means = np.arange(WEAKEST, STRONGEST + 0.25, 0.5)[:, None, None]
    densities = norm.pdf(logs, means, np.array(DEVIATIONS)[:, None])
    return (densities * 2.0 ** (-decay * np.maximum(means, 0.0))).sum(axis=(0, 1))


def test_the_posterior_of_two_members_by_integration() -> None:
    """P(θ_1 = first state) of two members with one distribution of two states, over a grid of c, a, q and m."""
    counts = np.array([[7.0, 3.0], [20.0, 30.0]])
    logs = np.arange(WEAKEST, STRONGEST, 0.25) + 0.125
    m, q = (np.arange(400) + 0.5) / 400, (np.arange(60) + 0.5) / 60
    a = 2.0 ** logs[:, None]
    edges = np.arange(401) / 400
    around = np.diff(beta.cdf(edges, (a * q)[..., None], (a * (1.0 - q))[..., None]), axis=-1)  # m falls into a cell
    weights = strength_prior(logs, 0.0) @ around.sum(axis=1)
    c = 2.0 ** logs[:, None]
    first, second = c * m, c * (1.0 - m)
    likelihood = sum(betaln(first + k, second + n) - betaln(first, second) for k, n in counts)
    chances = np.exp(likelihood - likelihood.max()) * weights * strength_prior(logs, DECAY)[:, None]
    chances /= chances.sum()
    found = pooled(counts[:, None])[:, 0] + counts
    for (k, n), own in zip(counts, found, strict=True):
        mean = (chances * (k + first) / (k + n + c)).sum()
        square = (chances * (k + first) * (k + first + 1.0) / ((k + n + c) * (k + n + c + 1.0))).sum()
        assert own[0] / own.sum() == pytest.approx(mean, abs=0.03)
        size = (mean - mean**2) / (square - mean**2) - 1.0
        assert own.sum() == pytest.approx(size, rel=0.15)


def test_strengths_of_several_cpts_are_learned_together() -> None:
    """A CPT with few cases is taken to be as much alike as the others."""
    rng = np.random.default_rng(3)
    few = np.array([[[2.0, 1.0]], [[1.0, 2.0]], [[2.0, 2.0]]])
    alike = [np.stack([rng.multinomial(400, (0.4, 0.6))[None] for _ in range(3)]).astype(float) for _ in range(4)]
    unlike = [np.array([[[390.0, 10.0]], [[10.0, 390.0]], [[200.0, 200.0]]])] * 4
    medians = [np.median(common_cpts([few, *others])[0].strengths) for others in (alike, unlike)]
    assert medians[0] > 20 * medians[1]


def test_a_large_member_does_not_drown_small_ones_that_agree() -> None:
    small = np.tile([[[6.0, 14.0]]], (4, 1, 1))
    counts = np.concatenate([small, [[[900.0, 100.0]]]])
    borrowed = pooled(counts)[0, 0]
    assert borrowed[0] / borrowed.sum() < 0.6  # of all others' cases 87% have the first state


def test_the_order_of_members_makes_hardly_a_difference() -> None:
    counts = np.random.default_rng(0).poisson(8.0, size=(5, 3, 2)).astype(float)
    order = [3, 0, 4, 1, 2]
    means = [(counts[order] + pooled(counts[order])), (counts + pooled(counts))[order]]
    first, second = (each / each.sum(axis=-1, keepdims=True) for each in means)
    assert first == pytest.approx(second, abs=0.02)


def test_equal_members_are_pooled_and_different_ones_are_not() -> None:
    equal = np.repeat([[[300.0, 700.0], [500.0, 500.0]]], 4, axis=0)
    assert pooled(equal).sum(axis=-1).min() > 0.2 * 3000
    assert share_of_others(equal, common_cpts([equal])[0].strengths) > 0.5
    different = np.array([[[950.0, 50.0]], [[50.0, 950.0]], [[500.0, 500.0]]])
    assert pooled(different).sum(axis=-1).max() < 10
    found = common_cpts([different])[0]
    assert cases_for_a_new_member(found.strengths, found.means).sum() < 10
    assert share_of_others(different, found.strengths) < 0.02
    assert pooled(np.zeros((3, 2, 2))).max() == 0.0


def test_thousands_of_cases_and_parts_of_cases() -> None:
    many = np.array([[[40_000.0, 60_000.0]], [[400.0, 600.0]], [[4.0, 6.0]]])
    own = pooled(many)[2, 0]
    assert own[0] / own.sum() == pytest.approx(0.4, abs=0.02)
    parts = np.array([[[0.3, 0.2]], [[0.1, 0.4]]])
    assert np.isfinite(pooled(parts)).all()


def test_near_members_have_less_error_than_one_cpt_and_than_separate_ones() -> None:
    rng = np.random.default_rng(0)
    errors = np.zeros(3)
    for _ in range(12):
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
    assert near.interval[1] - near.interval[0] < 0.85 * (alone.interval[1] - alone.interval[0])
    assert credo.fit(text + "a, b have nearly one CPT", rows, method="cmap").query(asked).probability == pytest.approx(
        0.5, abs=0.05
    )
    knowledge = credo.Knowledge(credo.declared_network(text).network, "a, b have nearly one CPT")
    assert knowledge.to_text().strip() == "a, b have nearly one CPT"
    assert str(credo.one_cpt(["a", "b"], nearly=True)) == "a, b have nearly one CPT"


@pytest.mark.slow
def test_intervals_hold_the_truth_at_members_and_at_a_new_one() -> None:
    """Groups of few members, whose strength is hardly known: 95% intervals of their shares, over many groups."""
    rng = np.random.default_rng(7)
    for strength in (5.0, 30.0, 300.0):
        own, new = [], []
        for _ in range(15):
            mean = rng.uniform(0.1, 0.6, 4)
            truth = rng.beta(strength * mean, strength * (1.0 - mean), (6, 4))
            sizes = rng.integers(10, 150, (5, 4))
            counts = np.stack([seen := rng.binomial(sizes, truth[:5]), sizes - seen], axis=-1).astype(float)
            found = common_cpts([counts])[0]
            own.append(held(counts + borrowed_cases(counts, found.strengths, found.means), truth[:5]))
            new.append(held(cases_for_a_new_member(found.strengths, found.means), truth[5]))
        assert np.mean(own) == pytest.approx(0.95, abs=0.04)
        assert np.mean(new) > 0.88


def held(cases: np.ndarray, truth: np.ndarray) -> np.ndarray:
    first, second = np.moveaxis(cases, -1, 0)
    return (beta.ppf(0.025, first, second) <= truth) & (truth <= beta.ppf(0.975, first, second))
