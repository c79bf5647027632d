"""Numbers that statements pin at zero: a prior's beliefs about them are dropped, data that hold them are named."""

from __future__ import annotations

import polars as pl
import pytest

import credo
from credo import EMOptions, Status
from credo.estimation.pinned import statements_that_pin
from tests.helpers.blocks import at_most, block_of

NETWORK = credo.Network({"a": ["0", "1"], "x": ["l", "m", "h"]}, parents={"x": ["a"]})
ROWS = [("0", "l"), ("0", "l"), ("0", "m"), ("0", "m"), ("1", "l"), ("1", "m"), ("1", "h"), ("1", "h")]
PINNED = ["P(x=h | a=0) = 0", "P(x=h | a=0) <= 0", "P(x=l | a=0) >= 0.6\nP(x=m | a=0) >= 0.4"]


def table(*more: tuple[str, str]) -> pl.DataFrame:
    return pl.DataFrame([*ROWS, *more], schema=["a", "x"], orient="row")


def contradictions(fit: credo.Fit) -> list[str]:
    return [str(finding) for finding in fit.findings if finding.kind == "impossible data"]


@pytest.mark.parametrize("text", PINNED)
@pytest.mark.parametrize("method", ["cml", "cmap"])
def test_pseudo_counts_of_pinned_numbers_do_not_count(method: str, text: str) -> None:
    fit = credo.fit(NETWORK, table(), text, method=method)
    assert fit.status is Status.OPTIMAL
    expected = [0.6, 0.4, 0.0] if "0.6" in text else [0.5, 0.5, 0.0]
    assert fit.network.cpt_array("x")[0] == pytest.approx(expected, abs=1e-9)
    assert not contradictions(fit)


@pytest.mark.parametrize("text", PINNED)
@pytest.mark.parametrize("method", ["cml", "cmap", "posterior"])
def test_data_that_contradict_are_named(method: str, text: str) -> None:
    (message,) = contradictions(credo.fit(NETWORK, table(("0", "h"), ("0", "h")), text, method=method))
    assert "P(x=h | a=0)" in message
    assert "2 times" in message
    assert ("lines 1 and 2," if "\n" in text else "line 1,") in message


def test_only_statements_that_matter_are_named() -> None:
    text = "P(x=l | a=0) >= 0.1\nP(x=h | a=0) <= P(x=h | a=1)\nP(x=m | a=1) <= 0.9\nP(x=h | a=1) = 0"
    fit = credo.fit(NETWORK, table(("0", "h")), text, method="cml")
    first, second = contradictions(fit)
    assert "P(x=h | a=0) must be zero by lines 2 and 4, but the data contain it once" in first
    assert "P(x=h | a=1) must be zero by line 4, but the data contain it 2 times" in second


def test_missing_values_and_pinned_numbers() -> None:
    frame = pl.concat([table(), pl.DataFrame({"a": ["0", None], "x": [None, "m"]})])
    fit = credo.fit(NETWORK, frame, PINNED[0], method="cmap", em=EMOptions(starts=1))
    assert fit.network.cpt_array("x")[0, 2] == pytest.approx(0.0, abs=1e-6)
    assert all(value > float("-inf") for value in fit.history)


def test_the_smallest_set_is_found() -> None:
    constraints = [at_most({0: 1.0}, 0.0), at_most({0: 1.0, 2: -1.0}, 0.0), at_most({2: 1.0}, 0.0)]
    numbered = [type(each)(each.indices, each.coefficients, each.bound, k) for k, each in enumerate(constraints)]
    assert statements_that_pin(block_of((2, 2), numbered), 0) == (0,)
    assert statements_that_pin(block_of((2, 2), numbered[1:]), 0) == (1, 2)


def test_several_blocks_have_their_statements() -> None:
    fit = credo.fit(NETWORK, table(("0", "h")), "P(x=l | a=0) >= 0.3\nP(x=l | a=1) >= 0.3", method="cml")
    assert any(
        "2 groups of probabilities linked by statements were" in str(f) and "because their statements" in str(f)
        for f in fit.findings
    )
