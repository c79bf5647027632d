"""Statements that no joint distribution satisfies, whatever the arrows of the network are.

P(x | e) ≥ c is linear in the joint distribution of the variables that it names: P(x, e) ≥ c·P(e). Where no joint
distribution of a few variables satisfies all statements about them, these contradict each other: a linear program
proves it, and knows the law of total probability and Bayes' theorem. It leaves out which variables are independent, so
that a solution proves nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from math import inf, prod

import numpy as np

from credo.constraints.conflicts import MinimalConflict
from credo.constraints.feasibility import solved
from credo.constraints.probability_ranges import differences, disjoint_ranges, impossible_mixtures
from credo.knowledge.expressions import Expression, Linear, Probability
from credo.knowledge.names import states_given
from credo.knowledge.network_names import each_of
from credo.knowledge.statements import Statement
from credo.model.network import Network
from credo.types import Numbers

MOST_STATES = 512  # joint states of the variables of a program
MOST_CONSTRAINTS = 256  # of a statement about each state of many variables
PROVED = 1e-6  # by how much some constraint is missed everywhere; programs are exact to 1e-7

Event = dict[str, frozenset[str]]  # variables, each with the states that it may have


@dataclass(frozen=True, slots=True)
class JointConstraint:
    """Σ coefficient · P(event) ≥ 0."""

    terms: tuple[tuple[float, Event], ...]


def provable_conflicts(
    statements: Sequence[Statement],
    network_statements: Iterable[int],
    network: Network,
    certain: Iterable[int] | None = None,
) -> tuple[MinimalConflict, ...]:
    """Conflicts of statements about any probability that need no search: with each other, and with those about CPTs.

    `certain` are the numbers of the statements that take part; all if not given. Those with a confidence take no part.
    """
    allowed = range(len(statements)) if certain is None else sorted(certain)
    hard = [number for number in allowed if getattr(statements[number], "confidence", None) is None]
    own = [number for number in network_statements if number in set(hard)]
    found = {each.statements: each for each in disjoint_ranges(statements, own, network)}
    others = *impossible_mixtures(statements, own, hard, network), *_joint_conflicts(statements, own, hard, network)
    for conflict in others:
        if not any(set(known) <= set(conflict) for known in found):
            found[conflict] = MinimalConflict(conflict, (), inf)
    return tuple(found.values())


def _joint_conflicts(
    statements: Sequence[Statement], network_statements: Sequence[int], hard: Sequence[int], network: Network
) -> list[tuple[int, ...]]:
    """Around each network constraint, the fewest statements that no joint distribution satisfies together."""
    if not network_statements:
        return []
    constraints = {number: _joint_constraints(statements[number], network) for number in hard}
    names = {number: _names(own) for number, own in constraints.items() if own}
    of_variable: dict[str, list[int]] = {}
    for number, own_names in names.items():
        for name in own_names:
            of_variable.setdefault(name, []).append(number)
    found: list[tuple[int, ...]] = []
    tried: set[frozenset[int]] = set()
    for number in network_statements:
        if number not in names or any(number in conflict for conflict in found):
            continue
        group = _neighbours(number, names, of_variable, network)
        if frozenset(group) in tried:
            continue
        tried.add(frozenset(group))
        inequalities = _inequalities({each: constraints[each] for each in group}, _joint_names(group, names), network)
        if not _is_refuted(list(inequalities.values())):
            continue
        for each in group:  # without which the others still contradict each other
            if _is_refuted([own for other, own in inequalities.items() if other != each]):
                del inequalities[each]
        # Conflicts among statements about CPTs are found elsewhere.
        if set(inequalities).intersection(network_statements):
            found.append(tuple(sorted(inequalities)))
    return found


def _neighbours(
    number: int, names: Mapping[int, frozenset[str]], of_variable: Mapping[str, Sequence[int]], network: Network
) -> list[int]:
    """A statement and those that share variables with it, as far as the joint states of all variables stay few."""
    group, around = [number], names[number]
    states = _joint_states(around, network)
    near = {each for name in around for each in of_variable[name]} - {number}
    while states <= MOST_STATES:
        beyond = {each: names[each] - around for each in near}
        inside = sorted(each for each, more in beyond.items() if not more)
        group += inside
        near.difference_update(inside)
        factors = {more: _joint_states(more, network) for more in set(beyond.values()) if more}
        if not factors:
            break
        factor, chosen = min((factors[beyond[each]], each) for each in near)
        if states * factor > MOST_STATES:
            break
        near.update(each for name in beyond[chosen] for each in of_variable[name])
        near.difference_update(group)
        states, around = states * factor, around | beyond[chosen]
    return group


def _joint_states(names: Iterable[str], network: Network) -> int:
    return prod(len(network.states(name)) for name in names)


def _joint_names(group: Iterable[int], names: Mapping[int, frozenset[str]]) -> list[str]:
    return sorted({name for each in group for name in names[each]})


def _names(constraints: Iterable[JointConstraint]) -> frozenset[str]:
    return frozenset(name for each in constraints for _, event in each.terms for name in event)


# From a statement to linear constraints ------------------------------------------------------------------------------


def _joint_constraints(statement: Statement, network: Network) -> tuple[JointConstraint, ...]:
    """What a statement asks of the joint distribution; nothing where that is not linear."""
    found: list[JointConstraint] = []
    for left, right, low, high in differences(statement):
        sides = _terms(left, right, network)
        if sides is None:
            return ()
        terms, constant = sides
        free = list(dict.fromkeys(name for _, term in terms for name in each_of(term, network)))
        if _joint_states(free, network) * 2 > MOST_CONSTRAINTS:
            return ()
        for states in product(*(network.states(name) for name in free)):
            chosen = dict(zip(free, states, strict=True))
            conditions = [_condition(term, chosen, network) for _, term in terms]
            if any(each != conditions[0] for each in conditions):
                return ()  # P(x | a) ≥ P(x | b) compares two quotients
            joint = [(factor, _event(term, conditions[0])) for factor, term in terms]
            for sign, end in ((1.0, low), (-1.0, -high)):  # sign·(Σ factor·P + constant) ≥ end
                if end > -inf:
                    own = [(sign * factor, event) for factor, event in joint]
                    found.append(JointConstraint((*own, (sign * constant - end, conditions[0]))))
    return tuple(found)


def _terms(
    left: Expression, right: Expression, network: Network
) -> tuple[list[tuple[float, Probability]], float] | None:
    """The terms of left − right and its constant; None where a product or a noisy family is among them."""
    if not isinstance(left, Linear) or not isinstance(right, Linear):
        return None
    terms = [*left.terms, *((-factor, term) for factor, term in right.terms)]
    if not terms or any(term.alone or str(term.variable) in network.forms for _, term in terms):
        return None
    return terms, left.constant - right.constant


def _condition(term: Probability, chosen: Mapping[str, str], network: Network) -> Event:
    given = {str(name): frozenset(map(str, states_given(state))) for name, state in term.given}
    return given | {name: frozenset((chosen[name],)) for name in each_of(term, network)}


def _event(term: Probability, condition: Event) -> Event:
    """What P(…) is the probability of, together with its condition."""
    found = dict(condition)
    for name, states in term.events:
        own = frozenset(map(str, states))
        found[str(name)] = own & found.get(str(name), own)
    return found


def _inequalities(
    constraints: Mapping[int, Sequence[JointConstraint]], names: Sequence[str], network: Network
) -> dict[int, Numbers]:
    """The coefficients of each joint state, (constraints, states), the largest of them 1, of each statement."""
    sizes = [len(network.states(name)) for name in names]
    places = dict(zip(names, np.indices(sizes).reshape(len(names), -1), strict=True))  # the state of each, by number
    known: dict[tuple[str, frozenset[str]], Numbers] = {}

    def inside(name: str, states: frozenset[str]) -> Numbers:
        """Which joint states have one of these, as numbers."""
        if (name, states) not in known:
            known[name, states] = np.array([float(state in states) for state in network.states(name)])[places[name]]
        return known[name, states]

    found = {}
    for number, own in constraints.items():
        coefficients = np.zeros((len(own), prod(sizes)))
        for line, constraint in zip(coefficients, own, strict=True):
            for coefficient, event in constraint.terms:
                line += prod((inside(name, states) for name, states in event.items()), start=coefficient)
        found[number] = coefficients / np.maximum(
            np.abs(coefficients).max(axis=1, keepdims=True), np.finfo(np.float64).tiny
        )
    return found


def _is_refuted(inequalities: Sequence[Numbers]) -> bool:
    """Whether min t such that Rp + t ≥ 0 is above zero for every joint distribution p."""
    if not inequalities:
        return False
    matrix = np.concatenate(inequalities)
    count, size = matrix.shape
    values = np.concatenate((np.ones((1, size + 1)), np.column_stack((matrix, np.ones(count)))))
    values[0, -1] = 0.0
    owners, columns = np.nonzero(values)
    starts = np.concatenate(([0], np.cumsum(np.bincount(owners, minlength=count + 1))))
    sparse = starts, columns, values[owners, columns]
    cost = np.append(np.zeros(size), 1.0)
    lower, upper = np.append(1.0, np.zeros(count)), np.append(1.0, np.full(count, np.inf))
    point = solved(cost, (np.zeros(size + 1), np.ones(size + 1)), sparse, (lower, upper))
    return point is not None and bool(point[-1] > PROVED)
