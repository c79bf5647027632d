"""What became of statements in cases made by hand, and what is said where something cannot be told."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

import credo
from credo import Network
from credo.estimation.methods import METHODS
from credo.explain.configurations import MOST_ROWS
from credo.explain.parts import Effect, Explanation, StatementStory
from tests.helpers.clinic import CLINIC, COIN, NO_YES, STATEMENTS, counted, patients


def told(fit: credo.Fit) -> dict[int, StatementStory]:
    return {each.number: each for each in fit.explain().statements}


@pytest.mark.parametrize("method", ["cml", "cmap", "posterior"])
def test_a_statement_that_follows_had_no_effect(method: str) -> None:
    found = told(credo.fit(COIN, counted(30, 30), "P(a=yes) <= 0.3\nP(a=yes) <= 0.6", method=method))
    assert found[0].effect is Effect.BOUND
    assert found[0].moved == pytest.approx(0.2, abs=0.03)
    assert found[1].effect is Effect.HELD
    assert found[1].moved == 0.0


def test_saying_it_twice_changes_nothing_twice() -> None:
    found = told(credo.fit(COIN, counted(30, 30), "P(a=yes) <= 0.3\nP(a=no) >= 0.7", method="cmap"))
    assert {each.effect for each in found.values()} == {Effect.NOTHING}  # without either, the other still holds


def test_a_statement_that_the_data_agree_with_holds_with_room() -> None:
    fit = credo.fit(COIN, counted(20, 30), "P(a=yes) <= 0.7", method="cmap")
    (story,) = fit.explain().statements
    assert (story.effect, story.contradicted, story.moved, story.price) == (Effect.HELD, False, 0.0, 0.0)
    assert story.amount == pytest.approx(21 / 52 - 0.7)
    assert "No statement had to bend the result." in fit.explain().summary


def test_a_soft_statement_that_is_missed_says_by_how_much() -> None:
    fit = credo.fit(COIN, counted(60, 140), "P(a=yes) >= 0.9 with confidence 0.6", method="cmap", soft_weight=10.0)
    (story,) = fit.explain().statements
    assert story.effect is Effect.VIOLATED
    assert story.contradicted
    assert story.confidence == 0.6
    assert story.amount == pytest.approx(0.9 - fit.network.cpt_array("a")[1])
    assert story.amount == pytest.approx(fit.violations()[0].amount)
    assert any("One is not satisfied" in sentence for sentence in fit.explain().summary)


def test_what_the_data_contradict_comes_first_with_its_odds() -> None:
    text = "P(smoke=yes) <= 0.9\nsmoke raises lung\nP(xray=clear | lung=no) <= 0.3"
    fit = credo.fit(CLINIC, patients(300), text, method="cmap")
    first = fit.explain().statements[0]
    assert (first.line, first.contradicted, first.effect) == (3, True, Effect.BOUND)
    assert first.plausibility is not None
    assert first.plausibility.probability is not None
    assert first.plausibility.probability.value < 1e-6
    assert first.plausibility.bayes_factor is not None
    assert first.plausibility.bayes_factor < 1e-6
    assert first.rows == (("xray", 0),)
    assert any("The data by themselves contradict “P(xray=clear" in sentence for sentence in fit.explain().summary)


def test_a_row_tells_data_knowledge_and_result_apart() -> None:
    fit = credo.fit(COIN, counted(2, 2), "0.6 <= P(a=yes) <= 0.8")
    (row,) = fit.explain().rows["a"]
    assert row.seen == 4
    assert row.data is not None
    assert row.data == pytest.approx([0.5, 0.5])
    assert (row.low[1], row.high[1], row.allowed[1]) == pytest.approx((0.6, 0.8, 0.7), abs=1e-6)
    assert 0.6 <= row.learned[1] <= 0.8
    assert row.interval is not None
    assert 0.6 <= row.interval[0][1] < row.learned[1] < row.interval[1][1] <= 0.8
    assert row.moved_by[0][0] == 0


def test_five_sentences_and_no_statements() -> None:
    whole = credo.fit(CLINIC, patients(100), "\n".join(STATEMENTS)).explain()
    assert len(whole.summary) == 5
    assert str(whole) == "\n".join(whole.summary)
    for method in ("ml", "cmap", "posterior"):
        none = credo.fit(CLINIC, patients(100), method=method).explain()
        assert none.statements == ()
        assert none.summary[0] == f"clinic: 4 variables were learned from 100 rows and no statements, by {method}."
        assert len(none.summary) == 2
        assert all(row.moved == 0.0 for rows in none.rows.values() for row in rows)


@pytest.mark.parametrize("method", sorted(METHODS))
def test_every_method_is_explained_or_says_what_it_cannot_tell(method: str) -> None:
    fit = credo.fit(CLINIC, patients(60), "\n".join(STATEMENTS), method=method)
    story = fit.explain()
    assert len(story.statements) == len(STATEMENTS)
    assert fit.explain() is story  # worked out once
    if not METHODS[method].uses_knowledge:
        assert f"The method {method} makes no use of the knowledge" in story.notes[0]
        assert all(each.moved == 0.0 for each in story.statements)
        assert "No statement was used." in story.summary[1]
        assert any("The knowledge would h" in sentence for sentence in story.summary)
    elif method not in ("cml", "cmap", "posterior"):
        assert "no such answer of its own" in story.notes[0]


def not_available(story: Explanation) -> bool:
    return story.held_out is story.cross_validated is None and any("is not available" in note for note in story.notes)


def test_gaps_are_explained_with_expected_counts() -> None:
    data = patients(200).with_columns(
        lung=pl.when(pl.int_range(pl.len()) % 4 == 0).then(None).otherwise(pl.col("lung"))
    )
    fit = credo.fit(CLINIC, data, "\n".join(STATEMENTS))
    story = fit.explain()
    assert not_available(story)
    assert sum(row.seen for row in story.rows["lung"]) == pytest.approx(200)
    assert all(each.plausibility is None or each.plausibility.probability is None for each in story.statements)
    assert any(each.effect is Effect.BOUND for each in story.statements)
    without = credo.fit(CLINIC, data.drop("age"), "smoke raises lung").explain()
    assert not_available(without)


def test_tied_rows_are_explained() -> None:
    data = patients(40).with_columns(family=pl.int_range(pl.len()) // 2)
    data = data.with_columns(lung=pl.when(pl.int_range(pl.len()) % 2 == 0).then(None).otherwise(pl.col("lung")))
    fit = credo.fit(CLINIC, data, "rows with equal family share lung\nsmoke raises lung by at least 0.4")
    story = fit.explain()
    assert not_available(story)
    assert {each.line: each.effect for each in story.statements}[1] is Effect.OUTSIDE
    assert {each.line: each.effect for each in story.statements}[2] is Effect.BOUND


def test_noisy_families_are_explained_by_their_small_tables() -> None:
    network = Network(dict.fromkeys("abc", NO_YES), {"c": ["a", "b"]}, name="noisy")
    rng = np.random.default_rng(0)
    data = pl.DataFrame({name: [NO_YES[k] for k in rng.integers(0, 2, 80)] for name in "abc"})
    fit = credo.fit(network, data, "c is noisy-or of {a}, {b}\nP(a=yes) <= 0.3")
    story = fit.explain()
    assert not_available(story)
    assert story.summary[0].startswith("noisy: 3 variables")
    assert {"c by a", "c by b"} <= set(story.rows)
    assert "c" not in story.rows
    assert {each.line: each.effect for each in story.statements} == {1: Effect.OUTSIDE, 2: Effect.BOUND}


def test_huge_tables_are_told_in_part() -> None:
    parents = [f"p{k}" for k in range(13)]
    network = Network(dict.fromkeys([*parents, "child"], NO_YES), {"child": parents})
    rng = np.random.default_rng(0)
    data = pl.DataFrame({name: [NO_YES[k] for k in rng.integers(0, 2, 50)] for name in network.names})
    given = ", ".join(f"{name}=yes" for name in parents)
    story = credo.fit(network, data, f"P(child=yes | {given}) <= 0.2", method="cmap").explain()
    rows = story.rows["child"]
    assert len(rows) == MOST_ROWS
    assert sum(row.seen for row in rows) == 50
    assert rows[-1].row == 2**13 - 1
    assert any("child" in note for note in story.notes)


def test_too_many_numbers_are_taken_away_in_tenths(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("credo.explain.held_out.MOST_CELLS", 3)
    story = credo.fit(CLINIC, patients(100), "\n".join(STATEMENTS), method="cmap").explain()
    assert story.held_out is None
    assert story.cross_validated is not None
    assert any("a tenth at a time" in note for note in story.notes)
    assert any("rows that were held out" in sentence for sentence in story.summary)


def test_the_effect_on_a_mean_is_that_of_a_mean() -> None:
    """Of a Beta(2, 2) below 0.4, the mean is ∫ x²(1 − x) / ∫ x(1 − x) up to there, and 0.5 without the bound."""
    fit = credo.fit(COIN, counted(1, 1), "P(a=yes) <= 0.4")
    (story,) = fit.explain().statements
    mean = (0.4**3 / 3 - 0.4**4 / 4) / (0.4**2 / 2 - 0.4**3 / 3)
    assert story.moved == pytest.approx(0.5 - mean, abs=0.01)
