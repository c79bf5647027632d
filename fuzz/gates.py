"""Fault trees at random: the probability of every gate, alone and given what was seen, against enumeration."""

from __future__ import annotations

from itertools import product
from math import prod
from pathlib import Path
from random import Random
from typing import Any

import polars as pl

import credo
from fuzz.kind import Input, Kind

CLOSE = 1e-9  # relative
RATES = (0.0, 1.0, 0.5, 0.1, 0.03, 1e-4, 1e-9, 3e-12)
KINDS = ("or", "and", "xor", "nor", "nand", "at least", "of", "max", "min", "same", "not")


def make(choose: Random) -> Input:
    """Events with rates, and gates of events and of gates before them."""
    events = [f"e{k}" for k in range(choose.randint(1, 6))]
    gates: list[dict[str, Any]] = []
    for place in range(choose.randint(1, 5)):
        names = [*events, *(gate["name"] for gate in gates)]
        inputs = choose.sample(names, choose.randint(1, min(5, len(names))))
        kind = choose.choice(KINDS if len(inputs) > 1 else ("same", "not", "or", "and"))
        if kind in ("same", "not"):
            inputs = inputs[:1]
        gates.append(
            {
                "name": f"g{place}",
                "kind": kind,
                "least": choose.randint(1, len(inputs)),
                "inputs": [[name, choose.choice(("", "", "not ", "=no", "=yes"))] for name in inputs],
            }
        )
    return {
        "rates": {name: choose.choice((*RATES, choose.random())) for name in events},
        "gates": gates,
        "seen": {choose.choice([*events, "g0"]): choose.choice(("no", "yes"))},
    }


def line_of(gate: dict[str, Any]) -> str:
    """A gate as a sentence."""
    name, kind, plain = gate["name"], gate["kind"], gate["kind"] in ("same", "not", "max", "min")
    inputs = ", ".join(
        each if plain else f"not {each}" if how == "not " else f"{each}{how}" for each, how in gate["inputs"]
    )
    if kind in ("same", "not"):
        return f"{name} is the same as {inputs}" if kind == "same" else f"{name} is not {inputs}"
    words = {"at least": f"at least {gate['least']}", "of": str(gate["least"])}.get(kind, kind)
    return f"{name} is {words} of {inputs}"


def value_of(gate: dict[str, Any], values: dict[str, bool]) -> bool:
    """What a gate is, by its definition."""
    plain = gate["kind"] in ("same", "not", "max", "min")
    given = [values[name] == (plain or how in ("", "=yes")) for name, how in gate["inputs"]]
    return {
        "or": any(given),
        "and": all(given),
        "xor": sum(given) % 2 == 1,
        "nor": not any(given),
        "nand": not all(given),
        "at least": sum(given) >= gate["least"],
        "of": sum(given) >= gate["least"],
        "max": any(given),
        "min": all(given),
        "same": given[0],
        "not": not given[0],
    }[gate["kind"]]


def check(given: Input, folder: Path) -> str:
    """Every gate has the probability that enumeration gives, and its sentence is written as it is read."""
    assert isinstance(given, dict)
    rates, gates = given["rates"], given["gates"]
    names = [*rates, *(gate["name"] for gate in gates)]
    lines = [line_of(gate) for gate in gates]
    text = "\n".join([f"variables {', '.join(names)}: no, yes", *lines])
    network = credo.declared_network(text).network
    for statement in credo.Knowledge(network, lines).statements:
        assert credo.Knowledge(network, str(statement)).statements == (statement,), "a gate that reads back otherwise"
    network = network.with_cpts({name: [1.0 - rate, rate] for name, rate in rates.items()})
    row = pl.DataFrame({"e0": ["yes" if rates["e0"] == 1.0 else "no"]})
    fit = credo.fit(network, row, lines, fixed=list(rates), method="map", progress=False)
    worlds = []
    for states in product((False, True), repeat=len(rates)):
        values = dict(zip(rates, states, strict=True))
        weight = prod(rate if values[name] else 1.0 - rate for name, rate in rates.items())
        for gate in gates:
            values[gate["name"]] = value_of(gate, values)
        worlds.append((weight, values))
    seen = {name: state for name, state in given["seen"].items() if name in names}
    for evidence in ({}, seen):
        kept = [(w, v) for w, v in worlds if all(v[name] == (state == "yes") for name, state in evidence.items())]
        total = sum(w for w, _ in kept)
        if not total:
            continue
        rows = fit.marginals(evidence).rows()
        found = {name: probability for name, state, probability, *_ in rows if state == "yes"}
        condition = "".join(f" | {name}={state}" for name, state in evidence.items())
        last = gates[-1]["name"]
        asked = float(fit.query(f"P({last}=yes{condition})"))
        for gate in gates:
            exact = sum(w for w, v in kept if v[gate["name"]]) / total
            for value in (found[gate["name"]], *([asked] if gate["name"] == last else ())):
                assert abs(value - exact) <= CLOSE * exact + 1e-15, f"another probability; {value} for {exact}"
    return "exact"


GATES = Kind("gates", make, check, ".json")
