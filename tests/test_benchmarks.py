"""Benchmarks cannot rot: each can be imported, and what they are made of runs on something small."""

from __future__ import annotations

import importlib
import pkgutil
from pathlib import Path

import benchmarks
import numpy as np
import pytest
from benchmarks import knowledge, read_bif, sampling, solve

from credo.network import Network

MODULES = sorted(module.name for module in pkgutil.iter_modules(benchmarks.__path__))


@pytest.fixture
def tiny() -> Network:
    rng = np.random.default_rng(0)
    bare = Network({name: ["no", "yes"] for name in "abc"}, {"b": ["a"], "c": ["a", "b"]})
    return bare.with_tables({name: rng.dirichlet(np.ones(2), size=bare.shape(name)[:-1]) for name in "abc"})


@pytest.mark.parametrize("name", MODULES)
def test_every_benchmark_can_be_imported(name: str) -> None:
    module = importlib.import_module(f"benchmarks.{name}")
    assert module.__doc__
    assert hasattr(module, "main") or name == "statements"


def test_knowledge_is_read_lowered_and_checked(tiny: Network, capsys: pytest.CaptureFixture[str]) -> None:
    knowledge.measure(tiny, 30, 3, 200)
    printed = capsys.readouterr().out
    stages = ("parse", "resolve", "lower", "blocks", "check", "check with data")
    assert all(f"\n{stage} " in f"\n{printed}" for stage in stages)
    assert "feasible" in printed


def test_blocks_are_sampled_solved_and_files_read(tmp_path: Path) -> None:
    block = sampling.example(rows=3, states=3, statements=4)
    assert len(sampling.inequalities(block)[0]) >= len(block.linear)
    assert solve.made_up_network(5).is_complete
    made_up = read_bif.made_up(4, 2, 2)
    read_bif.write_bif(made_up, tmp_path / "net.bif")
    assert read_bif.read_bif(tmp_path / "net.bif") == made_up
