"""The order of states: stated, natural, or the file's; whatever order the file lists natural labels in."""

from __future__ import annotations

import random

import pytest

from credo.knowledge import Knowledge
from credo.knowledge.names import state_text
from credo.knowledge.query import Query, parse_query
from credo.knowledge.state_order import (
    LISTED,
    MEASURED,
    NATURAL,
    ONE_STATE,
    SCALES,
    StateOrder,
    natural_order,
    state_order,
)
from credo.model.cut_points import CutPoints, default_labels
from credo.model.network import Network, Variable

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
             "high uni", "1_kg 5_km", "5-1 6-2", "no yes y", "PFC TGA Lung", "TRUE 0"]  # fmt: skip


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
