"""Small coefficients beside large ones keep their meaning, in the constraints and in what is learned."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import polars as pl
import pytest

import credo
from credo.constraints.lower import lower
from credo.knowledge import Knowledge

PAIR = credo.Network({"a": ["n", "y"], "b": ["n", "y"]}, {})
ROWS = pl.DataFrame({"a": ["n"] * 2 + ["y"] * 8, "b": ["n"] * 8 + ["y"] * 2})


@pytest.mark.parametrize("method", ["cml", "cmap", "cme", "qmapc", "posterior"])
@pytest.mark.parametrize("size", [1e8, 3e10, 1e13])
def test_what_a_small_coefficient_says_holds(method: str, size: float) -> None:
    """size·P(a=y) + P(b=y) ≥ size + 0.5 leaves P(b=y) ≥ 0.5."""
    fit = credo.fit(PAIR, ROWS, f"{size!r}*P(a=y) + P(b=y) >= {size + 0.5!r}", method=method, verbose=False)
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
    found = credo.check(PAIR, "1e10*P(a=y) + P(b=y) >= 10000000000.5\nP(b=y) <= 0.4", verbose=False)
    assert not found.feasible
    assert len(found.conflicts[0].statements) == 2
