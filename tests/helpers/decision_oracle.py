"""Decisions by enumeration: the joint of everything, utilities of every cell, no inference of credo."""

from __future__ import annotations

from itertools import product

import numpy as np

import credo
from tests.helpers.enumeration import joint, random_network

Choice = dict[str, str]
Line = tuple[dict[str, tuple[str, ...]], float]


def random_problem(generator: np.random.Generator) -> tuple[credo.Network, dict[str, tuple[str, ...]], list[Line]]:
    """A small network, decisions (one of them perhaps a variable of it), and lines of utility."""
    while True:
        network = random_network(generator, most=6)
        roots = [name for name in network.names if not network.parents[name] and len(network.states(name)) > 1]
        chance = [name for name in network.names if len(network.states(name)) > 1]
        if roots and len(chance) > 2:
            break
    decisions: dict[str, tuple[str, ...]] = {}
    if generator.random() < 0.5:
        inside = str(generator.choice(chance))
        decisions[inside] = network.states(inside)
    if not decisions or generator.random() < 0.3:
        decisions["act"] = tuple(f"a{k}" for k in range(int(generator.integers(2, 4))))
    lines: list[Line] = []
    pool = [name for name in chance if name not in decisions]
    for _ in range(int(generator.integers(2, 5))):
        named = [*generator.permutation(pool)[: generator.integers(1, 3)].tolist()]
        named += [name for name in decisions if generator.random() < 0.7]
        given = {}
        for name in named:
            states = network.states(name) if name in network else decisions[name]
            given[name] = tuple(generator.permutation(states)[: generator.integers(1, len(states))].tolist())
        lines.append((given, float(generator.integers(-50, 50))))
    return network, decisions, lines


def as_text(decisions: dict[str, tuple[str, ...]], lines: list[Line]) -> str:
    found = [f"decision {name}: {', '.join(states)}" for name, states in decisions.items()]
    for given, amount in lines:
        events = [f"{n}={s[0]}" if len(s) == 1 else f"{n} in {{{', '.join(s)}}}" for n, s in given.items()]
        found.append(f"utility of {', '.join(events)} is {amount:g}")
    return "\n".join(found)


def choices(decisions: dict[str, tuple[str, ...]]) -> list[Choice]:
    return [dict(zip(decisions, states, strict=True)) for states in product(*decisions.values())]


def cut(network: credo.Network, choice: Choice) -> np.ndarray:
    """P of everything if the decisions are set: the CPT of a decision is replaced by a certain one."""
    cpts = dict(network.cpts)
    for name, state in choice.items():
        if name in network:
            certain = np.zeros(network.shape(name))
            certain[..., network.states(name).index(state)] = 1.0
            cpts[name] = certain
    return joint(network.with_cpts(cpts))


def allowed(network: credo.Network, given: dict[str, tuple[str, ...]]) -> np.ndarray:
    """1 in the cells that have these states, else 0."""
    found = np.ones([len(network.states(name)) for name in network.names])
    for name, states in given.items():
        shape = [1] * len(network)
        shape[network.names.index(name)] = -1
        found = found * np.array([float(s in states) for s in network.states(name)]).reshape(shape)
    return found


def worth(network: credo.Network, choice: Choice, lines: list[Line]) -> np.ndarray:
    """The utility of every cell of the joint under a choice."""
    total = np.zeros([len(network.states(name)) for name in network.names])
    for given, amount in lines:
        if all(choice[name] in states for name, states in given.items() if name in choice):
            inside = {name: states for name, states in given.items() if name not in choice}
            total += amount * allowed(network, inside)
    return total


def expected(network: credo.Network, choice: Choice, lines: list[Line], evidence: dict[str, tuple[str, ...]]) -> float:
    """EU of a choice, given evidence."""
    seen = cut(network, choice) * allowed(network, evidence)
    return float((seen * worth(network, choice, lines)).sum() / seen.sum())
