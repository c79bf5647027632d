"""True statements about a network, drawn at random from its own tables: knowledge of an expert who is never wrong."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from credo.knowledge.expressions import Linear, Probability
from credo.knowledge.statements import Approximation, Comparison, Statement
from credo.model.network import Network


def true_statements(
    network: Network, per_node: int, seed: int = 0, *, across_nodes: float = 0.0
) -> tuple[Statement, ...]:
    """`per_node` statements on each variable's table, all true, of types 1, 4, 5, 6 and 7 of [guo, table 1].

    With probability `across_nodes` a statement compares with another variable's table (type 2): such statements
    tie blocks of different variables together. Types that a table is too small for are not drawn for it.
    """
    rng = np.random.default_rng(seed)
    drawn: list[Statement] = []
    for name in network.names:
        rows, states = network.configurations(name), len(network.states(name))
        kinds: list[Callable[[np.random.Generator, Network, str], Statement]] = [_range]
        if states > 1:
            kinds.append(_within)
        if rows > 1:
            kinds += [_across, _about]
        if rows > 3:
            kinds.append(_additive)
        for _ in range(per_node):
            draw = _other if rng.random() < across_nodes and len(network) > 1 else kinds[rng.integers(len(kinds))]
            drawn.append(draw(rng, network, name))
    return tuple(drawn)


def _range(rng: np.random.Generator, network: Network, name: str) -> Statement:
    term, value = _term(rng, network, name, *_cell(rng, network, name))
    width = float(rng.choice([0.05, 0.1, 0.2]))
    low, high = max(0.0, value - width * rng.random()), min(1.0, value + width * max(rng.random(), 0.01))
    bounds = Linear((), _down(low)), Linear((), _up(high))
    from_below, from_above = bounds[0].constant > 0.0, bounds[1].constant < 1.0  # else the bound says nothing
    if from_below and from_above and rng.random() < 0.3:
        return Comparison((bounds[0], term, bounds[1]), ("<=", "<="))
    if from_below and (not from_above or rng.random() < 0.5):
        return Comparison((term, bounds[0]), (">=",))
    return Comparison((term, bounds[1]), ("<=",))


def _within(rng: np.random.Generator, network: Network, name: str) -> Statement:
    row, _ = _cell(rng, network, name)
    first, second = rng.choice(len(network.states(name)), 2, replace=False)
    return _ordered(_term(rng, network, name, row, first), _term(rng, network, name, row, second))


def _across(rng: np.random.Generator, network: Network, name: str) -> Statement:
    _, state = _cell(rng, network, name)
    first, second = rng.choice(network.configurations(name), 2, replace=False)
    return _ordered(_term(rng, network, name, first, state), _term(rng, network, name, second, state))


def _about(rng: np.random.Generator, network: Network, name: str) -> Statement:
    _, state = _cell(rng, network, name)
    rows = rng.choice(network.configurations(name), 2, replace=False)
    (left, first), (right, second) = (_term(rng, network, name, row, state) for row in rows)
    if abs(first - second) > 0.9:  # "about the same" would say nothing
        return _ordered((left, first), (right, second))
    return Approximation(left, right, _up(abs(first - second) + 0.05))


def _additive(rng: np.random.Generator, network: Network, name: str) -> Statement:
    _, state = _cell(rng, network, name)
    rows = rng.choice(network.configurations(name), 4, replace=False)
    terms = [_term(rng, network, name, row, state) for row in rows]
    left = Linear(terms[0][0].terms + terms[1][0].terms), terms[0][1] + terms[1][1]
    right = Linear(terms[2][0].terms + terms[3][0].terms), terms[2][1] + terms[3][1]
    return _ordered(left, right)


def _other(rng: np.random.Generator, network: Network, name: str) -> Statement:
    other = str(rng.choice([each for each in network.names if each != name]))
    own, foreign = _cell(rng, network, name), _cell(rng, network, other)
    return _ordered(_term(rng, network, name, *own), _term(rng, network, other, *foreign))


def _ordered(one: tuple[Linear, float], two: tuple[Linear, float]) -> Statement:
    if abs(one[1] - two[1]) < 1e-9:  # no expert would rank what is the same
        return Approximation(one[0], two[0], 0.05)
    low, high = (one, two) if one[1] <= two[1] else (two, one)
    return Comparison((low[0], high[0]), ("<=",))


def _cell(rng: np.random.Generator, network: Network, name: str) -> tuple[int, int]:
    return int(rng.integers(network.configurations(name))), int(rng.integers(len(network.states(name))))


def _term(rng: np.random.Generator, network: Network, name: str, row: int, state: int) -> tuple[Linear, float]:
    given = tuple(network.configuration(name, int(row)).items())
    probability = Probability(name, (network.states(name)[state],), given)
    value = float(network.cpt_array(name).reshape(-1, len(network.states(name)))[row, state])
    return Linear(((1.0, probability),)), value


def _down(value: float) -> float:
    return float(np.floor(value * 1000) / 1000)


def _up(value: float) -> float:
    return float(np.ceil(value * 1000) / 1000)
