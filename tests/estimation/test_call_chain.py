"""How far it is from `fit` to the arithmetic: a layer that says nothing is one too many."""

from __future__ import annotations

import inspect
from pathlib import Path

import polars as pl
import pytest

import credo
from credo.core.additive_base import AdditiveBase
from credo.estimation.solvers import block_solver
from credo.posterior import chains

MOST_HOPS = 6


def test_from_fit_to_the_compiled_solver(monkeypatch: pytest.MonkeyPatch) -> None:
    """Calls below `fit`, the compiled one included; what makes the network and reads the rows is beside them."""
    found: list[list[str]] = []
    batch = block_solver.BlockBatch

    def watched(tasks: object) -> object:
        found.append(calls_below_fit())
        return batch(tasks)

    monkeypatch.setattr(block_solver, "BlockBatch", watched)
    learn("cmap")
    assert found
    for calls in found:
        assert len([*calls, "solve"]) <= MOST_HOPS, calls


def test_from_fit_to_a_compiled_step_of_a_chain(monkeypatch: pytest.MonkeyPatch) -> None:
    """The same for draws from the posterior, to where the base of a CPT moves."""
    found: set[tuple[str, ...]] = set()

    class Watched(AdditiveBase):  # type: ignore[misc, unused-ignore]
        def update(self, adapting: bool) -> None:
            found.add(tuple(calls_below_fit()))
            super().update(adapting)

    monkeypatch.setattr(chains, "AdditiveBase", Watched)
    learn("posterior")
    assert found
    for calls in found:
        assert len([*calls, "update"]) <= MOST_HOPS, calls


def calls_below_fit() -> list[str]:
    """The functions of credo that are at work below `fit`, the last called first."""
    package = str(Path(credo.__file__).parent)
    calls = [frame.function for frame in inspect.stack()[1:] if frame.filename.startswith(package)]
    return calls[: calls.index("fit")]


def learn(method: str) -> None:
    network = credo.Network({"a": ["no", "yes"], "b": ["no", "yes"]}, parents={"b": ["a"]})
    rows = pl.DataFrame({"a": ["no", "yes", "yes"], "b": ["yes", "no", "yes"]})
    credo.fit(network, rows, "a raises b", method=method)
