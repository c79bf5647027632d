"""The classifier: what scikit-learn asks of one, what credo says by itself, and what a user can get wrong."""

from __future__ import annotations

import pickle
import subprocess
import sys
import warnings
from inspect import signature
from time import process_time
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest

import credo

pytest.importorskip("sklearn")

from sklearn.base import clone
from sklearn.model_selection import GridSearchCV, cross_val_predict, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import KBinsDiscretizer, StandardScaler
from sklearn.utils.estimator_checks import check_estimator

from credo.sklearn import KnowledgeClassifier, ManyFeaturesWarning, UnseenValueWarning
from credo.sklearn.network_target import FitOptions

NAMES = ("chol", "bp", "age", "smoke")
RAISES = "\n".join(f"{name} raises attack" for name in NAMES)
NOISY = "attack is noisy-or of {chol, bp}, {age}, {smoke} with leak"


def test_options_are_those_of_fit_that_are_no_parameters_of_the_classifier() -> None:
    by_name = {each.name for each in signature(credo.fit).parameters.values() if each.kind is each.KEYWORD_ONLY}
    assert set(FitOptions.__annotations__) == by_name - {"method", "prior", "seed", "weights"}


def patients(rows: int = 120, seed: int = 0) -> tuple[pd.DataFrame, pd.Series]:
    """Patients whose risk grows with each of four features."""
    rng = np.random.default_rng(seed)
    features = pd.DataFrame(rng.integers(0, 2, (rows, len(NAMES))), columns=list(NAMES))
    target = rng.random(rows) < 0.1 + 0.2 * features.sum(axis=1)
    return features, pd.Series(np.where(target, "yes", "no"), name="attack")


def small() -> tuple[np.ndarray, np.ndarray]:
    """One feature: of ten rows with 0 two are positive, of five with 1 four."""
    return np.repeat([[0.0], [1.0]], [10, 5], axis=0), np.array([0] * 8 + [1] * 2 + [0] * 1 + [1] * 4)


# scikit-learn ---------------------------------------------------------------------------------------------------------


def test_it_is_a_classifier_by_the_rules_of_scikit_learn() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        results = check_estimator(KnowledgeClassifier(method="cmap"), on_skip=None)
    assert sum(each["status"] == "passed" for each in results) > 40


@pytest.mark.slow
def test_the_default_is_one_too() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        results = check_estimator(KnowledgeClassifier(), on_skip=None)
    assert sum(each["status"] == "passed" for each in results) > 40


def test_a_weight_is_so_many_rows() -> None:
    rng = np.random.default_rng(4)
    features, target = rng.random((30, 2)), rng.integers(0, 3, 30)
    weights = rng.integers(0, 4, 30)
    one = KnowledgeClassifier(method="map").fit(features, target, sample_weight=weights)
    two = KnowledgeClassifier(method="map").fit(np.repeat(features, weights, axis=0), np.repeat(target, weights))
    np.testing.assert_allclose(one.predict_proba(features), two.predict_proba(features), atol=1e-12)


def test_grid_search_over_knowledge_and_methods() -> None:
    features, target = patients()
    search = GridSearchCV(
        KnowledgeClassifier(),
        {"knowledge": ["", RAISES, f"{RAISES}\n{NOISY}"], "method": ["cmap"]},
        cv=3,
        scoring="roc_auc",
    ).fit(features, target)
    assert search.best_score_ > 0.6
    assert search.best_estimator_.fit_.status is not None


def test_a_pipeline_cuts_numbers_first() -> None:
    rng = np.random.default_rng(2)
    features = pd.DataFrame({"age": rng.normal(50, 10, 150), "bp": rng.normal(130, 15, 150)})
    target = (features["age"] + features["bp"] + rng.normal(0, 10, 150) > 180).to_numpy()
    cut = KBinsDiscretizer(3, encode="ordinal", strategy="uniform").set_output(transform="pandas")
    model = make_pipeline(cut, KnowledgeClassifier("age raises ill\nbp raises ill", target="ill", method="cmap"))
    assert cross_val_score(model, features, target, cv=5).mean() > 0.65
    learned = model.fit(features, target)[-1]
    assert learned.fit_.network.states("age") == ("0", "1", "2")
    assert (np.diff(learned.fit_.network.cpt_array("ill")[..., 1], axis=0) >= -1e-8).all()


def test_it_can_be_cloned_and_kept() -> None:
    features, target = patients()
    model = clone(KnowledgeClassifier([credo.raises("age", "attack"), "bp raises attack"], method="cmap"))
    chances = model.fit(features, target).predict_proba(features)
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(model)).predict_proba(features), chances)


def test_importing_credo_does_not_import_scikit_learn() -> None:
    code = "import sys, credo; credo.fit; sys.exit('sklearn' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


# What it computes -----------------------------------------------------------------------------------------------------


def test_a_value_worked_out_by_hand() -> None:
    features, target = small()
    counted = KnowledgeClassifier(method="ml").fit(features, target)
    np.testing.assert_allclose(counted.predict_proba([[0.0], [1.0]])[:, 1], [0.2, 0.8])
    # Missing: both, by how often each was seen.
    np.testing.assert_allclose(counted.predict_proba([[np.nan]])[0, 1], 6 / 15)
    bounded = KnowledgeClassifier("P(y=1 | x0=1) <= 0.5", method="cml").fit(features, target)
    np.testing.assert_allclose(bounded.predict_proba([[0.0], [1.0]])[:, 1], [0.2, 0.5], atol=1e-7)


@pytest.mark.parametrize("method", ["cmap", "posterior", "auto"])
def test_it_is_credo_fit_and_predict(method: str) -> None:
    features, target = patients()
    model = KnowledgeClassifier(RAISES, model="network", method=method, random_state=3).fit(features, target)
    network = credo.Network({**{name: ["0", "1"] for name in NAMES}, "attack": ["no", "yes"]}, {"attack": NAMES})
    fit = credo.fit(network, features.assign(attack=target), RAISES, method=method, seed=3)
    expected = fit.network.predict(features, "attack").to_numpy()
    np.testing.assert_allclose(model.predict_proba(features), expected, atol=1e-9)
    assert model.target_ == "attack"
    assert model.classes_.tolist() == ["no", "yes"]
    clear = np.abs(expected[:, 1] - 0.5) > 1e-9  # a tie is decided by rounding
    assert (model.predict(features) == np.where(expected[:, 1] > 0.5, "yes", "no"))[clear].all()


def test_arrays_and_frames_say_the_same() -> None:
    features, target = patients()
    named = KnowledgeClassifier(RAISES, target="attack", method="cmap")
    numbered = KnowledgeClassifier(
        "\n".join(f"x{place} raises attack" for place in range(4)), target="attack", method="cmap"
    )
    expected = clone(named).fit(features, target).predict_proba(features)
    frame = pl.from_pandas(features)
    for model, given in ((named, frame), (numbered, features.to_numpy()), (numbered, features.to_numpy().tolist())):
        fitted = clone(model).fit(given, target.to_numpy())
        np.testing.assert_allclose(fitted.predict_proba(given), expected, atol=1e-12)
        assert fitted.n_features_in_ == 4
    assert clone(named).fit(frame, target).feature_names_in_.tolist() == list(NAMES)


def test_forty_causes_cost_forty_small_tables() -> None:
    rng = np.random.default_rng(1)
    features = rng.integers(0, 2, (200, 40))
    target = (rng.random(200) < 1 - 0.9 ** features[:, :10].sum(axis=1)).astype(int)
    sets = ", ".join(f"{{x{place}}}" for place in range(40))
    statements = "\n".join(f"x{place} raises y" for place in range(40))
    model = KnowledgeClassifier(
        f"y is noisy-or of {sets}\n{statements}", method="cml", options={"em": credo.EMOptions(starts=1)}
    )
    chances = model.fit(features, target).predict_proba(features)[:, 1]
    assert chances[target == 1].mean() > chances[target == 0].mean() + 0.05
    more = features.copy()
    more[:, 5] = 1
    assert (model.predict_proba(more)[:, 1] >= chances - 1e-9).all()


def test_missing_values_in_training_rows_are_summed_out() -> None:
    features, target = patients()
    holes = features.astype(float).mask(np.random.default_rng(5).random(features.shape) < 0.2)
    model = KnowledgeClassifier(RAISES, model="network").fit(holes, target)
    assert model.fit_.method == "posterior"
    assert model.score(features, target) > 0.6


def test_the_same_seed_gives_the_same_result() -> None:
    features, target = patients(60)
    draws = [
        KnowledgeClassifier(RAISES, random_state=9).fit(features, target).predict_proba(features) for _ in range(2)
    ]
    np.testing.assert_array_equal(*draws)
    KnowledgeClassifier(random_state=np.random.RandomState(1)).fit(features, target)


def test_a_whole_network_is_learned() -> None:
    network = credo.Network(
        {"smoke": ["no", "yes"], "lung": ["no", "yes"], "xray": ["clear", "shadow"]},
        {"lung": ["smoke"], "xray": ["lung"]},
    )
    rng = np.random.default_rng(3)
    smoke = rng.random(300) < 0.5
    lung = rng.random(300) < np.where(smoke, 0.5, 0.1)
    xray = rng.random(300) < np.where(lung, 0.9, 0.1)
    features = pd.DataFrame({"xray": np.where(xray, "shadow", "clear"), "smoke": np.where(smoke, "yes", "no")})
    model = KnowledgeClassifier("smoke raises lung", target="lung", network=network, method="cml")
    model.fit(features.assign(room=7), np.where(lung, "yes", "no"))
    # P(lung | smoke, xray) ∝ P(lung | smoke) P(xray | lung), counted by hand.
    risk = lung[smoke].mean()
    yes, no = risk * xray[lung].mean(), (1 - risk) * xray[~lung].mean()
    row = pd.DataFrame({"xray": ["shadow"], "smoke": ["yes"], "room": [7]})
    np.testing.assert_allclose(model.predict_proba(row)[0, 1], yes / (yes + no), atol=1e-9)


# The additive model ----------------------------------------------------------------------------------------------


def test_the_default_keeps_directions() -> None:
    features, target = patients(60)
    model = KnowledgeClassifier(RAISES, doubt=0).fit(features, target)
    assert model.model_ == "additive"
    states = pd.DataFrame(list(np.ndindex(2, 2, 2, 2)), columns=list(NAMES))
    chances = model.predict_proba(states)[:, 1].reshape(2, 2, 2, 2)
    for axis in range(4):
        assert (np.diff(chances, axis=axis) >= -1e-9).all()
    low, high = model.predict_interval(states)
    assert ((low <= model.predict_proba(states)) & (model.predict_proba(states) <= high)).all()
    narrow, wide = (np.ptp(model.predict_interval(states, level), axis=0) for level in (0.5, 0.99))
    assert (narrow < wide).all()


def test_statements_lower_where_the_low_state_comes_second() -> None:
    features, target = patients(60)
    words = np.where(target == "yes", "a", "b")  # declared the other way round: b is low
    model = KnowledgeClassifier(RAISES, target="attack", states={"attack": ["b", "a"]}).fit(features, words)
    assert model.classes_.tolist() == ["a", "b"]
    zeros, ones = (pd.DataFrame([[k] * 4], columns=list(NAMES)) for k in (0, 1))
    assert model.predict_proba(ones)[0, 0] > model.predict_proba(zeros)[0, 0] + 0.2


def test_rows_overrule_a_wrong_direction_that_is_not_certain() -> None:
    rng = np.random.default_rng(5)
    features = rng.normal(size=(120, 6))
    target = (features[:, 0] + 0.3 * rng.normal(size=120) > 0).astype(int)
    chances = [
        KnowledgeClassifier("x0 lowers y", doubt=doubt).fit(features, target).predict_proba(features)[:, 1]
        for doubt in (0.1, 0.0)
    ]
    assert np.corrcoef(chances[0], target)[0, 1] > 0.8
    assert np.corrcoef(chances[1], target)[0, 1] < 0.5
    with pytest.raises(credo.OptionError, match="doubt"):
        KnowledgeClassifier(doubt=2).fit(features, target)


def test_many_features_need_no_network() -> None:
    rng = np.random.default_rng(0)
    features = rng.normal(size=(80, 30))
    model = KnowledgeClassifier("x0 raises y").fit(features, features[:, 0] + 0.1 * rng.normal(size=80) > 0)
    assert model.model_ == "additive"
    with pytest.raises(credo.TooLargeError, match="With all 30 features as its parents"):
        _ = model.fit_
    assert model.score(features, features[:, 0] > 0) > 0.9
    assert np.isfinite(model.predict_interval(np.full((2, 30), np.nan))).all()


def test_more_than_two_classes_need_no_network_without_statements() -> None:
    rng = np.random.default_rng(1)
    features = rng.normal(size=(90, 2))
    target = np.digitize(features[:, 0], [-0.5, 0.5])
    model = KnowledgeClassifier().fit(features, target)
    assert model.score(features, target) > 0.85
    np.testing.assert_allclose(model.predict_proba(features).sum(axis=1), 1)
    ordered = KnowledgeClassifier("x0 raises y", bins=2).fit(features, target)
    assert ordered.model_ == "network"


def test_what_features_do_together_is_learned() -> None:
    rng = np.random.default_rng(2)
    features = rng.integers(0, 2, (200, 2))
    model = KnowledgeClassifier().fit(features, features[:, 0] ^ features[:, 1])
    assert model.predict_proba([[0, 1], [1, 0]])[:, 1].min() > 0.9
    assert model.predict_proba([[0, 0], [1, 1]])[:, 1].max() < 0.1


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"method": "cmap"}, "method"),
        ({"knowledge": "P(attack=yes | age=1, each other parent) >= 0.2"}, "says more"),
        ({"knowledge": "age raises attack with confidence 0.9"}, "says more"),
    ],
)
def test_what_the_additive_model_cannot_keep_to_is_refused(settings: dict[str, Any], words: str) -> None:
    features, target = patients(30)
    with pytest.raises(credo.OptionError, match=words):
        KnowledgeClassifier(model="additive", **settings).fit(features, target)
    with pytest.raises(credo.OptionError, match="model"):
        KnowledgeClassifier(model="best").fit(features, target)


def test_an_estimate_has_no_interval() -> None:
    features, target = patients(30)
    with pytest.raises(credo.OptionError, match="method cmap gives one estimate"):
        KnowledgeClassifier(method="cmap").fit(features, target).predict_interval(features)


def test_the_default_in_a_pipeline_with_frames_and_a_search() -> None:
    rng = np.random.default_rng(3)
    frame = pd.DataFrame({"age": rng.normal(50, 10, 40), "dose": rng.normal(size=40)})
    target = (frame["age"] + 5 * rng.normal(size=40) > 50).astype(int)
    scaled = StandardScaler().set_output(transform="pandas")
    search = GridSearchCV(
        make_pipeline(scaled, KnowledgeClassifier(target="ill")),
        {"knowledgeclassifier__knowledge": [None, "age raises ill"]},
        cv=2,
        scoring="neg_log_loss",
    ).fit(frame, target)
    assert search.best_score_ > -0.6


# Which category a value is --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("labels", "text"),
    [([0, 1], "1"), ([0.0, 1.0], "1"), ([False, True], "true"), (["no", "yes"], "yes"), ([-3, 8], "8")],
)
def test_classes_keep_their_labels(labels: list[Any], text: str) -> None:
    features, target = small()
    named = np.array(labels)[target]
    model = KnowledgeClassifier(f"P(y={text} | x0=1) <= 0.5", method="cml").fit(features, named)
    assert model.classes_.tolist() == labels
    assert model.predict([[0]])[0] == labels[0]
    np.testing.assert_allclose(model.predict_proba([[1]])[0], [0.5, 0.5], atol=1e-7)


def test_thresholds_are_the_users() -> None:
    rng = np.random.default_rng(6)
    features = pd.DataFrame({"age": rng.integers(20, 80, 100), "dose": rng.random(100)})
    target = (features["age"] + 40 * features["dose"] > 70).astype(int)
    model = KnowledgeClassifier(
        'age raises y\nP(y=1 | age="<40", each other parent) <= 0.1',
        target="y",
        method="cml",
        bins={"age": [40, 60], "dose": 2},
    ).fit(features, target)
    assert model.fit_.network.states("age") == ("<40", "40-60", "60+")
    assert model.fit_.network.states("dose") == ("1", "2")
    rows = pd.DataFrame({"age": [39, 40, 60], "dose": [0.9] * 3})
    low, middle, high = model.predict_proba(rows)[:, 1]
    assert low <= 0.1 + 1e-8
    assert low <= middle + 1e-8 <= high + 2e-8


def test_states_that_no_training_row_held() -> None:
    features = pd.DataFrame({"grade": ["b", "b", "c"]})
    statements = 'order grade: c < b < a\ngrade raises y\nP(y=1 | grade="a") >= 0.9'
    listed = ["a", "b", "c"]
    given = [
        (features.astype({"grade": pd.CategoricalDtype(listed)}), None),
        (pl.from_pandas(features).cast({"grade": pl.Enum(listed)}), None),
        (features, {"grade": listed}),
    ]
    for frame, states in given:
        model = KnowledgeClassifier(statements, method="ml", states=states).fit(frame, [0, 1, 0])
        assert model.fit_.network.states("grade") == ("a", "b", "c")
        assert model.predict_proba(pd.DataFrame({"grade": ["a"]})).sum() == pytest.approx(1)
    with pytest.raises(credo.KnowledgeError, match="grade"):
        KnowledgeClassifier(statements).fit(features, [0, 1, 0])


def test_a_value_never_seen_is_missing_and_said_so() -> None:
    features = pd.DataFrame({"colour": ["red", "blue"] * 10})
    target = [0, 1] * 10
    model = KnowledgeClassifier(method="cmap").fit(features, target)
    with pytest.warns(UnseenValueWarning, match="colour holds values .* missing: green"):
        strange = model.predict_proba(pd.DataFrame({"colour": ["green"]}))
    np.testing.assert_allclose(strange, model.predict_proba(pd.DataFrame({"colour": [None]})))


def test_a_column_without_a_value_says_nothing() -> None:
    features, target = small()
    with_gap = np.column_stack([features, np.full(len(features), np.nan)])
    one = KnowledgeClassifier(method="ml").fit(features, target).predict_proba(features)
    np.testing.assert_allclose(KnowledgeClassifier(method="ml").fit(with_gap, target).predict_proba(with_gap), one)


def test_arrays_of_mixed_values() -> None:
    mixed = np.array([[1, "u", True], [pd.NA, None, False], [2.5, "v", True], [1, "?", False]], dtype=object)
    model = KnowledgeClassifier(method="cmap", bins=2).fit(mixed, [0, 1, 0, 1])
    assert [model.fit_.network.states(f"x{place}") for place in range(3)] == [("1", "2"), ("u", "v"), ("false", "true")]
    assert model.predict(mixed).shape == (4,)


def test_one_class_is_predicted() -> None:
    features, _ = patients(10)
    model = KnowledgeClassifier(f"{RAISES}\n{NOISY}", target="attack").fit(features, ["no"] * 10)
    assert model.classes_.tolist() == ["no"]
    assert set(model.predict(features)) == {"no"}
    both = KnowledgeClassifier(f"{RAISES}\n{NOISY}", target="attack", states={"attack": ["no", "yes"]}, method="cmap")
    both.fit(features, ["no"] * 10)
    assert both.fit_.network.states("attack") == ("no", "yes")
    np.testing.assert_array_equal(both.predict_proba(features), np.ones((10, 1)))


def test_a_class_with_one_example() -> None:
    features, target = patients(30)
    target[:] = "no"
    target[3] = "yes"
    model = KnowledgeClassifier(f"{RAISES}\n{NOISY}", method="cmap").fit(features, target)
    assert 0 < model.predict_proba(features)[:, 1].mean() < 0.3


# What a user can get wrong --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("settings", "error", "words"),
    [
        ({"knowledge": "weight raises attack"}, credo.KnowledgeError, "weight"),
        ({"knowledge": "attack is noisy-or of {chol, bp}, {age}, {weight}"}, credo.KnowledgeError, "weight"),
        ({"knowledge": "attack is noisy-or of {chol, bp}, {age}"}, credo.KnowledgeError, "smoke"),
        ({"method": "magic"}, credo.OptionError, "magic"),
        ({"bins": 0}, credo.OptionError, "at least 1"),
        ({"bins": "many"}, credo.OptionError, "whole number"),
        ({"bins": {"weight": 3}}, credo.OptionError, "not a column"),
        ({"bins": {"age": ["old"]}}, credo.OptionError, "thresholds of age"),
        ({"states": {"weight": ["a"]}}, credo.OptionError, "not a column"),
        ({"states": ["a"]}, credo.OptionError, "mapping"),
        ({"states": {"age": ["young", "old"]}}, credo.UnknownStateError, "age"),
        ({"states": {"attack": ["healthy", "ill"]}}, credo.UnknownStateError, "not a state of attack"),
        ({"options": {"fixd": ["age"]}}, credo.OptionError, "fixed"),
        ({"target": "age"}, credo.DataError, "column age"),
        ({"network": credo.Network({"a": ["x", "y"]})}, credo.NetworkError, "attack"),
        ({"network": credo.Network({"attack": ["no", "yes"]})}, credo.DataError, "No feature"),
    ],
)
def test_mistakes_are_named(settings: dict[str, Any], error: type[Exception], words: str) -> None:
    features, target = patients(30)
    with pytest.raises(error, match=words):
        KnowledgeClassifier(**settings).fit(features, target)


def test_noisy_or_needs_two_classes() -> None:
    features, _ = patients(30)
    target = pd.Series([0, 1, 2] * 10, name="attack")
    with pytest.raises(credo.CredoError, match="two states|2 states|noisy-max"):
        KnowledgeClassifier(NOISY).fit(features, target)
    model = KnowledgeClassifier(NOISY.replace("noisy-or", "noisy-max"), method="cmap").fit(features, target)
    np.testing.assert_allclose(model.predict_proba(features).sum(axis=1), 1)


def test_too_many_features_are_refused_with_what_to_do() -> None:
    features = np.random.default_rng(0).integers(0, 2, (20, 30))
    with pytest.raises(credo.TooLargeError, match="y is noisy-or of {x0}, {x1, x2}, …"):
        KnowledgeClassifier("x0 raises y", model="network").fit(features, features[:, 0])


def test_too_many_features_without_knowledge_depend_on_the_class() -> None:
    features = np.random.default_rng(0).integers(0, 2, (200, 30))
    with pytest.warns(ManyFeaturesWarning, match="30 features are too many"):
        model = KnowledgeClassifier(method="cmap").fit(features, features[:, 0])
    assert model.score(features, features[:, 0]) == 1.0


def test_values_that_are_no_numbers_and_no_names() -> None:
    with pytest.raises(credo.DataError, match='age holds numbers, but "old" in row 2'):
        KnowledgeClassifier(bins={"age": [40]}).fit(pd.DataFrame({"age": ["30", "old"]}), [0, 1])
    with pytest.raises(credo.DataError, match="texts or numbers"):
        KnowledgeClassifier().fit(pl.DataFrame({"age": [[1], [2]]}), [0, 1])
    with pytest.raises(credo.DataError, match='but "inf" in row 1'):
        KnowledgeClassifier(bins={"age": [40]}).fit(pd.DataFrame({"age": [np.inf, 2.0]}), [0, 1])


@pytest.mark.filterwarnings("ignore:X (does not have|has) .*feature names:UserWarning")
def test_a_frame_may_be_learned_from_and_an_array_predicted_and_the_reverse() -> None:
    """As everywhere in scikit-learn, columns then keep their places, with its warning."""
    frame = pd.DataFrame({"fever": [0, 1, 1, 0] * 5, "rash": ["no", "yes", "no", "no"] * 5})
    array = frame.astype(object).to_numpy()
    y = ["well", "ill", "ill", "well"] * 5
    from_frame, from_array = KnowledgeClassifier().fit(frame, y), KnowledgeClassifier().fit(array, y)
    expected = from_frame.predict_proba(frame)
    np.testing.assert_allclose(from_frame.predict_proba(array), expected, atol=1e-12)
    np.testing.assert_allclose(from_array.predict_proba(frame), from_array.predict_proba(array), atol=1e-12)
    with pytest.raises(ValueError, match="features"):
        from_frame.predict_proba(array[:, :1])


def test_weights_that_are_all_zero_are_refused() -> None:
    with pytest.raises(ValueError, match="(?i)weights .*zero"):  # newer versions of scikit-learn refuse them first
        KnowledgeClassifier().fit([[0], [1]], [0, 1], sample_weight=[0.0, 0.0])


def test_thresholds_are_cut_points_of_the_network() -> None:
    frame = pd.DataFrame({"age": [20, 30, 50, 55, 70, 80]})
    model = KnowledgeClassifier(method="map", bins={"age": [40, 60]}).fit(frame, [0, 0, 1, 0, 1, 1])
    assert model.fit_ is not None
    assert model.fit_.network.variable("age").cuts == credo.CutPoints((40, 60))
    asked = model.fit_.query("P(y=1 | age=75)").probability
    assert asked == pytest.approx(model.predict_proba(pd.DataFrame({"age": [75]}))[0, 1])


def test_cut_points_of_a_given_network_are_used() -> None:
    age = credo.Variable("age", ("young", "old"), credo.CutPoints((50,)))
    network = credo.Network([age, credo.Variable("y", ("0", "1"))], {"y": ["age"]})
    model = KnowledgeClassifier(network=network, method="map").fit(
        pd.DataFrame({"age": [20, 30, 70, 80]}), [0, 0, 1, 1]
    )
    assert model.predict(pd.DataFrame({"age": [49.9, 50]})).tolist() == [0, 1]
    assert model.predict(pd.DataFrame({"age": ["young", "51"]})).tolist() == [0, 1]
    other = KnowledgeClassifier(network=network, method="map", bins={"age": [25]})
    other.fit(pd.DataFrame({"age": [20, 30, 70, 80]}), [0, 1, 1, 1])
    assert other.predict(pd.DataFrame({"age": [24, 26]})).tolist() == [0, 1]


def test_two_columns_of_one_name_are_an_error() -> None:
    frame = pd.DataFrame([[1.0, 2.0], [2.0, 1.0]] * 5, columns=["age", "age"])
    with pytest.raises(credo.DataError, match='The table has two columns named "age"'):
        KnowledgeClassifier().fit(frame, ["no", "yes"] * 5)


def test_a_network_that_the_additive_model_does_without_is_learned_when_it_is_asked_for() -> None:
    features, target = patients(60)
    features["weight"] = np.random.default_rng(1).normal(size=60)
    model = KnowledgeClassifier("smoke raises attack").fit(features, target)
    assert model.model_ == "additive"
    assert model.fit_.network.parents["attack"] == (*NAMES, "weight")
    assert model.fit_ is model.fit_
    of_one_class = KnowledgeClassifier(target="attack").fit(features, ["no"] * 60)
    assert of_one_class.fit_.network.states("attack") == ("no",)


def test_a_missing_feature_is_summed_out() -> None:
    """The probability is the mean over the values of the feature, as often as training rows have them."""
    rng = np.random.default_rng(0)
    a, b = rng.integers(0, 2, 400), (rng.random(400) < 0.8).astype(int)
    target = rng.random(400) < np.array([[0.05, 0.3], [0.4, 0.95]])[a, b]
    features = pd.DataFrame({"a": a.astype(float), "b": b.astype(float)})
    for knowledge in (None, "a raises y\nb raises y"):
        model = KnowledgeClassifier(knowledge).fit(features, target)
        asked = pd.DataFrame({"a": [1.0] * 3, "b": [np.nan, 0.0, 1.0]})
        summed, without, having = model.predict_proba(asked)[:, 1]
        assert without < 0.6 < 0.9 < having
        assert summed == pytest.approx((1 - b.mean()) * without + b.mean() * having, abs=0.002)
        low, high = model.predict_interval(asked)
        assert low[0, 1] < summed < high[0, 1]


def test_numbers_that_are_missing_together_are_summed_out_together() -> None:
    rng = np.random.default_rng(1)
    features = rng.normal(size=(300, 3))
    features[:, 1] = features[:, 0] + 0.01 * rng.normal(size=300)
    target = features.sum(axis=1) + rng.normal(size=300) > 1
    model = KnowledgeClassifier().fit(features, target)
    asked = np.array([[np.nan, np.nan, 0.5]])
    expected = model.predict_proba(np.column_stack([features[:, :2], np.full(300, 0.5)]))[:, 1].mean()
    assert model.predict_proba(asked)[0, 1] == pytest.approx(expected, abs=0.02)


@pytest.mark.parametrize("method", ["predict", "predict_proba"])
def test_a_target_without_a_name_has_that_of_the_statements(method: str) -> None:
    features, target = patients()
    found = cross_val_predict(KnowledgeClassifier(RAISES), features, target, cv=2, method=method)
    assert len(found) == len(target)
    assert KnowledgeClassifier(RAISES).fit(features, target.to_numpy()).target_ == "attack"


def test_where_names_were_lost_the_error_says_how_to_keep_them() -> None:
    features, target = patients()
    two = KnowledgeClassifier("smoke raises attack\nbp raises stroke")
    with pytest.raises(credo.KnowledgeError, match='y has no name.*target="…"'):
        two.fit(features, target.to_numpy())
    scaled = make_pipeline(StandardScaler(), KnowledgeClassifier(RAISES))
    with pytest.raises(credo.KnowledgeError, match=r'set_output\(transform="pandas"\)'):
        scaled.fit(features, target)
    kept = make_pipeline(StandardScaler().set_output(transform="pandas"), KnowledgeClassifier(RAISES))
    assert len(kept.fit(features, target).predict(features)) == len(target)
    numbered = KnowledgeClassifier("P(attack=yes) >= 0.1", target="attack")
    with pytest.raises(credo.KnowledgeError, match="attack=0 or attack=1"):
        numbered.fit(features, (target == "yes").astype(int).to_numpy())


def test_more_rows_take_little_more_time() -> None:
    """In processor time, which threads that wait for each other use too: 300 rows took twelve times as long as 120."""
    features, target = patients(300)
    features["weight"] = np.random.default_rng(0).normal(size=300)
    KnowledgeClassifier(RAISES).fit(features[:50], target[:50])  # what is imported and compiled once
    seconds = []
    for rows in (120, 300):
        began = process_time()
        KnowledgeClassifier(RAISES).fit(features[:rows], target[:rows])
        seconds.append(process_time() - began)
    assert seconds[1] < 10 * seconds[0]
