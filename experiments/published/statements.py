"""What an expert would say of a network: influences, rough ranges and comparisons, all of them true; and wrong ones.

A range has ends at multiples of five points, and is 10 to 40 points wide. Two numbers are compared where they differ by
at least ten points. Half of the statements about a variable with parents are influences, while there are any.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

import credo
from credo.knowledge.comparison import Relation
from credo.knowledge.expressions import Linear, Probability
from credo.knowledge.statements import Comparison, Influence, Statement
from credo.model.network import Network
from credo.types import Numbers

STEP = 0.05
LEAST_DIFFERENCE = 0.1
SMALLEST_EFFECT = 1e-6  # below which no expert would speak of an influence
REVERSED: dict[Relation, Relation] = {"<=": ">=", ">=": "<=", "<": ">", ">": "<"}


def low_to_high(network: Network, name: str) -> list[int]:
    """The places of a variable's states in the order that an influence has if nobody declares another."""
    arcs = [Influence(parent, child, "raises") for child in network.names for parent in network.parents[child]]
    touching = next(each for each in arcs if name in (each.parent, each.child))
    order = credo.Knowledge(network, [touching]).orders[name]
    return [network.states(name).index(state) for state in order.states]


def true_influences(network: Network, name: str) -> list[Influence]:
    """The parents that raise or lower a variable whatever its other parents are (first-order dominance)."""
    found: list[Influence] = []
    if not network.parents[name]:
        return found
    cpt = network.cpt_array(name)
    for axis, each in enumerate((*network.parents[name], name)):
        cpt = cpt.take(low_to_high(network, each), axis=axis)
    at_most = np.cumsum(cpt, axis=-1)[..., :-1]
    for axis, parent in enumerate(network.parents[name]):
        steps = np.diff(at_most, axis=axis)
        if steps.size == 0 or np.abs(steps).max() < SMALLEST_EFFECT:
            continue
        if (steps <= 1e-9).all():
            found.append(Influence(parent, name, "raises"))
        elif (steps >= -1e-9).all():
            found.append(Influence(parent, name, "lowers"))
    return found


def all_influences(network: Network) -> list[Statement]:
    """All influences that are true in a network."""
    return [each for name in network.names for each in true_influences(network, name)]


def expert_statements(network: Network, per_variable: int, seed: int) -> list[Statement]:
    """So many true statements about each variable, or as many as there are."""
    rng = np.random.default_rng(seed)
    found: list[Statement] = []
    for name in network.names:
        influences: list[Statement] = list(true_influences(network, name))
        rng.shuffle(influences)  # type: ignore[arg-type]
        own = influences[: (per_variable + 1) // 2]
        others = _numbers(network, name, rng)
        while len(own) < per_variable and (statement := next(others, None)) is not None:
            if statement not in own:
                own.append(statement)
        found += own
    return found


def with_wrong(network: Network, statements: Sequence[Statement], share: float, seed: int) -> list[Statement]:
    """The same with a share of the statements made wrong: reversed, or a range that misses the truth."""
    rng = np.random.default_rng([seed, 1])
    chosen = set(rng.choice(len(statements), round(share * len(statements)), replace=False).tolist())
    return [_wrong(network, each, rng) if i in chosen else each for i, each in enumerate(statements)]


def _numbers(network: Network, name: str, rng: np.random.Generator) -> Iterator[Statement]:
    """Ranges and comparisons about single configurations, at most a few more than there are numbers."""
    cpt = network.cpt_array(name).reshape(-1, len(network.states(name)))
    for _ in range(4 * cpt.size + 4):
        state = int(rng.integers(cpt.shape[1]))
        if len(cpt) > 1 and rng.random() < 0.5:
            first, second = (int(each) for each in rng.choice(len(cpt), 2, replace=False))
            if cpt[first, state] > cpt[second, state]:
                first, second = second, first
            if cpt[second, state] - cpt[first, state] >= LEAST_DIFFERENCE:
                sides = (_term(network, name, first, state), _term(network, name, second, state))
                yield Comparison(sides, ("<=",))
        else:
            configuration = int(rng.integers(len(cpt)))
            low, high = _rough_range(cpt[configuration, state], rng)
            yield _range(_term(network, name, configuration, state), low, high)


def _rough_range(value: float, rng: np.random.Generator) -> tuple[float, float]:
    below, above = rng.integers(1, 4, 2)
    low = max(0.0, STEP * (np.floor(value / STEP + 1e-9) - below + 1))
    high = min(1.0, STEP * (np.ceil(value / STEP - 1e-9) + above - 1))
    low, high = (low, high) if high - low > STEP else (max(0.0, low - STEP), min(1.0, high + STEP))
    return round(float(low), 2), round(float(high), 2)


def _range(term: Linear, low: float, high: float) -> Comparison:
    if low <= 0.0:
        return Comparison((term, Linear((), high)), ("<=",))
    if high >= 1.0:
        return Comparison((term, Linear((), low)), (">=",))
    return Comparison((Linear((), low), term, Linear((), high)), ("<=", "<="))


def _wrong(network: Network, statement: Statement, rng: np.random.Generator) -> Statement:
    if isinstance(statement, Influence):
        return replace(statement, direction="lowers" if statement.direction == "raises" else "raises")
    assert isinstance(statement, Comparison)
    terms = [side for side in statement.sides if side.terms]
    if len(terms) == 2:
        return replace(statement, relations=(REVERSED[statement.relations[0]],))
    value = value_of(network, terms[0].terms[0][1])
    moved = value + float(rng.uniform(0.2, 0.4)) * (1 if value < 0.5 else -1)
    low, high = max(0.0, round(moved - 0.1, 2)), min(1.0, round(moved + 0.1, 2))
    return _range(terms[0], max(low, 0.01), min(high, 0.99))


def value_of(network: Network, probability: Probability) -> float:
    """A number of a CPT, by the name of its state and configuration."""
    given = dict(probability.given)
    parents = network.parents[probability.variable]
    place = tuple(network.states(parent).index(given[parent]) for parent in parents)
    cpt: Numbers = network.cpt_array(probability.variable)[place]
    return float(sum(cpt[network.states(probability.variable).index(state)] for state in probability.states))


def _term(network: Network, name: str, configuration: int, state: int) -> Linear:
    given = tuple(network.configuration(name, configuration).items())
    return Linear(((1.0, Probability(name, (network.states(name)[state],), given)),))
