"""Drawing as editing: declarations change, everything else stays, and the text means what was drawn."""

from __future__ import annotations

import re
from importlib import resources

import pytest

import credo
from credo import NetworkError
from credo.knowledge import editing
from credo.knowledge.parse import parse
from tests.helpers.amounts import seeds

TEXT = """# A clinic
variable smoke: no, yes
lung, bronc depend on smoke   # both
dysp depends on lung, bronc
variables lung, bronc, dysp: no, yes

# What is known
smoke raises lung
P(dysp=yes | lung=yes, bronc=no) >= 0.5
"""


def network(text: str) -> credo.Network:
    return credo.declared_network(text).network


def test_a_network_becomes_a_text_that_declares_it() -> None:
    asia = credo.read_network("examples/asia/asia.bif")
    assert network(editing.declarations_of(asia)).same_structure(asia)


@pytest.mark.parametrize("seed", seeds(2, 20))
def test_made_up_networks_become_texts(seed: int) -> None:
    from credo.testing import made_up_network

    made = made_up_network(8, seed=seed)
    read = network(editing.declarations_of(made))
    assert dict(read.parents) == {name: made.parents[name] for name in read.names}
    assert {name: read.states(name) for name in read.names} == {name: made.states(name) for name in made.names}


def test_a_variable_is_added_after_the_declarations() -> None:
    changed = editing.add_variable(TEXT, "x-ray film", ["clear", "a shadow"])
    assert changed.split("\n")[5] == 'variable "x-ray film": clear, "a shadow"'
    assert network(changed).states("x-ray film") == ("clear", "a shadow")
    assert changed.replace('variable "x-ray film": clear, "a shadow"\n', "") == TEXT


def test_a_text_may_begin_with_a_variable() -> None:
    assert editing.add_variable("", "a", ["0", "1"]) == "variable a: 0, 1\n"
    assert editing.add_variable("# only a comment", "a") == "# only a comment\nvariable a"


def test_a_variable_is_renamed_everywhere() -> None:
    changed = editing.rename_variable(TEXT, "lung", "lung cancer")
    assert "lung cancer" in network(changed).names
    assert 'smoke raises "lung cancer"' in changed
    assert 'P(dysp=yes | "lung cancer"=yes, bronc=no) >= 0.5' in changed
    assert "# both" in changed
    assert editing.rename_variable(changed, "lung cancer", "lung") == TEXT


def test_states_of_the_same_name_are_not_renamed() -> None:
    text = "variable yes: no, yes\nP(yes=yes) <= 0.3"
    assert editing.rename_variable(text, "yes", "ill") == "variable ill: no, yes\nP(ill=yes) <= 0.3"


def test_a_removed_variable_leaves_statements_as_comments() -> None:
    changed = editing.remove_variable(TEXT, "lung")
    assert network(changed).names == ("smoke", "bronc", "dysp")
    assert "# left out: smoke raises lung" in changed
    assert "# left out: P(dysp=yes | lung=yes, bronc=no) >= 0.5" in changed
    assert len(credo.Knowledge(network(changed), changed)) == 0


def test_the_only_parent_removed_leaves_its_children() -> None:
    changed = editing.remove_variable("variables a, b, c: 0, 1\nb, c depend on a", "a")
    assert set(network(changed).names) == {"b", "c"}
    assert editing.remove_variable("variables a, b: 0, 1\nb depends on a", "a") == "variable b: 0, 1"
    assert editing.remove_variable("b, c depend on a", "a") == "variables b, c"


def test_an_arc_is_added_to_its_line_or_as_a_line() -> None:
    changed = editing.add_arc(TEXT, "smoke", "dysp")
    assert "dysp depends on lung, bronc, smoke\n" in changed
    assert network(changed).parents["dysp"] == ("lung", "bronc", "smoke")
    text = "variables a, b: 0, 1  # two"
    assert editing.add_arc(text, "a", "b") == text + "\nb depends on a"
    assert editing.add_arc("b depends on a  # why", "c", "b") == "b depends on a, c  # why"


@pytest.mark.parametrize(
    ("parent", "child", "message"),
    [
        ("dysp", "smoke", "cycle"),
        ("lung", "lung", "itself"),
        ("smoke", "lung", "already"),
    ],
)
def test_arcs_that_cannot_be_are_refused(parent: str, child: str, message: str) -> None:
    with pytest.raises(NetworkError, match=message):
        editing.add_arc(TEXT, parent, child)


def test_an_arc_is_removed_and_its_variables_stay() -> None:
    changed = editing.remove_arc(TEXT, "smoke", "lung")
    assert network("\n".join(changed.split("\n")[:6])).parents["lung"] == ()
    assert network("\n".join(changed.split("\n")[:6])).parents["bronc"] == ("smoke",)
    assert "# both" in changed
    alone = editing.remove_arc("a depends on b", "b", "a")
    assert set(editing.names_in(alone)) == {"a", "b"}
    with pytest.raises(NetworkError, match="No line says"):
        editing.remove_arc(TEXT, "lung", "smoke")


def test_statements_that_need_an_arc_go_with_it() -> None:
    text = """c depends on a, b
variables a, b, c: no, yes
a raises c
  a does not affect c  # or does it?
a and b synergize on c
b raises c
P(c=yes | a=no) is at most 20%
"""
    changed = editing.remove_arc(text, "a", "c")
    assert network(changed).parents["c"] == ("b",)
    credo.Knowledge(network(changed), changed)  # which would name mistakes
    assert changed.split("\n")[2:5] == [
        "# left out: a raises c",
        "# left out: a does not affect c  # or does it?",
        "# left out: a and b synergize on c",
    ]
    assert "\nb raises c\nP(c=yes | a=no) is at most 20%\n" in changed


def test_states_are_declared_anew() -> None:
    changed = editing.set_states(TEXT, "lung", ["none", "small", "large"])
    assert network(changed).states("lung") == ("none", "small", "large")
    assert network(changed).states("bronc") == ("no", "yes")
    cut = editing.set_cuts(changed, "lung", [1, 2.5])
    assert "lung is cut at 1, 2.5" in cut
    named = editing.set_cuts(cut, "lung", [3], ["low", "high"])
    assert "lung: low < 3 <= high" in named
    assert "2.5" not in named
    assert network(editing.set_states(named, "lung", ["no", "yes"])).states("lung") == ("no", "yes")


def test_a_new_order_of_states_replaces_one_that_was_stated() -> None:
    changed = editing.set_states("variable a: x, y\norder a: y < x", "a", ["y", "x"])
    assert changed == "variable a: y, x\n# left out: order a: y < x"


@pytest.mark.parametrize(
    ("edit", "message"),
    [
        (lambda: editing.add_variable(TEXT, "lung"), "already"),
        (lambda: editing.add_variable(TEXT, "  "), "needs a name"),
        (lambda: editing.add_variable(TEXT, "new", ["a", "a"]), "twice"),
        (lambda: editing.add_variable(TEXT, "new", ["a", ""]), "no name"),
        (lambda: editing.rename_variable(TEXT, "lung", "smoke"), "already"),
        (lambda: editing.rename_variable(TEXT, "lung", ""), "needs a name"),
        (lambda: editing.set_states(TEXT, "lung", []), "at least one"),
        (lambda: editing.set_cuts(TEXT, "lung", [3, 2]), "ascending"),
        (lambda: editing.set_cuts(TEXT, "lung", [2], ["a"]), "makes 2 states"),
        (lambda: editing.statement_text("eats", parent="a", child="b"), "not a verb"),
    ],
)
def test_edits_that_mean_nothing_are_refused(edit: object, message: str) -> None:
    with pytest.raises(NetworkError, match=message):
        edit()  # type: ignore[operator]


def test_a_text_with_mistakes_is_not_renamed() -> None:
    with pytest.raises(credo.KnowledgeError):
        editing.rename_variable("lung riases smoke", "lung", "x")


@pytest.mark.parametrize(
    ("low", "high", "about", "text"),
    [
        (0.1, 0.25, None, "P(lung=yes | smoke=no) is between 10% and 25%"),
        (0.0, 0.25, None, "P(lung=yes | smoke=no) is at most 25%"),
        (0.125, 1.0, None, "P(lung=yes | smoke=no) is at least 12.5%"),
        (0.2, 0.2, None, "P(lung=yes | smoke=no) = 20%"),
        (0.0, 1.0, 0.3, "P(lung=yes | smoke=no) is about 30%"),
    ],
)
def test_bounds_become_a_statement(low: float, high: float, about: float | None, text: str) -> None:
    clinic = network("variables smoke, lung: no, yes\nlung depends on smoke")
    written = editing.probability_text(clinic, "lung", "yes", {"smoke": "no"}, low, high, about)
    assert written == text
    assert len(credo.Knowledge(clinic, written)) == 1


def test_an_arrow_becomes_a_statement() -> None:
    assert editing.statement_text("raises", parent="a b", child="c") == '"a b" raises c'


def test_every_word_of_the_language_can_be_a_name() -> None:
    grammar = resources.files("credo.knowledge").joinpath("grammar.lark").read_text(encoding="utf-8")
    for word in {each.lower() for each in re.findall("[A-Za-z]{2,}", grammar)}:
        text = editing.add_arc(editing.add_variable("variable zz: no, yes\n", word, ["no", "yes"]), "zz", word)
        text += editing.statement_text("does not affect", parent="zz", child=word) + "\n"
        text = editing.add_arc(editing.add_variable(text, "zzz", [word, f"{word}2"]), word, "zzz")
        text += editing.statement_text("raises", parent=word, child="zzz") + "\n"
        assert parse(text).mistakes == (), text
