"""How far it is from `fit` to the arithmetic: a layer that says nothing is one too many."""

from __future__ import annotations

import inspect
from pathlib import Path

import polars as pl
import pytest

import credo
from credo.estimation.solvers import block_solver

MOST_HOPS = 6


def test_from_fit_to_the_compiled_solver(monkeypatch: pytest.MonkeyPatch) -> None:
    """Calls below `fit`, the compiled one included; what makes the network and reads the rows is beside them."""
    package = str(Path(credo.__file__).parent)
    chains: list[list[str]] = []
    batch = block_solver.BlockBatch

    def watched(tasks: object) -> object:
        calls = [frame.function for frame in inspect.stack()[1:] if frame.filename.startswith(package)]
        chains.append(calls[: calls.index("fit")])
        return batch(tasks)

    monkeypatch.setattr(block_solver, "BlockBatch", watched)
    network = credo.Network({"a": ["no", "yes"], "b": ["no", "yes"]}, parents={"b": ["a"]})
    rows = pl.DataFrame({"a": ["no", "yes", "yes"], "b": ["yes", "no", "yes"]})
    credo.fit(network, rows, "a raises b", method="cmap")
    assert chains
    for calls in chains:
        assert len([*calls, "solve"]) <= MOST_HOPS, calls
