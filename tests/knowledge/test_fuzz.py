"""Whatever is given: knowledge, or a KnowledgeError."""

from __future__ import annotations

import random
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import credo.knowledge
from credo import Knowledge, KnowledgeError, P, different, order, raises, read_knowledge, same
from credo.knowledge.expressions import Linear, Probability, Product
from credo.knowledge.mistakes import kinds
from credo.knowledge.statements import Comparison, Influence, NoisyFamily, Order
from tests.helpers.knowledge_examples import DECLARED, FORMS, LINES, NETWORKS, marked
from tests.helpers.statement_strategies import ODD, nasty_names, statements

VALID = [*FORMS, *LINES, *DECLARED]
BROKEN = [marked(example).text for row in kinds().values() for example in row.get("examples", ())]
PIECES = ["P(", ")", "(", "|", "=", "<=", ">=", "~", "{", "}", ",", "+", "-", "*", "/", "**", "0.3", "1e999", "%", ".",
          '"', "'", "\\", "raises", "lowers", "and", "synergize", "on", "order", ":", "<", "is", "noisy-or", "of", "#",
          "rows", "variable", "depends on", "is cut at", "is cut into", "quantiles",
          "with equal", "share", "with confidence", "by at least", "within", "with leak", "in", "lung", "smoke", "yes",
          "no", " ", "\t", "\n", "\r", "\0", "≤", "−", "±", "\u2028", "\u200b", "年"]  # fmt: skip


def result(text: object, network: str = "asia") -> Knowledge | None:
    """Knowledge or nothing; anything but a KnowledgeError comes through. Messages can always be shown."""
    try:
        return Knowledge(NETWORKS[network], text)
    except KnowledgeError as error:
        check_error(error)
        return None


def check_error(error: KnowledgeError) -> None:
    assert error.mistakes
    assert str(error)
    for mistake in error.mistakes:
        assert mistake.kind in kinds()
        assert 1 <= mistake.column < mistake.end_column
        assert mistake.column <= len(mistake.text) + 1


@settings(max_examples=400, deadline=None)
@given(st.text(st.characters(), max_size=80))
def test_any_text(text):
    result(text)


@settings(max_examples=600, deadline=None)
@given(st.lists(st.sampled_from(PIECES), max_size=14), st.sampled_from(["", " "]))
def test_pieces_of_the_language_in_any_order(pieces, glue):
    knowledge = result(glue.join(pieces))
    if knowledge:
        assert Knowledge(NETWORKS["asia"], knowledge.to_text()) == knowledge


@settings(max_examples=600, deadline=None)
@given(st.sampled_from(VALID + BROKEN), st.data())
def test_statements_with_a_change(text, data):
    for _ in range(data.draw(st.integers(1, 3))):
        start = data.draw(st.integers(0, len(text)))
        end = data.draw(st.integers(start, min(len(text), start + 6)))
        text = text[:start] + data.draw(st.sampled_from([*PIECES, *ODD, ""])) + text[end:]
    result(text)


@settings(max_examples=100, deadline=None)
@given(st.lists(statements(nasty_names), max_size=4))
def test_statements_about_variables_that_do_not_exist(made):
    result(made)


@settings(max_examples=200, deadline=None)
@given(st.lists(statements(st.sampled_from(["lung", "smoke", "bronc", "either", "dysp", "yes", "no"])), max_size=6))
def test_statements_that_may_fit_the_network(made):
    result(made)


def derivations(seed: int, count: int) -> list[str]:
    """Random sentences of the grammar itself: its rules are expanded, its terminals drawn from samples."""
    from lark import Lark

    grammar = Path(credo.knowledge.__file__).with_name("grammar.lark").read_text(encoding="utf-8")
    rules = Lark(grammar, start=["statement"], parser="lalr", maybe_placeholders=False).rules
    expansions: dict[str, list[list[str]]] = {}
    for rule in rules:
        expansions.setdefault(rule.origin.name, []).append([symbol.name for symbol in rule.expansion])
    samples = {
        "NAME": ["lung", "smoke", "dysp", "nonsense", "P", "order", "größe"],
        "LABEL": ["yes", "no", "1.0", "-1", "12+", "maybe"],
        "QUOTED": ['"lung"', "'a b'", '"\\n"', '""', '"\\q"'],
        "NUMBER": ["0.3", "1", "0", "30%", "1e999", "1.2"],
        "PROBABILITY": ["P(lung=yes)", "P(lung=yes | smoke=no)", "P(lung in {yes, no})", "P(x=y)"],
        "P_OPEN": ["P("], "RELATION": ["<=", ">=", "=", "<", ">", "~", "!=", "=>"], "PLUS": ["+"], "MINUS": ["-", "−"],
        "ONE_IN": ["1 in 20", "one in a hundred", "1 in 0"],
        "PLUS_MINUS": ["±", "+-"], "PLUS_NEGATIVE": ["+ -", "-+"],
        "TIMES": ["*"], "SLASH": ["/"], "POWER": ["**", "^"], "LPAR": ["("], "RPAR": [")"], "LBRACE": ["{"],
        "RBRACE": ["}"], "BAR": ["|"], "COLON": [":"], "SEPARATOR": [",", "and", ", and"],
        "VERB": ["raises", "lower", "raises the risk of"],
        "NO_EFFECT": ["does not affect", "has no effect on"], "IS_BETWEEN": ["is between"],
        "IS_ABOUT": ["is about", "is roughly"],
        "IF": ["if"], "THEN": ["then", ", then"], "IS_TWICE": ["is twice", "is half"],
        "IS_AT_LEAST": ["is at least"], "IS_AT_MOST": ["is at most"], "IS_EXACTLY": ["is", "equals"],
        "IS_VERBAL": ["is likely", "is very unlikely", "is about as likely as not"], "FOR": ["for"],
        "TIMES_AS_LIKELY": ["times as likely with"], "AS_WITH": ["as with"], "AGAINST": ["against", "versus"],
        "RELATIVE_RISK": ["relative risk of"], "ODDS_RATIO": ["the odds ratio of"],
        "ACCURACY": ["sensitivity of", "specificity of", "the negative predictive value of"],
        "PREVALENCE": ["prevalence of"], "AMONG": ["among", "given"],
        "SYNERGIZE": ["synergize", "sub-synergize"], "EACH": ["each"], "EACH_OTHER": ["each other parent"],
        "ALONE": ["alone"],
        "ON": ["on"], "IN": ["in"], "IS": ["is", "is a"], "OF": ["of"],
        "DECISION": ["decision"], "UTILITY": ["utility of"], "COST": ["cost of"], "IS_MINUS": ["is -", "is −"],
        "LABELLED": ["label"], "GROUP": ["group"], "DETAIL": [", unit", "note", ", source"],
        "MISSING_VALUES": ["missing values: -999, n/a"], "SITE": ["site:"],
        "VARIABLE": ["variable", "variables"], "DEPENDS_ON": ["depends on"], "IS_CUT_AT": ["is cut at"],
        "IS_CUT_INTO": ["is cut into"], "CUT_RULE": ["quantiles", "equal ranges"],
        "ORDER": ["order"], "ROWS": ["rows"], "NOISY": ["noisy-or", "noisy-max"], "GATE": ["or", "max"],
        "IS_COUNT": ["is", "is at least"], "NOT": ["not"],
        "RANKED": ["weighted mean"], "SPREAD": ["with spread"], "INTERPOLATED": ["is interpolated by"],
        "FROM_WORST": ["from worst"], "TO_BEST": ["to best"], "CORNER": [" through"], "AT_CORNER": [" at"],
        "WORTH": [", worth"], "CASES": ["cases"], "IN_ALL": [" in all"],
        "HAVE_ONE_CPT": ["have one CPT"], "CPT_OF": ["CPT of"], "IS_THAT_OF": ["is that of"],
        "SAME_AS": ["same as"], "TIE": ["share", "differ in"],
        "WITH_EQUAL": ["with equal"], "BY_AT_LEAST": ["by at least", ", by at least"], "WITHIN": ["within"],
        "WITH_CONFIDENCE": ["with confidence"], "LEAK": ["with leak", ", without leak"],
        "GENERAL_EFFECTS": ["with general effects"],
        "RISK_DIFFERENCE": ["risk difference of"], "IN_SOURCE": ['in "trial"', 'in "trial",'], "HAD": ["had"],
        "WITH": ["with", "among"], "ALSO_BETWEEN": [", between"],
        "CERTAINTY": ["certainty"], "HAS_MEDIAN": ["has median"], "HALF_BETWEEN": [", half between"],
        "CONFIDENCE_INTERVAL": [", 95% CI"], "TO": ["to"], "VARIATION": ["with between-study variation"],
        "LEARNED_VARIATION": ["with between-study variation"], "DISTRIBUTION": ["P(a)", "P(a | b=1)"],
    }  # fmt: skip
    generator = random.Random(seed)

    def derive(symbol: str, depth: int) -> list[str]:
        if symbol in samples:
            return [generator.choice(samples[symbol])]
        options = expansions[symbol]
        if depth > 12:
            shortest = min(len(option) for option in options)
            options = [option for option in options if len(option) == shortest]
        return [word for part in generator.choice(options) for word in derive(part, depth + 1)]

    return [" ".join(derive("statement", 0)) for _ in range(count)]


@pytest.mark.parametrize("seed", range(4))
def test_sentences_of_the_grammar(seed):
    sentences = derivations(seed, 500)
    read = [sentence for sentence in sentences if result(sentence)]
    for sentence in read:
        knowledge = Knowledge(NETWORKS["asia"], sentence)
        assert Knowledge(NETWORKS["asia"], knowledge.to_text()) == knowledge
    result("\n".join(sentences))


@pytest.mark.parametrize(
    "text",
    [
        "(" * 50_000 + "P(lung=yes)" + ")" * 49_000 + "<=1",
        "-" * 90_000 + "P(lung=yes) <= 0.3",
        "P(lung=yes)" + " + P(lung=yes)" * 6_000 + " <= 0.3",
        "P(lung in {" + "yes, " * 15_000 + "no}) <= 0.3",
        "P(lung=yes | " + "smoke=yes, " * 8_000 + "smoke=yes) <= 0.3",
        "smoke" + " and smoke" * 9_000 + " synergize on lung",
        "x" * 5_000_000,
        "\n" * 3_000_000,
        "a\n" * 200_000,
        '"' * 99_999,
        "\\" * 99_999,
        "'\\" * 40_000,
        "P(" * 49,
        "0." + "1" * 90_000 + " <= P(lung=yes)",
        "P(lung=yes) <= " + "0" * 90_000 + "x",
        "P(lung=yes) <= 0." + "0" * 90_000 + "x",
        "rows " + "9" * 400 + ", 2 share lung",
        "variables lung" + ", lung" * 15_000 + ": yes, no",
        "variable lung: yes" + ", no" * 20_000,
        "lung depends on smoke" + ", smoke" * 12_000,
        "lung" + ", smoke" * 6_000 + " depend on lung" + ", smoke" * 6_000,
        "lung is cut at 1" + ", 1" * 20_000,
        "lung: a" + " < 1 <= a" * 10_000,
        "lung: a" + " , a" * 20_000,
        "variable lung" + " lung" * 15_000,
        "lung is cut" + " " * 90_000 + "in 4",
        "lung depends" + " " * 90_000 + "from smoke",
        "rows " + "9" * 5_000 + ", 2 share lung",
    ],
    ids=lambda text: repr(text[:12]) + str(len(text)),
)
def test_large_and_deep(text):
    result(text)


@settings(max_examples=150, deadline=None)
@given(st.binary(max_size=60))
def test_any_bytes_in_a_file(tmp_path_factory, content):
    path = tmp_path_factory.mktemp("fuzz") / "any.credo"
    path.write_bytes(content)
    try:
        read_knowledge(NETWORKS["asia"], path)
    except KnowledgeError as error:
        check_error(error)


anything = st.one_of(
    st.none(), st.booleans(), st.integers(), st.floats(), st.text(max_size=6), st.binary(max_size=3),
    st.lists(st.one_of(st.none(), st.text(max_size=3), st.integers()), max_size=3),
    st.dictionaries(st.text(max_size=2), st.none()),
)  # fmt: skip


@settings(max_examples=300, deadline=None)
@given(anything, anything, anything)
def test_anything_given_to_the_python_form(first, second, third):
    for build in (
        lambda: P(first),
        lambda: P("lung=yes") <= first,
        lambda: P("lung=yes") * first,
        lambda: raises(first, second, third),
        lambda: raises("smoke", "lung", first, second),
        lambda: order(first, second),
        lambda: same(first, by=second),
        lambda: different(first, by=second, rows=third),
        lambda: Influence(first, second, third),
        lambda: Order(first, second),
        lambda: NoisyFamily(first, second, third),
        lambda: Comparison(first, second, third),
        lambda: Comparison((Linear(((first, Probability(second, third)),)), Product((), 0.3)), ("<=",)),
        lambda: first,
        lambda: [second, third],
    ):
        try:
            made = build()
        except KnowledgeError as error:
            check_error(error)
            continue
        result(made)
