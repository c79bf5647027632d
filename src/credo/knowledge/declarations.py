"""Declarations: what the variables are, what depends on what, and where numbers are cut into states."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from math import isfinite
from typing import Any, Literal

from credo.io.missing_codes import missing_values_line
from credo.knowledge.decisions import (
    CostDeclaration,
    DecisionDeclaration,
    UtilityDeclaration,
    parse_cost,
    parse_decision,
    parse_utility,
    parse_worth,
)
from credo.knowledge.expressions import label_number
from credo.knowledge.labels import GroupDeclaration, LabelDeclaration, parse_group, parse_label
from credo.knowledge.mistakes import LineMistake, python_error
from credo.knowledge.names import (
    Part,
    checked_items,
    checked_name,
    checked_names,
    checked_number,
    joined,
    mistake_at,
    mistake_between,
    name_text,
    repeated_names,
    state_text,
    token_part,
)
from credo.knowledge.network_names import NetworkNames
from credo.knowledge.site import SiteDeclaration, parse_site
from credo.knowledge.statement_base import Kind, Span, StatementBase, StatementRules

MAX_ARCS = 10_000  # that one line may declare; a CPT for so many parents has no end
MAX_PARTS = 100  # states that a rule may cut a column into; more are a mistake of the number

CutRule = Literal["quantiles", "equal ranges"]
_NUMBER = re.compile(r"[+\-]?(?:[0-9]++\.?[0-9]*+|\.[0-9]++)(?:[eE][+\-]?[0-9]++)?")


@dataclass(frozen=True, slots=True)
class VariableDeclaration(StatementBase):
    """`variable outcome: no, yes`, or `variables a, b: no, yes`; without states, they are taken from the table.

    Attributes
    ----------
    variables
        Their names.
    states
        The states of each; empty where the table has them.
    span
        Where it is written; None for one that was made in Python.
    """

    variables: tuple[str, ...]
    states: tuple[str, ...] = ()
    span: Span | None = field(default=None, compare=False)

    def __str__(self) -> str:
        names = f"variable{'s' if len(self.variables) > 1 else ''} {_listed(self.variables)}"
        return f"{names}: {', '.join(state_text(state) for state in self.states)}" if self.states else names


@dataclass(frozen=True, slots=True)
class DependenceDeclaration(StatementBase):
    """`outcome depends on age, bp`: these are parents of the child, along with those of other such lines.

    Attributes
    ----------
    children
        The variables that depend on others.
    parents
        What each of them depends on.
    span
        Where it is written; None for one that was made in Python.
    """

    children: tuple[str, ...]
    parents: tuple[str, ...]
    span: Span | None = field(default=None, compare=False)

    def __str__(self) -> str:
        verb = "depend" if len(self.children) > 1 else "depends"
        return f"{_listed(self.children)} {verb} on {_listed(self.parents)}"


@dataclass(frozen=True, slots=True)
class CutDeclaration(StatementBase):
    """How the numbers of a column become states.

    `age is cut at 40, 60` has `points`, `age: young < 40 <= middle < 60 <= old` has names for the states too, and
    `age is cut into 4 quantiles` a `rule` with its number of parts, whose points are chosen by the table.

    Attributes
    ----------
    variable
        The variable.
    points
        Its cut points; empty where a rule chooses them.
    states
        Names of the states; empty where they are made of the cut points.
    rule
        How cut points are chosen; None where they are given.
    parts
        Into how many states the rule cuts.
    span
        Where it is written; None for one that was made in Python.
    """

    variable: str
    points: tuple[float, ...] = ()
    states: tuple[str, ...] = ()
    rule: CutRule | None = None
    parts: int = 0
    span: Span | None = field(default=None, compare=False)

    def __str__(self) -> str:
        name = name_text(self.variable)
        if self.rule is not None:
            return f"{name} is cut into {self.parts} {self.rule}"
        numbers = [label_number(point) for point in self.points]
        if not self.states:
            return f"{name} is cut at {', '.join(numbers)}"
        first, *others = map(state_text, self.states)
        return f"{name}: {first}" + "".join(f" < {n} <= {s}" for n, s in zip(numbers, others, strict=True))


@dataclass(frozen=True, slots=True)
class MissingValuesDeclaration(StatementBase):
    """`missing values: -999, n/a`: cells that stand for a value that is not known, in every column or `of` some.

    Attributes
    ----------
    values
        The texts of these cells; a number means the number, however it is written.
    columns
        The columns of the table that are meant; empty for all.
    span
        Where it is written; None for one that was made in Python.
    """

    values: tuple[str, ...]
    columns: tuple[str, ...] = ()
    span: Span | None = field(default=None, compare=False)

    def __str__(self) -> str:
        return missing_values_line(self.values, self.columns)


Declaration = (
    VariableDeclaration
    | DependenceDeclaration
    | CutDeclaration
    | LabelDeclaration
    | GroupDeclaration
    | DecisionDeclaration
    | UtilityDeclaration
    | CostDeclaration
    | MissingValuesDeclaration
    | SiteDeclaration
)


def _listed(names: Sequence[str]) -> str:
    return ", ".join(name_text(name) for name in names)


# The Python form ------------------------------------------------------------------------------------------------------


def variable(name: str, states: Iterable[str] = ()) -> VariableDeclaration:
    """Declare a variable: `variable outcome: no, yes`.

    Parameters
    ----------
    name : str
        The variable.
    states : iterable of str, optional
        Its states in their order; without them they are taken from the table.

    Returns
    -------
    VariableDeclaration
        The declaration.

    Raises
    ------
    KnowledgeError
        If a name is not a text, or `states` is not a list.

    Examples
    --------
    >>> import credo
    >>> print(credo.variable("outcome", ["no", "yes"]))
    variable outcome: no, yes
    """
    return VariableDeclaration((checked_name(name),), checked_names(states))


def depends_on(child: str, parents: Iterable[str]) -> DependenceDeclaration:
    """Declare what a variable depends on: `outcome depends on age, bp`.

    Parameters
    ----------
    child : str
        The variable.
    parents : iterable of str
        Its parents; those of several declarations add up.

    Returns
    -------
    DependenceDeclaration
        The declaration.

    Raises
    ------
    KnowledgeError
        If a name is not a text, or `parents` is not a list or empty.

    Examples
    --------
    >>> import credo
    >>> print(credo.depends_on("outcome", ["age", "bp"]))
    outcome depends on age, bp
    """
    names = checked_names(parents)
    if not names:
        raise python_error("not-a-list", repr(parents))
    return DependenceDeclaration((checked_name(child),), names)


def cut(name: str, points: Iterable[float], states: Iterable[str] = ()) -> CutDeclaration:
    """Declare where the numbers of a column are cut into states: `age is cut at 40, 60`.

    Parameters
    ----------
    name : str
        The variable.
    points : iterable of float
        The cut points, increasing; a number that equals one belongs to the state above it.
    states : iterable of str, optional
        Names of the states, one more than there are cut points: `age: young < 40 <= middle < 60 <= old`.

    Returns
    -------
    CutDeclaration
        The declaration.

    Raises
    ------
    KnowledgeError
        If the points are not increasing numbers, or there is not one state more than there are points.

    Examples
    --------
    >>> import credo
    >>> print(credo.cut("age", [40, 60]))
    age is cut at 40, 60
    >>> print(credo.cut("age", [40, 60], ["young", "middle", "old"]))
    age: young < 40 <= middle < 60 <= old
    """
    numbers = tuple(checked_number(point) for point in checked_items(points))
    labels = checked_names(states)
    if not numbers:
        raise python_error("not-a-list", repr(points))
    shown = str([*map(label_number, numbers)])
    for low, high in pairwise(numbers):
        if not low < high:
            raise python_error(
                "cut-order", shown, low=label_number(low), high=label_number(high), hint=_sorted(numbers)
            )
    if labels and len(labels) != len(numbers) + 1:
        raise python_error("cut-states-count", str([*labels]), name=name, count=len(labels), needed=len(numbers) + 1)
    return CutDeclaration(checked_name(name), numbers, labels)


# Reading a line -------------------------------------------------------------------------------------------------------


def parse_variable(children: list[Any]) -> Part:
    """`VARIABLE names`, with or without `COLON label, label …`."""
    names, labels = children[1], [child for child in children[2:] if isinstance(child, Part)]
    states = tuple(part.value for part in labels)
    mistakes = repeated_names(names.value, "declared-twice") + repeated_names(states, "declared-state-twice")
    mistakes += _empty_names((*names.value, *states))
    return joined(VariableDeclaration(names.value, states), [names, *labels], mistakes)


def parse_missing_values(children: list[Any]) -> Part:
    """`missing values: code, code …` or `missing values of name, name: code …`, one word up to the end of the line."""
    word = token_part(children[0])
    head = r'[Mm]issing\s+values?((?:\s+(?:of|in)\s+(?:"[^"]*"|[^":])*)?)\s*(?::|\bare\b|\bis\b)(.*)'
    named, listed = re.fullmatch(head, word.value, re.DOTALL).groups()  # type: ignore[union-attr]
    columns = _words(re.sub(r"^\s*(?:of|in)\s", "", named))
    return Part(MissingValuesDeclaration(_words(listed), columns), word.column, word.end)


def _words(text: str) -> tuple[str, ...]:
    """Words with commas between them, in quotes or not."""
    found = re.findall(r'\s*(?:"([^"]*)"|([^,]+))\s*(?:,|$)', text)
    return tuple(filter(None, (quoted or bare.strip() for quoted, bare in found)))


def parse_dependence(children: list[Any]) -> Part:
    """`names DEPENDS_ON names`."""
    offspring, _, parents = children
    mistakes = repeated_names(offspring.value, "declared-twice") + repeated_names(parents.value, "parent-twice")
    mistakes += _empty_names((*offspring.value, *parents.value))
    own = set(offspring.value)
    mistakes += tuple(mistake_at(name, "own-cause", name=name) for name in parents.value if name in own)
    if len(offspring.value) * len(parents.value) > MAX_ARCS:
        mistakes += (LineMistake("too-many-arcs", offspring.column, parents.end, {"most": MAX_ARCS}),)
        return joined(DependenceDeclaration(offspring.value[:1], parents.value[:1]), [offspring, parents], mistakes)
    return joined(DependenceDeclaration(offspring.value, parents.value), [offspring, parents], mistakes)


def parse_cut_at(children: list[Any]) -> Part:
    """`name IS_CUT_AT label, label …`, where each label is a number."""
    name, labels = children[0], children[2::2]
    points, mistakes = _points([part.value for part in labels])
    mistakes += _empty_names([name.value])
    return joined(CutDeclaration(name.value, points), [name, *labels], mistakes)


def parse_cut_into(children: list[Any]) -> Part:
    """`name IS_CUT_INTO label CUT_RULE`."""
    name, _, label, word = children
    rule: CutRule = "quantiles" if str(word).startswith("quantile") else "equal ranges"
    text = str(label.value)
    parts = int(text) if text.isascii() and text.isdigit() and len(text) < 9 else 0
    mistakes: tuple[LineMistake, ...] = ()
    if not 2 <= parts <= MAX_PARTS:
        mistakes = (mistake_at(label.value, "cut-parts", most=MAX_PARTS),)
    mistakes += _empty_names([name.value])
    return joined(CutDeclaration(name.value, (), (), rule, parts), [name, label, token_part(word)], mistakes)


def parse_cut_between(children: list[Any]) -> Part:
    """`name COLON label < number <= label …`."""
    name, labels, relations = children[0], children[2::2], [token_part(token) for token in children[3::2]]
    words = [part.value for part in labels]
    found = joined(CutDeclaration(name.value), [name, *labels])
    if shape := _shape_mistake(name.value, words, relations):
        return found._replace(mistakes=(*found.mistakes, shape))
    points, mistakes = _points(words[1::2])
    states = tuple(words[::2])
    mistakes += repeated_names(states, "declared-state-twice") + _empty_names((name.value, *states))
    return found._replace(value=CutDeclaration(name.value, points, states), mistakes=(*found.mistakes, *mistakes))


def _shape_mistake(name: str, words: Sequence[str], relations: Sequence[Part]) -> LineMistake | None:
    """Why words and relations do not alternate as `low < 40 <= high`; None if they do."""
    if not relations:
        return mistake_at(words[0], "cut-alone", name=name_text(name), word=words[0])
    signs = [part.value.replace("≤", "<=").replace("≥", ">=") for part in relations]
    for part, sign in zip(relations, signs, strict=True):
        if sign not in ("<", "<="):
            kind = "cut-downwards" if sign in (">", ">=") else "cut-relation"
            return LineMistake(kind, part.column, part.end)
    numbers = [_NUMBER.fullmatch(word) is not None for word in words]
    if not any(numbers):
        return mistake_between(
            words[0], words[-1], "cut-without-number", name=name_text(name), order=_order(name, words)
        )
    for place, (word, is_number) in enumerate(zip(words, numbers, strict=True)):
        # Names and numbers alternate; which of two neighbours is wrong is said by the one that breaks the pattern.
        if is_number != (place % 2 == 1):
            kind = "cut-name-missing" if is_number else "cut-number-missing"
            return mistake_at(word, kind, word=word, where="before")
    if len(words) % 2 == 0:
        return mistake_at(words[-1], "cut-name-missing", word=words[-1], where="after")
    for place, (part, sign) in enumerate(zip(relations, signs, strict=True)):
        if sign != ("<", "<=")[place % 2]:
            others = zip(words[1::2], words[2::2], strict=True)
            line = state_text(words[0]) + "".join(f" < {number} <= {state_text(state)}" for number, state in others)
            return LineMistake("cut-side", part.column, part.end, {"write": f"{name_text(name)}: {line}"})
    return None


def _empty_names(names: Sequence[str]) -> tuple[LineMistake, ...]:
    return tuple(mistake_at(name, "empty-name") for name in names if not name)


def _order(name: str, words: Sequence[str]) -> str:
    return f"order {name_text(name)}: {' < '.join(map(state_text, words))}"


def _points(words: Sequence[str]) -> tuple[tuple[float, ...], tuple[LineMistake, ...]]:
    """The numbers that these words are, and what is wrong with them."""
    mistakes = [
        mistake_at(word, "cut-not-a-number", word=word)
        for word in words
        if not (_NUMBER.fullmatch(word) and isfinite(float(word)))
    ]
    if mistakes:
        return (), tuple(mistakes)
    points = tuple(float(word) for word in words)
    for word, point in zip(words, points, strict=True):
        if re.fullmatch(r"[+-]?\d+", word) and int(point) != int(word):
            return points, (mistake_at(word, "cut-not-exact", word=word, largest=str(2**53)),)
    for (low, high), word in zip(pairwise(points), words[1:], strict=False):
        if not low < high:
            before = words[words.index(word) - 1]
            is_comma = getattr(before, "end_column", 0) + 1 == getattr(word, "column", -1)  # 40,5
            hint = (
                f"Write {before}.{word} with a decimal point, if that is one number." if is_comma else _sorted(points)
            )
            facts = {"low": label_number(low), "high": label_number(high), "hint": hint}
            return points, (mistake_at(word, "cut-order", **facts),)
    return points, ()


def _sorted(points: Iterable[float]) -> str:
    return f"Write them from low to high: {', '.join(label_number(point) for point in sorted(set(points)))}."


# Rules ----------------------------------------------------------------------------------------------------------------


def _no_check(declaration: Any, names: NetworkNames) -> Iterator[LineMistake]:
    """Declarations are compared with a network all together, by `structure.py`."""
    return iter(())


def _rules(description: str, grammar_rules: dict[str, Callable[[list[Any]], Part]]) -> StatementRules:
    return StatementRules(description, grammar_rules, _no_check, lambda declaration, network: Kind(description[2:]))


DECLARATIONS: dict[type, StatementRules] = {
    VariableDeclaration: _rules("a declaration of variables", {"variable": parse_variable}),
    DependenceDeclaration: _rules("a declaration of parents", {"dependence": parse_dependence}),
    MissingValuesDeclaration: _rules("a declaration of missing values", {"missing_values": parse_missing_values}),
    CutDeclaration: _rules(
        "a declaration of cut points",
        {"cut_at": parse_cut_at, "cut_into": parse_cut_into, "cut_between": parse_cut_between},
    ),
    LabelDeclaration: _rules("a label", {"label_of": parse_label}),
    GroupDeclaration: _rules("a group of variables", {"group_of": parse_group}),
    DecisionDeclaration: _rules("a decision", {"decision": parse_decision}),
    UtilityDeclaration: _rules("a utility", {"utility": parse_utility, "worth": parse_worth}),
    CostDeclaration: _rules("a cost", {"cost": parse_cost}),
    SiteDeclaration: _rules("a declaration of sites", {"site": parse_site}),
}
