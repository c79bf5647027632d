"""The order of states that influences use, and where it comes from."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from math import inf

from credo.knowledge.syntax import Order, Statement
from credo.model.network import Variable

# Words whose order nobody doubts, from low to high; words of one rank stand together. A variable follows a scale when
# all its states are on it, at different ranks; only ranks matter, so low < high and low < very high both follow.
SCALES: tuple[tuple[str, ...], ...] = (
    ("no n", "yes y"),
    ("false f", "true t"),
    ("absent", "present"),
    ("off offline", "on online"),
    ("negative neg", "neutral equivocal indeterminate borderline", "positive pos"),
    ("normal ok", "borderline", "abnormal"),
    ("healthy well", "ill sick diseased"),
    ("incorrect wrong", "correct right"),
    ("fail failed", "pass passed"),
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
    ("worse worsened", "same unchanged stable", "better improved"),
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
    ("poor bad", "fair", "average", "good", "verygood", "excellent"),
    ("child", "adolescent teenager", "young youngadult", "adult middleaged middle", "old elderly senior"),
    ("first", "second", "third", "fourth", "fifth"),
    ("i", "ii", "iii", "iv", "v"),
)

NATURAL = "natural order of the labels"
FILE = "order of the file"
ONE_STATE = "only one state"


@dataclass(frozen=True, slots=True)
class StateOrder:
    """The states of a variable from low to high, and why they stand so, as a fragment of a sentence."""

    variable: str
    states: tuple[str, ...]
    reason: str


def state_order(variable: Variable, statements: Iterable[Statement] = ()) -> StateOrder:
    """From an order statement; else from labels whose order nobody doubts; else from the file."""
    for statement in statements:
        if isinstance(statement, Order) and statement.variable == variable.name:
            span = statement.span
            place = f", line {span.line}" if span is not None and span.line else ""
            return StateOrder(variable.name, tuple(str(state) for state in statement.states), f"order statement{place}")
    if len(variable.states) == 1:
        return StateOrder(variable.name, variable.states, ONE_STATE)
    natural = natural_order(variable.states)
    if natural is not None:
        return StateOrder(variable.name, natural, NATURAL)
    return StateOrder(variable.name, variable.states, FILE)


@lru_cache(maxsize=4096)
def natural_order(states: tuple[str, ...]) -> tuple[str, ...] | None:
    """The states from low to high, if their labels say so: numbers and intervals, or words of one scale."""
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
