"""The additive model: values by importance sampling from its prior, and what must not change."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import betaln, softmax

pytest.importorskip("sklearn")

from credo.sklearn import additive
from credo.sklearn.additive import learn_additive
from credo.sklearn.feature_columns import MOST_STEPS, Curve, curve_of
from credo.sklearn.missing_features import SimilarRows

ONES = np.ones


def by_importance(feature: np.ndarray, labels: np.ndarray, sign: int, trust: float) -> np.ndarray:
    """P(y = 1 | x) for x = 0 and 1, from draws of the prior: the formulas at the beginning of `additive.py`."""
    rng, draws = np.random.default_rng(5), 400_000
    width = np.exp(additive.CENTRES[0] + additive.SPREADS[0] * rng.normal(size=draws))
    effect = width * np.exp(additive.CENTRES[1] + additive.SPREADS[1] * rng.normal(size=draws)) * rng.normal(size=draws)
    intercept = additive.INTERCEPT * width * (rng.normal(size=draws) - rng.normal(size=draws))
    logits = additive.SHARE_CENTRES + additive.PRIOR.share_spread * rng.normal(size=(draws, len(additive.STRENGTHS)))
    shares = softmax(logits, axis=1)
    following = len(additive.PRIOR.following)
    follows = shares[:, :following].sum(axis=1)
    weights = np.where(sign * effect > 0.0, trust / 0.5, (1.0 - trust) / 0.5) if sign else np.ones(draws)
    centre = np.nanmean(feature)
    bases = [1.0 / (1.0 + np.exp(-(intercept + effect * (x - centre)))) for x in (0.0, 1.0)]
    for label in labels[np.isnan(feature)]:  # a row whose value is missing is a configuration of its own
        base = (1.0 - centre) * bases[0] + centre * bases[1]
        weights = weights * (follows * (base if label else 1.0 - base) + (1.0 - follows) / 2.0)
    means = []
    for x, base in enumerate(bases):
        ones, zeros = (int(((feature == x) & (labels == label)).sum()) for label in (1, 0))
        evidence, means_of = [], []
        for g, strength in enumerate(additive.STRENGTHS):
            a, b = (strength * base, strength * (1.0 - base)) if g < following else (strength, strength)
            evidence.append(shares[:, g] * np.exp(betaln(a + ones, b + zeros) - betaln(a, b)))
            means_of.append((a + ones) / (a + b + ones + zeros))
        weights = weights * sum(evidence)
        means.append(sum(e * m for e, m in zip(evidence, means_of, strict=True)) / sum(evidence))
    return np.array([(weights * each).sum() / weights.sum() for each in means])


@pytest.mark.parametrize(("sign", "trust"), [(0, 1.0), (1, 0.9), (-1, 0.9)])
def test_the_posterior_is_that_of_the_formulas(sign: int, trust: float) -> None:
    feature = np.repeat([0.0, 1.0], [9, 6])
    labels = np.array([1] * 2 + [0] * 7 + [1] * 4 + [0] * 2)
    curve = curve_of(feature, ONES(15), sign, ordered=True)
    models = [learn_additive([feature], [curve], labels, ONES(15), seed, trust) for seed in range(8)]
    found = np.mean([model.means([np.array([0.0, 1.0])])[:, 1] for model in models], axis=0)
    np.testing.assert_allclose(found, by_importance(feature, labels, sign, trust), atol=0.012)
    drawn = np.mean([model.draws([np.array([0.0, 1.0])])[..., 1].mean(axis=0) for model in models], axis=0)
    np.testing.assert_allclose(drawn, found, atol=0.01)


def test_missing_values_of_training_rows_are_summed_out() -> None:
    feature = np.array([0.0] * 6 + [1.0] * 6 + [np.nan] * 8)
    labels = np.array([1] * 1 + [0] * 5 + [1] * 5 + [0] * 1 + [1] * 7 + [0] * 1)
    curve = curve_of(feature, ONES(20), 0, ordered=True)
    models = [learn_additive([feature], [curve], labels, ONES(20), seed, 0.9) for seed in range(8)]
    found = np.mean([model.means([np.array([0.0, 1.0])])[:, 1] for model in models], axis=0)
    np.testing.assert_allclose(found, by_importance(feature, labels, 0, 1.0), atol=0.012)


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
        found.append(learn_additive(list(values), curves, y, ONES(60), 0).means([grid, -grid]))
    np.testing.assert_allclose(*found, atol=1e-6)


def test_directions_hold_in_every_draw() -> None:
    rng = np.random.default_rng(1)
    rising, falling = rng.normal(size=(2, 50))
    labels = (rising + falling + rng.normal(size=50) > 0).astype(int)  # the second acts against what is stated
    curves = [curve_of(rising, ONES(50), 1, ordered=True), curve_of(falling, ONES(50), -1, ordered=True)]
    model = learn_additive([rising, falling], curves, labels, ONES(50), 0)
    grid = np.linspace(-3, 3, 41)
    assert (np.diff(model.draws([grid, np.zeros(41)])[..., 1], axis=1) >= -1e-12).all()
    assert (np.diff(model.draws([np.zeros(41), grid])[..., 1], axis=1) <= 1e-12).all()
    assert np.ptp(model.means([grid, np.full(41, np.nan)])[:, 1]) > 0.5


def test_what_features_do_together_is_learned_unless_directions_are_certain() -> None:
    rng = np.random.default_rng(6)
    both = rng.normal(size=(2, 300))
    labels = (both[0] * both[1] > 0).astype(int)
    corners = [np.array([-1.0, -1.0, 1.0, 1.0]), np.array([-1.0, 1.0, -1.0, 1.0])]
    for sign, trust in ((0, 0.9), (0, 1.0), (1, 1.0)):
        curves = [curve_of(values, ONES(300), sign, ordered=True) for values in both]
        model = learn_additive(list(both), curves, labels, ONES(300), 0, trust)
        found = model.means(corners)[:, 1]
        assert (model.design.interactions is None) == (sign == 1)
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
    np.testing.assert_allclose(*(model.means([grid, -grid]) for model in found), atol=1e-6)


def test_curves_follow_what_a_feature_is() -> None:
    assert curve_of(np.full(5, np.nan), ONES(5), 1, ordered=True) == Curve(1, None)
    assert curve_of(np.array([2.0, 2.0]), ONES(2), 1, ordered=True) == Curve(1, None)
    two = curve_of(np.array([1.0, 3.0, 3.0, 3.0]), ONES(4), 1, ordered=True)
    assert (two.line, two.points) == ((2.5, 2.0), ())
    assert curve_of(np.array([0.0, 1.0, 2.0]), ONES(3), 0, ordered=False).states == (0.0, 1.0, 2.0)
    many = curve_of(np.arange(1000.0), ONES(1000), 0, ordered=True)
    assert len(many.points) == MOST_STEPS
    np.testing.assert_allclose(np.diff([0, *many.points, 999]), 1000 / (MOST_STEPS + 1), atol=2)


# What is missing -----------------------------------------------------------------------------------------------------


def test_missing_features_are_those_of_similar_rows() -> None:
    rng = np.random.default_rng(0)
    first = rng.normal(size=300)
    table = np.column_stack([first, first + 0.2 * rng.normal(size=300), rng.normal(size=300)])
    rows = SimilarRows(table, ONES(300), (True, True, True))
    asked = np.array([[-1.5, np.nan, 0.0], [1.5, np.nan, 0.0]])
    values, shares = rows.values(asked, np.array([False, True, False]))
    np.testing.assert_allclose(shares.sum(axis=1), 1.0)
    np.testing.assert_allclose(shares @ values[:, 0], [-1.5, 1.5], atol=0.25)


def test_where_rows_say_nothing_missing_features_have_the_frequencies_of_the_rows() -> None:
    rng = np.random.default_rng(1)
    table = rng.integers(0, 2, (200, 3)).astype(float)
    values, shares = SimilarRows(table, ONES(200), (True, False, True)).values(
        np.array([[1.0, np.nan, 0.0]]), np.array([False, True, False])
    )
    np.testing.assert_array_equal(values, [[0.0], [1.0]])
    np.testing.assert_allclose(shares[0], [1 - table[:, 1].mean(), table[:, 1].mean()])


def test_what_is_missing_is_predicted_from_what_is_known() -> None:
    """The second feature decides, and is nearly the first: with it missing, the first one has to do."""
    rng = np.random.default_rng(2)
    first = rng.normal(size=400)
    table = np.column_stack([first, first + 0.1 * rng.normal(size=400)])
    labels = (table[:, 1] + 0.3 * rng.normal(size=400) > 0).astype(int)
    curves = [curve_of(values, ONES(400), 0, ordered=True) for values in table.T]
    model = learn_additive(list(table.T), curves, labels, ONES(400), 0, 0.9)
    low, high = model.means([np.array([-1.0, 1.0]), np.full(2, np.nan)])[:, 1]
    assert low < 0.1
    assert high > 0.9


def test_rows_that_all_miss_something_complete_each_other() -> None:
    rng = np.random.default_rng(3)
    table = rng.normal(size=(3, 90))
    labels = (table[0] > 0).astype(int)
    table[rng.integers(0, 3, 90), np.arange(90)] = np.nan
    curves = [curve_of(values, ONES(90), 0, ordered=True) for values in table]
    model = learn_additive(list(table), curves, labels, ONES(90), 0, 0.9)
    assert not np.isnan(model.similar.table).any()
    low, high = model.means([np.array([-1.0, 1.0]), np.full(2, np.nan), np.full(2, np.nan)])[:, 1]
    assert high > low + 0.4


def test_features_without_effects() -> None:
    labels = np.array([0] * 3 + [1] * 9)
    constant, unknown = np.ones(12), np.full(12, np.nan)
    curves = [curve_of(values, ONES(12), 1, ordered=True) for values in (constant, unknown)]
    model = learn_additive([constant, unknown], curves, labels, ONES(12), 0, 0.9)
    assert model.means([np.array([1.0, 5.0]), unknown[:2]])[:, 1] == pytest.approx([0.72, 0.72], abs=0.05)
