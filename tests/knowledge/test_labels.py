"""Labels and groups: what people read, and which variables belong together; neither changes what is learned."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

import credo
from credo.knowledge.editing import remove_variable, rename_variable
from credo.knowledge.labels import Labels, labels_of

TEXT = """\
variables fever, cough, flu: no, yes
fever, cough depend on flu
label flu=yes: "present"
label flu: influenza, unit "cases", note 'as "flu" is called', source "WHO"
group symptoms: fever, cough
flu raises fever
"""


def knowledge(text: str = TEXT) -> credo.Knowledge:
    return credo.Knowledge(credo.declared_network(text).network, text)


def test_labels_and_groups_are_read_and_printed_alike() -> None:
    labels = labels_of(knowledge().declarations)
    assert labels.variable("flu") == "influenza"
    assert labels.variable("fever") == "fever"
    assert labels.state("flu", "yes") == "present"
    assert labels.state("flu", "no") == "no"
    assert labels.variables["flu"].note == 'as "flu" is called'
    assert labels.groups == {"symptoms": ("fever", "cough")}
    printed = "\n".join(map(str, knowledge().declarations)) + "\n"
    assert [str(each) for each in knowledge(printed).declarations] == printed.splitlines()


def test_they_are_made_in_python_too() -> None:
    made = [
        credo.variable("flu", ["no", "yes"]),
        credo.label("flu", "present", "yes"),
        credo.label("flu", "influenza", unit="cases"),
        credo.group("diseases", ["flu"]),
    ]
    labels = labels_of(credo.Knowledge(credo.Network({"flu": ["no", "yes"]}), made).declarations)
    assert labels.state("flu", "yes") == "present"
    assert labels.groups == {"diseases": ("flu",)}
    with pytest.raises(credo.KnowledgeError):
        credo.group("diseases", [])
    with pytest.raises(credo.KnowledgeError):
        credo.label("flu", 3)  # type: ignore[arg-type]


def test_label_and_group_are_names_as_well() -> None:
    text = 'variables group, label: no, yes\nlabel depends on group\ngroup raises label\nlabel group: "ward"\n'
    found = knowledge(text)
    assert found.network.parents["label"] == ("group",)
    assert labels_of(found.declarations).variable("group") == "ward"


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ('label flu=maybe: "x"', 'no state "maybe"'),
        ("group risks: fevr", "fevr"),
        ("group risks: cough", "is in the group symptoms already"),
        ('label flu: "grippe"', "another label"),
        ('label fever: "x", unit "a", unit "b"', "one unit"),
        ("group risks: fever, fever", "occurs twice"),
        ('label flu: "x" with confidence 0.9', "confidence"),
    ],
)
def test_mistakes(line: str, message: str) -> None:
    network = knowledge().network
    with pytest.raises(credo.KnowledgeError, match=message):
        credo.Knowledge(network, f"{TEXT}{line}\n")


def test_they_follow_a_variable_that_is_renamed_or_removed() -> None:
    renamed = rename_variable(TEXT, "flu", "influenza A")
    assert 'label "influenza A"=yes: "present"' in renamed
    assert "group symptoms: high, cough" in rename_variable(TEXT, "fever", "high")
    removed = remove_variable(TEXT, "cough")
    assert "group symptoms: fever\n" in removed
    assert "label" not in remove_variable(TEXT, "flu")


def test_they_change_nothing_that_is_learned_and_are_saved(tmp_path: Path) -> None:
    table = pl.DataFrame({"flu": ["no", "yes"], "fever": ["no", "yes"], "cough": ["yes", "yes"]})
    plain = "\n".join(line for line in TEXT.splitlines() if not line.startswith(("label", "group")))
    one, two = credo.fit(TEXT, table, method="cmap"), credo.fit(plain + "\n", table, method="cmap")
    assert one.network == two.network
    loaded = credo.load(one.save(tmp_path / "a.fit"))
    assert labels_of(loaded.knowledge.declarations).state("flu", "yes") == "present"


def test_labels_stand_in_texts_in_place_of_names() -> None:
    states = {"ill": ["1", "10"], "a b": ["yes", "no"], "age": ["1", "2"], "other": ["x", "y"]}
    lines = 'label ill: "heart disease"\nlabel ill=1: "present"\nlabel "a b"=yes: "Yes"\nlabel other: "else"'
    labelled = labels_of(credo.Knowledge(credo.Network(states), lines).declarations).in_texts(states)
    assert labelled('P(ill=1 | "a b"=yes, age=1)') == "P(heart disease=present | a b=Yes, age=1)"
    assert labelled("Given ill=10: ill=1.") == "Given heart disease=10: heart disease=present."
    assert labelled("still=1, ill=100, ill=1.5, other=xy") == "still=1, ill=100, ill=1.5, other=xy"
    assert labelled("“ill=1 is rare”, but ill=1") == "“ill=1 is rare”, but heart disease=present"
    assert Labels().in_texts({"ill": ["1"]})("ill=1") == "ill=1"
