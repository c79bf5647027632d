"""The prepared problem: everything once, real folds, and a fingerprint that covers what shapes the result."""

from __future__ import annotations

import re
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import credo
from credo import EMOptions, NetworkPrior, OptionError
from credo.constraints.constraint_set import Constraints
from credo.estimation import incomplete, missing_draws, prepare
from credo.estimation.em.checkpoint import fingerprint
from credo.estimation.methods import METHODS
from credo.estimation.problem import Fold, Problem
from credo.statistics.counts import merge_all

NO_YES = ["no", "yes"]
NET = credo.Network({"a": NO_YES, "b": NO_YES, "c": NO_YES}, parents={"b": ["a"], "c": ["b"]})


def rows(count: int = 60, missing: float = 0.0, seed: int = 1) -> pl.DataFrame:
    rng = np.random.default_rng(seed)
    a = rng.random(count) < 0.4
    b = rng.random(count) < np.where(a, 0.8, 0.2)
    c = rng.random(count) < np.where(b, 0.7, 0.1)
    columns = {}
    for name, values in (("a", a), ("b", b), ("c", c)):
        hidden = rng.random(count) < missing
        columns[name] = [None if h else NO_YES[int(v)] for h, v in zip(hidden, values, strict=True)]
    return pl.DataFrame(columns, schema=dict.fromkeys(columns, pl.String))


@pytest.mark.parametrize("missing", [0.0, 0.3])
def test_knowledge_is_lowered_and_data_are_read_once(missing: float, monkeypatch: pytest.MonkeyPatch) -> None:
    calls = {"lower": 0, "read": 0}
    lower, read = prepare.lower, prepare.stream_with_ties

    def counted_lower(*arguments: Any, **options: Any) -> Constraints:
        calls["lower"] += 1
        return lower(*arguments, **options)

    def counted_read(*arguments: Any, **options: Any) -> Any:
        calls["read"] += 1
        return read(*arguments, **options)

    monkeypatch.setattr(prepare, "lower", counted_lower)
    monkeypatch.setattr(prepare, "stream_with_ties", counted_read)
    credo.fit(NET, rows(missing=missing), "a raises b", method="cmap")
    assert calls == {"lower": 1, "read": 1}


def test_complete_rows_beyond_the_limit_are_dropped_and_read_again_only_for_a_late_missing_value(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    reads = []
    read = prepare.stream_with_ties

    def in_parts(knowledge: Any, data: Any, *_: Any) -> Any:
        reads.append(1)
        for start in range(0, len(data), 10):
            yield from read(knowledge, data[start : start + 10])

    monkeypatch.setattr(prepare, "stream_with_ties", in_parts)
    monkeypatch.setattr(prepare, "KEPT_BYTES", 60)
    frame = rows(60)
    late = frame.with_columns(b=pl.when(pl.int_range(60) == 59).then(None).otherwise(pl.col("b")))
    complete = credo.fit(NET, frame, method="ml")
    assert len(reads) == 1
    incomplete_fit = credo.fit(NET, late, method="ml")
    assert len(reads) == 3
    assert complete.rows == incomplete_fit.rows == 60
    monkeypatch.undo()
    assert incomplete_fit.network == credo.fit(NET, late, method="ml").network


def test_folds_of_incomplete_rows_are_folds_of_the_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[Problem] = []
    estimate = METHODS["qmapc"].estimate

    def kept(problem: Problem) -> Any:
        seen.append(problem)
        return estimate(problem)

    table = METHODS
    monkeypatch.setitem(table, "qmapc", replace(table["qmapc"], estimate=kept))
    fit = credo.fit(NET, rows(57, 0.3), "a raises b", method="qmapc", em=EMOptions(starts=1))
    (problem,) = seen
    assert len(problem.data.folds) == 10
    held_out = merge_all([fold.held_out for fold in problem.data.folds])
    assert held_out.rows == 57
    assert sorted(fold.held_out.rows for fold in problem.data.folds) == [5] * 3 + [6] * 7
    assert all(fold.training.rows + fold.held_out.rows == 57 for fold in problem.data.folds)
    distinct = {tuple(fold.held_out.dense.round(9)) for fold in problem.data.folds}
    assert len(distinct) == 10
    assert any(each.kind == "folds" and "10 folds of the rows" in each.message for each in fit.findings)


def test_what_cross_validation_chooses_depends_on_incomplete_data() -> None:
    """Data like what the knowledge alone suggests ask for a large equivalent sample size, others for a small one."""
    structure = credo.Network({"a": NO_YES})
    statement = "P(a=yes) >= 0.8"  # the mean of what it allows is 0.9
    sizes = {}
    for name, share in (("alike", 0.9), ("different", 1.0)):
        values = ["yes"] * int(100 * share) + ["no"] * (100 - int(100 * share)) + [None] * 20
        fit = credo.fit(structure, pl.DataFrame({"a": values}), statement, method="qmap", em=EMOptions(starts=1))
        (finding,) = (each for each in fit.findings if each.kind == "equivalent sample size")
        sizes[name] = int(re.search(r"counts as (\d+)", finding.message)[1])  # type: ignore[index]
    assert sizes["alike"] > sizes["different"]


def test_the_weight_of_soft_statements_is_chosen_with_missing_values_too() -> None:
    statement = "P(b=yes | a=yes) >= 0.99 with confidence 0.9"
    found = {}
    for missing in (0.0, 0.02):
        fit = credo.fit(NET, rows(400, missing), statement, method="cmap", em=EMOptions(starts=1))
        (finding,) = (each for each in fit.findings if each.kind == "soft weight")
        assert "predicted held-out data best" in finding.message
        found[missing] = finding.message.split("=")[1].split(",")[0]
    assert found[0.0] == found[0.02]


def test_a_checkpoint_of_other_knowledge_is_refused(tmp_path: Path) -> None:
    frame, path = rows(40, 0.3), tmp_path / "run.npz"
    options = EMOptions(starts=1, checkpoint=path)
    credo.fit(NET, frame, None, method="cml", em=options)
    others: list[dict[str, Any]] = [
        {"knowledge": "P(b=yes | a=yes) <= 0.1"},
        {"method": "cmap"},
        {"method": "cmap", "prior": 2.0},
        {"fixed": ["a"], "network": NET.with_cpts({"a": [0.5, 0.5]})},
        {"seed": 1},
        {
            "optimiser": credo.OptimiserOptions(soft_weight=3.0),
            "knowledge": "P(b=yes | a=yes) <= 0.1 with confidence 0.5",
        },
        {"data": rows(40, 0.3, seed=2)},
        {"weights": np.arange(40.0)},
    ]
    for other in others:
        arguments = {"network": NET, "data": frame, "method": "cml", "em": options, **other}
        with pytest.raises(OptionError, match="belongs to another run"):
            credo.fit(**arguments)
    again = credo.fit(NET, frame, None, method="cml", em=options)
    assert again.network.is_complete


PRIOR = NET.with_cpts({"a": [0.5, 0.5], "b": [[0.5, 0.5], [0.1, 0.9]], "c": [[0.5, 0.5], [0.2, 0.8]]})
SOFT = "P(b=yes | a=yes) <= 0.1 with confidence 0.5"
# What a run is, and what differs in another run.
RUNS: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "statement": ({"knowledge": "P(b=yes | a=yes) <= 0.1"}, {"knowledge": "P(b=yes | a=yes) <= 0.2"}),
    "confidence": (
        {"knowledge": SOFT, "optimiser": credo.OptimiserOptions(soft_weight=1.0)},
        {"knowledge": SOFT.replace("0.5", "0.6")},
    ),
    "soft weight": (
        {"knowledge": SOFT, "optimiser": credo.OptimiserOptions(soft_weight=1.0)},
        {"optimiser": credo.OptimiserOptions(soft_weight=2.0)},
    ),
    "prior": ({"prior": 1.0}, {"prior": 1.5}),
    "prior network": (
        {"prior": NetworkPrior(PRIOR, 5.0)},
        {"prior": NetworkPrior(PRIOR.with_cpts({"a": [0.4, 0.6]}), 5.0)},
    ),
    "prior weight": ({"prior": NetworkPrior(PRIOR, 5.0)}, {"prior": NetworkPrior(PRIOR, 6.0)}),
    "prior of one": ({"prior": {"a": 1.0, "b": 2.0}}, {"prior": {"a": 1.0, "b": 3.0}}),
    "range weight": (
        {"method": "cem", "knowledge": SOFT, "optimiser": credo.OptimiserOptions(range_weight=1.0)},
        {"optimiser": credo.OptimiserOptions(range_weight=2.0)},
    ),
    "relation weight": (
        {"method": "cem", "knowledge": SOFT, "optimiser": credo.OptimiserOptions(relation_weight=1.0)},
        {"optimiser": credo.OptimiserOptions(relation_weight=2.0)},
    ),
    "hidden draws": (
        {"method": "cme", "knowledge": SOFT, "optimiser": credo.OptimiserOptions(soft_weight=1.0)},
        {"optimiser": credo.OptimiserOptions(1.0, hidden_draws=2.0)},
    ),
    "start": ({"network": PRIOR}, {"network": PRIOR.with_cpts({"a": [0.4, 0.6]})}),
    "fixed": ({"network": PRIOR, "fixed": ["a"]}, {"fixed": ["b"]}),
    "weights": ({"weights": [1.0] * 40}, {"weights": [1.0] * 39 + [2.0]}),
    "tie reading": ({"knowledge": "rows 1, 2 share b", "tie_reading": "selected"}, {"tie_reading": "joint"}),
    "tied rows": ({"knowledge": "rows 1, 2 share b"}, {"knowledge": "rows 1, 3 share b"}),
    "seed": ({}, {"seed": 1}),
    "starts": ({}, {"starts": 2}),
    "iterations": ({}, {"max_iterations": 9}),
    "tolerance": ({}, {"tolerance": 1e-3}),
    "acceleration": ({}, {"accelerate": False}),
    "method": ({}, {"method": "cml"}),
}


@pytest.mark.parametrize("what", RUNS)
def test_a_checkpoint_belongs_to_one_run(tmp_path: Path, what: str) -> None:
    own, other = RUNS[what]
    tied = "tie" in what
    frame = rows(40, 0.3).with_columns(b=pl.lit(None, dtype=pl.String)) if tied else rows(40, 0.3)

    def run(given: dict[str, Any]) -> None:
        steps = {
            name: given[name]
            for name in ("starts", "max_iterations", "tolerance", "accelerate", "tie_reading")
            if name in given
        }
        rest = {name: value for name, value in given.items() if name not in steps}
        em = EMOptions(**{"starts": 1, "max_iterations": 5, **steps}, checkpoint=tmp_path / "run.npz")
        credo.fit(**{"network": NET, "data": frame, "method": "cmap", **rest}, em=em)

    run(own)
    run(own)  # the same run goes on
    with pytest.raises(OptionError, match="belongs to another run"):
        run({**own, **other})


def test_a_checkpoint_knows_the_contents_of_the_column_that_ties_rows(tmp_path: Path) -> None:
    frame = rows(20, 0.3).drop("b").with_columns(pair=pl.Series([i // 2 for i in range(20)]))
    turned = frame.with_columns(pair=pl.Series([i % 10 for i in range(20)]))
    options = EMOptions(starts=1, max_iterations=20, checkpoint=tmp_path / "run.npz")
    credo.fit(NET, frame, "rows with equal pair share b", method="cmap", em=options)
    with pytest.raises(OptionError, match="belongs to another run"):
        credo.fit(NET, turned, "rows with equal pair share b", method="cmap", em=options)


def test_every_field_of_a_problem_is_part_of_its_fingerprint() -> None:
    seen: list[Problem] = []
    table = METHODS["cml"]
    spy = replace(table, estimate=lambda problem: seen.append(problem) or table.estimate(problem))  # type: ignore[func-returns-value]
    problem = _problem_of(spy, seen).with_settings(refuse=None)  # a callback, as progress is
    digest = fingerprint(problem)
    assert digest == fingerprint(replace(problem))
    changed = {
        "names": problem.model.names[1:],
        "soft_weight": 1.5,
        "seed": 7,
        "kept": ("a",),
        "memory_limit": 5,
        "folds": (Fold(problem.data.counts, problem.data.counts),),
        "blocks": problem.model.blocks[1:],
        "network": problem.model.network.with_cpts({"a": [0.25, 0.75]}),
        "prior": credo.Dirichlet(3.0),
        "options": replace(problem.settings.options, em=EMOptions(starts=2)),
    }
    for name, value in changed.items():
        (part,) = (
            each.name for each in fields(problem) if name in {own.name for own in fields(getattr(problem, each.name))}
        )
        other = replace(problem, **{part: replace(getattr(problem, part), **{name: value})})
        assert fingerprint(other) != digest, name


def _problem_of(spy: Any, seen: list[Problem]) -> Problem:
    table = METHODS
    before = table["cml"]
    table["cml"] = spy
    try:
        credo.fit(NET, rows(20), "a raises b\nP(c=yes | b=yes) >= 0.5", method="cml")
    finally:
        table["cml"] = before
    return seen[0]


def test_a_value_of_an_unknown_kind_is_no_part_of_a_fingerprint_but_an_error() -> None:
    with pytest.raises(TypeError, match="not defined"):
        fingerprint(object())


def test_incomplete_rows_are_prepared_and_examined_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """What the choice of a method found out about the rows is passed on to EM."""
    calls: list[str] = []
    for module in (missing_draws, incomplete):
        for name in ("prepare_rows", "exchanges_of"):
            original = getattr(module, name)

            def counting(*arguments: Any, name: str = name, original: Any = original) -> Any:
                calls.append(name)
                return original(*arguments)

            monkeypatch.setattr(module, name, counting)
    fit = credo.fit(NET, rows(40, 0.2), "a raises b")
    assert fit.is_incomplete
    assert sorted(calls) == ["exchanges_of", "prepare_rows"]
