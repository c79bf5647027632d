"""What the additive model shows: curves of features, and what became of statements."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import credo

pytest.importorskip("sklearn")

from credo.sklearn import KnowledgeClassifier


def patients(rows: int = 150) -> tuple[pd.DataFrame, pd.Series]:
    """Age raises the risk, the dose lowers it, the town does nothing."""
    rng = np.random.default_rng(0)
    features = pd.DataFrame(
        {
            "age": rng.normal(50, 10, rows),
            "dose": rng.choice(["none", "low", "high"], rows),
            "town": rng.choice(["a", "b"], rows),
        }
    )
    odds = (features["age"] - 50) / 7 - features["dose"].map({"none": 0, "low": 1, "high": 2}) + 1
    return features, pd.Series(np.where(rng.random(rows) < 1 / (1 + np.exp(-odds)), "yes", "no"), name="ill")


KNOWLEDGE = "order dose: none < low < high\nage raises ill\ndose raises ill"  # the second one is wrong


def test_curves_show_each_feature_with_a_band() -> None:
    features, target = patients()
    curves = KnowledgeClassifier(KNOWLEDGE).fit(features, target).effect_curves()
    assert curves["class"].unique().to_list() == ["yes"]
    assert (curves["low"] <= curves["probability"]).all()
    assert (curves["probability"] <= curves["high"]).all()
    age, dose, town = (curves.filter(curves["feature"] == name) for name in features.columns)
    assert age["probability"].to_numpy()[-1] > age["probability"].to_numpy()[0] + 0.4
    assert age["number"].is_sorted()
    assert dose["value"].to_list() == ["none", "low", "high"]
    assert (np.diff(dose["probability"]) < 0).all()
    assert abs(float(np.diff(town["probability"])[0])) < 0.15


def test_results_say_which_statement_is_right_and_what_it_changed() -> None:
    features, target = patients()
    age, dose = KnowledgeClassifier(KNOWLEDGE).fit(features, target).statement_results()
    assert (age.statement, dose.statement) == ("age raises ill", "dose raises ill")
    assert age.probability > 0.95
    assert dose.probability < 0.5
    assert age.before == dose.before == pytest.approx(0.9)
    assert age.low > 0.2
    assert dose.high < 0.1
    assert 0.0 < age.difference < 0.1
    assert str(dose).startswith("dose raises ill: right with")
    (certain,) = KnowledgeClassifier("age raises ill", doubt=0).fit(features, target).statement_results()
    assert certain.probability == 1.0


def test_statements_about_a_target_whose_low_state_comes_second() -> None:
    features, target = patients()
    words = np.where(target == "yes", "a", "b")
    model = KnowledgeClassifier("age raises ill\ntown lowers ill", target="ill", states={"ill": ["b", "a"]})
    age, town = model.fit(features, words).statement_results()
    assert (age.statement, town.statement) == ("age raises ill", "town lowers ill")
    assert age.change > 0.3
    assert age.probability > 0.9


def test_more_classes_have_a_curve_each() -> None:
    features, _ = patients(90)
    model = KnowledgeClassifier().fit(features, np.digitize(features["age"], [45, 55]))
    curves = model.effect_curves()
    assert curves["class"].unique(maintain_order=True).to_list() == ["0", "1", "2"]
    assert model.statement_results() == ()
    low = curves.filter((curves["class"] == "0") & (curves["feature"] == "age"))["probability"]
    assert low[0] > 0.5 > low[-1]


def test_a_feature_without_values_has_no_curve() -> None:
    features, target = patients(40)
    features["weight"] = np.nan
    model = KnowledgeClassifier("weight raises ill").fit(features, target)
    assert "weight" not in model.effect_curves()["feature"].to_list()
    (weight,) = model.statement_results()
    assert (weight.probability, weight.change) == (pytest.approx(0.9), 0.0)


def test_one_network_has_no_curves() -> None:
    features, target = patients(40)
    model = KnowledgeClassifier(KNOWLEDGE, method="cmap").fit(features, target)
    for ask in (model.effect_curves, model.statement_results):
        with pytest.raises(credo.OptionError, match="fit_ has its CPTs"):
            ask()


def test_a_curve_is_drawn() -> None:
    pytest.importorskip("matplotlib").use("agg")
    features, target = patients(60)
    curves = KnowledgeClassifier(KNOWLEDGE).fit(features, target).effect_curves()
    assert credo.plot.effects(curves).get_xlabel() == "age"
    ax = credo.plot.effects(curves, "dose")
    assert [text.get_text() for text in ax.get_xticklabels()] == ["none", "low", "high"]
    with pytest.raises(credo.OptionError, match="weight"):
        credo.plot.effects(curves, "weight")
    with pytest.raises(credo.OptionError, match="effect_curves"):
        credo.plot.effects(curves.head(0))
