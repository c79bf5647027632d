"""Decisions at random: the expected utility of every option, against enumeration; spoiled lines, too."""

from __future__ import annotations

import math
from itertools import product
from pathlib import Path
from random import Random
from typing import Any

import numpy as np

import credo
from fuzz.kind import Input, Kind
from fuzz.mutation import mutated
from fuzz.names import network_from
from fuzz.statements import quoted

CLOSE = 1e-9  # relative to the largest amount
AMOUNTS = (0, 1, -1, -30, -100, 0.5, 1e6, -1e-6, 123456.789)

Line = list[Any]  # the states of some variables and decisions, and an amount


def make(choose: Random) -> Input:
    """A network with CPTs, one or two decisions, lines of utility, and what is known before deciding."""
    network = network_from(choose, (2, 5), odd=0.1, complete=1.0)
    several = [name for name in network.names if len(network.states(name)) > 1]
    decisions = {}
    if several and choose.random() < 0.5:
        inside = choose.choice(several)
        decisions[inside] = list(network.states(inside))
    if not decisions or choose.random() < 0.3:
        decisions["to do"] = [f"a{k}" for k in range(choose.randint(2, 3))]
    lines: list[Line] = []
    for _ in range(choose.randint(1, 5)):
        named = [name for name in network.names if name not in decisions and choose.random() < 0.4]
        named += [name for name in decisions if choose.random() < 0.7]
        given = {}
        for name in named:
            states = decisions.get(name) or list(network.states(name))
            given[name] = choose.sample(states, choose.randint(1, max(1, len(states) - 1)))
        if given:
            lines.append([given, choose.choice(AMOUNTS)])
    known = {}
    for name in network.names:
        if choose.random() < 0.25:
            states = list(network.states(name))
            known[name] = choose.sample(states, choose.randint(1, len(states)))
    return {
        "states": {name: list(network.states(name)) for name in network.names},
        "parents": {name: list(network.parents[name]) for name in network.names},
        "cpts": {name: network.cpt_array(name).tolist() for name in network.names},
        "decisions": decisions,
        "lines": lines,
        "known": known,
        "spoiled": choose.getrandbits(32) if choose.random() < 0.15 else None,
    }


def text_of(decisions: dict[str, list[str]], lines: list[Line]) -> str:
    """The decisions and utilities as lines of the language."""
    found = [f"decision {quoted(name)}: {', '.join(map(quoted, states))}" for name, states in decisions.items()]
    for given, amount in lines:
        events = [
            f"{quoted(n)}={quoted(s[0])}" if len(s) == 1 else f"{quoted(n)} in {{{', '.join(map(quoted, s))}}}"
            for n, s in given.items()
        ]
        found.append(f"utility of {', '.join(events)} is {amount!r}")
    return "\n".join(found)


def expected(network: credo.Network, choice: dict[str, str], lines: list[Line], known: dict[str, list[str]]) -> float:
    """The expected utility of a choice, over all states of everything; NaN where what is known cannot be."""
    weights, values = [], []
    for states in product(*map(network.states, network.names)):
        world = {**dict(zip(network.names, states, strict=True)), **choice}
        if any(world[name] not in allowed for name, allowed in known.items()):
            continue
        if any(world[name] != state for name, state in zip(network.names, states, strict=True)):
            continue
        weight = 1.0
        for name in network.names:
            if name not in choice:
                at = tuple(network.states(each).index(world[each]) for each in (*network.parents[name], name))
                weight *= float(network.cpts[name][at])
        weights.append(weight)
        values.append(sum(amount for given, amount in lines if all(world[n] in s for n, s in given.items())))
    total = math.fsum(weights)
    return math.fsum(w * v for w, v in zip(weights, values, strict=True)) / total if total else math.nan


def check(given: Input, folder: Path) -> str:
    """Options have the utilities of enumeration, in order; what is refused is a `CredoError`."""
    assert isinstance(given, dict)
    network = credo.Network(given["states"], given["parents"], given["cpts"])
    text = text_of(given["decisions"], given["lines"])
    if given["spoiled"] is not None:
        text = mutated(Random(given["spoiled"]), text.encode()).decode(errors="replace")
    fit = credo.fit(network, network.sample(1, seed=0), text, fixed=network.names, method="ml", progress=False)
    found = fit.decide({name: tuple(states) for name, states in given["known"].items()})
    assert str(found), "a decision cannot be printed"
    if given["spoiled"] is not None:
        assert np.isfinite(found.options["utility"].to_numpy()).all(), "a utility that is no number"
        return "spoiled and decided"
    size = max((abs(amount) for _, amount in given["lines"]), default=1.0) * len(given["lines"])
    computed = dict(zip(found.options["option"], found.options["utility"], strict=True))
    exact = {}
    for states in product(*given["decisions"].values()):
        choice = dict(zip(given["decisions"], states, strict=True))
        value = expected(network, choice, given["lines"], given["known"])
        assert not math.isnan(value), "a decision in a case that cannot be"
        exact[frozenset(choice.items())] = value
    assert len(computed) == len(exact), "options that are missing"
    for one, other in zip(sorted(computed.values()), sorted(exact.values()), strict=True):
        assert abs(one - other) <= CLOSE * size, f"another expected utility; {one} for {other}"
    assert abs(max(exact.values()) - max(computed.values())) <= CLOSE * size, "another best option"
    assert found.options["utility"].to_list() == sorted(computed.values(), reverse=True), "options out of order"
    return "exact"


DECISIONS = Kind("decisions", make, check, ".json", seconds=30.0)
