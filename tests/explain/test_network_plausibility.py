"""Statements about any probability by the data alone, against closed forms, quadrature and enumeration."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from scipy import stats

import credo
from credo.explain.plausibility import Plausibility, Verdict
from credo.testing import random_network
from tests.helpers.general import joint_of, probability

PAIR = credo.Network({"a": ["n", "y"], "b": ["n", "y"]}, {"b": ["a"]})
ROWS = pl.DataFrame({"a": ["n"] * 12 + ["y"] * 8, "b": ["n"] * 9 + ["y"] * 3 + ["n"] * 3 + ["y"] * 5})


def plausibility_of(network: credo.Network, rows: pl.DataFrame, text: str) -> Plausibility:
    (statement,) = credo.check(network, text, data=rows).statements
    assert statement.plausibility is not None
    return statement.plausibility


def test_two_prevalences_by_symmetry_and_by_quadrature() -> None:
    """P(b=y) >= P(a=y) is (1 − t)·v >= t·(1 − u) for the three numbers t, u and v of the CPTs.

    Before the data these are uniform, and both sides have the same distribution: it is as probable as not.
    """
    found = plausibility_of(PAIR, ROWS, "P(b=y) >= P(a=y)")
    assert found.before_data.value == pytest.approx(0.5, abs=0.05)
    assert found.after_data is not None
    grid = (np.arange(90) + 0.5) / 90
    t, u, v = (stats.beta(*ends).pdf(grid) for ends in ((9, 13), (6, 4), (4, 10)))
    weights = t[:, None, None] * u[None, :, None] * v[None, None, :]
    first, second, third = np.meshgrid(grid, grid, grid, indexing="ij")
    holds = first * second + (1 - first) * third >= first
    assert found.after_data.value == pytest.approx(float((weights * holds).sum() / weights.sum()), abs=0.04)


@pytest.mark.parametrize(
    "text", ["P(c=s1 | a=s1) >= 1.5*P(c=s1)", "P(a=s1 | c=s1) <= 0.5", "P(a=s1, c=s0) ~ P(b=s1) within 0.1"]
)
def test_any_comparison_by_enumeration(text: str) -> None:
    network = random_network(dict.fromkeys("abc", 2), {"b": ("a",), "c": ("b",)}, seed=3)
    rows = network.sample(30, seed=4)
    found = plausibility_of(network.without_cpts(), rows, text)
    rng = np.random.default_rng(0)
    counts = {"a": np.array([[(rows["a"] == state).sum() for state in network.states("a")]])}
    for child, parent in (("b", "a"), ("c", "b")):
        seen = [(rows[parent] == given, rows[child] == state) for given in ("s0", "s1") for state in ("s0", "s1")]
        counts[child] = np.array([(one & other).sum() for one, other in seen]).reshape(2, 2)
    for estimate, data in ((found.before_data, 0.0), (found.after_data, 1.0)):
        assert estimate is not None
        held, total = 0, 3000
        for _ in range(total):
            cpts = {name: np.array([rng.dirichlet(1.0 + data * row) for row in own]) for name, own in counts.items()}
            joint = joint_of(network, {**cpts, "a": cpts["a"][0]})
            held += _holds(text, network, joint)
        share = held / total
        assert estimate.value == pytest.approx(share, abs=4 * np.sqrt(0.25 / total) + 4 * estimate.error)


def _holds(text: str, network: credo.Network, joint: np.ndarray) -> bool:
    def p(events: dict[str, int], given: dict[str, int] | None = None) -> float:
        return probability(network, joint, events, given or {})

    if ">=" in text:
        return p({"c": 1}, {"a": 1}) >= 1.5 * p({"c": 1})
    if "~" in text:
        return abs(p({"a": 1, "c": 0}) - p({"b": 1})) <= 0.1
    return p({"a": 1}, {"c": 1}) <= 0.5


def test_what_the_data_contradict_is_named_with_what_they_show() -> None:
    network = credo.Network({name: ["n", "y"] for name in "abc"}, {"b": ["a"], "c": ["b"]})
    rows = pl.DataFrame({"a": ["n", "y"] * 60, "b": ["n", "y"] * 60, "c": ["n", "y"] * 60})
    check = credo.check(network, "P(c=y | a=y) <= P(c=y)", data=rows)
    (found,) = check.contradicted
    assert found.evidence.startswith("in CPTs learned from the data alone, P(c=y | a=y) is 97%, P(c=y) is 50%.")
    (statement,) = credo.fit(network, rows, "P(c=y | a=y) <= P(c=y)", method="cmap").explain().statements
    assert statement.plausibility is not None
    assert statement.plausibility.verdict is Verdict.CONTRADICTED
    assert statement.is_contradicted


def test_without_rows_of_its_variables_nothing_is_said_after_the_data() -> None:
    rows = pl.DataFrame({"a": [None, None], "b": [None, None]}, schema={"a": pl.String, "b": pl.String})
    assert plausibility_of(PAIR, rows, "P(b=y) >= P(a=y)").after_data is None
