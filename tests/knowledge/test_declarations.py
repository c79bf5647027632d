"""Declarations: every form is read and printed back; together they make a structure, which agrees with a network."""

from __future__ import annotations

import pickle

import pytest

import credo
from credo import CutPoints, Knowledge, KnowledgeError, Network, Variable
from credo.knowledge import to_text
from credo.knowledge.declarations import DECLARATIONS
from credo.knowledge.mistakes import describe
from credo.knowledge.parse import parse, parse_line
from credo.knowledge.structure import structure_of
from tests.helpers.knowledge_examples import DECLARED, NETWORKS

MEASURED = NETWORKS["measured"]


def structure(text: str):
    parsed = parse(text)
    assert parsed.mistakes == ()
    return structure_of(parsed.declarations, parsed.statements)


def kinds_in(text: str, network: Network = MEASURED) -> list[str]:
    with pytest.raises(KnowledgeError) as caught:
        Knowledge(network, text)
    return [mistake.kind for mistake in caught.value.mistakes]


@pytest.mark.parametrize(("text", "declaration"), DECLARED.items(), ids=DECLARED)
def test_every_form_parses_and_prints_back(text, declaration):
    found, mistakes = parse_line(text)
    assert mistakes == ()
    assert found == declaration
    assert parse_line(to_text(found)) == (declaration, ())


def test_every_type_of_declaration_can_be_written():
    assert {type(declaration) for declaration in DECLARED.values()} == set(DECLARATIONS)


@pytest.mark.parametrize("text", ["variable raises x", "variables and x synergize on y", "variable is noisy-or of {x}"])
def test_a_variable_may_be_called_variable(text):
    statement, mistakes = parse_line(text)
    assert mistakes == ()
    assert parse_line(to_text(statement)) == (statement, ())


def test_declarations_add_up_in_any_order():
    found, wrong = structure(
        "outcome depends on age\nsmoke raises outcome\nvariables smoke, outcome: no, yes\n"
        "outcome depends on smoke, age\nage: young < 40 <= old\nvariable age: young, old"
    )
    assert wrong == []
    assert list(found.mentions) == ["outcome", "age", "smoke"]
    assert found.parents == {"outcome": ("age", "smoke")}
    assert found.states == {"smoke": ("no", "yes"), "outcome": ("no", "yes"), "age": ("young", "old")}
    assert found.cuts["age"].points == (40.0,)


def test_a_noisy_family_declares_the_parents_of_its_child():
    found, wrong = structure("alarm is noisy-or of {smoke}, {heat, steam}")
    assert wrong == []
    assert found.parents == {"alarm": ("smoke", "heat", "steam")}


def test_a_circle_is_named_with_its_lines():
    _, wrong = structure("b depends on a\nc depends on b\na depends on x, c")
    ((declaration, mistake),) = wrong
    assert declaration.span.line == 3
    assert mistake.kind == "cycle"
    assert mistake.facts["path"] == "c depends on b (line 2), b depends on a (line 1)"


def test_a_long_circle_is_shortened():
    _, wrong = structure("\n".join(f"x{n} depends on x{(n + 1) % 9}" for n in range(9)))
    ((declaration, mistake),) = wrong
    assert declaration.span.line == 9
    assert mistake.facts["path"].startswith("x0 depends on x1 (line 1), x1 depends on x2 (line 2)")
    assert mistake.facts["path"].endswith(", and 3 more")


def test_long_chains_are_read_quickly():
    lines = "\n".join(f"x{n + 1} depends on x{n}" for n in range(3000))
    _, wrong = structure(lines)
    assert wrong == []


def test_the_python_form_is_the_same():
    made = [
        credo.variable("outcome", ["no", "yes"]),
        credo.variable("bp"),
        credo.depends_on("outcome", ["age"]),
        credo.cut("age", [40, 60], ["young", "middle", "old"]),
        credo.cut("bp", [140]),
    ]
    text = "variable outcome: no, yes\nvariable bp\noutcome depends on age\nage: young < 40 <= middle < 60 <= old\n"
    assert Knowledge(MEASURED, made) == Knowledge(MEASURED, text + "bp is cut at 140")


@pytest.mark.parametrize(
    ("make", "kind"),
    [
        (lambda: credo.depends_on("outcome", []), "not-a-list"),
        (lambda: credo.depends_on("outcome", "age"), "not-a-list"),
        (lambda: credo.cut("age", []), "not-a-list"),
        (lambda: credo.cut("age", ["forty"]), "not-a-number"),
        (lambda: credo.variable(3), "not-text"),  # type: ignore[arg-type]
    ],
)
def test_mistakes_in_python(make, kind):
    with pytest.raises(KnowledgeError) as caught:
        make()
    assert caught.value.mistakes[0].kind == kind


@pytest.mark.parametrize(
    ("line", "meant"),
    [
        ("outcome depends from age", "outcome depends on age"),
        ("outcome is dependent on age and bp", "outcome depends on age, bp"),
        ("Outcome Depends on age", "Outcome depends on age"),
        ("outcome depends on: age", "outcome depends on age"),
        ("outcome depends on age and on bp", "outcome depends on age, bp"),
        ("outcome, death depend from age", "outcome, death depend on age"),
        ("outcome <- age, bp", "outcome depends on age, bp"),
        ("age -> outcome", "outcome depends on age"),
        ("variable outcome = no, yes", "variable outcome: no, yes"),
        ("variable outcome no, yes", "variable outcome: no, yes"),
        ("variable outcome is no or yes", "variable outcome: no, yes"),
        ("variable outcome: no yes", "variable outcome: no, yes"),
        ("variable outcome: {no, yes}", "variable outcome: no, yes"),
        ("variables a, b = no, yes", "variables a, b: no, yes"),
        ("outcome: no, yes", "variable outcome: no, yes"),
        ("outcome has states no, yes", "variable outcome: no, yes"),
        ("age: 40, 60", "age is cut at 40, 60"),
        ("age: <40, 40-60, >60", "age is cut at 40, 60"),
        ("age is cut in 40, 60", "age is cut at 40, 60"),
        ("age is cut", "age is cut at 40, 60"),
        ("age cut at 40", "age is cut at 40"),
        ("age is split at 40.5 and 60", "age is cut at 40.5, 60"),
        ("age is cut at 40 60", "age is cut at 40, 60"),
        ("age is cut at: 40, 60", "age is cut at 40, 60"),
        ("age: young <= 40 < old", "age: young < 40 <= old"),
        ("age: young < 40 < middle < 60 < old", "age: young < 40 <= middle < 60 <= old"),
    ],
)
def test_near_misses_are_answered_with_the_line_that_was_meant(line, meant):
    _, (mistake,) = parse_line(line)
    suggestion = describe(mistake, 1, line).suggestion
    assert meant in suggestion
    assert parse_line(meant)[1] == ()


# Knowledge keeps them -------------------------------------------------------------------------------------------------

TEXT = "outcome depends on age\nage: young < 40 <= middle < 60 <= old\nage raises outcome\nP(outcome=yes) <= 0.3"


def test_knowledge_keeps_its_declarations():
    knowledge = Knowledge(MEASURED, TEXT)
    assert len(knowledge) == 2
    assert [type(each) for each in knowledge.declarations] == [
        type(DECLARED[text]) for text in list(DECLARED)[3::4][:2]
    ]
    assert knowledge.to_text() == TEXT
    assert Knowledge(MEASURED, knowledge.to_text()) == knowledge
    assert pickle.loads(pickle.dumps(knowledge)) == knowledge
    assert knowledge != Knowledge(MEASURED, "age raises outcome\nP(outcome=yes) <= 0.3")
    both = knowledge + Knowledge(MEASURED, "bp is cut at 140")
    assert len(both.declarations) == 3
    assert str(knowledge).splitlines() == [
        "2 statements and 2 declarations about measured",
        " - outcome depends on age                (line 1)",
        " - age: young < 40 <= middle < 60 <= old (line 2)",
        "1. age raises outcome                    (line 3)",
        "2. P(outcome=yes) <= 0.3                 (line 4)",
    ]
    assert "outcome depends on age" in knowledge._repr_html_()


def test_a_given_network_gets_the_cut_points_that_it_lacks():
    network = Network({"age": ["young", "old"], "bp": ["low", "high"]})
    knowledge = Knowledge(network, "age: young < 50 <= old\nbp is cut at 140")
    assert knowledge.network.variables == (
        Variable("age", ("young", "old"), CutPoints((50,))),
        Variable("bp", ("low", "high"), CutPoints((140,))),
    )


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("variable outcome: no, maybe, yes", "states-differ"),
        ("age: young < 40 <= old", "cuts-differ"),
        ("age: a < 40 <= b < 60 <= c", "states-differ"),
        ("outcome depends on bp", "parents-differ"),
        ("bp depends on age", "parents-differ"),
        ("outcom depends on age", "unknown-variable"),
    ],
)
def test_a_given_network_has_to_agree(text, kind):
    assert kind in kinds_in(text)


def test_a_network_may_list_states_with_an_obvious_order_in_another_order():
    assert len(Knowledge(MEASURED, "variable outcome: yes, no").declarations) == 1
    assert kinds_in("variable lamp: green, red", Network({"lamp": ["red", "green"]})) == ["states-differ"]


def test_a_noisy_family_beside_a_network_is_no_declaration_of_all_parents():
    asia = NETWORKS["asia"]
    assert len(Knowledge(asia, "variable smoke: yes, no\ndysp is noisy-or of {bronc}, {either}").declarations) == 1


def test_declared_parents_count_for_every_variable_that_is_named():
    """Without `outcome depends on age` the same file alone would make outcome a root."""
    assert kinds_in("bp depends on outcome\nage raises outcome") == ["parents-differ", "parents-differ"]


def test_a_modifier_means_nothing_here():
    assert kinds_in("outcome depends on age with confidence 0.8") == ["confidence-without-meaning"]
    assert kinds_in("age is cut at 40, 60 by at least 0.1") == ["margin-without-meaning"]


def test_a_line_with_a_mistake_is_reported_once():
    assert kinds_in("varible outcome: no, yes") == ["unknown-verb"]
    assert kinds_in("agee is cut at 60, 40") == ["cut-order"]


def test_a_missing_arc_is_to_be_declared():
    with pytest.raises(KnowledgeError) as caught:
        Knowledge(MEASURED, "outcome depends on age\nbp raises outcome")
    assert caught.value.mistakes[-1].suggestion == "Name a parent of outcome, or add the line outcome depends on bp."


# Thresholds -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("threshold", "states"),
    [
        ("P(age >= 60) <= 0.3", "P(age=old) <= 0.3"),
        ("P(age ≥ 40) <= 0.3", "P(age in {middle, old}) <= 0.3"),
        ("P(age < 60) <= 0.3", "P(age in {young, middle}) <= 0.3"),
        ("P(outcome=yes | age < 40) <= 0.3", "P(outcome=yes | age=young) <= 0.3"),
        ("P(outcome=yes | age>=60.0) <= 0.3", "P(outcome=yes | age=old) <= 0.3"),
        ("P(age < 40) <= P(age >= 40)", "P(age=young) <= P(age in {middle, old})"),
        (
            "outcome=yes is 3 times as likely with age >= 60 as with age < 40",
            "P(outcome=yes | age=old) = 3*P(outcome=yes | age=young)",
        ),
    ],
)  # fmt: skip
def test_a_threshold_stands_for_the_states_on_one_side(threshold, states):
    assert Knowledge(MEASURED, threshold).statements == Knowledge(MEASURED, states).statements


def test_a_threshold_is_printed_as_it_was_written():
    statement, _ = parse_line("P(outcome=yes | age ≥ 60) <= 0.3")
    assert to_text(statement) == "P(outcome=yes | age >= 60) <= 0.3"
    assert parse_line(to_text(statement)) == (statement, ())
    assert pickle.loads(pickle.dumps(statement)) == statement
    assert statement != parse_line("P(outcome=yes | age < 60) <= 0.3")[0]


def test_a_threshold_of_several_states_cannot_be_a_factor():
    assert kinds_in("P(age >= 40) * P(outcome=yes | age=old) <= 0.3") == ["product-with-set"]


def test_specificity_of_a_threshold_is_the_other_side():
    knowledge = Knowledge(
        Network((*MEASURED.variables[:2], Variable("ill", ("no", "yes"))), {"bp": ["ill"]}),
        "specificity of bp >= 140 for ill=yes is at least 90%",
    )
    assert to_text(knowledge.statements[0]) == '0.9 <= P(bp="<140" | ill=no)'


def test_a_question_may_have_thresholds():
    network = MEASURED.with_cpts(
        {"age": [0.2, 0.5, 0.3], "bp": [0.6, 0.4], "outcome": [[0.9, 0.1], [0.8, 0.2], [0.4, 0.6]]}
    )
    from credo.questions.answers import query_network

    assert float(query_network(network, "P(age >= 40)")) == pytest.approx(0.8)
    given = query_network(network, "P(outcome=yes | age < 60)")
    assert float(given) == pytest.approx((0.2 * 0.1 + 0.5 * 0.2) / 0.7)
    with pytest.raises(credo.QueryError, match="age is cut at 40, 60, not at 50"):
        query_network(network, "P(age >= 50)")
    with pytest.raises(credo.QueryError, match="Write age >= 60"):
        query_network(network, "P(age > 60)")
    with pytest.raises(credo.QueryError, match="comes a number, not old"):
        query_network(network, "P(age > old)")
    with pytest.raises(credo.QueryError, match='"outcome" has no cut points'):
        query_network(network, "P(outcome >= 1)")
