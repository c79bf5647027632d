"""Distributions under a range: which they are, draws against integrals, and thousands of equal ones that mix."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy.special import betainc, betaln
from scipy.stats import beta

from credo.constraints.blocks import Block
from credo.constraints.constraint_set import LinearConstraint
from credo.sampling.distributions import Hyperparameters
from credo.sampling.ranges import LEAST_SHARED, range_of
from credo.sampling.region import region_of
from tests.helpers.block_tasks import at_most, make_block
from tests.helpers.posterior_runs import learn


def bounds_of(size: int, *constraints: LinearConstraint) -> tuple[list[bool], float, float] | None:
    region = region_of([make_block([size], list(constraints))])
    found = range_of(region.blocks[0], region.parts[0])
    return None if found is None else (found[0].tolist(), *found[1:])


def test_what_counts_as_a_range() -> None:
    """Of one sum of states, however it is written; not of two, and not with an equality."""
    assert bounds_of(2, at_most([0], [-1.0], -0.3)) == ([True, False], 0.3, 1.0)
    assert bounds_of(2, at_most([1], [2.0], 1.4)) == ([True, False], pytest.approx(0.3), 1.0)
    assert bounds_of(3, at_most([1], [1.0], 0.4), at_most([1], [-1.0], -0.1)) == ([False, True, False], 0.1, 0.4)
    assert bounds_of(3, at_most([2], [1.0], 0.4)) == ([True, True, False], pytest.approx(0.6), 1.0)
    assert bounds_of(3, at_most([0, 1], [1.0, 1.0], 0.4)) == ([True, True, False], 0.0, pytest.approx(0.4))
    assert bounds_of(3, at_most([0], [1.0], 0.4), at_most([1], [1.0], 0.4)) is None
    assert bounds_of(3, at_most([0, 1], [1.0, -1.0], 0.0)) is None
    assert bounds_of(3, at_most([0], [1.0], 0.0)) is None
    assert bounds_of(100, at_most([0], [1.0], 0.4)) is None  # a wide distribution


def equal_blocks(count: int, low: float) -> tuple[Block, ...]:
    """Two states each, the first of which has at least this probability."""
    return tuple(
        replace(make_block([2], [at_most([0], [-1.0], -low)]), configurations=(("x", d),)) for d in range(count)
    )


HYPER = Hyperparameters(uniform_strengths=(1.0,), pooled_strengths=(8.0,), predicts=False, mean_concentration=2.0)


def exact_means(rows: np.ndarray, low: float, kappa: float) -> tuple[float, np.ndarray]:
    """E m and E θ, with m, π and w on a grid and everything else integrated over; `rows` are (distributions, 2)."""
    points = (np.arange(160) + 0.5) / 160
    m, pi, w = points[:, None, None], points[None, :, None], points[None, None, :]  # of the first state and component

    def likelihoods(a: np.ndarray, b: np.ndarray, row: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        norm, first = betaln(a, b), betaln(a + row[0], b + row[1])
        inside = 1.0 - betainc(a + row[0], b + row[1], low)
        mean = beta.mean(a + row[0], b + row[1]) * (1.0 - betainc(a + row[0] + 1.0, b + row[1], low)) / inside
        return np.exp(first - norm) * inside, mean

    log = np.log(m) + np.log1p(-m) + 0.0 * pi + 0.0 * w  # m ~ Dirichlet(2)
    log = log + beta.logpdf(pi, kappa * w, kappa * (1.0 - w))
    parts = []
    for row in rows:
        plain, plain_mean = likelihoods(np.array(0.5), np.array(0.5), row)
        pooled, pooled_mean = likelihoods(8.0 * m, 8.0 * (1.0 - m), row)
        total = pi * plain + (1.0 - pi) * pooled
        parts.append((pi * plain * plain_mean + (1.0 - pi) * pooled * pooled_mean) / total)
        log = log + np.log(total)
    weight = np.exp(log - log.max())
    weight /= weight.sum()
    return float((weight * m).sum()), np.array([float((weight * part).sum()) for part in parts])


def test_means_are_those_of_a_grid_where_bases_are_predicted() -> None:
    """Two distributions with data predict something else for each: members of one class have bases of their own."""
    counts = np.zeros((8, 2))
    counts[:2] = [1.0, 6.0], [2.0, 3.0]
    hyper = replace(HYPER, predicts=True)
    found = learn(counts, equal_blocks(8, 0.3), hyperparameters=hyper, draws=3000, compiled=True)
    bases = found.sampled.predicted.reshape(-1, 2)
    assert np.ptp(bases[:, 0]) > 0.01
    points = (np.arange(400) + 0.5) / 400
    pi, w = points[:, None], points[None]
    log = beta.logpdf(pi, hyper.pooling_concentration * w, hyper.pooling_concentration * (1.0 - w))
    parts = []
    for row, base in zip(counts, bases, strict=True):
        values = []
        strength = 8.0 if row.any() else 8.0 / 3.0
        for a, b in ((0.5, 0.5), tuple(strength * base)):
            inside, more = (1.0 - betainc(a + row[0] + k, b + row[1], 0.3) for k in (0.0, 1.0))
            likelihood = np.exp(betaln(a + row[0], b + row[1]) - betaln(a, b)) * inside
            values.append((likelihood, (a + row[0]) / (a + b + row.sum()) * more / inside))
        total = pi * values[0][0] + (1.0 - pi) * values[1][0]
        parts.append((pi * values[0][0] * values[0][1] + (1.0 - pi) * values[1][0] * values[1][1]) / total)
        log = log + np.log(total)
    weight = np.exp(log - log.max())
    weight /= weight.sum()
    exact = [float((weight * part).sum()) for part in parts]
    assert found.means["x"][:, 0] == pytest.approx(exact, abs=0.01)


@pytest.mark.parametrize("shared", [True, False])
def test_means_are_those_of_a_grid(shared: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """Twelve equal distributions without data, one with data, and all at least 0.3."""
    monkeypatch.setattr("credo.sampling.ranges.LEAST_SHARED", LEAST_SHARED if shared else 100)
    counts = np.zeros((13, 2))
    counts[12] = 2.0, 7.0
    found = learn(counts, equal_blocks(13, 0.3), hyperparameters=HYPER, draws=3000, compiled=True)
    mean, each = exact_means(counts, 0.3, HYPER.pooling_concentration)
    assert found.cpt_means[:, :, 0].mean() == pytest.approx(mean, abs=0.01)
    assert found.means["x"][:, 0] == pytest.approx(each, abs=0.01)
    assert found.draws[:, :, ::2].min() >= 0.3
    assert not found.findings


def test_both_samplers_agree_on_three_states() -> None:
    """A range of one state, one of a sum, none: with counts, and without in a class of five."""
    constraints = [at_most([0], [1.0], 0.3), at_most([0], [-1.0], -0.1)], [at_most([0, 1], [-1.0, -1.0], -0.7)]
    blocks = tuple(
        replace(make_block([3], constraints[0 if d < 5 else 1]), configurations=(("x", d),)) for d in range(7)
    )
    counts = np.zeros((9, 3))
    counts[5:] = [4.0, 1.0, 2.0], [0.0, 0.0, 3.0], [3.0, 0.0, 1.0], [1.0, 8.0, 0.0]
    one, two = (
        learn(counts, blocks, draws=3000 if compiled else 4000, compiled=compiled) for compiled in (True, False)
    )
    error = np.hypot(one.errors["x"], two.errors["x"])
    assert (np.abs(one.means["x"] - two.means["x"]) < 4.5 * error + 1e-3).all()
    assert one.deviations["x"] == pytest.approx(two.deviations["x"], rel=0.08)
    assert one.draws.sum() == pytest.approx(one.draws.shape[0] * one.draws.shape[1] * 7)


def test_thousands_of_equal_configurations_mix() -> None:
    """Under one bound, and with the same means for all of them."""
    counts = np.zeros((2048, 2))
    counts[:40] = 1.0, 0.0
    found = learn(counts, equal_blocks(2048, 0.3), compiled=True, draws=60, warmup=60, max_draws=60)
    assert not found.findings
    assert found.effective_sizes.min() > 100
    unseen = found.means["x"][40:, 0]
    assert np.ptp(unseen) < 8 * found.errors["x"][40:].max()
