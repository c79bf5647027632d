"""Order: the states of a variable from low to high, as declared, as the labels suggest, or as the network lists them.

An order that somebody declared wins: a statement, then the network. Labels are only read where their order is obvious;
those that judge, such as good and bad, are not, because what raises a risk and what raises a quality differ.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import pairwise
from math import inf
from typing import Any

from credo.errors import listing
from credo.knowledge.mistakes import LineMistake
from credo.knowledge.names import (
    Part,
    checked_name,
    checked_names,
    joined,
    mistake_at,
    mistake_between,
    name_text,
    repeated_names,
    state_text,
    token_part,
)
from credo.knowledge.network_names import NetworkNames, unknown_state, unknown_variable
from credo.knowledge.statement_base import Kind, Reported, Span, StatementBase, StatementRules, line_text
from credo.model.network import Variable


@dataclass(frozen=True, slots=True)
class Order(StatementBase):
    """`order severity: mild < moderate < severe`; `others` are further variables with this order.

    Attributes
    ----------
    variable
        The variable.
    states
        Its states, from low to high.
    others
        Further variables with this order.
    span
        Where it is written; None for one that was made in Python.
    """

    variable: str
    states: tuple[str, ...]
    others: tuple[str, ...] = ()
    span: Span | None = field(default=None, compare=False)

    @property
    def variables(self) -> tuple[str, ...]:
        """All variables with this order."""
        return (self.variable, *self.others)

    def __str__(self) -> str:
        names = ", ".join(name_text(name) for name in self.variables)
        return f"order {names}: {' < '.join(state_text(state) for state in self.states)}"


def order(variable: str, states: Iterable[str]) -> Order:
    """State the order of a variable's states, from low to high: `order variable: low < … < high`.

    Parameters
    ----------
    variable : str
        The variable.
    states : iterable of str
        All its states, the lowest first.

    Returns
    -------
    Order
        The statement.

    Raises
    ------
    KnowledgeError
        If a name is not a text, or `states` is not a list.

    Examples
    --------
    >>> import credo
    >>> print(credo.order("severity", ["mild", "moderate", "severe"]))
    order severity: mild < moderate < severe
    """
    return Order(checked_name(variable), checked_names(states))


# Reading a line -------------------------------------------------------------------------------------------------------


def parse_order(children: list[Any]) -> Part:
    """`ORDER names COLON label < label …`; with `>` all the way, from high to low."""
    variables, states, relations = children[1], children[3::2], [token_part(token) for token in children[4::2]]
    names = tuple(part.value for part in states)
    mistakes = [
        LineMistake("order-relation", part.column, part.end) for part in relations if part.value not in ("<", ">")
    ]
    if not mistakes and len({part.value for part in relations}) > 1:
        turn = next(part for part in relations if part.value != relations[0].value)
        mistakes.append(LineMistake("order-turns", turn.column, turn.end, {"first": relations[0].value}))
    mistakes.extend(repeated_names(names, "order-state-twice"))
    mistakes.extend(repeated_names(variables.value, "order-variable-twice"))
    ascending = names[::-1] if relations and relations[0].value == ">" else names
    variable, *others = variables.value
    return joined(Order(variable, ascending, tuple(others)), [variables, *states], tuple(mistakes))


# Checks ---------------------------------------------------------------------------------------------------------------


def _check_order(statement: Order, names: NetworkNames) -> Iterator[LineMistake]:
    states = statement.states
    for variable in statement.variables:
        known = names.states.get(variable)
        if known is None:
            yield unknown_variable(variable, names)
            continue
        unknown = [state for state in states if state not in known]
        yield from (unknown_state(variable, state, names) for state in unknown)
        missing = [state for state in names.network.states(variable) if state not in states]
        if missing and not unknown:
            yield mistake_between(states[0], states[-1], "order-misses-state", name=variable, missing=listing(missing))


def _check_orders(statements: Sequence[Any]) -> Iterator[Reported]:
    """Two different orders of one variable."""
    first: dict[str, Order] = {}
    for statement in statements:
        for name in statement.variables if isinstance(statement, Order) else ():
            before = first.setdefault(name, statement)
            if before.states != statement.states:
                stated = " < ".join(before.states)
                yield statement, mistake_at(name, "order-disagrees", name=name, before=stated, place=line_text(before))


ORDER = StatementRules(
    "an order of states",
    {"order": parse_order},
    _check_order,
    lambda statement, network: Kind("order of states"),
    check_together=_check_orders,
)


# The order that influences use ----------------------------------------------------------------------------------------

# Labels with an obvious order, from low to high; labels of one rank share a text. A variable follows a scale when
# all its states are on it, at different ranks; only ranks matter, so low < high and low < very high both follow it.
SCALES: tuple[tuple[str, ...], ...] = (
    ("no n", "yes y"),
    ("false f", "true t"),
    ("absent", "present"),
    ("off offline", "on online"),
    ("negative neg", "neutral equivocal indeterminate borderline", "positive pos"),
    ("normal ok", "borderline", "abnormal"),
    ("unlikely", "possible", "probable likely", "certain"),
    (
        "zero none nil absent",
        "extremelylow",
        "verylow",
        "low lo decreased reduced lowered",
        "mediumlow moderatelylow",
        "medium med moderate mid middle average avg normal unchanged",
        "mediumhigh moderatelyhigh",
        "high hi elevated increased raised",
        "veryhigh",
        "extremelyhigh",
    ),
    ("decreasing falling", "stable steady unchanged constant littlechange", "increasing rising"),
    (
        "none no absent zero nil normal",
        "minimal trace",
        "veryslight verymild",
        "slight mild light weak",
        "some",
        "moderate medium",
        "marked strong severe serious heavy",
        "verystrong verysevere extreme critical",
    ),
    ("never", "rarely seldom", "occasionally", "sometimes", "often frequently usually", "always"),
    (
        "tiny verysmall",
        "small little",
        "medium med moderate average normal",
        "large big",
        "verylarge verybig huge",
    ),
    ("short", "medium average normal", "long"),
    ("slow", "medium normal moderate", "fast"),
    ("cold", "cool", "mild lukewarm", "warm", "hot"),
    ("child", "adolescent teenager", "young youngadult", "adult middleaged middle", "old elderly senior"),
    ("first", "second", "third", "fourth", "fifth"),
    ("i", "ii", "iii", "iv", "v"),
)

NATURAL = "natural order of the labels"
LISTED = "order in the network"
DECLARED = "as declared"
MEASURED = "order of the cut points"
ONE_STATE = "only one state"


@dataclass(frozen=True, slots=True)
class StateOrder:
    """The states of a variable from low to high, and where this order comes from.

    Attributes
    ----------
    variable
        The variable.
    states
        Its states, from low to high.
    reason
        Where the order comes from.

    Examples
    --------
    >>> from credo import Knowledge, Network
    >>> clinic = Network({"age": ["old", "young"]})
    >>> Knowledge(clinic, "order age: young < old").orders["age"].states
    ('young', 'old')
    """

    variable: str
    states: tuple[str, ...]
    reason: str


def state_order(variable: Variable, statements: Iterable[object] = ()) -> StateOrder:
    """From an order statement, the network or cut points; else from labels with an obvious order; else as listed."""
    for statement in statements:
        if isinstance(statement, Order) and variable.name in statement.variables:
            span = statement.span
            place = f", line {span.line}" if span is not None and span.line else ""
            return StateOrder(variable.name, tuple(str(state) for state in statement.states), f"order statement{place}")
    if len(variable.states) == 1:
        return StateOrder(variable.name, variable.states, ONE_STATE)
    if variable.is_ordered or variable.cuts is not None:
        return StateOrder(variable.name, variable.states, DECLARED if variable.is_ordered else MEASURED)
    natural = natural_order(variable.states)
    if natural is not None:
        return StateOrder(variable.name, natural, NATURAL)
    return StateOrder(variable.name, variable.states, LISTED)


@lru_cache(maxsize=4096)
def natural_order(states: tuple[str, ...]) -> tuple[str, ...] | None:
    """The states from low to high, if their labels show it: numbers and intervals, or words of one scale."""
    for ranks in (_numeric_ranks(states), *(_scale_ranks(states, scale) for scale in _RANKS)):
        if ranks is not None and len(set(ranks)) == len(states):
            return tuple(state for _, state in sorted(zip(ranks, states, strict=True)))
    return None


# Words ----------------------------------------------------------------------------------------------------------------

_RANKS = tuple({word: rank for rank, words in enumerate(scale) for word in words.split()} for scale in SCALES)


def _scale_ranks(states: tuple[str, ...], ranks: dict[str, int]) -> list[int] | None:
    found = [ranks.get(_folded(state)) for state in states]
    return None if None in found else found  # type: ignore[return-value]


def _folded(state: str) -> str:
    return re.sub(r"[\s_\-]+", "", state).casefold()


# Numbers, intervals, thresholds ---------------------------------------------------------------------------------------

Interval = tuple[float, float]
_NUMBER = r"([+-]?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?)"
_TO = r"\s*(?:-|–|—|_?to_?|\.\.|,|;|:)\s*"
_UNIT = r"[\s_]*(%|[a-zµ°][a-zµ°/²³ _%]*)?"

_FORMS: tuple[tuple[str, Callable[[float, float], Interval]], ...] = (
    (rf"{_NUMBER}", lambda low, _: (low, low)),
    (rf"(?:<=?|≤|under|below|upto|up to|lessthan|less than)[\s_]*{_NUMBER}", lambda low, _: (-inf, low)),
    (rf"(?:>=?|≥|over|above|from|morethan|more than)[\s_]*{_NUMBER}", lambda low, _: (low, inf)),
    (rf"{_NUMBER}\s*(?:\+|andover|and over|ormore|or more|andabove|and above)", lambda low, _: (low, inf)),
    (rf"[\[(]?{_NUMBER}{_TO}{_NUMBER}[\])]?", lambda low, high: (low, high)),
    (rf"[\[(]?-inf(?:inity)?{_TO}{_NUMBER}[\])]?", lambda low, _: (-inf, low)),
    (rf"[\[(]?{_NUMBER}{_TO}\+?inf(?:inity)?[\])]?", lambda low, _: (low, inf)),
)
_PATTERNS = tuple((re.compile(form + _UNIT), read) for form, read in _FORMS)


def _numeric_ranks(states: tuple[str, ...]) -> list[Interval] | None:
    """Each state as an interval, if all are numbers, intervals or thresholds of one unit that do not overlap."""
    found: list[Interval] = []
    units = set()
    for state in states:
        read = _interval(state.strip().casefold())
        if read is None:
            return None
        found.append(read[0])
        units.add(read[1])
    inside = sorted(found)
    if any(before[1] > after[0] for before, after in pairwise(inside)):
        return None
    return found if len(units - {""}) <= 1 else None


def _interval(state: str) -> tuple[Interval, str] | None:
    for pattern, read in _PATTERNS:
        match = pattern.fullmatch(state)
        if match:
            *numbers, unit = match.groups()
            low, high = float(numbers[0]), float(numbers[-1])
            return (read(low, high), (unit or "").strip(" _")) if low <= high else None
    return None
