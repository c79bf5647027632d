"""Incomplete rows at their extremes, as a user meets them: each ends in a finding or a typed error, never in NaN."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import polars as pl
import pytest

import credo
from credo.errors import DataError, ImpossibleRowError, TooLargeError
from credo.model.network import Network
from credo.options import EMOptions

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


def test_knowledge_that_makes_a_row_impossible_is_not_certified() -> None:
    """EM stands still there, but no solver proves what it ends with."""
    text = "P(one=yes | cause=no) = 0\nP(one=yes | cause=yes) = 0"
    fit = credo.fit(HIDDEN, ROWS, text, method="cml", em=EMOptions(starts=1))
    assert fit.status is credo.Status.NOT_CERTIFIED
    assert any("could not be proved to fit the data best" in each.message for each in fit.findings)
    assert_finite(fit)


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
