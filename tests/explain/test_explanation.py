"""What became of statements in cases made by hand, and what is noted where something is not available."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl
import pytest

import credo
from credo import Network
from credo.estimation.methods import METHODS
from credo.explain.build import MAX_CONFIGURATIONS
from credo.explain.explanation import Effect, Explanation, StatementExplanation
from tests.helpers.clinic import CLINIC, COIN, NO_YES, STATEMENTS, counted, patients


def explained(fit: credo.Fit) -> dict[int, StatementExplanation]:
    return {each.statement.number: each for each in fit.explain().statements}


@pytest.mark.parametrize("method", ["cml", "cmap", "posterior"])
def test_a_statement_that_follows_had_no_effect(method: str) -> None:
    found = explained(credo.fit(COIN, counted(30, 30), "P(a=yes) <= 0.3\nP(a=yes) <= 0.6", method=method))
    assert found[0].effect is Effect.BINDING
    assert found[0].largest_change == pytest.approx(0.2, abs=0.03)
    assert found[1].effect is Effect.SATISFIED
    assert found[1].largest_change == 0.0


def test_saying_it_twice_changes_nothing_twice() -> None:
    found = explained(credo.fit(COIN, counted(30, 30), "P(a=yes) <= 0.3\nP(a=no) >= 0.7", method="cmap"))
    assert {each.effect for each in found.values()} == {Effect.NO_EFFECT}  # without either, the other still holds


def test_a_statement_that_the_data_agree_with_holds_with_room() -> None:
    fit = credo.fit(COIN, counted(20, 30), "P(a=yes) <= 0.7", method="cmap")
    (explanation,) = fit.explain().statements
    assert (
        explanation.effect,
        explanation.is_contradicted,
        explanation.largest_change,
        explanation.gain_per_point,
    ) == (Effect.SATISFIED, False, 0.0, 0.0)
    assert explanation.excess == pytest.approx(21 / 52 - 0.7)
    assert "The data agree with every statement: none changed the result." in fit.explain().summary


def test_a_soft_statement_that_is_missed_has_the_amount() -> None:
    fit = credo.fit(
        COIN,
        counted(60, 140),
        "P(a=yes) >= 0.9 with confidence 0.6",
        method="cmap",
        optimiser=credo.OptimiserOptions(soft_weight=10.0),
    )
    (explanation,) = fit.explain().statements
    assert explanation.effect is Effect.VIOLATED
    assert explanation.is_contradicted
    assert explanation.confidence == 0.6
    assert explanation.excess == pytest.approx(0.9 - fit.network.cpt_array("a")[1])
    assert explanation.excess == pytest.approx(fit.violations()["amount"][0])
    assert any("One is not satisfied" in sentence for sentence in fit.explain().summary)


def test_what_the_data_contradict_comes_first_with_its_odds() -> None:
    text = "P(smoke=yes) <= 0.9\nsmoke raises lung\nP(xray=clear | lung=no) <= 0.3"
    fit = credo.fit(CLINIC, patients(300), text, method="cmap")
    first = fit.explain().statements[0]
    assert (first.statement.line, first.is_contradicted, first.effect) == (3, True, Effect.BINDING)
    assert first.plausibility is not None
    assert first.plausibility.after_data is not None
    assert first.plausibility.after_data.value < 1e-6
    assert first.plausibility.bayes_factor is not None
    assert first.plausibility.bayes_factor < 1e-6
    assert first.configurations == (("xray", 0),)
    assert (
        fit.explain().summary[0].startswith("Line 3, “P(xray=clear | lung=no) <= 0.3”, is contradicted by the data: ")
    )


def test_a_configuration_keeps_data_knowledge_and_result_apart() -> None:
    fit = credo.fit(COIN, counted(2, 2), "0.6 <= P(a=yes) <= 0.8")
    (row,) = fit.explain().configurations["a"]
    assert row.observations == 4
    assert row.frequencies is not None
    assert row.frequencies == pytest.approx([0.5, 0.5])
    assert (row.low[1], row.high[1], row.allowed_mean[1]) == pytest.approx((0.6, 0.8, 0.7), abs=1e-6)
    assert 0.6 <= row.learned[1] <= 0.8
    assert row.interval is not None
    assert 0.6 <= row.interval[0][1] < row.learned[1] < row.interval[1][1] <= 0.8
    assert row.changed_by[0][0] == 0


def test_five_sentences_and_no_statements() -> None:
    whole = credo.fit(CLINIC, patients(100), "\n".join(STATEMENTS)).explain()
    assert len(whole.summary) == 5
    assert str(whole) == "\n".join(whole.summary)
    for method in ("ml", "cmap", "posterior"):
        none = credo.fit(CLINIC, patients(100), method=method).explain()
        assert none.statements == ()
        assert (
            none.summary[0]
            == "clinic: the probabilities of 4 variables were learned from 100 rows of data and no statements."
        )
        assert len(none.summary) == 2
        assert all(row.largest_change == 0.0 for own in none.configurations.values() for row in own)


@pytest.mark.parametrize("method", sorted(METHODS))
def test_every_method_is_explained_or_notes_what_is_not_available(method: str) -> None:
    fit = credo.fit(CLINIC, patients(60), "\n".join(STATEMENTS), method=method)
    explanation = fit.explain()
    assert len(explanation.statements) == len(STATEMENTS)
    if not METHODS[method].uses_knowledge:
        assert f"The method {method} does not use the knowledge" in explanation.notes[0]
        assert all(each.largest_change == 0.0 for each in explanation.statements)
        assert "No statement was used." in explanation.summary[1]
        assert any("The knowledge would " in sentence for sentence in explanation.summary)
    elif method not in ("cml", "cmap", "cem", "posterior"):
        assert "no such answer of its own" in explanation.notes[0]


def not_available(explanation: Explanation) -> bool:
    return explanation.leave_one_out is explanation.cross_validation is None and any(
        "is not computed" in note for note in explanation.notes
    )


def test_missing_values_are_explained_with_expected_counts() -> None:
    data = patients(200).with_columns(
        lung=pl.when(pl.int_range(pl.len()) % 4 == 0).then(None).otherwise(pl.col("lung"))
    )
    fit = credo.fit(CLINIC, data, "\n".join(STATEMENTS))
    explanation = fit.explain()
    assert not_available(explanation)
    assert not any("expected counts" in note for note in explanation.notes)  # statements are left out with the rows
    assert any("expected counts" in note for note in credo.fit(CLINIC, data, method="cmap").explain().notes)
    assert sum(row.observations for row in explanation.configurations["lung"]) == pytest.approx(200)
    checked = {
        each.statement.number: each.plausibility for each in credo.check(CLINIC, fit.knowledge, data=data).statements
    }
    assert {each.statement.number: each.plausibility for each in explanation.statements} == checked
    assert any(each.effect is Effect.BINDING for each in explanation.statements)
    without = credo.fit(CLINIC, data.drop("age"), "smoke raises lung").explain()
    assert not_available(without)


def test_tied_rows_are_explained() -> None:
    data = patients(40).with_columns(family=pl.int_range(pl.len()) // 2)
    data = data.with_columns(lung=pl.when(pl.int_range(pl.len()) % 2 == 0).then(None).otherwise(pl.col("lung")))
    fit = credo.fit(CLINIC, data, "rows with equal family share lung\nsmoke raises lung by at least 0.4")
    explanation = fit.explain()
    assert not_available(explanation)
    assert {each.statement.line: each.effect for each in explanation.statements}[1] is Effect.NO_CONSTRAINT
    assert {each.statement.line: each.effect for each in explanation.statements}[2] is Effect.BINDING


def test_noisy_families_are_explained_by_their_small_cpts() -> None:
    network = Network(dict.fromkeys("abc", NO_YES), {"c": ["a", "b"]}, name="noisy")
    rng = np.random.default_rng(0)
    data = pl.DataFrame({name: [NO_YES[k] for k in rng.integers(0, 2, 80)] for name in "abc"})
    fit = credo.fit(network, data, "c is noisy-or of {a}, {b} with general effects\nP(a=yes) <= 0.3")
    explanation = fit.explain()
    assert not_available(explanation)
    assert explanation.summary[0].startswith(
        "Line 2, “P(a=yes) <= 0.3”, is contradicted by the data: a=yes in 46 of 80"
    )
    assert explanation.summary[1].startswith("noisy: the probabilities of 3 variables")
    assert {"c by a", "c by b"} <= set(explanation.configurations)
    assert "c" not in explanation.configurations
    assert {each.statement.line: each.effect for each in explanation.statements} == {
        1: Effect.NO_CONSTRAINT,
        2: Effect.BINDING,
    }


def test_huge_cpts_are_explained_in_part() -> None:
    parents = [f"p{k}" for k in range(13)]
    network = Network(dict.fromkeys([*parents, "child"], NO_YES), {"child": parents})
    rng = np.random.default_rng(0)
    data = pl.DataFrame({name: [NO_YES[k] for k in rng.integers(0, 2, 50)] for name in network.names})
    given = ", ".join(f"{name}=yes" for name in parents)
    explanation = credo.fit(network, data, f"P(child=yes | {given}) <= 0.2", method="cmap").explain()
    rows = explanation.configurations["child"]
    assert len(rows) == MAX_CONFIGURATIONS
    assert sum(row.observations for row in rows) == 50
    assert rows[-1].index == 2**13 - 1
    assert any("child" in note for note in explanation.notes)


def test_too_many_numbers_are_taken_away_in_tenths(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("credo.explain.held_out.MAX_CELLS", 3)
    explanation = credo.fit(CLINIC, patients(100), "\n".join(STATEMENTS), method="cmap").explain()
    assert explanation.leave_one_out is None
    assert explanation.cross_validation is not None
    assert any("a tenth was, ten times" in note for note in explanation.notes)
    assert any("bservations that were held out" in sentence for sentence in explanation.summary)


def test_nothing_is_held_out_where_there_are_no_rows() -> None:
    text = "variables a, b: no, yes\nb depends on a\na raises b\nP(a=yes)*P(b=yes) <= 0.1"
    explanation = credo.fit(text, method="cmap").explain()
    assert not any("held" in sentence for sentence in (*explanation.summary, *explanation.notes))


def test_the_effect_on_a_mean_is_that_of_a_mean() -> None:
    fit = credo.fit(COIN, counted(1, 1), "P(a=yes) <= 0.4")
    (explanation,) = fit.explain().statements
    assert explanation.largest_change == pytest.approx(0.5 - fit.network.cpt_array("a")[1], abs=0.01)


def test_the_summary_says_by_what_a_statement_is_the_first() -> None:
    """Many rows press on the one bound, which moves its probability little; few rows on the other, which moves far."""
    network = credo.Network({"a": ["no", "yes"], "b": ["no", "yes"]}, {"b": ["a"]})
    rows = pl.DataFrame({"a": ["no"] * 1000 + ["yes"] * 10, "b": ["no", "yes"] * 500 + ["yes"] * 10})
    fit = credo.fit(network, rows, "P(b=yes | a=no) <= 0.45\nP(b=yes | a=yes) <= 0.6", method="cml")
    assert fit.binding()["place"].to_list() == ["line 1", "line 2"]
    # d/dp of 500 log p + 500 log(1 − p) at 0.45, for one percentage point; that of 10 log p at 0.6.
    assert fit.binding()["gain_per_point"].to_list() == pytest.approx([5 / 0.45 - 5 / 0.55, 0.1 / 0.6], rel=1e-6)
    sentence = "2 statements shaped the result; “P(b=yes | a=yes) <= 0.6” (line 2) changed a probability most, by 40.0"
    assert any(each.startswith(sentence) for each in fit.explain().summary)


@pytest.mark.parametrize("options", [{"method": "cml"}, {"method": "map"}, {"doubt": True}])
def test_statements_about_fixed_cpts_that_do_not_hold_are_not_satisfied(options: dict[str, Any]) -> None:
    network = credo.Network({"a": ["n", "y"], "b": ["n", "y"]}, {"b": ["a"]}, {"a": [0.5, 0.5]})
    rows = pl.DataFrame({"a": ["n", "y", "y"], "b": ["n", "y", "n"]})
    line = "P(a=y) >= 0.6 with confidence 0.4"
    explained = credo.fit(network, rows, line, fixed=["a"], **options).explain(progress=False)
    assert explained.statements[0].effect is Effect.VIOLATED
    assert explained.statements[0].excess == pytest.approx(0.1)
    assert "The data agree with every statement" not in str(explained)
    assert "One is not satisfied" in str(explained)
    holds = credo.fit(network, rows, "P(a=y) >= 0.4", fixed=["a"], method="cml").explain(progress=False)
    assert holds.statements[0].effect is Effect.SATISFIED
