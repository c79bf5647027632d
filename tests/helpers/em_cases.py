"""Small networks, statements and rows with missing values at random, for learning by EM."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl

import credo
from credo import EMOptions, Network, OptimiserOptions
from credo.constraints.feasibility import interior_of
from credo.estimation.prepare import prepare, prepare_model
from credo.estimation.problem import Problem
from credo.knowledge import knowledge_for
from credo.network_methods import sample_codes
from credo.options import Options

SHAPES: list[dict[str, list[str]]] = [
    {"b": ["a"]},
    {"b": ["a"], "c": ["b"]},
    {"c": ["a", "b"]},
    {"b": ["a"], "c": ["a"]},
    {"b": ["a"], "c": ["a", "b"]},
]


def random_statements(generator: np.random.Generator, network: Network, count: int, soft: bool = False) -> str:
    """Statements that pin zeros and ones, bounds, and comparisons."""
    lines = []
    for _ in range(count):
        name = network.names[generator.integers(len(network))]
        states = network.states(name)
        given = [f"{p}={generator.choice(network.states(p))}" for p in network.parents[name]]
        other = [f"{p}={generator.choice(network.states(p))}" for p in network.parents[name]]
        x, y = generator.choice(states, 2, replace=False)

        def probability(state: str, condition: list[str], name: str = name) -> str:
            return f"P({name}={state} | {', '.join(condition)})" if condition else f"P({name}={state})"

        left = probability(x, given)
        kind = int(generator.integers(8))
        text = [
            f"{left} = 0",
            f"{left} = 1" if generator.random() < 0.5 else f"{left} >= 1",
            f"{left} <= 0",
            f"{left} = {generator.choice([0.2, 0.5, 0.7])}",
            f"{left} <= {generator.choice([0.3, 0.6])}",
            f"{left} <= {probability(y, given)}",
            f"{left} <= {probability(x, other)}" if given != other else f"{left} >= 0.1",
            f"{network.parents[name][0]} raises {name}" if given else f"{left} >= 0.2",
        ][kind]
        lines.append(text + (" with confidence 0.8" if soft and kind > 2 and generator.random() < 0.5 else ""))
    return "\n".join(lines)


def random_case(seed: int, method: str = "cml", soft: bool = False, **more: Any) -> tuple[Problem, str] | None:
    """A problem whose rows the statements allow; None where the statements contradict each other."""
    generator = np.random.default_rng(seed)
    parents = SHAPES[generator.integers(len(SHAPES))]
    names = sorted({*parents, *(p for own in parents.values() for p in own)})
    network = Network({name: [f"s{k}" for k in range(generator.integers(2, 4))] for name in names}, parents)
    text = random_statements(generator, network, int(generator.integers(1, 4)), soft)
    try:
        known = knowledge_for(network, text)
        model = prepare_model(known)
        truth = _allowed(generator, network, model.constraints)
    except (credo.ConflictError, credo.CredoError):
        return None
    if truth is None:
        return None
    rows = int(generator.integers(4, 30))
    drawn = sample_codes(truth, rows, seed)
    codes = np.column_stack([drawn[name] for name in network.names]).astype(int)
    codes[generator.random(codes.shape) < generator.choice([0.1, 0.3, 0.5])] = -1
    if generator.random() < 0.3:
        codes[:, generator.integers(len(names))] = -1
    codes[0, 0] = -1
    if (codes < 0).all():
        return None
    frame = frame_of(network, codes)
    options = Options(em=EMOptions(starts=1, **more), optimiser=OptimiserOptions(10.0 if soft else None))
    problem, _ = prepare(model, frame, method=method, seed=seed, options=options)
    return problem, text


def frame_of(network: Network, codes: Any) -> pl.DataFrame:
    columns = {
        name: pl.Series([None if code < 0 else network.states(name)[code] for code in codes[:, i]], dtype=pl.String)
        for i, name in enumerate(network.names)
    }
    return pl.DataFrame(columns)


def _allowed(generator: np.random.Generator, network: Network, constraints: Any) -> Network | None:
    """The network with CPTs that satisfy the hard constraints."""
    from credo.constraints.blocks import blocks_of

    theta = np.zeros(constraints.layout.size)
    for name in network.names:
        constraints.layout.view(theta, name)[:] = generator.dirichlet(
            np.ones(len(network.states(name))), network.configurations(name)
        )
    for block in blocks_of(constraints):
        interior = interior_of(block)
        if interior is None:
            return None
        point = np.where(np.isin(np.arange(block.size), interior.zero_parameters), 0.0, np.maximum(interior.point, 0.0))
        sums = np.add.reduceat(point, block.distributions[:-1])
        theta[block.parameters] = point / sums[block.distribution_of]
    return network.with_cpts(constraints.layout.unpack(theta))
