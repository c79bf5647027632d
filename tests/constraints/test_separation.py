"""Small coefficients beside large ones keep their meaning, in the constraints and in what is learned."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import polars as pl
import pytest

import credo
from credo import Knowledge
from credo.constraints.lower import lower
from credo.statistics.network_statements import NetworkStatements

PAIR = credo.Network({"a": ["n", "y"], "b": ["n", "y"]}, {})
ROWS = pl.DataFrame({"a": ["n"] * 2 + ["y"] * 8, "b": ["n"] * 8 + ["y"] * 2})


@pytest.mark.parametrize("method", ["cml", "cmap", "cme", "qmapc", "posterior"])
@pytest.mark.parametrize("size", [1e8, 3e10, 1e13])
def test_what_a_small_coefficient_says_holds(method: str, size: float) -> None:
    """size·P(a=y) + P(b=y) ≥ size + 0.5 leaves P(b=y) ≥ 0.5."""
    fit = credo.fit(PAIR, ROWS, f"{size!r}*P(a=y) + P(b=y) >= {size + 0.5!r}", method=method, progress=False)
    assert fit.network.cpt_array("a")[1] >= 1.0 - 1e-8
    assert fit.network.cpt_array("b")[1] >= 0.5 - 1e-8


@pytest.mark.parametrize(("size", "count"), [(1e5, 1), (1e7, 2), (1e9, 2), (1e13, 2)])
def test_few_constraints_follow(size: float, count: int) -> None:
    assert len(lower(Knowledge(PAIR, f"{size!r}*P(a=y) - P(b=y) <= -0.5")).linear) == count


@pytest.mark.parametrize("seed", range(40))
def test_they_follow_and_leave_no_more_room_than_tolerances_have(seed: int) -> None:
    """Any point that satisfies the statement satisfies what it becomes, and the other way round within 1e-8."""
    rng = np.random.default_rng(seed)
    network = credo.Network({"a": ["0", "1", "2"], "b": ["0", "1"], "c": ["0", "1", "2"]}, {})
    sizes = 10.0 ** rng.choice([0, 0, 1, 7, 9, 12], size=8) * rng.choice([-1, 1, 2], size=8)
    cells = [(name, state) for name in network.names for state in network.states(name)]
    chosen = rng.choice(8, size=int(rng.integers(2, 7)), replace=False)
    terms = " + ".join(f"{float(sizes[k])!r}*P({cells[k][0]}={cells[k][1]})" for k in chosen)
    is_equality = bool(seed % 4 == 0)
    coefficients = np.zeros(8)
    coefficients[chosen] = sizes[chosen]
    corner = np.concatenate([np.eye(size)[rng.integers(size)] for size in (3, 2, 3)])
    bound = float(coefficients @ corner) + (0.0 if is_equality else float(rng.choice([0.0, 0.5])))
    linear = lower(Knowledge(network, f"{terms} {'=' if is_equality else '<='} {bound!r}")).linear
    assert linear.excess(corner).max(initial=0.0) <= 1e-8
    largest = float(np.abs(coefficients).max())
    points = np.concatenate([rng.dirichlet(np.full(size, 0.05), 200) for size in (3, 2, 3)], axis=1)
    for point in points:
        exact = sum(Fraction(c) * Fraction(p) for c, p in zip(coefficients.tolist(), point.tolist(), strict=True))
        own = float(abs(exact - Fraction(bound)) if is_equality else exact - Fraction(bound)) / largest
        most = linear.excess(point).max(initial=0.0)
        if own <= 0.0:
            assert most <= 1e-8
        elif most <= 0.0:
            assert own <= 1e-8


def test_parts_that_cannot_hold_are_a_conflict() -> None:
    found = credo.check(PAIR, "1e10*P(a=y) + P(b=y) >= 10000000000.5\nP(b=y) <= 0.4", progress=False)
    assert not found.feasible
    assert len(found.conflicts[0].statements) == 2


# Probabilities that depend on several CPTs ----------------------------------------------------------------------------

CHAIN = credo.Network(
    {"a": ["0", "1"], "b": ["0", "1", "2"], "c": ["0", "1"]}, {"b": ["a"], "c": ["b"]}
)  # P(b) and P(c) are made up of several CPTs, and so is what is given them
ASKED = {
    "P(b=0)": ({"b": (0,)}, {}),
    "P(b=1)": ({"b": (1,)}, {}),
    "P(b=2)": ({"b": (2,)}, {}),
    "P(c=1)": ({"c": (1,)}, {}),
    "P(a=1 | c=0)": ({"a": (1,)}, {"c": (0,)}),
    "P(b in {0, 2} | c=1)": ({"b": (0, 2)}, {"c": (1,)}),
    "P(b=1 | a=0)": ({"b": (1,)}, {"a": (0,)}),
}
Chosen = dict[str, tuple[int, ...]]


def exact_probability(joint: list[list[list[Fraction]]], events: Chosen, given: Chosen) -> Fraction:
    """P(events | given) of a ∈ 2, b ∈ 3, c ∈ 2 by enumeration."""

    def total(chosen: Chosen) -> Fraction:
        a, b, c = (chosen.get(name, range(size)) for name, size in (("a", 2), ("b", 3), ("c", 2)))
        return sum((joint[i][j][k] for i in a for j in b for k in c), Fraction(0))

    return total(events | given) / total(given)


@pytest.mark.parametrize("seed", range(30))
def test_what_follows_for_any_probability_follows_and_leaves_no_more_room(seed: int) -> None:
    rng = np.random.default_rng(seed)
    names = [str(name) for name in rng.choice(list(ASKED), size=int(rng.integers(2, 6)), replace=False)]
    if not set(names) - {"P(b=1 | a=0)"} or "P(c=1)" not in names:
        names = ["P(c=1)", *(name for name in names if name != "P(c=1)")]
    sizes = [float(10.0 ** rng.choice([0, 0, 1, 7, 9, 12]) * rng.choice([-1, 1, 2])) for _ in names]
    points, exact = [], []
    for concentration in (0.02, 0.02, 1.0) * 20:
        theta = [rng.dirichlet(np.full(size, concentration), count) for size, count in ((2, 1), (3, 2), (2, 3))]
        own = [[[Fraction(float(p)) for p in row] for row in cpt] for cpt in theta]
        own = [[[p / sum(row) for p in row] for row in cpt] for cpt in own]
        joint = [[[own[0][0][i] * own[1][i][j] * own[2][j][k] for k in range(2)] for j in range(3)] for i in range(2)]
        if min(sum(joint[i][j][k] for i in range(2) for j in range(3)) for k in range(2)) < 1e-4:
            continue  # what is given would be impossible, or next to it
        points.append(dict(zip("abc", theta, strict=True)))
        asked = (exact_probability(joint, *ASKED[name]) for name in names)
        exact.append(sum((Fraction(size) * p for size, p in zip(sizes, asked, strict=True)), Fraction(0)))
    is_equality = seed % 4 == 0
    bound = float(sorted(exact)[len(exact) // 2]) if seed % 3 else float(sum(size for size in sizes if size < 0.0))
    terms = " + ".join(f"{size!r}*{name}" for size, name in zip(sizes, names, strict=True))
    knowledge = Knowledge(CHAIN, f"{terms} {'=' if is_equality else '<='} {bound!r}")
    constraints = lower(knowledge)
    general = NetworkStatements.of(constraints, CHAIN)
    largest = max(map(abs, sizes))
    assert len({each.statement for each in constraints.network_constraints}) <= 1
    for point, value in zip(points, exact, strict=True):
        own_excess = float(abs(value - Fraction(bound)) if is_equality else value - Fraction(bound)) / largest
        found = general.excess(constraints.layout.pack(point))
        linear = constraints.linear.excess(constraints.layout.pack(point))
        most = max(found.max(initial=0.0), linear.max(initial=0.0))
        if own_excess <= 0.0:
            assert most <= 1e-8
        elif most <= 0.0:
            assert own_excess <= 1e-8


@pytest.mark.parametrize("size", [1e7, 1e8, 1e10, 1e13])
def test_a_small_coefficient_beside_any_probability_is_a_constraint_of_its_own(size: float) -> None:
    """Where P(b=2) = 1, size·P(b=2) + P(c=1) ≥ size + 0.5 is missed by 0.2 with P(c=1) = 0.3, whatever the size."""
    constraints = lower(Knowledge(CHAIN, f"{size!r}*P(b=2) + P(c=1) >= {size + 0.5!r}"))
    point = {"a": [[0.5, 0.5]], "b": [[0.0, 0.0, 1.0]] * 2, "c": [[0.7, 0.3]] * 3}
    theta = constraints.layout.pack({name: np.array(cpt) for name, cpt in point.items()})
    assert NetworkStatements.of(constraints, CHAIN).excess(theta).max() == pytest.approx(0.2)


@pytest.mark.slow  # where P(b=2) has to be one, ways to get there are searched for
@pytest.mark.parametrize("size", [1e8, 1e13])
def test_what_a_small_coefficient_says_of_any_probability_holds(size: float) -> None:
    """size·P(b=2) + P(c=1) ≥ size + 0.5 leaves P(c=1) ≥ 0.5."""
    rows = pl.DataFrame({"a": ["0", "1"] * 5, "b": ["2"] * 10, "c": ["0"] * 8 + ["1"] * 2})
    fit = credo.fit(CHAIN, rows, f"{size!r}*P(b=2) + P(c=1) >= {size + 0.5!r}", method="cmap", progress=False)
    reached = fit.network.cpt_array("a") @ fit.network.cpt_array("b")
    assert reached[2] >= 1.0 - 1e-8
    assert (reached @ fit.network.cpt_array("c"))[1] >= 0.5 - 1e-8


# Soft statements ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(6))
def test_of_a_soft_statement_small_coefficients_have_no_weight(seed: int) -> None:
    """It is weighed as a whole, in units of its largest coefficient: beside 1e9, one changes nothing."""
    rng = np.random.default_rng(seed)
    rows = pl.DataFrame({name: rng.choice(["n", "y"], 12, p=[0.7, 0.3]).tolist() for name in "ab"})
    large, small, bound = float(10.0 ** rng.integers(9, 14)), float(rng.choice([-3.0, 1.0, 5.0])), rng.uniform(0.4, 1)
    with_small, without = (
        credo.fit(
            PAIR,
            rows,
            f"{text} with confidence 0.9",
            method="cmap",
            optimiser=credo.OptimiserOptions(soft_weight=20.0),
            progress=False,
        )
        for text in (
            f"{large!r}*P(a=y) + {small!r}*P(b=y) >= {large * bound!r}".replace("+ -", "- "),
            f"P(a=y) >= {bound!r}",
        )
    )
    for name in "ab":
        assert with_small.network.cpt_array(name) == pytest.approx(without.network.cpt_array(name), abs=1e-7)
