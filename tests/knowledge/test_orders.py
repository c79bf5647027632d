"""The order of states: stated, natural, or the file's; whatever order the file lists natural labels in."""

from __future__ import annotations

import pickle
import random
import re
from pathlib import Path

import polars as pl
import pytest

import credo
from credo import (
    CutPoints,
    FormatError,
    Knowledge,
    KnowledgeError,
    Network,
    NetworkError,
    Query,
    UnknownVariableError,
    Variable,
)
from credo.errors import LossyFormatWarning
from credo.explain.orders_used import ORDER_FINDING
from credo.knowledge import knowledge_for
from credo.knowledge.names import state_text
from credo.knowledge.query import parse_query
from credo.knowledge.state_order import (
    DECLARED,
    LISTED,
    MEASURED,
    NATURAL,
    ONE_STATE,
    SCALES,
    StateOrder,
    natural_order,
    state_order,
)
from credo.model.cut_points import default_labels

ORDERED = [
    "no yes",
    "No Yes",
    "FALSE TRUE",
    "absent present",
    "off on",
    "negative positive",
    "normal abnormal",
    "low high",
    "low medium high",
    "LOW NORMAL HIGH",
    "ZERO LOW NORMAL HIGH",
    "LOW AVG HIGH",
    "very_low low moderate high very-high",
    "VeryLow Low Med High VeryHigh",
    "none mild moderate severe",
    "None Slight Moderate Strong",
    "never rarely sometimes often always",
    "small medium large",
    "normal increased",
    "normal elevated",
    "decreased normal increased",
    "young adult old",
    "0 1",
    "0 1 2 10",
    "-2 -1 0 1.5",
    "-1.0 1.0",
    "1e-3 0.5 1.0",
    "<5 5-12 12+",
    "<5 5-9 >=10",
    "0-3_days 4-10_days 11-30_days",
    "under_18 18-64 65+",
    "0-10% 10-20% 20-100%",
    "[0,1) [1,5) [5,inf)",
    "(-inf,0] (0,10] (10,inf)",
    "<=0 >0",
    "18..30 31..60",
]
UNORDERED = ["a b c", "red green", "f m", "car train other", "yes maybe no", "1_1 1_2 2_2", "0-10 5-15", "1 1.0",
             "high uni", "1_kg 5_km", "5-1 6-2", "no yes y", "PFC TGA Lung", "TRUE 0",
             "good bad", "bad good", "worse better", "wrong right", "ill healthy", "pass fail"]  # fmt: skip


@pytest.mark.parametrize("labels", ORDERED)
def test_natural_labels_are_ordered_however_the_file_lists_them(labels):
    expected = tuple(labels.split())
    generator = random.Random(1)
    for _ in range(6):
        states = tuple(generator.sample(expected, len(expected)))
        assert state_order(Variable("x", states)) == StateOrder("x", expected, NATURAL)


@pytest.mark.parametrize("labels", UNORDERED)
def test_other_labels_keep_the_order_of_the_file(labels):
    states = tuple(labels.split())
    assert natural_order(states) is None
    assert state_order(Variable("x", states)).states == states
    assert state_order(Variable("x", states)).reason == LISTED


def test_spaces_are_read_like_dashes_and_underscores():
    assert natural_order(("very high", "low", "very low")) == ("very low", "low", "very high")
    assert natural_order(("more than 5", "less than 5")) == ("less than 5", "more than 5")


def test_an_order_statement_comes_first_and_says_its_line(clinic):
    knowledge = Knowledge(clinic, "# notes\n\norder severity: severe < moderate < mild")
    assert knowledge.orders["severity"].states == ("severe", "moderate", "mild")
    assert knowledge.orders["severity"].reason == "order statement, line 3"
    assert knowledge.orders["age"].states == ("<5", "5-12", "12+")
    assert knowledge.orders["age"].reason == NATURAL
    assert knowledge.orders["ward"].reason == LISTED
    assert set(knowledge.orders) == set(clinic.names)


def test_yes_before_no_in_the_file_is_turned_round(asia):
    assert Knowledge(asia, "").orders["lung"].states == ("no", "yes")


def test_one_state_is_trivial():
    network = Network({"x": ["only"]})
    order = Knowledge(network, "order x: only").orders["x"]
    assert order.states == ("only",)
    assert Knowledge(network, "").orders["x"].reason == ONE_STATE


def test_no_word_stands_twice_on_a_scale():
    for scale in SCALES:
        words = " ".join(scale).split()
        assert len(set(words)) == len(words), scale


# Declared orders ------------------------------------------------------------------------------------------------------

HEART = {"risk": ["high", "low"], "age": ["young", "old"], "pump": ["good", "bad"]}
ROWS = pl.DataFrame({"risk": ["high", "low"] * 20, "pump": ["good", "bad"] * 20, "age": ["young", "old"] * 20})


def test_an_order_that_the_network_declares_wins_over_the_labels() -> None:
    network = Network(HEART, {"pump": ["risk"]}, ordered=["risk"])
    assert [variable.name for variable in network.variables if variable.is_ordered] == ["risk"]
    assert Knowledge(network, "").orders["risk"] == StateOrder("risk", ("high", "low"), DECLARED)
    assert Knowledge(network, "order risk: low < high").orders["risk"].states == ("low", "high")
    listed = Network([Variable("risk", ("high", "low"), is_ordered=True)])
    assert Knowledge(listed, "").orders["risk"].reason == DECLARED
    assert "risk: high, low; from low to high" in str(network)
    for copy in (network.without_cpts(), pickle.loads(pickle.dumps(network)), network.with_cpts({"risk": [0.5, 0.5]})):
        assert copy.variable("risk").is_ordered
    assert knowledge_for(network, Knowledge(Network(HEART, {"pump": ["risk"]}), "")).orders["risk"].reason == DECLARED


def test_the_declared_order_decides_what_an_influence_means() -> None:
    rows = pl.DataFrame({"risk": ["high"] * 50 + ["low"] * 50, "pump": ["bad"] * 45 + ["good"] * 50 + ["bad"] * 5})
    plain, declared = (Network({"risk": ["high", "low"], "pump": ["good", "bad"]}, {"pump": ["risk"]}, ordered=ordered)
                       for ordered in ((), ("risk", "pump")))  # fmt: skip
    kinds = [
        {finding.kind for finding in credo.fit(network, rows, "risk raises pump", method="cmap").findings}
        for network in (plain, declared)
    ]
    assert [each - {"solver"} for each in kinds] == [{ORDER_FINDING}, {"contradicted by the data"}]


@pytest.mark.parametrize("ordered", ["risk", ["smoke"], [3], None, {"risk": True}])
def test_what_is_no_list_of_variables_is_refused(ordered) -> None:
    with pytest.raises((NetworkError, UnknownVariableError)):
        Network(HEART, ordered=ordered)
    with pytest.raises(NetworkError, match="is True or False, not 1"):
        Variable("x", ("a", "b"), is_ordered=1)  # type: ignore[arg-type]


def complete() -> Network:
    cpts = {"risk": [0.4, 0.6], "pump": [[0.1, 0.9], [0.7, 0.3]], "age": [0.5, 0.5]}
    return Network(HEART, {"pump": ["risk"]}, cpts, ordered=["risk", "pump"])


@pytest.mark.parametrize("ending", ["bif", "bif.gz", "xmlbif", "xdsl", "net", "dsl"])
def test_network_files_keep_declared_orders(ending: str, tmp_path: Path) -> None:
    path = tmp_path / f"heart.{ending}"
    credo.write_network(complete(), path)
    read = credo.read_network(path)
    assert read == complete()
    assert [variable.name for variable in read.variables if variable.is_ordered] == ["risk", "pump"]
    credo.write_network(Network(read.variables, read.parents, read.cpts), path)
    assert Knowledge(credo.read_network(path), "").orders["pump"].reason == DECLARED


def test_a_format_without_properties_warns_and_an_unknown_order_is_an_error(tmp_path: Path) -> None:
    with pytest.warns(LossyFormatWarning) as warned:
        credo.write_network(complete(), tmp_path / "heart.uai")
    assert any("UAI has no place for declared orders of states" in str(each.message) for each in warned)
    path = tmp_path / "heart.bif"
    credo.write_network(complete(), path)
    path.write_text(path.read_text("utf-8").replace("= ascending", "= downwards"), "utf-8")
    with pytest.raises(FormatError, match="credo_order of risk is `ascending`, not “downwards”"):
        credo.read_network(path)


def test_a_fit_reports_orders_that_nobody_declared() -> None:
    network = Network({**HEART, "lung": ["yes", "no"]}, {"pump": ["age"], "lung": ["risk"]})
    rows = ROWS.with_columns(lung=pl.lit("yes"))
    fit = credo.fit(network, rows, "age raises pump\nrisk raises lung\norder lung: yes < no", method="cmap")
    messages = [str(each) for each in fit.findings if each.kind == ORDER_FINDING]
    assert messages == [
        "It is not declared which states are low and which are high; they were ordered from their labels: "
        "age: young < old; risk: low < high. If an order is wrong, write `order age: old < young`.",
        "It is not declared which states are low and which are high; they were ordered as the network lists them: "
        "pump: good < bad. If an order is wrong, write `order pump: bad < good`.",
    ]
    without = credo.fit(network, rows, "P(risk=low) <= 0.6", method="cmap")
    assert not [each for each in without.findings if each.kind == ORDER_FINDING]


def test_the_documentation_lists_every_label_that_is_ordered_by_itself() -> None:
    text = (Path(__file__).parents[2] / "docs" / "language.md").read_text("utf-8")
    section = text.split("## Order")[1].split("\n## ")[0]
    listed = {re.sub(r"[\s\-]", "", word).casefold() for word in re.findall(r"[a-zA-Z][a-zA-Z \-]*", section)}
    assert {word for scale in SCALES for words in scale for word in words.split()} <= listed


def test_a_variable_with_cut_points_is_ordered_by_them():
    """Whatever its states are called: here their labels suggest the opposite."""
    variable = Variable("risk", ("high", "low"), CutPoints((3,)))
    assert state_order(variable) == StateOrder("risk", ("high", "low"), MEASURED)
    knowledge = Knowledge(Network([variable]), "order risk: low < high")
    assert knowledge.orders["risk"].states == ("low", "high")


@pytest.mark.parametrize("points", [(40, 60), (-5, -2.5), (0.5,), (1e-7, 3), (1e22, 1e23), (1.23456789, 1.23456790)])
def test_states_named_after_cut_points_can_be_written_and_are_ordered(points):
    labels = default_labels(points)
    network = Network([Variable("x", labels, CutPoints(points)), Variable("y", ("no", "yes"))], {"y": ["x"]})
    text = "\n".join(f"P(y=yes | x={state_text(label)}) > 0.5" for label in labels)
    knowledge = Knowledge(network, text)
    again = Knowledge(network, "\n".join(map(str, knowledge.statements)))
    assert again.statements == knowledge.statements
    query = Query({"y": ("yes",)}, {"x": (labels[0],)})
    assert parse_query(network, str(query)) == query
    assert natural_order(labels) in (labels, None)


def test_several_variables_have_one_order() -> None:
    network = Network({"pump1": ["failed", "ok"], "pump2": ["failed", "ok"], "valve": ["failed", "ok"]})
    knowledge = Knowledge(network, "order pump1, pump2: ok < failed")
    assert [knowledge.orders[name].states[0] for name in network.names] == ["ok", "ok", "failed"]
    with pytest.raises(KnowledgeError, match='There is another order of "pump2" .line 1.: ok < failed'):
        Knowledge(network, "order pump1 and pump2: ok < failed\norder valve, pump2: failed < ok")
