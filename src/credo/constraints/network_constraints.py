"""Statements about any probability of the network: Σ coefficient · P(events | conditions) ≤ bound.

P(events, conditions) is a sum of products with one number of each CPT. So such a constraint is not linear in the CPTs
together, but in each of them: `statistics/network_statements.py` computes its value and its derivatives.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from itertools import product
from math import prod

from credo.constraints.constraint_builder import ConstraintBuilder
from credo.constraints.constraint_set import NetworkConstraint, NetworkProbability
from credo.constraints.noisy_families import alone_term
from credo.constraints.separation import separated_network_constraint
from credo.knowledge.comparison_mistakes import UPWARD
from credo.knowledge.expressions import Linear, Probability
from credo.knowledge.network_names import each_of, is_cpt_entry
from credo.knowledge.query import query_of
from credo.knowledge.statements import Approximation, Comparison
from credo.model.expansion import Expansion
from credo.tolerances import DECIMAL_ROUNDING

NEARLY_ONE = 0.99
Key = int | NetworkProbability  # a parameter, or a probability that depends on several CPTs


def lower_network_constraint(
    builder: ConstraintBuilder, number: int, statement: Comparison | Approximation, expansion: Expansion
) -> None:
    """left − right ≤ slack for neighbouring sides, one constraint for each state of the variables under `each`.

    The same as `lower_comparison` and `lower_approximation`, for probabilities that depend on several CPTs.
    """
    original = expansion.original
    differences = list(_differences(statement))
    terms = [term for left, right, _, _ in differences for side in (left, right) for _, term in side.terms]
    free = list(dict.fromkeys(name for term in terms for name in each_of(term, original)))
    configurations = prod(len(original.states(name)) for name in free)
    builder.reserve(configurations * len(differences), len(terms), statement if free else None)
    for states in product(*(original.states(name) for name in free)):
        chosen = dict(zip(free, states, strict=True))
        for left, right, slack, equality in differences:
            _add(builder, number, statement, expansion, chosen, left, right, slack, equality)


def _differences(statement: Comparison | Approximation) -> Iterator[tuple[Linear, Linear, float, bool]]:
    """Sides and slack of left − right ≤ slack, and whether it is an equality."""
    if isinstance(statement, Approximation):
        yield statement.left, statement.right, statement.within, False
        yield statement.right, statement.left, statement.within, False
        return
    for left, relation, right in zip(statement.sides[:-1], statement.relations, statement.sides[1:], strict=True):
        assert isinstance(left, Linear)
        assert isinstance(right, Linear)
        if relation == "=":
            yield left, right, 0.0, True
        elif relation in UPWARD:
            yield left, right, -statement.margin, False
        else:
            yield right, left, -statement.margin, False


def _add(
    builder: ConstraintBuilder,
    number: int,
    statement: Comparison | Approximation,
    expansion: Expansion,
    chosen: Mapping[str, str],
    left: Linear,
    right: Linear,
    slack: float,
    equality: bool,
) -> None:
    coefficients: dict[Key, float] = {}
    largest: dict[Key, float] = {}
    for sign, side in ((1.0, left), (-1.0, right)):
        for factor, term in side.terms:
            for key in _keys(builder, term, expansion, chosen):
                coefficients[key] = coefficients.get(key, 0.0) + sign * factor
                largest[key] = max(largest.get(key, 0.0), abs(factor))
    coefficients = {key: value for key, value in coefficients.items() if abs(value) > DECIMAL_ROUNDING * largest[key]}
    bound = right.constant - left.constant + slack
    unit = max(abs(right.constant), abs(left.constant), abs(slack))
    if not coefficients:
        confidence = statement.confidence
        builder.add_constant(bound, number, equality=equality, confidence=confidence, unit=unit)
        return
    if not equality and sum(max(value, 0.0) for value in coefficients.values()) <= bound:
        builder.add_constant(0.0, number, confidence=statement.confidence)  # such as P(…) ≤ 1
        return
    own, bound = _by_what_is_rare(list(coefficients.items()), bound, expansion)
    whole = NetworkConstraint(
        tuple((value, key) for key, value in own if isinstance(key, NetworkProbability)),
        tuple(key for key, _ in own if isinstance(key, int)),
        tuple(value for key, value in own if isinstance(key, int)),
        bound,
        number,
        equality,
        statement.confidence,
    )
    builder.network_constraints += map(_scaled, separated_network_constraint(whole, builder.layout, expansion.network))


def _by_what_is_rare(
    own: list[tuple[Key, float]], bound: float, expansion: Expansion
) -> tuple[list[tuple[Key, float]], float]:
    """One probability that must be nearly 1, by that of the opposite: P(x) ≥ 1 − 1e-9 is P(not x) ≤ 1e-9."""
    (key, coefficient), *others = own
    if others or isinstance(key, int) or len(key.events) != 1 or not NEARLY_ONE <= bound / coefficient < 1.0:
        return own, bound
    name, states = key.events[0]
    opposite = tuple(state for state in range(len(expansion.network.states(name))) if state not in states)
    return [(replace(key, events=((name, opposite),)), -coefficient)], bound - coefficient


def _scaled(given: NetworkConstraint) -> NetworkConstraint:
    """The constraint divided by its largest coefficient."""
    scale = max(abs(value) for value in (*(value for value, _ in given.terms), *given.coefficients))
    return replace(
        given,
        terms=tuple((value / scale, asked) for value, asked in given.terms),
        coefficients=tuple(value / scale for value in given.coefficients),
        bound=given.bound / scale,
        scale=scale,
    )


def _keys(builder: ConstraintBuilder, term: Probability, expansion: Expansion, chosen: Mapping[str, str]) -> list[Key]:
    """The parameters whose sum P(…) is, or the one probability that depends on several CPTs."""
    original, network = expansion.original, expansion.network
    asked = query_of(term, {name: chosen[name] for name in each_of(term, original)})
    effects = expansion.effects.get(str(term.variable), ())
    owner = None
    if term.alone:
        owner = alone_term(term, expansion).variable
    elif is_cpt_entry(term, original) and len(effects) < 2 and str(term.variable) not in expansion.steps:
        owner = effects[0] if effects else str(term.variable)
    if owner is not None:
        family = builder.family(owner)
        base = family.base([(name, states[0]) for name, states in asked.evidence.items()])
        return [base + family.states[str(state)] for state in term.states]
    return [NetworkProbability.of(asked, network)]
