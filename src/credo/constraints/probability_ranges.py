"""Statements that bound one probability, whatever CPTs make it up: the range that each statement leaves it.

Such a statement need not constrain a single CPT. Two of them about the same probability contradict each other where
their ranges have nothing in common, and so do two that let an event be more probable than one that it is part of.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise, product
from math import inf, prod

from credo.constraints.conflicts import MinimalConflict
from credo.knowledge.comparison_mistakes import UPWARD
from credo.knowledge.expressions import Expression, Linear, Probability
from credo.knowledge.names import SeveralStates, states_given
from credo.knowledge.network_names import each_of, is_cpt_entry
from credo.knowledge.statements import Approximation, Comparison, Statement
from credo.model.graphs import ancestors
from credo.model.network import Network

MAX_CONFLICTS = 100  # between statements about one probability
MAX_CONFIGURATIONS = 4096  # of a CPT that are looked through
TOLERANCE = 1e-9

Range = tuple[float, float]
EVERYTHING: Range = (0.0, 1.0)


def ranges_of(statement: Statement, network: Network) -> dict[Probability, Range]:
    """The probabilities that a statement bounds by numbers, each in its standard form, with their ranges."""
    found: dict[Probability, Range] = {}
    for left, right, low, high in differences(statement):
        bounded = _single(left, right, network)
        if bounded is None:
            continue
        probability, coefficient, constant = bounded  # low ≤ coefficient · P + constant ≤ high
        ends = (low - constant) / coefficient, (high - constant) / coefficient
        known = found.get(probability, (-inf, inf))
        found[probability] = max(known[0], min(ends)), min(known[1], max(ends))
    return found


def disjoint_ranges(
    statements: Sequence[Statement], numbers: Iterable[int], network: Network
) -> tuple[MinimalConflict, ...]:
    """Pairs among these statements, by number, that leave a probability no common value; and those that leave none.

    Statements with a confidence may be false: they take no part.
    """
    by_probability: dict[Probability, dict[int, Range]] = {}
    for number in numbers:
        if getattr(statements[number], "confidence", None) is None:
            for probability, own in ranges_of(statements[number], network).items():
                by_probability.setdefault(probability, {})[number] = own
    found: dict[tuple[int, ...], None] = {}
    for ranges in by_probability.values():
        found |= dict.fromkeys(_disjoint(ranges))
    found |= dict.fromkeys(_impossible_parts(by_probability, network))
    return tuple(MinimalConflict(pair, (), inf) for pair in found)


def impossible_mixtures(
    statements: Sequence[Statement], network_statements: Sequence[int], certain: Sequence[int], network: Network
) -> list[tuple[int, ...]]:
    """Statements that no mixture of a CPT's distributions satisfies, with those that bound each of these.

    P(x | e) is a mean of P(x | parents) over the configurations that e allows, where e names no descendant of x: it
    lies between the least and the largest of them.
    """
    if not network_statements:
        return []
    ranges = {
        number: ranges_of(statements[number], network)
        for number in certain
        if getattr(statements[number], "confidence", None) is None
    }
    entries: dict[str, list[tuple[int, Probability, Range]]] = {}
    others = set(ranges) - set(network_statements)
    for number, own in ranges.items():
        for term, ends in own.items():
            if number in others and is_cpt_entry(term, network):
                entries.setdefault(str(term.variable), []).append((number, term, ends))
    found = []
    for number in network_statements:
        for term, (low, high) in ranges.get(number, {}).items():
            name = str(term.variable)
            if name not in entries or term.further or term.alone or name in network.forms:
                continue
            conditions = {name: states_given(state) for name, state in term.given}
            if term.each or name in ancestors(network.parents, conditions):
                continue
            reasons = _bounding(network, name, frozenset(term.states), conditions, (low, high), entries[name])
            if reasons is not None:
                found.append(tuple(sorted({number, *reasons})))
    return found


def _bounding(
    network: Network,
    name: str,
    states: frozenset[str],
    conditions: Mapping[str, tuple[str, ...]],
    wanted: Range,
    entries: Sequence[tuple[int, Probability, Range]],
) -> set[int] | None:
    """Statements that keep P(name in states | parents) below the wanted range, or above it, for every configuration."""
    parents = network.parents[name]
    allowed = [conditions[p] if p in conditions else network.states(p) for p in parents]
    if prod(len(each) for each in allowed) > MAX_CONFIGURATIONS:
        return None
    for from_above in (True, False):
        reasons: set[int] = set()
        for configuration in product(*allowed):
            chosen = dict(zip(parents, configuration, strict=True))
            own = [
                number
                for number, term, (low, high) in entries
                if all(chosen.get(str(p), state) == state for p, state in term.given)
                and (
                    (states <= frozenset(term.states) and high < wanted[0] - TOLERANCE)
                    if from_above
                    else (states >= frozenset(term.states) and low > wanted[1] + TOLERANCE)
                )
            ]
            if not own:
                break
            if not reasons.intersection(own):
                reasons.add(own[0])
        else:
            return reasons
    return None


def standard_form(term: Probability, network: Network) -> tuple[Probability, bool]:
    """The same probability with sorted parts; or, where that is marked by True, the one of all other states.

    So `P(x=no | b=1, a=2)` and `P(x=yes | a=2, b=1)` of a variable with two states are known to be about one number.
    """
    events = [
        (str(name), tuple(state for state in network.states(str(name)) if state in set(map(str, states))))
        for name, states in term.events
    ]
    (variable, states), *further = sorted(events)
    is_reversed = not further and not term.alone and network.states(variable)[0] in states
    if is_reversed:
        states = tuple(state for state in network.states(variable) if state not in states)
    given = tuple(
        sorted((str(name), state if isinstance(state, SeveralStates) else str(state)) for name, state in term.given)
    )
    each = tuple(sorted(each_of(term, network)))
    standard = replace(
        term, variable=variable, states=states, given=given, each=each, each_other=False, further=tuple(further)
    )
    return standard, is_reversed


def _disjoint(ranges: Mapping[int, Range]) -> list[tuple[int, ...]]:
    """The statements with an empty range, and the pairs of others without a common value; of very many, the first."""
    empty = {
        number
        for number, (low, high) in ranges.items()
        if max(low, EVERYTHING[0]) > min(high, EVERYTHING[1]) + TOLERANCE
    }
    found: list[tuple[int, ...]] = [(number,) for number in sorted(empty)]
    others = [number for number in ranges if number not in empty]
    from_above = sorted(others, key=lambda number: -ranges[number][0])
    from_below = sorted(others, key=lambda number: ranges[number][1])
    few = int(MAX_CONFLICTS**0.5)
    for first, second in product(from_above[:few], from_below[:few]):
        if ranges[first][0] > ranges[second][1] + TOLERANCE:
            found.append((min(first, second), max(first, second)))
    return found


def _impossible_parts(
    by_probability: Mapping[Probability, Mapping[int, Range]], network: Network
) -> list[tuple[int, int]]:
    """Pairs that let an event be more probable than another that it is part of, such as P(a, b) > P(a)."""
    bounded: list[tuple[dict[str, frozenset[str]], object, int, Range]] = []
    for term, ranges in by_probability.items():
        if term.alone:
            continue
        events = {str(name): frozenset(map(str, states)) for name, states in term.events}
        given = term.given, term.each
        for number, (low, high) in ranges.items():
            bounded.append((events, given, number, (low, high)))
            if len(events) == 1:
                ((name, states),) = events.items()
                rest = frozenset(network.states(name)) - states
                bounded.append(({name: rest}, given, number, (1.0 - high, 1.0 - low)))
    found: list[tuple[int, int]] = []
    for part, condition, first, (low, _) in bounded:
        if len(part) < 2 or low <= 0.0 or len(found) > MAX_CONFLICTS:
            continue
        for whole, other, second, (_, high) in bounded:
            inside = all(name in part and part[name] <= states for name, states in whole.items())
            if first != second and inside and condition == other and low > high + TOLERANCE:
                found.append((min(first, second), max(first, second)))
    return found


def differences(statement: Statement) -> list[tuple[Expression, Expression, float, float]]:
    """Pairs of sides whose difference lies between two numbers."""
    if isinstance(statement, Approximation):
        return [(statement.left, statement.right, -statement.within, statement.within)]
    if not isinstance(statement, Comparison):
        return []
    found = []
    for relation, (left, right) in zip(statement.relations, pairwise(statement.sides), strict=True):
        ends = (0.0, 0.0) if relation == "=" else (-inf, -statement.margin)
        ends = ends if relation == "=" or relation in UPWARD else (statement.margin, inf)
        found.append((left, right, *ends))
    return found


def _single(left: Expression, right: Expression, network: Network) -> tuple[Probability, float, float] | None:
    """The only probability in left − right, its coefficient, and the constant; None where there are others."""
    if not isinstance(left, Linear) or not isinstance(right, Linear):
        return None
    constant = left.constant - right.constant
    coefficients: dict[Probability, float] = {}
    for sign, side in ((1.0, left), (-1.0, right)):
        for factor, term in side.terms:
            standard, is_reversed = standard_form(term, network)
            constant += sign * factor * is_reversed  # c · P = c − c · (1 − P)
            coefficients[standard] = coefficients.get(standard, 0.0) + sign * factor * (-1 if is_reversed else 1)
    left_over = [(each, coefficient) for each, coefficient in coefficients.items() if abs(coefficient) > TOLERANCE]
    return (*left_over[0], constant) if len(left_over) == 1 else None
