"""Decisions, utilities and costs in the text: read, printed back, checked against variables and each other."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

import credo
from credo.knowledge.decisions import decision_problem
from credo.knowledge.editing import remove_variable

TEXT = """\
variables disease, ecg: no, yes
ecg depends on disease
decision treat: no, yes
utility of disease=yes, treat=no is -100
utility of treat=yes is -30
cost of ecg is 2
"""
ROWS = pl.DataFrame({"disease": ["no", "yes", "no"], "ecg": ["no", "yes", "yes"], "treat": ["no", "yes", "no"]})


def knowledge(text: str = TEXT) -> credo.Knowledge:
    return credo.Knowledge(credo.declared_network(text).network, text)


def mistake(text: str, data: pl.DataFrame | None = None) -> credo.knowledge.Mistake:
    with pytest.raises(credo.KnowledgeError) as caught:
        credo.fit(text, ROWS if data is None else data, method="ml")
    (found,) = caught.value.mistakes
    return found


def test_a_decision_on_which_nothing_depends_is_no_variable() -> None:
    found = knowledge()
    assert found.network.names == ("disease", "ecg")
    problem = decision_problem(found.declarations, found.network)
    assert problem.options == {"treat": ("no", "yes")}
    assert [(dict(each.given), each.amount) for each in problem.utilities] == [
        ({"disease": ("yes",), "treat": ("no",)}, -100.0),
        ({"treat": ("yes",)}, -30.0),
    ]
    assert problem.costs == {"ecg": 2.0}
    assert found.to_text() == TEXT.strip()


def test_a_decision_that_is_a_parent_is_a_variable_and_needs_its_column() -> None:
    text = TEXT + "outcome depends on disease, treat\nvariable outcome: good, bad\nutility of outcome=bad is -50\n"
    data = ROWS.with_columns(outcome=pl.Series(["good", "bad", "good"]))
    fit = credo.fit(text, data, method="ml")
    assert fit.network.parents["outcome"] == ("disease", "treat")
    assert fit.network.states("treat") == ("no", "yes")
    found = mistake(text, data.drop("treat"))
    assert (found.kind, found.line) == ("decision-without-column", 3)
    assert 'Did you mean "Treat"?' in mistake(text, data.rename({"treat": "Treat"})).suggestion


def test_names_and_states_that_do_not_exist_are_named_with_the_closest() -> None:
    assert mistake(TEXT.replace("treat=yes is", "traet=yes is")).suggestion == 'Did you mean "treat"?'
    assert mistake(TEXT.replace("treat=yes is", "treat=ys is")).suggestion == 'Did you mean "yes"?'
    found = mistake(TEXT.replace("of disease=yes", "of disease=ye"))
    assert (found.kind, found.line, found.suggestion) == ("unknown-state", 4, 'Did you mean "yes"?')
    assert mistake(TEXT.replace("cost of ecg", "cost of egc")).suggestion == 'Did you mean "ecg"?'
    assert mistake(TEXT.replace("decision treat: no, yes\n", "")).kind == "utility-without-decision"


def test_a_given_network_is_compared_with_the_decision() -> None:
    network = credo.Network({"treat": ["no", "yes"], "outcome": ["good", "bad"]}, {"outcome": ["treat"]})
    text = "decision treat: no, yes\nutility of outcome=bad is -50"
    assert len(credo.Knowledge(network, text).declarations) == 2
    with pytest.raises(credo.KnowledgeError) as caught:
        credo.Knowledge(network, text.replace("no, yes", "no, now"))
    assert caught.value.mistakes[0].kind == "states-differ"
    with pytest.raises(credo.KnowledgeError, match='Did you mean "treat"'):
        credo.Knowledge(network, text + "\nutility of traet=yes is -1")


def test_conditions_may_have_several_states_thresholds_and_negations() -> None:
    text = """\
    age is cut at 40, 60
    variable stage: none, early, late
    stage depends on age
    decision operate: no, yes
    utility of stage in {early, late}, operate=no is -10
    utility of stage != none, age >= 40, operate=yes is -2.5
    """
    found = knowledge(text)
    first, second = decision_problem(found.declarations, found.network).utilities
    assert first.given == {"stage": ("early", "late"), "operate": ("no",)}
    assert second.given == {"stage": ("early", "late"), "age": ("40-60", "60+"), "operate": ("yes",)}
    assert knowledge(found.to_text()).declarations == found.declarations


def test_they_are_made_in_python_and_saved_with_a_fit(tmp_path: Path) -> None:
    network = credo.Network({"disease": ["no", "yes"]})
    made = [
        credo.decision("treat", ["no", "yes"]),
        credo.utility({"disease": "yes", "treat": "no"}, -100),
        credo.utility({"disease": ["no", "yes"], "treat": "yes"}, -30),
        credo.cost("disease", 2),
    ]
    fit = credo.fit(network, ROWS, made, method="ml")
    loaded = credo.load(fit.save(tmp_path / "model.fit"))
    assert loaded.knowledge.to_text() == fit.knowledge.to_text() == "\n".join(map(str, made))
    for broken in (lambda: credo.utility({}, 1), lambda: credo.utility({"a": []}, 1), lambda: credo.cost("a", -1)):
        with pytest.raises(credo.KnowledgeError):
            broken()


def test_removing_a_variable_removes_what_it_is_worth() -> None:
    kept = remove_variable(TEXT + "missing values: -999\n", "disease")
    assert "disease" not in kept
    assert "utility of treat=yes is -30" in kept
    assert "missing values: -999" in kept
