"""The additive model and the average: values by numerical integration, and what must not change."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

pytest.importorskip("sklearn")

from credo.sklearn import additive
from credo.sklearn.additive import Curve, curve_of, learn_additive
from credo.sklearn.averaging import held_out, mixture_draws, stacking_weights

ONES = np.ones


def by_integration(feature: np.ndarray, labels: np.ndarray, sign: int, trust: float) -> np.ndarray:
    """P(y = 1 | x) for x = 0 and 1, on a grid; with its scale integrated out, an effect has a t distribution."""
    intercepts, effects = np.meshgrid(np.linspace(-4, 4, 401), np.linspace(-8, 8, 801), indexing="ij")
    prior = stats.norm.pdf(intercepts, scale=additive.INTERCEPT_DEVIATION)
    prior = prior * stats.t.pdf(effects / additive.SCALES[0], additive.FREEDOM)
    prior = prior * (np.where(effects * sign >= 0, trust, 1 - trust) if sign else 1.0)
    logs = np.log(np.maximum(prior, 1e-300))
    centre = np.nanmean(feature)
    for x, y in zip(feature, labels, strict=True):
        chances = [stats.norm.cdf((2 * y - 1) * (intercepts + effects * (v - centre))) for v in (0.0, 1.0)]
        share = centre if np.isnan(x) else x  # of the value 1
        logs = logs + np.log((1 - share) * chances[0] + share * chances[1])
    weights = np.exp(logs - logs.max())
    chances = [stats.norm.cdf(intercepts + effects * (x - centre)) for x in (0.0, 1.0)]
    return np.array([(weights * chance).sum() / weights.sum() for chance in chances])


@pytest.mark.parametrize(("sign", "trust"), [(0, 1.0), (1, 1.0), (-1, 1.0), (-1, 0.9)])
def test_the_posterior_is_that_of_numerical_integration(sign: int, trust: float) -> None:
    feature = np.repeat([0.0, 1.0], [9, 6])
    labels = np.array([1] * 2 + [0] * 7 + [1] * 4 + [0] * 2)
    curve = curve_of(feature, ONES(15), sign, ordered=True)
    models = [learn_additive([feature], [curve], labels, ONES(15), seed, trust) for seed in range(8)]
    found = np.mean([model.probabilities([np.array([0.0, 1.0])]) for model in models], axis=(0, 1))
    np.testing.assert_allclose(found, by_integration(feature, labels, sign, trust), atol=0.008)


def test_missing_values_of_training_rows_are_summed_out() -> None:
    feature = np.array([0.0] * 6 + [1.0] * 6 + [np.nan] * 8)
    labels = np.array([1] * 1 + [0] * 5 + [1] * 5 + [0] * 1 + [1] * 7 + [0] * 1)
    curve = curve_of(feature, ONES(20), 0, ordered=True)
    models = [learn_additive([feature], [curve], labels, ONES(20), seed) for seed in range(8)]
    found = np.mean([model.probabilities([np.array([0.0, 1.0])]) for model in models], axis=(0, 1))
    np.testing.assert_allclose(found, by_integration(feature, labels, 0, 1.0), atol=0.008)


def test_the_order_of_rows_with_missing_values_means_nothing() -> None:
    rng = np.random.default_rng(2)
    table = rng.normal(size=(2, 60)).round(1)
    table[rng.random(table.shape) < 0.2] = np.nan
    labels = (rng.random(60) < 0.5).astype(int)
    other = rng.permutation(60)
    grid = np.linspace(-2, 2, 9)
    found = []
    for values, y in ((table, labels), (table[:, other], labels[other])):
        curves = [curve_of(each, ONES(60), 0, ordered=True) for each in values]
        found.append(learn_additive(list(values), curves, y, ONES(60), 0).probabilities([grid, -grid]))
    np.testing.assert_allclose(*found, atol=1e-6)


def test_directions_hold_in_every_draw() -> None:
    rng = np.random.default_rng(1)
    rising, falling = rng.normal(size=(2, 50))
    labels = (rising + falling + rng.normal(size=50) > 0).astype(int)  # the second acts against what is stated
    curves = [curve_of(rising, ONES(50), 1, ordered=True), curve_of(falling, ONES(50), -1, ordered=True)]
    model = learn_additive([rising, falling], curves, labels, ONES(50), 0)
    grid = np.linspace(-3, 3, 41)
    assert (np.diff(model.probabilities([grid, np.zeros(41)]), axis=1) >= 0).all()
    assert (np.diff(model.probabilities([np.zeros(41), grid]), axis=1) <= 0).all()
    assert np.ptp(model.probabilities([grid, np.full(41, np.nan)]).mean(axis=0)) > 0.5


def test_what_features_do_together_is_learned_unless_directions_are_certain() -> None:
    rng = np.random.default_rng(6)
    both = rng.normal(size=(2, 300))
    labels = (both[0] * both[1] > 0).astype(int)
    corners = [np.array([-1.0, -1.0, 1.0, 1.0]), np.array([-1.0, 1.0, -1.0, 1.0])]
    for sign, trust in ((0, 0.9), (0, 1.0), (1, 1.0)):
        curves = [curve_of(values, ONES(300), sign, ordered=True) for values in both]
        model = learn_additive(list(both), curves, labels, ONES(300), 0, trust)
        found = model.probabilities(corners).mean(axis=0)
        assert (model.interactions is None) == (sign == 1)
        assert (found[[0, 3]].min() > found[[1, 2]].max() + 0.3) == (sign == 0)


def test_weights_are_rows_and_their_order_means_nothing() -> None:
    rng = np.random.default_rng(2)
    values, other = rng.normal(size=(2, 30)).round(1)
    labels = rng.integers(0, 2, 30)
    weights = rng.integers(1, 4, 30).astype(float)
    again = rng.permutation(np.repeat(np.arange(30), weights.astype(int)))
    found = [
        learn_additive([v, u], [curve_of(each, w, 0, ordered=True) for each in (v, u)], y, w, 0)
        for v, u, y, w in (
            (values, other, labels, weights),
            (values[again], other[again], labels[again], ONES(len(again))),
        )
    ]
    grid = np.linspace(-2, 2, 9)
    np.testing.assert_allclose(*(model.probabilities([grid, -grid]) for model in found), atol=1e-6)


def test_heavy_and_fractional_weights_are_nearly_rows() -> None:
    rng = np.random.default_rng(3)
    means = np.repeat([[-1.5, 0.0, 2.0]], 20_000, axis=0)
    exact = additive._latent_sums(means, np.full(3, 16.0), rng)
    nearly = additive._latent_sums(means, np.full(3, 16.0 + 1e-9), rng)
    np.testing.assert_allclose(exact.mean(axis=0), nearly.mean(axis=0), rtol=0.01)
    np.testing.assert_allclose(exact.std(axis=0), nearly.std(axis=0), rtol=0.03)


def test_curves_follow_what_a_feature_is() -> None:
    assert curve_of(np.full(5, np.nan), ONES(5), 1, ordered=True) == Curve(1, None)
    assert curve_of(np.array([2.0, 2.0]), ONES(2), 1, ordered=True) == Curve(1, None)
    two = curve_of(np.array([1.0, 3.0, 3.0, 3.0]), ONES(4), 1, ordered=True)
    assert (two.line, two.points) == ((2.5, 2.0), ())
    assert curve_of(np.array([0.0, 1.0, 2.0]), ONES(3), 0, ordered=False).states == (0.0, 1.0, 2.0)
    many = curve_of(np.arange(1000.0), ONES(1000), 0, ordered=True)
    assert len(many.points) == additive.MOST_STEPS
    np.testing.assert_allclose(np.diff([0, *many.points, 999]), 1000 / (additive.MOST_STEPS + 1), atol=2)


# The average ----------------------------------------------------------------------------------------------------------


def test_held_out_probabilities_are_those_of_a_conjugate_model() -> None:
    """A Beta posterior with a row left out has a mean known in closed form."""
    draws = np.random.default_rng(4).beta(1 + 7, 1 + 5, (20_000, 1))
    labels = np.array([1] * 7 + [0] * 5)
    found = held_out(np.where(labels == 1, draws, 1 - draws))
    np.testing.assert_allclose(found, np.where(labels == 1, 7 / 13, 5 / 13), atol=0.005)


def test_a_model_that_predicts_better_gets_the_weight() -> None:
    good, bad = np.full(400, 0.9), np.full(400, 0.3)
    assert stacking_weights({"additive": bad, "network": good}, ONES(400))["network"] > 0.9
    few = stacking_weights({"additive": bad[:5], "network": good[:5]}, ONES(5))
    assert few["additive"] > 0.5
    assert sum(few.values()) == pytest.approx(1)


def test_draws_of_a_mixture_come_from_its_parts() -> None:
    draws = mixture_draws([np.zeros((100, 2)), np.ones((600, 2))], np.array([0.25, 0.75]))
    assert draws.mean() == pytest.approx(0.75)
