"""Incomplete rows at their extremes, as a user meets them: each ends in a finding or a typed error, never in NaN."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import polars as pl
import pytest

import credo
from credo import DataError, EMOptions, ImpossibleRowError, Network, TooLargeError

BINARY = ("no", "yes")
HIDDEN = Network({"cause": BINARY, "one": BINARY, "two": BINARY}, {"one": ["cause"], "two": ["cause"]})
ROWS = pl.DataFrame({"one": ["no", "no", "yes", "yes"], "two": ["no", "yes", "no", "yes"]})
STATEMENTS = {"ml": "", "map": "", "cmap": "cause raises one", "cem": "cause raises one with confidence 0.9"}


@pytest.mark.parametrize("method", STATEMENTS)
def test_a_variable_that_no_row_holds(method: str) -> None:
    fit = credo.fit(HIDDEN, ROWS, STATEMENTS[method], method=method, em=EMOptions(starts=2))
    assert any("cause is missing in every row" in each.message for each in fit.findings)
    assert_finite(fit)


@pytest.mark.parametrize("method", STATEMENTS)
def test_a_hidden_variable_with_one_state(method: str) -> None:
    constant = Network({"cause": ("always",), "one": BINARY}, {"one": ["cause"]})
    fit = credo.fit(constant, ROWS.select("one"), "", method=method)
    assert any("one state: it changes nothing" in each.message for each in fit.findings)
    assert fit.network.cpt_array("one") == pytest.approx(np.array([[0.5, 0.5]]))


@pytest.mark.parametrize("method", STATEMENTS)
def test_rows_that_say_nothing(method: str) -> None:
    nothing = pl.DataFrame({name: [None, None] for name in HIDDEN.names}, schema=dict.fromkeys(HIDDEN.names, pl.String))
    with pytest.raises(DataError, match="There is nothing to learn from"):
        credo.fit(HIDDEN, nothing, STATEMENTS[method], method=method)


def test_a_zero_in_the_networks_own_cpts_is_a_start_and_no_constraint() -> None:
    tables = {"cause": [0.5, 0.5], "one": [[1.0, 0.0], [1.0, 0.0]], "two": [[0.5, 0.5], [0.2, 0.8]]}
    start = HIDDEN.with_cpts({name: np.array(table) for name, table in tables.items()})
    fit = credo.fit(start, ROWS, method="ml")
    without = credo.fit(HIDDEN, ROWS, method="ml")
    assert fit.log_likelihood == pytest.approx(without.log_likelihood, abs=1e-4)


def test_a_kept_cpt_that_makes_a_row_impossible_names_the_row() -> None:
    start = HIDDEN.with_cpts({"one": np.array([[1.0, 0.0], [1.0, 0.0]])})
    with pytest.raises(ImpossibleRowError, match="Row 3 is impossible: .* one=yes, two=no"):
        credo.fit(start, ROWS, method="ml", fixed=["one"])


def test_knowledge_that_makes_a_row_impossible_names_row_and_statements() -> None:
    text = "P(one=yes | cause=no) = 0\nP(one=yes | cause=yes) = 0"
    with pytest.raises(ImpossibleRowError, match=r"Row 3 is impossible: .*line 1.*line 2.* leave no") as error:
        credo.fit(HIDDEN, ROWS, text, method="cml", em=EMOptions(starts=1))
    assert error.value.statements == (1, 2)


def test_too_many_hidden_variables_at_once_name_bytes_and_variables() -> None:
    causes = [f"cause{i}" for i in range(30)]
    signs = {f"{one}_{two}": [one, two] for one, two in combinations(causes, 2)}
    network = Network({**dict.fromkeys(causes, BINARY), **dict.fromkeys(signs, BINARY)}, signs)
    frame = pl.DataFrame({name: ["no", "yes"] for name in signs})
    with pytest.raises(TooLargeError, match=r"would need .*B for .*cause0, cause1") as error:
        credo.fit(network, frame, method="ml", memory_limit=10**9)
    assert error.value.bytes_needed > 10**9


def assert_finite(fit: credo.Fit) -> None:
    assert all(np.isfinite(fit.network.cpt_array(name)).all() for name in fit.network.names)
    assert np.isfinite(fit.history).all()


# What the network's file has in its CPTs ------------------------------------------------------------------------------

ZEROS = {"cause": [1.0, 0.0], "one": [[1.0, 0.0], [0.0, 1.0]], "two": [[0.0, 1.0], [1.0, 0.0]]}


def with_zeros() -> Network:
    return HIDDEN.with_cpts({name: np.array(table) for name, table in ZEROS.items()})


@pytest.mark.parametrize("method", ["ml", "map", "cml", "cmap", "cem", "posterior"])
def test_one_missing_cell_does_not_make_old_zeros_binding(method: str) -> None:
    complete = ROWS.with_columns(cause=pl.Series(["no", "yes", "yes", "no"]))
    missing = complete.with_columns(two=pl.Series(["no", None, "no", "yes"]))
    fit = credo.fit(with_zeros(), missing, STATEMENTS.get(method, ""), method=method, em=EMOptions(starts=1))
    without = credo.fit(HIDDEN, missing, STATEMENTS.get(method, ""), method=method, em=EMOptions(starts=1))
    assert_finite(fit)
    for name in HIDDEN.names:
        assert fit.network.cpt_array(name) == pytest.approx(without.network.cpt_array(name), abs=1e-2)


@pytest.mark.parametrize(
    ("method", "known", "starts"), [("posterior", 3, 1), ("posterior", 1, 5), ("cmap", 3, 5)], ids=str
)
def test_draws_begin_where_em_from_one_start_ends_if_most_is_observed(method: str, known: int, starts: int) -> None:
    cause = ["no", "yes", "yes", "no"][:known] + [None] * (4 - known)
    fit = credo.fit(HIDDEN, ROWS.with_columns(cause=pl.Series(cause)), "cause raises one", method=method)
    assert any(f"from {starts} start" in each.message for each in fit.findings)


def test_zeros_of_a_noisy_family_are_a_start_too() -> None:
    network = Network({"a": BINARY, "b": BINARY, "x": BINARY}, {"x": ["a", "b"]})
    text = "x is noisy-or of {a}, {b} with leak"
    rows = [("no", "no", "yes"), ("yes", None, "no"), ("no", "yes", "no"), ("yes", "yes", "yes"), (None, "no", "no")]
    frame = pl.DataFrame(rows, schema=["a", "b", "x"], orient="row")
    first = credo.fit(network, frame.head(1).with_columns(x=pl.lit("no")), text, method="ml")
    assert (first.network.cpt_array("x") == 0).any()
    fit = credo.fit(first.network, frame, text, method="cmap", em=EMOptions(starts=1))
    without = credo.fit(network, frame, text, method="cmap", em=EMOptions(starts=1))
    assert fit.history[-1] == pytest.approx(without.history[-1], abs=1e-3)


def test_a_fixed_cpt_stays_as_it_is_to_the_last_bit() -> None:
    start = with_zeros().with_cpts({"one": np.array([[0.9, 0.1], [1 / 3, 2 / 3]])})
    fit = credo.fit(start, ROWS, method="map", fixed=["one"], em=EMOptions(starts=3))
    assert fit.network.cpt_array("one").tolist() == start.cpt_array("one").tolist()


@pytest.mark.parametrize(
    ("method", "statement"),
    [("qmapc", "P(b=y) >= 0.2"), ("qmap", "P(b=y) >= 0.2"), ("cml", "P(b=y) >= 0.2 with confidence 0.5")],
)
@pytest.mark.parametrize("given", [(["y", None], None), (["y", None, None], None), (["y", "n", None], [1.0, 0.0, 1.0])])
def test_folds_whose_other_rows_show_nothing_are_predicted_all_the_same(
    method: str, statement: str, given: tuple[list[str | None], list[float] | None]
) -> None:
    network = credo.Network({"b": ["n", "y"]})
    values, weights = given
    rows = pl.DataFrame({"b": values}, schema={"b": pl.String})
    fit = credo.fit(network, rows, statement, method=method, weights=weights)
    assert fit.network.cpts["b"][1] > 0.5
