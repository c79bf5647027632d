"""How far statements are believed before the data, and what those that may be wrong changed."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from scipy.stats import beta

import credo
from credo.constraints.lower import lower
from credo.explain.doubting import (
    doubted_numbers,
    doubted_statements,
    effects_of_doubted,
    with_prior_correction,
    without_doubted,
)
from credo.knowledge.declared_network import knowledge_about
from credo.posterior.doubted_statements import DoubtedStatements

NETWORK = credo.Network({"a": ["no", "yes"], "x": ["no", "yes"]}, {"x": ["a"]})
ROWS = pl.DataFrame({"a": ["yes"] * 6 + ["no"] * 6, "x": ["yes"] * 3 + ["no"] * 3 + ["yes"] + ["no"] * 5})


def doubts(text: str, doubt: bool | float = False, unseen: bool = False) -> DoubtedStatements:
    knowledge = credo.Knowledge(NETWORK, text)
    stated = lower(knowledge)
    numbers = doubted_numbers(knowledge, stated, doubt)
    found = doubted_statements(knowledge, stated, numbers, doubt, NETWORK, ())
    return with_prior_correction(found, stated, NETWORK, np.full(stated.layout.size, unseen))


def test_narrow_statements_are_widened_and_wide_ones_are_not() -> None:
    found = doubts("0.50 <= P(a=yes) <= 0.51\nP(a=yes) <= 0.9\na raises x", doubt=True)
    assert found.log_prior_correction[0] == pytest.approx(np.log(99), abs=1.0)
    assert found.log_prior_correction[1] == 0.0
    assert found.log_prior_correction[2] == pytest.approx(0.0, abs=0.2)


def test_a_corner_is_less_narrow_than_its_width() -> None:
    assert doubts("P(a=yes) <= 0.001", doubt=True).log_prior_correction[0] < np.log(20)


def test_what_was_never_seen_is_not_nearly_deterministic() -> None:
    seen, unseen = (doubts("P(a=yes) <= 0.001", True, each).log_prior_correction[0] for each in (False, True))
    expected = np.mean([beta(k, k).cdf(0.001) for k in (0.5, 0.5, 1.0)])
    assert unseen == pytest.approx(np.log((1.0 - expected) / expected), abs=1e-6)
    assert unseen > seen + 1.0


@pytest.mark.parametrize("value", [1e-9, 1e-3, 0.1, 0.5])
def test_how_narrow_an_equality_about_a_gate_is(value: float) -> None:
    """The share of products of two Beta variates near the value, of two million instead of 900."""
    knowledge = knowledge_about(f"variables top, a, b: no, yes\ntop is and of a, b\nP(top=yes) is {value:g}").knowledge
    stated = lower(knowledge)
    assert stated.expansion is not None
    network = stated.expansion.network
    found = doubted_statements(knowledge, stated, doubted_numbers(knowledge, stated, True), True, network, ())
    found = with_prior_correction(found, stated, network, np.zeros(stated.layout.size, dtype=np.bool_))
    rng, shares = np.random.default_rng(0), []
    for k in (0.1, 0.5, 1.0):
        logs = np.log(rng.gamma(k + 1.0, size=(2, 2, 700_000))) + np.log(rng.random((2, 2, 700_000))) / k
        top = (logs[0] - np.logaddexp(*logs)).sum(axis=0)
        width = min(0.002, 0.01 * value) / value
        shares.append((np.abs(top - np.log(value)) < max(width, 0.1)).mean() * width / max(width, 0.1))
    assert found.log_prior_correction[0] == pytest.approx(-np.log(np.mean(shares)), abs=0.35)


def test_a_range_of_a_reliability_holds_it_in_nine_cases_of_ten() -> None:
    found = doubts("expert e with reliability between 0.7 and 0.9: a raises x")
    a, b = found.experts[1].prior
    drawn = np.random.default_rng(1).beta(a, b, 20_000)
    assert ((drawn > 0.7) & (drawn < 0.9)).mean() == pytest.approx(0.9, abs=0.02)
    assert found.expert_of.tolist() == [1]


def test_a_confidence_is_doubted_with_and_without_experts() -> None:
    text = "P(a=yes) <= 0.5 with confidence 0.8\nP(x=yes | a=no) <= 0.5\n"
    assert doubts(text).numbers.tolist() == [0]
    assert doubts(text).confidences.tolist() == [0.8]
    knowledge = credo.Knowledge(NETWORK, text)
    assert len(doubted_numbers(knowledge, lower(knowledge), False, samples=False)) == 0
    assert doubts(f"{text}expert e: a raises x").numbers.tolist() == [0, 2]
    assert doubts(text, doubt=0.1).numbers.tolist() == [0, 1]


def test_what_a_doubted_statement_changed_is_what_learning_without_it_changes() -> None:
    text = "P(x=yes | a=yes) >= 0.7"
    fit = credo.fit(NETWORK, ROWS, text, doubt=0.1)
    alone = credo.fit(NETWORK, ROWS)
    assert fit._problem is not None
    effect = effects_of_doubted(fit._problem, fit.posterior)[0]  # type: ignore[arg-type]
    moved = abs(fit.cpt("x")["x=yes"][1] - alone.cpt("x")["x=yes"][1])
    assert moved > 0.05
    assert effect.largest == pytest.approx(moved, abs=0.03)
    assert (effect.changes[0].variable, effect.changes[0].index) == ("x", 1)
    assert without_doubted(fit._problem).model.blocks == ()


def test_without_doubted_influences_nothing_has_their_signs() -> None:
    fit = credo.fit(NETWORK, ROWS, "a raises x\nP(x=yes | a=yes) >= 0.7 with confidence 0.9", doubt=0.1)
    assert fit._problem is not None
    assert fit._problem.model.constraints.influences
    assert without_doubted(fit._problem).model.constraints.influences == ()


def test_a_doubted_statement_that_the_data_contradict_is_not_passed_over() -> None:
    network = credo.Network({"a": ["no", "yes"]})
    data = pl.DataFrame({"a": ["no"] * 40 + ["yes"] * 2})
    fitted = credo.fit(network, data, "P(a=yes) >= 0.6\nP(a=yes) <= 0.1", doubt=True, seed=0)
    summary = " ".join(fitted.explain().summary)
    assert "The data on their own contradict “P(a=yes) >= 0.6” (line 1), which may be wrong." in summary
    assert "contradict none" not in summary


@pytest.mark.parametrize("other", ["", "P(a=yes) <= 0.7\n", "P(b=yes) >= 0.2\n"])
def test_a_doubted_statement_about_fixed_numbers_alone_changes_nothing(other: str) -> None:
    network = credo.Network({"a": ["no", "yes"], "b": ["no", "yes"]}, {"b": ["a"]}, {"b": [[0.9, 0.1], [0.4, 0.6]]})
    rows = pl.DataFrame({"a": ["no", "yes"], "b": ["no", "yes"]})
    fit = credo.fit(network, rows, f"{other}expert joe: P(b=yes | a=yes) >= 0.5", fixed=["b"])
    assert fit.statements()["probability"].to_list() == [1.0]
    explained = {each.statement.number: each for each in fit.explain(progress=False).statements}
    assert explained[len(fit.knowledge) - 1].largest_change == 0.0


def test_statements_about_several_cpts_are_used_beside_experts() -> None:
    network = credo.Network({"a": ["no", "yes"], "b": ["no", "yes"]}, {"b": ["a"]})
    rows = pl.DataFrame({"a": ["no", "yes"] * 5, "b": ["no", "yes"] * 5})
    fit = credo.fit(network, rows, "P(b=yes) <= 0.3\nexpert joe: P(b=yes | a=yes) >= 0.5")
    assert "was not used" not in str(fit.explain(progress=False))
