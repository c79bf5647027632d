"""What statements mean, by plain loops and dictionaries: no strides, no arrays, no constraints."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import combinations, pairwise, product
from math import prod
from typing import Any

import numpy as np

from credo import Network
from credo.knowledge.expressions import Linear, Probability, Product
from credo.knowledge.network_names import each_of
from credo.knowledge.statements import Approximation, Comparison, Influence, NoisyFamily, Order, Synergy, TiedRows

TOLERANCE = 1e-9


@dataclass(frozen=True)
class Ordered:
    states: tuple[str, ...]
    variable: str = ""
    reason: str = "the test says so"


@dataclass(frozen=True)
class HandMade:
    """A knowledge without text: what the lowering needs, and nothing else."""

    network: Network
    statements: tuple[Any, ...]
    orders: Mapping[str, Ordered] = field(default_factory=dict)


def theta_of(network: Network, without: tuple[str, ...] = ()) -> np.ndarray:
    """All numbers of all tables in the order of the address book."""
    return np.concatenate([network.cpt_array(name).ravel() for name in network.names if name not in without])


def assignments(network: Network, names: Any) -> Iterator[dict[str, str]]:
    names = list(names)
    for states in product(*(network.states(name) for name in names)):
        yield dict(zip(names, states, strict=True))


def chance(network: Network, name: str, state: str, config: Mapping[str, str]) -> float:
    place = tuple(network.states(parent).index(config[parent]) for parent in network.parents[name])
    return float(network.cpt_array(name)[(*place, network.states(name).index(state))])


def terms_of(side: Any) -> list[Probability]:
    return list(side.factors) if isinstance(side, Product) else [term for _, term in side.terms]


def value(network: Network, side: Any, free: Mapping[str, str]) -> float:
    def one(term: Probability) -> float:
        config = {parent: free[parent] for parent in network.parents[term.variable] if parent in free}
        config.update(dict(term.given))
        return sum(chance(network, term.variable, state, config) for state in term.states)

    if isinstance(side, Product):
        return side.coefficient * prod(one(factor) for factor in side.factors)
    assert isinstance(side, Linear)
    return side.constant + sum(coefficient * one(term) for coefficient, term in side.terms)


def free_names(network: Network, sides: Any) -> list[str]:
    names: dict[str, None] = {}
    for side in sides:
        for term in terms_of(side):
            names.update(dict.fromkeys(each_of(term, network)))
    return list(names)


def at_most(left: float, right: float) -> bool:
    return left <= right + TOLERANCE


def truth(knowledge: HandMade, statement: Any) -> bool:
    """Whether the network's tables fulfil the statement."""
    network = knowledge.network
    match statement:
        case Comparison(sides, relations, margin):
            for left, relation, right in zip(sides[:-1], relations, sides[1:], strict=True):
                for free in assignments(network, free_names(network, (left, right))):
                    a, b = value(network, left, free), value(network, right, free)
                    if relation == "=":
                        holds = abs(a - b) <= TOLERANCE
                    elif relation in ("<", "<="):
                        holds = at_most(a + margin, b)
                    else:
                        holds = at_most(b + margin, a)
                    if not holds:
                        return False
            return True
        case Approximation(left, right, within):
            return all(
                at_most(abs(value(network, left, free) - value(network, right, free)), within)
                for free in assignments(network, free_names(network, (left, right)))
            )
        case Influence(parent, child, direction, margin):
            return monotone(knowledge, parent, child, direction, margin)
        case Synergy(parents, child, kind, margin):
            direction = "raises"
            for other in knowledge.statements:
                if isinstance(other, Influence) and other.child == child and other.parent in parents:
                    direction = other.direction
            return all(monotone(knowledge, parent, child, direction, 0.0) for parent in parents) and all(
                synergy(knowledge, pair, child, direction, kind, margin) for pair in combinations(parents, 2)
            )
        case Order() | NoisyFamily() | TiedRows():
            return True
    raise AssertionError(statement)


def ladder(knowledge: HandMade, name: str) -> tuple[str, ...]:
    return knowledge.orders[name].states if name in knowledge.orders else knowledge.network.states(name)


def higher_than(knowledge: HandMade, child: str, threshold: int, config: Mapping[str, str]) -> float:
    """P(child > its state number `threshold` | config)."""
    return sum(chance(knowledge.network, child, state, config) for state in ladder(knowledge, child)[threshold + 1 :])


def monotone(knowledge: HandMade, parent: str, child: str, direction: str, margin: float) -> bool:
    network = knowledge.network
    others = [name for name in network.parents[child] if name != parent]
    steps = ladder(knowledge, parent)
    for low, high in pairwise(steps):
        for config in assignments(network, others):
            for threshold in range(len(network.states(child)) - 1):
                below = higher_than(knowledge, child, threshold, {**config, parent: low})
                above = higher_than(knowledge, child, threshold, {**config, parent: high})
                effect = above - below if direction == "raises" else below - above
                if not at_most(margin, effect):
                    return False
    return True


def synergy(knowledge: HandMade, pair: tuple[str, str], child: str, direction: str, kind: str, margin: float) -> bool:
    """The effect of the first parent, by its size, where the second is high against where it is low."""
    network, (first, second) = knowledge.network, pair
    others = [name for name in network.parents[child] if name not in pair]
    one, two = ladder(knowledge, first), ladder(knowledge, second)
    for config in assignments(network, others):
        for (x, x_next), (y, y_next) in product(pairwise(one), pairwise(two)):
            for threshold in range(len(network.states(child)) - 1):

                def effect(state: str) -> float:
                    low = higher_than(knowledge, child, threshold, {**config, first: x, second: state})  # noqa: B023
                    high = higher_than(knowledge, child, threshold, {**config, first: x_next, second: state})  # noqa: B023
                    return high - low if direction == "raises" else low - high

                gain = effect(y_next) - effect(y)
                if not at_most(margin, gain if kind == "synergize" else -gain):
                    return False
    return True
