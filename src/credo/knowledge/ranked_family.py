"""RankedFamily and InterpolatedFamily: a large CPT from a few numbers, as a prior that data can correct.

`quality is a weighted mean of staff (3), budget (1) with spread 0.1` is a ranked node (`model/ranked_nodes.py`);
`quality is interpolated by staff (3), budget (1) from worst 70%, 20%, 10% to best 5%, 15%, 80%` lies between two
distributions (`model/ranked_nodes.py`). Each distribution of the CPT weighs like some cases that were seen.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from credo.errors import listing
from credo.knowledge.experts import Expert
from credo.knowledge.expressions import condition_state, conditions_text, number_text
from credo.knowledge.mistakes import LineMistake
from credo.knowledge.names import Name, Part, joined, mistake_at, mistake_between, name_text, own_parent, token_part
from credo.knowledge.network_names import NetworkNames, check_parents, unknown_state
from credo.knowledge.statement_base import DoubtableFamily, Kind, Span, StatementRules, modifiers_text
from credo.model.network import Network
from credo.model.ranked_nodes import Corner, interpolated_distributions, ranked_distributions
from credo.types import Indices, Numbers

CASES = 10.0  # that each distribution weighs where nobody says it
SPREAD = 0.15  # before anything is known
Bounds = tuple[float, float]
SUM_TOLERANCE = 0.0051  # by which the numbers of a distribution may miss one: they are rounded to percent


@dataclass(frozen=True, slots=True)
class WeightedParent:
    """A parent of a ranked or interpolated family.

    Attributes
    ----------
    name
        The parent.
    weight
        How much it matters beside the others: a number, or two between which it is learned; None: 1 beside those that
        are given, and learned where none is.
    is_negated
        Whether its high states go with low ones of the child.
    """

    name: str
    weight: float | Bounds | None = None
    is_negated: bool = False

    def __str__(self) -> str:
        weight = "" if self.weight is None else f" ({_number_or_bounds(self.weight)})"
        return f"{'not ' if self.is_negated else ''}{name_text(self.name)}{weight}"


@dataclass(frozen=True, slots=True)
class GivenCorner:
    """`through 30%, 40%, 30% at staff=high, budget=low`: a distribution that is given between the worst and the best.

    Attributes
    ----------
    given
        The state of each parent.
    values
        The distribution of the child, from its lowest state to its highest.
    """

    given: tuple[tuple[str, str], ...]
    values: tuple[float, ...]

    def __str__(self) -> str:
        return f"through {', '.join(map(number_text, self.values))} at {conditions_text(self.given)}"


@dataclass(frozen=True, slots=True)
class RankedFamily(DoubtableFamily):
    """`quality is a weighted mean of staff (3), budget (1) with spread 0.1, worth 20 cases`.

    Attributes
    ----------
    child
        The variable.
    kind
        "mean", "max" or "min".
    terms
        Its parents and their weights.
    spread
        The standard deviation around the weighted mean, on a scale from 0 to 1: a number, or two between which it is
        learned; None: it is learned.
    cases
        How many cases each distribution weighs.
    confidence
        How probable it is that the form is right; None: it is certain, or as probable as its expert is reliable.
    expert
        Who says so, if somebody who may be wrong does.
    span
        Where it is written; None for one that was made in Python.
    """

    child: str
    kind: str
    terms: tuple[WeightedParent, ...]
    spread: float | Bounds | None = None
    cases: float = CASES
    confidence: float | None = None
    expert: Expert | None = None
    span: Span | None = field(default=None, compare=False)

    @property
    def parents(self) -> tuple[str, ...]:
        """The parents."""
        return tuple(term.name for term in self.terms)

    def __str__(self) -> str:
        terms = ", ".join(map(str, self.terms))
        spread = "" if self.spread is None else f" with spread {_number_or_bounds(self.spread)}"
        of = f"{name_text(self.child)} is a weighted {self.kind} of {terms}"
        return f"{of}{spread}{_worth(self.cases)}{modifiers_text(self)}"


@dataclass(frozen=True, slots=True)
class InterpolatedFamily(DoubtableFamily):
    """`quality is interpolated by staff (3), budget (1) from worst 70%, 20%, 10% to best 5%, 15%, 80%`.

    Attributes
    ----------
    child
        The variable.
    terms
        Its parents and their weights.
    worst, best
        Its distribution where all parents are in their lowest state, and where they are in their highest, each from the
        lowest state of the child to the highest.
    cases
        How many cases each distribution weighs.
    corners
        Other configurations whose distributions are given.
    confidence, expert
        As of a `RankedFamily`.
    span
        Where it is written; None for one that was made in Python.
    """

    child: str
    terms: tuple[WeightedParent, ...]
    worst: tuple[float, ...]
    best: tuple[float, ...]
    cases: float = CASES
    corners: tuple[GivenCorner, ...] = ()
    confidence: float | None = None
    expert: Expert | None = None
    span: Span | None = field(default=None, compare=False)

    @property
    def parents(self) -> tuple[str, ...]:
        """The parents."""
        return tuple(term.name for term in self.terms)

    def __str__(self) -> str:
        terms = ", ".join(map(str, self.terms))
        ends = (", ".join(map(number_text, numbers)) for numbers in (self.worst, self.best))
        ending = f"{''.join(f' {each}' for each in self.corners)}{_worth(self.cases)}{modifiers_text(self)}"
        return "{} is interpolated by {} from worst {} to best {}{}".format(name_text(self.child), terms, *ends, ending)


def _number_or_bounds(value: float | Bounds) -> str:
    return " to ".join(map(number_text, value)) if isinstance(value, tuple) else number_text(value)


def _worth(cases: float) -> str:
    return "" if cases == CASES else f", worth {number_text(cases)} cases"


# Reading a line -------------------------------------------------------------------------------------------------------


class _Numbers(NamedTuple):
    """The numbers after a word, and where they stand."""

    values: tuple[float, ...]
    column: int
    end: int


def parse_ranked(children: list[Any]) -> Part:
    """`name IS RANKED OF weighted, … [SPREAD number [TO number]] [WORTH number CASES]`."""
    child, terms = children[0], [each for each in children if _is_part(each, WeightedParent)]
    kind = next(kind for kind in ("mean", "max", "min") if kind in str(children[2]).lower())
    numbers = _after(children)
    spread, cases = numbers.get("SPREAD"), numbers.get("WORTH", _Numbers((CASES,), 0, 0))
    mistakes = [*_term_mistakes(child, terms), *_cases_mistakes(cases)]
    if spread is not None and not 0 < spread.values[0] <= spread.values[-1]:
        mistakes.append(LineMistake("ranked-spread", spread.column, spread.end))
    given = None if spread is None else _one_or_two(spread.values)
    value = RankedFamily(child.value, kind, tuple(each.value for each in terms), given, cases.values[0])
    end = max(terms[-1].end, 0 if spread is None else spread.end, cases.end)
    return joined(value, [child, *terms, Part(None, terms[-1].end, end)], tuple(mistakes))


def parse_interpolated(children: list[Any]) -> Part:
    """`name INTERPOLATED weighted, … FROM_WORST number, … TO_BEST number, … [corner …] [WORTH number CASES]`."""
    child, terms = children[0], [each for each in children if _is_part(each, WeightedParent)]
    numbers = _after(children)
    worst, best, cases = numbers["FROM_WORST"], numbers["TO_BEST"], numbers.get("WORTH", _Numbers((CASES,), 0, 0))
    mistakes = [*_term_mistakes(child, terms), *_cases_mistakes(cases)]
    corners = [each for each in children if _is_part(each, GivenCorner)]
    for each in (worst, best):
        if min(each.values) < 0 or abs(sum(each.values) - 1) > SUM_TOLERANCE:
            facts = {"sum": f"{sum(each.values):g}"}
            mistakes.append(LineMistake("interpolated-sum", each.column, each.end, facts))
    value = InterpolatedFamily(
        child.value,
        tuple(each.value for each in terms),
        worst.values,
        best.values,
        cases.values[0],
        tuple(each.value for each in corners),
    )
    end = max(best.end, cases.end)
    return joined(value, [child, *terms, *corners, Part(None, worst.column, end)], tuple(mistakes))


def parse_corner(children: list[Any]) -> Part:
    """`CORNER number, number, … AT conditions`."""
    numbers = [each for each in children if isinstance(each, Part) and hasattr(each.value, "constant")]
    conditions = children[-1]
    given = tuple((part.value[0], condition_state(part) if part.value[1] else "") for part in conditions.value)
    values = tuple(each.value.constant for each in numbers)
    mistakes: tuple[LineMistake, ...] = ()
    if min(values) < 0 or abs(sum(values) - 1) > SUM_TOLERANCE:
        mistakes = (LineMistake("interpolated-sum", numbers[0].column, numbers[-1].end, {"sum": f"{sum(values):g}"}),)
    return joined(GivenCorner(given, values), [*numbers, conditions], mistakes)


def parse_weighted(children: list[Any]) -> Part:
    """`[NOT] name [(number [TO number])]`."""
    parts = [each if isinstance(each, Part) else token_part(each) for each in children]
    is_negated = parts[0].value == "not" and not isinstance(parts[0].value, Name)
    name, *rest = parts[1:] if is_negated else parts
    numbers = [part for part in rest if hasattr(part.value, "constant")]
    weights = tuple(part.value.constant for part in numbers)
    mistakes: tuple[LineMistake, ...] = ()
    if weights and not 0 < weights[0] <= weights[-1]:
        mistakes = (LineMistake("ranked-weight", numbers[0].column, numbers[-1].end),)
    weight = _one_or_two(weights) if weights else None
    return joined(WeightedParent(name.value, weight, is_negated), parts, mistakes)


def _one_or_two(numbers: tuple[float, ...]) -> float | Bounds:
    """A number, or two between which it lies."""
    return numbers[0] if numbers[0] == numbers[-1] else (numbers[0], numbers[-1])


def _is_part(each: Any, kind: type) -> bool:
    return isinstance(each, Part) and isinstance(each.value, kind)


def _after(children: Sequence[Any]) -> Mapping[str, _Numbers]:
    """The numbers that follow each word of the line."""
    found: dict[str, list[Part]] = {}
    word = ""
    for each in children:
        if not isinstance(each, Part):
            word = word if each.type in ("SEPARATOR", "CASES", "TO") else each.type
        elif word and hasattr(each.value, "constant"):
            found.setdefault(word, []).append(each)
    return {
        word: _Numbers(tuple(part.value.constant for part in parts), parts[0].column, parts[-1].end)
        for word, parts in found.items()
    }


def _term_mistakes(child: Part, terms: Sequence[Part]) -> Iterator[LineMistake]:
    names = [part.value.name for part in terms]
    yield from own_parent(names, child.value)
    for place, name in enumerate(names):
        if name in names[:place]:
            yield mistake_at(name, "gate-input-twice", name=name)


def _cases_mistakes(cases: _Numbers) -> Iterator[LineMistake]:
    if not cases.values[0] > 0:
        yield LineMistake("ranked-cases", cases.column, cases.end)


# Checks ---------------------------------------------------------------------------------------------------------------


def _check(statement: RankedFamily | InterpolatedFamily, names: NetworkNames) -> Iterator[LineMistake]:
    child, parents = statement.child, statement.parents
    mistakes = [*check_parents(child, parents, names)]
    yield from mistakes
    if mistakes:
        return
    if isinstance(statement, InterpolatedFamily):
        states = names.network.states(child)
        for corner in statement.corners:
            given = dict(corner.given)
            for name, state in corner.given:
                if state and name in parents and state not in names.network.states(name):
                    yield unknown_state(name, state, names)
                    return
            if set(given) != set(parents) or len(given) != len(corner.given) or not all(given.values()):
                first = next((name for name, _ in corner.given if isinstance(name, str)), child)
                yield mistake_at(first, "interpolated-corner", name=child, parents=listing(parents))
                return
        for numbers in (statement.worst, statement.best, *(each.values for each in statement.corners)):
            if len(numbers) != len(states):
                facts = {"name": child, "count": len(numbers), "states": listing(states)}
                yield mistake_at(child, "interpolated-states", **facts)
                return
    left_out = [parent for parent in names.network.parents[child] if parent not in parents]
    if left_out:
        yield mistake_between(parents[0], parents[-1], "ranked-parent-left-out", name=child, missing=listing(left_out))


def _orders(statement: RankedFamily | InterpolatedFamily) -> list[tuple[str, bool]]:
    return [(name, True) for name in (statement.child, *statement.parents)]


def _rules(description: str, rules: Mapping[str, Any], kind: str) -> StatementRules:
    return StatementRules(
        description,
        rules,
        _check,
        lambda statement, network: Kind(kind),
        modifiers=("confidence",),
        arcs=lambda statement: [(name, statement.child) for name in statement.parents],
        ordered_variables=_orders,
    )


RANKED_FAMILY = _rules("a ranked family", {"ranked": parse_ranked, "weighted": parse_weighted}, "ranked family")
INTERPOLATED_FAMILY = _rules(
    "an interpolated family", {"interpolated": parse_interpolated, "corner": parse_corner}, "interpolated family"
)


# The CPT --------------------------------------------------------------------------------------------------------------


def form_cpt(
    statement: RankedFamily | InterpolatedFamily, network: Network, orders: Mapping[str, Sequence[str]]
) -> Numbers:
    """The CPT that the few numbers stand for, with axes and states as the network has them.

    `orders` has the states of each variable from low to high.
    """
    numbers = np.arange(network.configurations(str(statement.child)))
    return form_distributions(statement, network, orders, numbers).reshape(network.shape(str(statement.child)))


def form_distributions(
    statement: RankedFamily | InterpolatedFamily,
    network: Network,
    orders: Mapping[str, Sequence[str]],
    numbers: Indices,
    **options: int,
) -> Numbers:
    """Some distributions of that CPT, by the numbers of their configurations: (configurations, states)."""
    child, parents = str(statement.child), tuple(map(str, statement.parents))
    weights, sizes = weights_of(statement), [len(orders[parent]) for parent in parents]
    own = network.parents[child]
    states = np.stack(np.unravel_index(numbers, [len(network.states(parent)) for parent in own]), axis=1)
    ranks = np.empty_like(states)
    for axis, term in enumerate(statement.terms):
        ranks[:, axis] = _ranks(term, network, orders)[states[:, own.index(str(term.name))]]
    if isinstance(statement, RankedFamily):
        spread = middle_of(statement.spread, SPREAD)
        found = ranked_distributions(statement.kind, weights, sizes, len(orders[child]), spread, ranks, **options)
    else:
        worst, best = (np.array(each) / sum(each) for each in (statement.worst, statement.best))
        corners = [_corner(each, statement, network, orders) for each in statement.corners]
        found = interpolated_distributions(weights, sizes, worst, best, ranks, corners)
    return found[:, [list(orders[child]).index(state) for state in network.states(child)]]


def weights_of(statement: RankedFamily | InterpolatedFamily) -> tuple[float, ...]:
    """The weights of the parents; those that are not given are 1, those between bounds in the middle."""
    return tuple(middle_of(term.weight, 1.0) for term in statement.terms)


def middle_of(given: float | Bounds | None, default: float) -> float:
    """The number that is given, the one in the middle of two on a scale of ratios, or the default."""
    if given is None:
        return default
    return float(np.sqrt(given[0] * given[1])) if isinstance(given, tuple) else given


def _ranks(term: WeightedParent, network: Network, orders: Mapping[str, Sequence[str]]) -> Indices:
    """How high each state of a parent is, (states,), from 0; turned around where the parent is negated."""
    name = str(term.name)
    ranks = np.array([list(orders[name]).index(state) for state in network.states(name)])
    return len(ranks) - 1 - ranks if term.is_negated else ranks


def _corner(
    corner: GivenCorner, statement: InterpolatedFamily, network: Network, orders: Mapping[str, Sequence[str]]
) -> Corner:
    given = {str(name): str(state) for name, state in corner.given}
    places = tuple(
        int(_ranks(term, network, orders)[network.states(str(term.name)).index(given[str(term.name)])])
        for term in statement.terms
    )
    return Corner(places, np.array(corner.values) / sum(corner.values))
