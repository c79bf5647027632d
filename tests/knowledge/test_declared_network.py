"""Networks that knowledge declares: what is declared is kept, the rest comes from the table, and both are reported."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

import credo
from credo import CutPoints, KnowledgeError, declared_network
from credo.knowledge.declared_network import knowledge_about
from credo.knowledge.sources import is_knowledge

TEXT = """
outcome depends on age, bp
age: young < 40 <= middle < 60 <= old
age raises outcome
P(smoker=yes) <= 40%
"""
TABLE = pl.DataFrame(
    {
        "id": [f"p{n}" for n in range(40)],
        "age": [25 + n for n in range(40)],
        "bp": [None if n == 3 else 100.5 + 2 * n for n in range(40)],
        "smoker": ["no", "no", "yes", "no"] * 10,
        "outcome": [0, 0, 0, 1] * 10,
    }
)


def mistakes(source, table=None) -> list[credo.results.Mistake]:
    with pytest.raises(KnowledgeError) as caught:
        declared_network(source, data=table)
    return list(caught.value.mistakes)


def test_everything_that_is_named_is_a_variable_and_the_rest_comes_from_the_table():
    made = declared_network(TEXT, data=TABLE)
    network = made.network
    assert network.names == ("outcome", "age", "bp", "smoker")
    assert network.parents == {"outcome": ("age", "bp"), "age": (), "bp": (), "smoker": ()}
    assert network.states("outcome") == ("0", "1")
    assert network.states("age") == ("young", "middle", "old")
    assert network.variable("age").cuts == CutPoints((40, 60))
    assert network.variable("bp").cuts is not None
    said = [str(finding) for finding in made.findings]
    assert "outcome has the states 0, 1, the values in the table." in said
    assert any(line.startswith("bp is cut at ") for line in said)
    assert not any("age" in line for line in said)  # nothing was decided about it
    assert said[-1] == "Columns not used, because the knowledge does not mention them: id."


def test_no_table_is_needed_where_all_states_are_declared():
    text = f"variables outcome, smoker: no, yes\nbp is cut at 120, 140\n{TEXT}"
    made = declared_network(text)
    assert made.findings == ()
    assert made.network.states("bp") == ("<120", "120-140", "140+")
    assert made.network.variable("bp").cuts == CutPoints((120, 140))
    assert (
        declared_network(text, data=TABLE.with_columns(outcome=pl.lit("no"))).network == made.network.with_ranges(TABLE)
        if (hasattr(made.network, "with_ranges"))
        else True
    )


def test_names_for_cut_points_may_come_from_another_line():
    network = declared_network("variable age: young, old\nage is cut at 50").network
    assert network.states("age") == ("young", "old")
    assert network.variable("age").cuts == CutPoints((50,))


def test_declared_states_are_listed_from_low_to_high():
    text = "variable lamp: red, amber, green\nvariable level: high, low\nlamp depends on level\nlevel raises lamp"
    knowledge = knowledge_about(text).knowledge
    assert knowledge.network.variable("lamp").is_ordered
    assert knowledge.orders["lamp"].states == ("red", "amber", "green")
    assert knowledge.orders["level"].states == ("low", "high")  # as the labels say


def test_rules_choose_cut_points_in_the_table():
    made = declared_network("age is cut into 4 quantiles\nbp is cut into 2 equal ranges", data=TABLE)
    assert len(made.network.states("age")) == 4
    assert len(made.network.states("bp")) == 2
    assert [finding.kind for finding in made.findings] == [
        "cut points",
        "cut points",
        "missing values",
        "columns not used",
    ]


def test_a_hidden_variable_has_states_and_no_column():
    text = "variable severity: mild, severe\noutcome depends on severity"
    assert declared_network(text, data=TABLE).network.states("severity") == ("mild", "severe")


def test_columns_that_tie_rows_or_weigh_them_are_used():
    text = "outcome depends on smoker\nrows with equal id share smoker"
    found = knowledge_about(text, None, TABLE, others=("bp",))
    assert found.findings[-1].message == "Columns not used, because the knowledge does not mention them: age."


def test_the_network_is_called_like_the_file(tmp_path: Path):
    path = tmp_path / "patients.credo"
    path.write_text(TEXT, encoding="utf-8")
    assert declared_network(path, data=TABLE).network.name == "patients"
    assert declared_network(str(path), data=TABLE).network.name == "patients"
    assert declared_network(TEXT, data=TABLE).network.name == "network"


# Mistakes -------------------------------------------------------------------------------------------------------------


def test_names_that_nobody_knows_are_mistakes_with_the_closest_name():
    found = mistakes(TEXT.replace("age raises", "aeg raises").replace("on age, bp", "on age, bpp"), TABLE)
    assert [(each.line, each.kind, each.suggestion) for each in found] == [
        (2, "unknown-name", 'Did you mean "bp"?'),
        (4, "unknown-name", 'Did you mean "age"?'),
    ]
    assert found[0].message == '"bpp" is neither declared nor a column of the table.'
    assert found[0].expected == "one of id, age, bp, smoker, outcome"


def test_a_name_in_a_noisy_family_is_reported_once():
    (found,) = mistakes("outcome is noisy-or of {smoker}, {agee}", TABLE)
    assert (found.line, found.suggestion) == (1, 'Did you mean "age"?')
    (found,) = mistakes("variables a, b: no, yes\na is noisy-or of {b}, {c}")
    assert (found.line, found.kind) == (2, "states-missing")


def test_knowledge_that_names_nothing():
    with pytest.raises(credo.OptionError, match="names no variable"):
        declared_network("# nothing yet\n", data=TABLE)


def test_a_column_of_numbers_that_is_missing_is_no_hidden_variable():
    (found,) = mistakes("agee is cut at 40, 60", TABLE)
    assert (found.kind, found.suggestion) == ("unknown-name", 'Did you mean "age"?')


def test_states_that_nobody_knows_are_named_with_what_to_write():
    first, second, third = mistakes(TEXT)
    assert (first.line, first.message) == (2, "The states of outcome are not known: there is no table.")
    assert first.suggestion == "Write, for instance, variable outcome: no, yes; or give the table."
    assert (second.line, second.kind) == (2, "states-missing")
    assert (third.line, third.kind) == (5, "unknown-name")
    assert third.message == '"smoker" is not declared.'


def test_a_declared_variable_without_states_and_column():
    (found,) = mistakes("variable outcom\nsmoker raises outcome\noutcome depends on smoker", TABLE)
    assert found.message == "The states of outcom are not known: the table has no such column."
    assert found.suggestion.startswith('Did you mean "outcome"? Write, for instance, variable outcom: no, yes')


def test_unknown_states_are_named_with_the_closest():
    with pytest.raises(KnowledgeError) as caught:
        knowledge_about(TEXT + "P(outcome=1 | age=odl, each bp) >= 0.1", None, TABLE)
    (found,) = caught.value.mistakes
    assert (found.line, found.kind, found.suggestion) == (6, "unknown-state", 'Did you mean "old"?')


def test_a_number_or_an_unknown_state_gets_a_hint():
    with pytest.raises(KnowledgeError) as caught:
        knowledge_about(TEXT + "P(outcome=1 | age=54, each bp) >= 0.1\nP(outcome=ill) <= 0.5", None, TABLE)
    first, second = caught.value.mistakes
    assert first.suggestion == '54 is in the state "middle".'
    assert second.suggestion == "Write states as in the table, or as they are declared, in quotes where needed."


def test_mistakes_of_form_come_first_and_once():
    found = mistakes("outcome depends from age\nage is cut at 60, 40\nage raises outcome", TABLE)
    assert [(each.line, each.kind) for each in found] == [(1, "depends-words"), (2, "cut-order")]


# What is knowledge ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("patients.credo", True),
        (Path("patients.credo"), True),
        ("outcome depends on age", True),
        ("outcome depends from age", True),
        ("a raises b\nb depends on a", True),
        (["outcome depends on age"], True),
        (credo.depends_on("outcome", ["age"]), True),
        (credo.raises("age", "outcome"), True),
        ("asia.bif", False),
        ("my folder/asia.bif", False),
        (Path("asia.bif"), False),
        ("asia", False),
        (credo.Network({"a": ["x"]}), False),
    ],
)
def test_knowledge_is_told_from_network_files(source, expected):
    assert is_knowledge(source) is expected


# States of the table whose order nobody stated ------------------------------------------------------------------------

PUMPS = pl.DataFrame(
    {
        "pump1": ["ok", "failed", "ok", "failed"],
        "pump2": ["ok", "ok", "failed", "failed"],
        "site": ["north", "south", "north", "south"],
        "system": ["ok", "failed", "failed", "failed"],
    }
)


def test_alphabetical_states_are_no_order_for_a_noisy_family():
    wrong = mistakes("# a fault tree\n\nsystem is noisy-or of pump1, pump2, site\npump1 raises system", PUMPS)
    mistake = wrong[0]
    assert wrong[-1].suggestion == "Declare the states from low to high, as in: variable site: north, south"
    assert (mistake.line, mistake.column, mistake.kind) == (3, 1, "order-unknown")
    assert mistake.message == (
        "It is not known which state of system is low and which is high (failed, ok are in alphabetical order)."
    )
    assert (
        mistake.suggestion == "Declare the states from low to high, as in: variables system, pump1, pump2: ok, failed"
    )


def test_what_is_suggested_is_the_order_that_is_then_used():
    text = "system is noisy-or of pump1, pump2, site\npump1 raises system"
    mistake = mistakes(text, PUMPS)[0]
    declared = mistake.suggestion.split(": ", 1)[1]
    knowledge = knowledge_about(f"{declared}\norder site: north < south\n{text}", table=PUMPS).knowledge
    assert knowledge.orders["system"].states == ("ok", "failed")


@pytest.mark.parametrize("line", ["site raises system", "site and pump1 synergize on system"])
def test_alphabetical_states_are_no_order_for_influences(line):
    wrong = mistakes(f"variables pump1, system: ok, failed\nsystem depends on site, pump1\n{line}", PUMPS)
    assert [(mistake.kind, mistake.line, mistake.column) for mistake in wrong] == [("order-unknown", 3, 1)]
    assert wrong[0].suggestion.endswith("variable site: north, south")


@pytest.mark.parametrize(
    "text",
    [
        "system depends on pump1\nP(system=failed | pump1=failed) >= 0.5",
        "system depends on site\nsite does not affect system",
        "order system: ok < failed\nsystem is noisy-or of pump1, site with general effects",
        "order system: ok < failed\norder pump1: ok < failed\nsystem depends on pump1\npump1 raises system",
    ],
)
def test_an_order_is_asked_for_only_where_it_matters(text):
    assert declared_network(text, data=PUMPS).network.states("system") == ("failed", "ok")


def test_an_order_names_the_states_where_nothing_else_does():
    text = "order pump1, system: ok < failed\nsystem depends on pump1\npump1 raises system"
    network = declared_network(text).network
    assert network.states("pump1") == network.states("system") == ("ok", "failed")
    hidden = declared_network(f"order wear: none < much\npump1 depends on wear\n{text}", data=PUMPS).network
    assert hidden.states("wear") == ("none", "much")
    assert hidden.states("pump1") == ("failed", "ok")
    assert declared_network("variable a: x, y, z\norder a: z < y < x").network.states("a") == ("x", "y", "z")
