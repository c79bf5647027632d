"""Every benchmark can be imported, and its parts run on small inputs."""

from __future__ import annotations

import importlib
import pkgutil
from pathlib import Path

import benchmarks
import numpy as np
import pytest
from benchmarks import (
    checks,
    em,
    em_contenders,
    explain,
    knowledge,
    noisy,
    posterior,
    queries,
    read_bif,
    scale,
    solve,
)

from credo import Network
from credo.distributed.executor import LocalExecutor
from credo.statistics.counts import layout_for_counts
from credo.statistics.partitioned_rows import Reading, read_partitions
from credo.testing import made_up_network

MODULES = sorted(module.name for module in pkgutil.iter_modules(benchmarks.__path__))


@pytest.fixture
def tiny() -> Network:
    rng = np.random.default_rng(0)
    bare = Network({name: ["no", "yes"] for name in "abc"}, {"b": ["a"], "c": ["a", "b"]})
    return bare.with_cpts({name: rng.dirichlet(np.ones(2), size=bare.shape(name)[:-1]) for name in "abc"})


@pytest.mark.parametrize("name", MODULES)
def test_every_benchmark_can_be_imported(name: str) -> None:
    module = importlib.import_module(f"benchmarks.{name}")
    assert module.__doc__
    assert hasattr(module, "main") or name == "recording"  # which the others call


def test_knowledge_is_read_lowered_and_checked(tiny: Network, capsys: pytest.CaptureFixture[str]) -> None:
    knowledge.measure(tiny, 30, 3, 200)
    printed = capsys.readouterr().out
    stages = ("parse", "check against network", "lower", "blocks", "check", "check with data")
    assert all(f"\n{stage} " in f"\n{printed}" for stage in stages)
    assert "feasible" in printed


def test_explanations_are_timed(tiny: Network, capsys: pytest.CaptureFixture[str]) -> None:
    seconds, more, size = explain.measure("tiny", tiny, "cmap", per_variable=2)
    assert seconds > 0
    assert more > 0
    assert 5_000 < size < 100_000
    assert "tiny, cmap" in capsys.readouterr().out


def test_a_posterior_is_timed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(posterior.CASES, "small", lambda: posterior.under_one_bound(3, 20))
    name, seconds, *_, findings = posterior.run("small").split()
    assert (name, findings) == ("small", "-")
    assert float(seconds) > 0.0
    assert len(posterior.with_statements(made_up_network(4), 10)[2]) == 4 * posterior.STATEMENTS


def test_an_iteration_of_pyagrum_gives_the_same_result() -> None:
    pytest.importorskip("pyagrum")
    assert em_contenders.pyagrum("alarm", 16, 16)["apart"] <= em.APART


def test_an_iteration_in_numpy_gives_the_same_result(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(em_contenders, "SECONDS", 0.0)
    assert em_contenders.numpy_loop("mixture", 200, 200)["apart"] <= em.APART


def test_goals_are_compared_with_measurements(capsys: pytest.CaptureFixture[str]) -> None:
    small = {"seconds": 0.001, "busy": 0.002, "peak": 10.0, "total": 150.0}
    large = {"seconds": 0.007, "busy": 0.020, "peak": 30.0, "total": 190.0}
    slow = {"seconds": 0.6, "busy": 1.1, "peak": 20.0, "total": 90.0, "apart": 1e-5}
    em.print_goals(
        {
            "alarm 512": {"credo": small, "pyagrum": slow},
            "alarm 5,000": {"credo": small},
            "alarm 50,000": {"credo": large},
        }
    )
    marks = [line.split("  ")[1] for line in capsys.readouterr().out.splitlines()[2:]]
    assert marks == ["met", "not measured", "not measured", "NOT MET", "met", "NOT MET"]


def test_a_noisy_family_is_measured() -> None:
    found = noisy.measure(2, 50)
    assert found["steps"] > 1
    assert 0 < found["step"] < found["fit"]


@pytest.mark.slow
def test_ten_times_the_rows_take_less_than_eight_times_as_long() -> None:
    """Rows share evaluations, so the time grows with the number of distinct ones; processor time, best of many runs."""
    small, large = (em.contend("credo", "alarm", rows, rows) for rows in (5_000, 50_000))
    assert isinstance(small, dict)
    assert isinstance(large, dict)
    assert large["busy"] < 8 * small["busy"]
    assert large["peak"] < 200  # MB above imports


def test_questions_are_answered_by_all_programs_alike(tiny: Network, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("pyagrum")
    pytest.importorskip("pgmpy")
    questions = queries.questions_about(tiny, rows=20)
    assert questions.rows.columns == ["c"]
    assert set(queries.single("tiny", questions)) == {"credo", "pyAgrum", "pgmpy"}
    queries.table("tiny", questions, pgmpy_rows=3)
    queries.draws("tiny", questions, rows=20)
    assert len(capsys.readouterr().out.splitlines()) == 6
    with pytest.raises(AssertionError, match="pgmpy differs by 0.1"):
        queries.require_agreement("pgmpy", [np.array([0.5, 0.5])], [np.array([0.4, 0.6])])


def test_rows_of_the_scale_benchmark_are_drawn_in_partitions(tiny: Network) -> None:
    table = scale.table_of(tiny, 100, hide=0.4)
    assert len(table.partitions) == scale.PARTITIONS
    reading = Reading(tiny, layout_for_counts(tiny), None, (), 0, None)
    rows = read_partitions(LocalExecutor(10**9), table.partitions, reading)
    assert len(rows) == 100
    assert rows.missing()
    scale.evaluate(rows, tiny)
    scale.drawing(LocalExecutor(10**9), table)


def test_the_scale_benchmark_prints_efficiency_growth_and_a_projection(capsys: pytest.CaptureFixture[str]) -> None:
    figures = {"seconds": 1.0, "busy": 2.0, "megabytes": 3.0, "notes": "", "evaluations": 10, "wire": 1e4, "cells": 500}
    figures |= {"partitions": 8, "preparing": 5.0, "sent": 1e4, "scheduling": 0.01}
    found = {
        ("em", who, rows): {**figures, "busy": rows / 1e5} for who in ("threads", "workers") for rows in (10**5, 10**6)
    }
    scale.print_conclusions(found)
    printed = capsys.readouterr().out
    assert "100% (goal 80%: met)" in printed
    assert "10.0× for 10× the rows" in printed
    assert "64 workers" in printed
    assert "threads" in scale.line("em", "threads", 100, figures)


def test_conflicts_are_judged_by_a_linear_program() -> None:
    found = checks.measure(2)
    assert found["right"] == found["knowledges"] == 2
    assert found["smallest"] == found["conflicts"]


def test_numbers_of_a_file_are_compared(tmp_path: Path) -> None:
    path = tmp_path / "net.bif"
    read_bif.write_bif(made_up_network(5, (2, 3), (0.5, 0.5)), path)
    found = read_bif.differences(path, {"credo": read_bif.read_bif})
    assert found == {"credo": {"read": 0.0, "written": 0.0}}
    assert read_bif.spoken(found) == {}
    assert read_bif.spoken({"other": {"read": 1e-8, "written": None}}) == {"other": "read off by 1e-08, written not"}


def test_blocks_are_solved_and_files_read(tmp_path: Path) -> None:
    assert solve.tasks_of("4x2")
    made_up = made_up_network(4, (2, 2), (0, 0, 1))
    read_bif.write_bif(made_up, tmp_path / "net.bif")
    assert read_bif.read_bif(tmp_path / "net.bif") == made_up
