"""Knowledge files: statements of every kind, sentences of the grammar, and both with changes of tokens and bytes."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from random import Random

import polars as pl

import credo.knowledge
from credo.errors import CredoError
from credo.knowledge import Knowledge, KnowledgeError, read_knowledge
from credo.knowledge.declared_network import knowledge_about
from credo.model.network import Network
from fuzz.kind import Input, Kind
from fuzz.mutation import mutated
from fuzz.statements import declaration, random_statement

WORDS = tuple(
    word.encode()
    for word in (
        "P(", "P(lung=yes | smoke=no)", "in {", "raises", "lowers", "and", "synergize on", "sub-synergize on",
        "order", "is", "noisy-or of", "noisy-max of", "rows", "with equal", "share", "differ in",
        "with confidence", "by at least", "within", "with leak", "without leak", "<=", ">=", "<", ">", "=", "~",
        "≤", "≥", "≈", "==", "!=", "+", "-", "−", "*", "×", "/", "**", "(", ")", "{", "}", "|", ",", ":", "#",
        "\\u00e9", "\\ud800", "\\q", "0.3", "30%", "1e999", "1/3", "lung", "smoke", "yes", "no", "group",
        "rows 1, 2 share lung", "variable", "variables", "depends on", "is cut at", "is cut into", "quantiles",
        "equal ranges", "40", "age: young < 40 <= old", "age is cut at 40, 60", "dysp depends on smoke, tub",
        "variable lung: no, yes", "P(age >= 40)",
    )
)  # fmt: skip
SAMPLES = {
    "NAME": ["lung", "smoke", "dysp", "nonsense", "P", "order", "größe"],
    "LABEL": ["yes", "no", "1.0", "-1", "12+", "maybe"],
    "QUOTED": ['"lung"', "'a b'", '"\\n"', '""', '"\\q"'],
    "NUMBER": ["0.3", "1", "0", "30%", "1e999", "1.2"],
    "PROBABILITY": ["P(lung=yes)", "P(lung=yes | smoke=no)", "P(lung in {yes, no})", "P(x=y)"],
    "P_OPEN": ["P("], "RELATION": ["<=", ">=", "=", "<", ">", "~", "!="], "PLUS": ["+"], "MINUS": ["-", "−"],
    "TIMES": ["*"], "SLASH": ["/"], "POWER": ["**", "^"], "LPAR": ["("], "RPAR": [")"], "LBRACE": ["{"],
    "RBRACE": ["}"], "BAR": ["|"], "COLON": [":"], "SEPARATOR": [",", "and", ", and"], "VERB": ["raises", "lower"],
    "SYNERGIZE": ["synergize", "sub-synergize"], "ON": ["on"], "IN": ["in"], "IS": ["is", "is a"], "OF": ["of"],
    "ORDER": ["order"], "ROWS": ["rows"], "NOISY": ["noisy-or", "noisy-max"], "TIE": ["share", "differ in"],
    "WITH_EQUAL": ["with equal"], "BY_AT_LEAST": ["by at least", ", by at least"], "WITHIN": ["within"],
    "VARIABLE": ["variable", "variables"], "DEPENDS_ON": ["depends on"], "IS_CUT_AT": ["is cut at"],
    "IS_CUT_INTO": ["is cut into"], "CUT_RULE": ["quantiles", "equal ranges"],
    "WITH_CONFIDENCE": ["with confidence"], "LEAK": ["with leak", ", without leak"],
}  # fmt: skip


TABLE: dict[str, list[object]] = {
    "lung": ["yes", "no", None, "no"],
    "smoke": ["no", "yes", "yes", "no"],
    "age": [25, 54.5, None, 70],
    "dose": ["0.5", "1.0", "2", "2"],
    "order": ["x", "y|z", "it's", "x"],
}


@cache
def networks() -> tuple[Network, ...]:
    """The networks that every file is read for: plain names and odd ones, two states and several."""
    binary = dict.fromkeys(("smoke", "lung", "tub", "either", "dysp"), ("no", "yes"))
    ward = {
        "ward": ("a", "b"),
        "dose": ("0.5", "1.0", "2"),
        "age": ("<5", "5-12", "12+"),
        "heart attack": ("no", "yes"),
        "order": ("x", "y|z", "it's"),
    }
    return (
        Network(binary, {"lung": ["smoke"], "either": ["lung", "tub"], "dysp": ["either", "smoke", "tub"]}),
        Network(ward, {"heart attack": ["dose", "age"], "order": ["heart attack", "ward"]}),
    )


@cache
def _expansions() -> dict[str, list[list[str]]]:
    from lark import Lark

    grammar = Path(credo.knowledge.__file__).with_name("grammar.lark").read_text(encoding="utf-8")
    found: dict[str, list[list[str]]] = {}
    for rule in Lark(grammar, start=["statement"], parser="lalr", maybe_placeholders=False).rules:
        found.setdefault(rule.origin.name, []).append([symbol.name for symbol in rule.expansion])
    return found


def sentence(choose: Random, symbol: str = "statement", depth: int = 0) -> list[str]:
    """A random derivation of the grammar, as words."""
    if symbol in SAMPLES:
        return [choose.choice(SAMPLES[symbol])]
    options = _expansions().get(symbol)
    if options is None:  # a terminal that is newer than this list
        return [symbol.lower()]
    if depth > 12:
        shortest = min(map(len, options))
        options = [option for option in options if len(option) == shortest]
    return [word for part in choose.choice(options) for word in sentence(choose, part, depth + 1)]


def sentence_text(choose: Random, network: Network) -> str:
    """A random sentence of the grammar."""
    return " ".join(sentence(choose))


def make(choose: Random) -> Input:
    network = choose.choice(networks())
    makers = (sentence_text, declaration, declaration, *(random_statement,) * 5)
    lines = [choose.choice(makers)(choose, network) for _ in range(choose.randint(0, 5))]
    return mutated(choose, "\n".join(lines).encode("utf-8", "surrogatepass"), WORDS)


def check(given: Input, folder: Path) -> str:
    """Knowledge that reads back as the same, or a KnowledgeError whose places exist."""
    assert isinstance(given, bytes)
    path = folder / "any.credo"
    path.write_bytes(given)
    outcome = ""
    for network in networks():
        try:
            knowledge = read_knowledge(network, path)
        except CredoError as error:
            check_error(error)
            outcome = outcome or type(error).__name__
            continue
        outcome = "valid" if len(knowledge) else outcome or "empty"
        assert Knowledge(network, knowledge.to_text()) == knowledge, "the text of knowledge reads back as another one"
        assert str(knowledge), "knowledge cannot be printed"
    for table in (None, pl.DataFrame(TABLE, strict=False)):
        try:
            found = knowledge_about(path, None, table)
        except CredoError as error:
            check_error(error)
            continue
        outcome = "declared"
        text = found.knowledge.to_text()
        assert Knowledge(found.knowledge.network, text) == found.knowledge, "declared knowledge reads back as another"
    return outcome


def check_error(error: CredoError) -> None:
    """A mistake is inside its line."""
    assert str(error), "an error without a message"
    if isinstance(error, KnowledgeError):
        assert error.mistakes, "an error without mistakes"
        for mistake in error.mistakes:
            assert 1 <= mistake.column < mistake.end_column, "a mistake without a place"
            assert mistake.column <= len(mistake.text) + 1, "a mistake beyond its line"


KNOWLEDGE = Kind("knowledge", make, check, ".credo")
