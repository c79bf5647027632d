"""EM under statements that pin zeros and ones, against enumeration and a general solver."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl
import pytest

import credo
from credo import EMOptions, ImpossibleRowError, Status
from credo.estimation.incomplete import estimate_incomplete
from credo.estimation.pinned import pinned_parameters
from credo.network_methods import sample
from tests.helpers.em_cases import random_case
from tests.helpers.em_oracle import Oracle

NETWORK = credo.Network({"a": ["n", "y"], "b": ["n", "y"]}, parents={"b": ["a"]})
ROWS = pl.DataFrame({"a": ["y", None, "n", "y"], "b": ["y", "n", "n", None]})
ASIA = Path(__file__).parents[2] / "examples" / "asia"
SAID = ["P(b=y | a=y) = 1", "P(b=n | a=y) <= 0", "P(b=y | a=y) >= 1", "P(b=n | a=y) = 0"]


@pytest.mark.parametrize("text", SAID)
@pytest.mark.parametrize("method", ["cml", "cmap"])
def test_a_pinned_number_is_zero_and_em_converges(method: str, text: str) -> None:
    """Row 2 can only hold a=n: then EM has nothing left to expect but b of row 4, which is y."""
    fit = credo.fit(NETWORK, ROWS, text, method=method)
    assert fit.status is Status.CONVERGED
    prior = 1.0 if method == "cmap" else 0.0
    assert fit.network.cpt_array("a") == pytest.approx([0.5, 0.5])
    assert fit.network.cpt_array("b")[1].tolist() == [0.0, 1.0]
    assert fit.network.cpt_array("b")[0, 1] == pytest.approx(prior / (2 + 2 * prior), abs=1e-9)
    assert (np.diff(fit.history) >= -1e-9).all()


@pytest.mark.parametrize("method", ["co", "cme", "qmap", "qmapc", "posterior", "cem"])
def test_other_methods_learn_from_the_counts_of_em(method: str) -> None:
    fit = credo.fit(NETWORK, ROWS, SAID[0], method=method, em=EMOptions(starts=1))
    assert fit.network.cpt_array("b")[1, 1] == pytest.approx(1.0, abs=1e-3)
    assert fit.status is not Status.NOT_CONVERGED


def asia_with_missing_values(seed: int, rows: int = 100) -> tuple[credo.Network, pl.DataFrame]:
    network = credo.read_network(ASIA / "asia.bif")
    frame, generator = sample(network, rows, seed), np.random.default_rng(seed)
    columns = [
        pl.when(pl.Series(generator.random(rows) < 0.2)).then(None).otherwise(pl.col(name).cast(str)).alias(name)
        for name in frame.columns
    ]
    return network, frame.with_columns(columns)


@pytest.mark.parametrize("seed", [0, pytest.param(1, marks=pytest.mark.slow), pytest.param(2, marks=pytest.mark.slow)])
def test_pinned_variables_are_as_if_they_were_fixed(seed: int) -> None:
    """Three lines of asia.credo determine `either`; with its CPT fixed instead, EM ends at the same point."""
    network, frame = asia_with_missing_values(seed)
    text = (ASIA / "asia.credo").read_text()
    options = {"method": "cmap", "optimiser": credo.OptimiserOptions(soft_weight=10.0), "em": EMOptions(starts=1)}
    fit = credo.fit(network.without_cpts(), frame, text, **options)
    rest = "\n".join(line for line in text.splitlines() if not line.startswith("P(either"))
    fixed = credo.fit(network, frame, rest, fixed=["either"], **options)
    assert fit.status is fixed.status is Status.CONVERGED
    assert fit.network.cpt_array("either").tolist() == network.cpt_array("either").tolist()
    assert fit.history[-1] == pytest.approx(fixed.history[-1], rel=1e-6)
    assert fit.violations()["confidence"].null_count() == 0  # those that must hold do


@pytest.mark.parametrize("seed", [*range(6), *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(6, 80))])
@pytest.mark.parametrize("method", ["cml", "cmap"])
def test_em_ends_where_a_general_solver_finds_nothing_better(method: str, seed: int) -> None:
    case = random_case(seed, method)
    if case is None or case[0].data.dataset is None:
        pytest.skip("the statements contradict each other")
    problem, _ = case
    found = estimate_incomplete(problem)
    oracle = Oracle.of(problem, pinned_parameters(problem.model.blocks).tolist())
    theta, history = problem.layout.pack(found.cpts), np.array(found.history)
    assert found.status is Status.CONVERGED
    assert (np.diff(history) >= -1e-9 * (1 + np.abs(history[1:]))).all()
    assert oracle.violation(theta) <= 1e-8
    assert oracle.value(theta) == pytest.approx(history[-1], abs=1e-6)
    assert oracle.improved(theta) <= oracle.value(theta) + 1e-4


# Rows that the statements make impossible -----------------------------------------------------------------------------


def test_a_complete_row_that_contradicts_names_row_and_statement() -> None:
    frame = pl.concat([ROWS, pl.DataFrame({"a": ["y"], "b": ["n"]})])
    with pytest.raises(ImpossibleRowError, match=r"Row 5 is impossible: “P\(b=y \| a=y\) = 1” \(line 2\) leaves") as e:
        credo.fit(NETWORK, frame, "a raises b\nP(b=y | a=y) = 1", method="cmap")
    assert (e.value.row, e.value.statements) == (5, (2,))


def test_an_incomplete_row_names_all_statements_that_it_takes() -> None:
    chain = credo.Network({"a": ["n", "y"], "b": ["n", "y"], "c": ["n", "y"]}, {"b": ["a"], "c": ["b"]})
    frame = pl.DataFrame({"a": ["n", "y"], "b": [None, None], "c": ["y", "n"]})
    text = "P(b=y | a=y) = 1\nP(c=y | b=n) <= 0.5\nP(c=y | b=y) = 1"
    with pytest.raises(ImpossibleRowError, match="Row 2 is impossible: .* leave no probability to a=y, c=n") as e:
        credo.fit(chain, frame, text, method="cml")
    assert e.value.statements == (1, 3)


def test_statements_of_methods_that_weigh_them_make_no_row_impossible() -> None:
    frame = pl.concat([ROWS, pl.DataFrame({"a": ["y"], "b": ["n"]})])
    assert credo.fit(NETWORK, frame, SAID[0], method="cem", em=EMOptions(starts=1)).status is Status.CONVERGED


def test_zeros_of_a_noisy_family() -> None:
    """The first cause always has its effect: row 4, without effect, must be without it."""
    network = credo.Network({"a": ["n", "y"], "b": ["n", "y"], "x": ["n", "y"]}, {"x": ["a", "b"]})
    text = "x is noisy-or of {a}, {b} with leak\nP(x=y | a=y alone) = 1"
    rows = [("y", "n", "y"), (None, "n", "y"), ("n", "y", "y"), (None, "y", "n"), ("n", "n", None), ("n", "y", "n")]
    frame = pl.DataFrame(rows, schema=["a", "b", "x"], orient="row")
    fit = credo.fit(network, frame, text, method="cmap", em=EMOptions(starts=2))
    assert fit.status is Status.CONVERGED
    assert fit.network.cpt_array("x")[1, :, 1].tolist() == [1.0, 1.0]
    assert (np.diff(fit.history) >= -1e-9).all()
    more = pl.DataFrame([("y", None, "n")], schema=frame.schema, orient="row")
    with pytest.raises(ImpossibleRowError, match="Row 7 is impossible: “P.x=y | a=y. = 1”"):
        credo.fit(network, pl.concat([frame, more]), text, method="cmap")
