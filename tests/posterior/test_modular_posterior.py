"""Fits of small networks against the documented model: bases learn from rows, distributions from statements too."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import polars as pl
import pytest

import credo
from credo.posterior.draws import chain_draws
from tests.helpers.modular_posterior import Family, Holds, Theta, modular_posterior, tensions

PAIR, CHILD = {"a": "01", "b": "01"}, {"b": ["a"]}
EQUAL = 0.002  # what an equality is read within


@dataclass(frozen=True)
class Case:
    """A network, rows, statements, and what they mean."""

    states: Mapping[str, str]  # a character each
    parents: Mapping[str, Sequence[str]]
    rows: Mapping[str, str]  # columns, a character a row; empty without a table
    text: str = ""
    holds: Holds | None = None
    signs: Mapping[str, Sequence[int]] = field(default_factory=dict)
    draws: int = 10_000  # of the oracle
    proposals: int = 60_000  # of its bases


def family_of(case: Case, name: str) -> Family:
    """The counts of one CPT."""
    scope = [*case.parents.get(name, ()), name]
    counts = np.zeros([len(case.states[each]) for each in scope])
    for row in zip(*(case.rows.get(each, "") for each in scope), strict=True):
        counts[tuple(case.states[each].index(own) for each, own in zip(scope, row, strict=True))] += 1.0
    return Family(counts.shape[:-1], counts.reshape(-1, counts.shape[-1]), case.signs.get(name, ()))


def differences(case: Case, draws: int = 5000) -> dict[str, np.ndarray]:
    """By how many standard errors a fit differs from the oracle, for each variable."""
    options = credo.PosteriorOptions(draws=draws, max_draws=draws)
    network = credo.Network({name: list(states) for name, states in case.states.items()}, case.parents)
    table = pl.DataFrame({name: list(column) for name, column in case.rows.items()}) if case.rows else None
    fit = credo.fit(network, table, case.text, method="posterior", seed=1, posterior=options)
    families = {name: family_of(case, name) for name in case.states}
    wanted = modular_posterior(families, case.holds, proposals=case.proposals, draws=case.draws)
    assert wanted.size > 1000.0
    assert wanted.left < 0.02
    found = {}
    for name, family in families.items():
        drawn = chain_draws(fit.posterior, name).reshape(4, draws, *family.counts.shape)  # type: ignore[arg-type]
        found[name] = tensions(drawn, wanted.theta[name], wanted.size, wanted.left)
    return found


def below(low: np.ndarray, high: np.ndarray) -> np.ndarray:
    """Whether G = P(child ≥ k) of one distribution is nowhere above that of another."""
    return np.asarray((low[:, ::-1].cumsum(axis=1) <= high[:, ::-1].cumsum(axis=1) + 1e-12).all(axis=1))


def ordered(theta: Theta) -> np.ndarray:
    """`a raises c` and `b lowers c`, for a with two states and b with three."""
    own = theta["c"]
    pairs = [(0, 3), (1, 4), (2, 5), (1, 0), (2, 1), (4, 3), (5, 4)]
    return np.all([below(own[:, low], own[:, high]) for low, high in pairs], axis=0)


ROWS = {"a": "0000011111", "b": "0001000111"}
FORKED = {**ROWS, "c": "0011010111"}
THREE = {"a": "012", "b": "01"}
FORK = {"a": "01", "b": "01", "c": "01"}
FREE: dict[str, Case] = {
    "a root": Case({"a": "01"}, {}, {"a": "00111"}),
    "a root of three states": Case({"a": "012"}, {}, {"a": "000111111111"}),
    "a root of five states": Case({"a": "01234"}, {}, {"a": "000111"}),
    "one parent": Case(PAIR, CHILD, ROWS),
    "a child that is always the same": Case(PAIR, CHILD, {"a": "00111111", "b": "00000000"}),
    "three states": Case({"a": "012", "b": "012"}, CHILD, {"a": "0001112222", "b": "0120111212"}),
    "two parents": Case(
        {"a": "01", "b": "012", "c": "01"}, {"c": ["a", "b"]}, {"a": "0001111110", "b": "0120122012", "c": "0001110011"}
    ),
    "no rows": Case({"a": "01", "b": "012", "c": "012"}, {"c": ["a", "b"]}, {}),
    "a complete graph": Case(FORK, {"b": ["a"], "c": ["a", "b"]}, FORKED),
}
STATED: dict[str, Case] = {
    "a range": Case(
        PAIR, CHILD, ROWS, "P(b=1 | a=0) >= 0.3\nP(b=1 | a=0) <= 0.4",
        lambda t: (t["b"][:, 0, 1] >= 0.3) & (t["b"][:, 0, 1] <= 0.4),
    ),
    "a bound without rows": Case(THREE, CHILD, {}, "P(b=1 | a=0) >= 0.8", lambda t: t["b"][:, 0, 1] >= 0.8),
    "a comparison": Case(
        PAIR, CHILD, ROWS, "P(b=1 | a=0) >= P(b=1 | a=1)", lambda t: t["b"][:, 0, 1] >= t["b"][:, 1, 1]
    ),
    "a comparison without rows": Case(
        PAIR, CHILD, {}, "P(b=1 | a=0) >= P(b=1 | a=1)", lambda t: t["b"][:, 0, 1] >= t["b"][:, 1, 1]
    ),
    "a comparison where the child is always the same": Case(
        PAIR, CHILD, {"a": "00111111", "b": "00000000"}, "P(b=1 | a=0) >= P(b=1 | a=1)",
        lambda t: t["b"][:, 0, 1] >= t["b"][:, 1, 1],
    ),
    "a comparison of one of three states": Case(
        {"a": "01", "b": "012"}, CHILD, {"a": "00001111", "b": "01120112"}, "P(b=1 | a=0) >= P(b=1 | a=1)",
        lambda t: t["b"][:, 0, 1] >= t["b"][:, 1, 1],
    ),
    "an order of three": Case(
        THREE, CHILD, {"a": "000111222", "b": "001010101"},
        "P(b=1 | a=0) <= P(b=1 | a=1)\nP(b=1 | a=1) <= P(b=1 | a=2)",
        lambda t: (t["b"][:, 0, 1] <= t["b"][:, 1, 1]) & (t["b"][:, 1, 1] <= t["b"][:, 2, 1]),
    ),
    "an equality": Case(
        PAIR, CHILD, ROWS, "P(b=1 | a=0) = P(b=1 | a=1)", lambda t: np.abs(t["b"][:, 0, 1] - t["b"][:, 1, 1]) <= EQUAL,
        draws=1500,
    ),
    "a known number": Case(
        PAIR, CHILD, ROWS, "P(b=1 | a=0) = 0.3", lambda t: np.abs(t["b"][:, 0, 1] - 0.3) <= EQUAL, draws=1500
    ),
    "across CPTs": Case(
        FORK, {"b": ["a"], "c": ["a"]}, FORKED, "P(b=1 | a=0) >= P(c=1 | a=0)",
        lambda t: t["b"][:, 0, 1] >= t["c"][:, 0, 1],
    ),
    "a root and a child": Case(
        FORK, {"b": ["a"], "c": ["a"]}, FORKED, "P(a=1) <= P(c=1 | a=0)", lambda t: t["a"][:, 0, 1] <= t["c"][:, 0, 1]
    ),
    "a corner": Case(
        PAIR, CHILD, {"a": "00000000001111111111", "b": "00000000001111111111"},
        "P(b=1 | a=0) <= 0.02\nP(b=1 | a=1) >= 0.98",
        lambda t: (t["b"][:, 0, 1] <= 0.02) & (t["b"][:, 1, 1] >= 0.98),
    ),
    "an influence": Case(
        PAIR, CHILD, ROWS, "a raises b", lambda t: t["b"][:, 0, 1] <= t["b"][:, 1, 1], {"b": [1]}
    ),
    "a wrong influence": Case(
        PAIR, CHILD, ROWS, "a lowers b", lambda t: t["b"][:, 0, 1] >= t["b"][:, 1, 1], {"b": [-1]}
    ),
    "two influences": Case(
        {"a": "01", "b": "012", "c": "012"}, {"c": ["a", "b"]},
        {"a": "000000111111", "b": "001122001122", "c": "121100221201"}, "a raises c\nb lowers c", ordered,
        {"c": [1, -1]}, proposals=300_000,
    ),
}  # fmt: skip
SLOW = ("two influences",)


def cases(names: Iterable[str]) -> list[object]:
    """The names, those that take long marked as slow."""
    return [pytest.param(name, marks=[pytest.mark.slow] if name in SLOW else []) for name in names]


@pytest.mark.parametrize("name", cases(FREE))
def test_without_statements(name: str) -> None:
    for variable, own in differences(FREE[name]).items():
        assert np.abs(own).max() < 5.0, variable


@pytest.mark.parametrize("name", cases(STATED))
def test_with_statements(name: str) -> None:
    for variable, own in differences(STATED[name]).items():
        assert np.abs(own).max() < 5.0, variable
