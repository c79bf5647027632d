"""Statements about any probability of a small network, true of its CPTs, and the oracles for them by enumeration."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np

import credo
from credo import Network
from credo.testing import random_network
from credo.types import Numbers

Term = tuple[float, dict[str, int], dict[str, int]]  # coefficient, events, conditions: states by position
Terms = tuple[tuple[Term, ...], str, float]  # Σ coefficient · P(events | conditions), the relation, the bound


def joint_of(network: Network, cpts: Mapping[str, Numbers]) -> Numbers:
    """P(all variables), an axis for each."""
    letters = dict(zip(network.names, "abcdefghijklmnop", strict=False))
    operands = ["".join(letters[member] for member in (*network.parents[name], name)) for name in network.names]
    cells = [cpts[name] for name in network.names]
    return np.einsum(f"{','.join(operands)}->{''.join(letters[name] for name in network.names)}", *cells)


def probability(network: Network, joint: Numbers, events: Mapping[str, int], given: Mapping[str, int]) -> float:
    """P(events | given) by enumeration."""

    def total(chosen: Mapping[str, int]) -> float:
        return float(joint[tuple(chosen.get(name, slice(None)) for name in network.names)].sum())

    return total({**events, **given}) / total(given)


def value_of(network: Network, joint: Numbers, terms: tuple[Term, ...]) -> float:
    """Σ coefficient · P(events | conditions)."""
    return sum(coefficient * probability(network, joint, events, given) for coefficient, events, given in terms)


def text_of(network: Network, statement: Terms) -> str:
    """The statement as it is written."""

    def listed(chosen: Mapping[str, int]) -> str:
        return ", ".join(f"{name}={network.states(name)[state]}" for name, state in chosen.items())

    parts, relation, bound = statement
    written = [
        f"{coefficient!r}*P({listed(events)}{' | ' + listed(given) if given else ''})"
        for coefficient, events, given in parts
    ]
    return f"{' + '.join(written)} {relation} {bound!r}"


def random_general(network: Network, rng: np.random.Generator, count: int, room: float = 0.02) -> list[Terms]:
    """Statements that are true of the network's own CPTs, with up to so much room."""
    joint = joint_of(network, network.cpts)
    names = list(network.names)
    found: list[Terms] = []
    while len(found) < count:
        terms: list[Term] = []
        for _ in range(int(rng.integers(1, 3))):
            chosen = [names[k] for k in rng.permutation(len(names))]
            before = int(rng.integers(1, min(3, len(names))))
            after = int(rng.integers(0, len(names) - before + 1))
            states = {name: int(rng.integers(len(network.states(name)))) for name in chosen[: before + after]}
            events = {name: states[name] for name in chosen[:before]}
            given = {name: states[name] for name in chosen[before : before + after]}
            coefficient = float(rng.choice([1.0, 2.0, -1.0]))
            if all((events, given) != term[1:] for term in terms):  # the language calls a repetition a mistake
                terms.append((coefficient, events, given))
        value = value_of(network, joint, tuple(terms))
        kind, more = rng.random(), room * rng.random()
        least = sum(min(coefficient, 0.0) for coefficient, _, _ in terms)
        most = sum(max(coefficient, 0.0) for coefficient, _, _ in terms)
        if kind < 0.15:
            found.append((tuple(terms), "=", value))
        elif kind < 0.6:
            found.append((tuple(terms), "<=", min(value + more, most)))
        else:
            found.append((tuple(terms), ">=", max(value - more, least)))
    return found


def best_by_slsqp(
    objective: Callable[[Numbers], float],
    network: Network,
    statements: list[Terms],
    linear: list[tuple[Numbers, float]],
    starts: list[Numbers],
) -> tuple[float, Numbers] | None:
    """The least objective that SciPy's general solver finds from several starts, over all CPTs in one vector."""
    from scipy.optimize import minimize

    shapes = [network.shape(name) for name in network.names]
    ends = np.cumsum([int(np.prod(shape)) for shape in shapes])
    sizes = np.concatenate([np.full(int(np.prod(shape[:-1])), shape[-1]) for shape in shapes])
    owner = np.repeat(np.arange(len(sizes)), sizes)

    def unpacked(theta: Numbers) -> dict[str, Numbers]:
        parts = np.split(theta, ends[:-1])
        return {name: part.reshape(shape) for name, part, shape in zip(network.names, parts, shapes, strict=True)}

    def values(theta: Numbers) -> Numbers:
        joint = joint_of(network, unpacked(np.maximum(theta, 1e-12)))
        return np.array([value_of(network, joint, terms) - bound for terms, _, bound in statements])

    signs = np.array([{"<=": -1.0, ">=": 1.0, "=": 0.0}[relation] for _, relation, _ in statements])
    constraints = [{"type": "eq", "fun": lambda theta: np.bincount(owner, theta) - 1.0}]
    if (signs == 0.0).any():
        constraints.append({"type": "eq", "fun": lambda theta: values(theta)[signs == 0.0]})
    if (signs != 0.0).any():
        constraints.append({"type": "ineq", "fun": lambda theta: (signs * values(theta))[signs != 0.0]})
    if linear:
        matrix, bounds = np.stack([row for row, _ in linear]), np.array([bound for _, bound in linear])
        constraints.append({"type": "ineq", "fun": lambda theta: bounds - matrix @ theta})
    best: tuple[float, Numbers] | None = None
    for start in starts:
        found = minimize(
            objective, start, method="SLSQP", bounds=[(1e-9, 1.0)] * len(start), constraints=constraints,
            options={"maxiter": 500, "ftol": 1e-12},
        )  # fmt: skip
        missed = max(
            float(np.abs(each["fun"](found.x)).max() if each["type"] == "eq" else -each["fun"](found.x).min())
            for each in constraints
        )
        if missed < 1e-7 and (best is None or found.fun < best[0]):
            best = float(found.fun), found.x
    return best


def random_case(seed: int) -> tuple[np.random.Generator, Network]:
    """A network of two to five variables, and the generator for what is stated about it."""
    rng = np.random.default_rng(seed)
    names = list("abcde")[: int(rng.integers(2, 6))]
    sizes = {name: int(rng.integers(2, 4)) for name in names}
    parents = {name: [other for other in names[:k] if rng.random() < 0.5] for k, name in enumerate(names)}
    return rng, random_network(sizes, parents, seed)


# A network of three variables, all of whose distributions statements limit, so that chains keep their draws.
ABC = random_network({"a": 2, "b": 3, "c": 2}, {"b": ("a",), "c": ("a", "b")}, seed=3)
EVERYTHING = "P(a=s1) >= 1e-5\nP(b=s1 | each a) >= 1e-5\nP(c=s1 | each a, each b) >= 1e-5"


def draws_of(fit: credo.Fit) -> np.ndarray:
    """All draws, (draws, parameters), in the order of the layout."""
    found = fit.posterior
    assert found is not None
    return np.asarray(found.draws.reshape(-1, found.draws.shape[-1]))  # type: ignore[attr-defined]


def joints_of(fit: credo.Fit) -> np.ndarray:
    """P(a, b, c) in every draw of a fit of `ABC`, (draws, a, b, c)."""
    draws, layout = draws_of(fit), fit.posterior.layout  # type: ignore[union-attr]
    parts = [draws[:, layout.slice_of(name)].reshape(-1, *ABC.shape(name)) for name in "abc"]
    return np.einsum("da,dab,dabc->dabc", *parts)
