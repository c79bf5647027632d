"""True statements are not called contradicted, be they strict or ties, however many rows there are."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import credo

CONTRADICTED = "contradicted by the data"


def contradicted(p: np.ndarray, rows: int, rng: np.random.Generator) -> bool:
    """Whether rows drawn with P(y=1 | a, b) = p contradict "a raises y"."""
    names = {"a": [f"s{k}" for k in range(p.shape[0])], "b": [f"s{k}" for k in range(p.shape[1])], "y": ["no", "yes"]}
    network = credo.Network(names, parents={"y": ["a", "b"]})
    a, b = rng.integers(p.shape[0], size=rows), rng.integers(p.shape[1], size=rows)
    table = pd.DataFrame(
        {
            "a": [f"s{k}" for k in a],
            "b": [f"s{k}" for k in b],
            "y": np.where(rng.random(rows) < p[a, b], "yes", "no"),
        }
    )
    fit = credo.fit(network, table, [credo.raises("a", "y")], method="cmap")
    return any(finding.kind == CONTRADICTED for finding in fit.findings)


@pytest.mark.parametrize("rows", [30, 300, 3000])
def test_ties_are_not_contradicted(rows: int) -> None:
    rng = np.random.default_rng(rows)
    wrong = sum(contradicted(np.tile(rng.random(3), (3, 1)), rows, rng) for _ in range(40))
    assert wrong <= 1  # one in 200 is expected at most; independent distributions called one in eight contradicted


def test_reversed_influences_are() -> None:
    rng = np.random.default_rng(5)
    falling = np.array([[0.7, 0.8, 0.6], [0.5, 0.5, 0.4], [0.2, 0.3, 0.1]])
    assert all(contradicted(falling, 400, rng) for _ in range(10))


def test_configurations_without_rows_do_not_speak_against_a_statement() -> None:
    network = credo.Network({"a": ["low", "high"], "y": ["no", "yes"]}, parents={"y": ["a"]})
    table = pd.DataFrame({"a": ["low"] * 2000, "y": ["yes"] * 2000})  # P(y | high) would have to be as high
    fit = credo.fit(network, table, [credo.raises("a", "y")], method="cmap")
    assert not [finding for finding in fit.findings if finding.kind == CONTRADICTED]
