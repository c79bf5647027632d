"""Which states of a hidden variable can be exchanged: where data and statements are symmetric in them."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import polars as pl
import pytest

import credo
from credo.estimation.exchangeable import exchangeable_states
from credo.model.network import Network
from credo.options import EMOptions
from credo.statistics.prior import NetworkPrior
from tests.helpers.problems import problem_of

STATES = ("low", "mid", "high")
CAUSE = Network({"cause": STATES, "sign": ["no", "yes"], "other": STATES}, {"sign": ["cause"], "other": ["cause"]})
ROWS = pl.DataFrame({"sign": ["no", "yes", "yes", "no"], "other": ["low", "mid", "high", "high"]})
ALL, NONE = [STATES], [("low",), ("mid",), ("high",)]
PAIR = [("low", "mid"), ("high",)]


def groups(text: str, network: Network = CAUSE, **more: Any) -> list[tuple[str, ...]]:
    problem = problem_of(network, ROWS, credo.Knowledge(network, text), **more)
    return exchangeable_states(problem, "cause")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", ALL),
        ("P(other=low) <= 0.5", ALL),
        ("P(sign=yes | cause=low) >= 0.1\nP(sign=yes | cause=mid) >= 0.1\nP(sign=yes | cause=high) >= 0.1", ALL),
        ("P(sign=yes | cause=high) >= 0.6", PAIR),
        ("P(sign=yes | cause=low) = P(sign=yes | cause=mid)", PAIR),
        ("P(cause=high) >= 0.5", PAIR),
        ("P(sign=yes | cause=low) <= P(sign=yes | cause=mid)", NONE),
        ("P(cause=low) <= 0.5 with confidence 0.9\nP(cause=mid) <= 0.5 with confidence 0.8", NONE),
        ("P(sign=yes | cause=low) * P(sign=yes | cause=mid) <= 0.1", PAIR),
    ],
)
def test_statements_tell_states_apart(text: str, expected: list[tuple[str, ...]]) -> None:
    assert groups(text) == expected


def test_two_forms_of_one_statement_are_the_same() -> None:
    """P(a) ≥ 0.3 is P(b) ≤ 0.7 where there are two: a range around a half tells nothing."""
    coin = Network({"cause": ["heads", "tails"], "sign": ["no", "yes"]}, {"sign": ["cause"]})
    assert groups("0.3 <= P(cause=heads) <= 0.7", coin) == [("heads", "tails")]
    assert groups("0.3 <= P(cause=heads) <= 0.6", coin) == [("heads",), ("tails",)]
    assert groups("P(cause=heads) = 0.5", coin) == [("heads", "tails")]


def test_priors_and_kept_tables_tell_states_apart() -> None:
    tables = {
        "cause": np.full(3, 1 / 3),
        "sign": np.array([[0.5, 0.5], [0.5, 0.5], [0.2, 0.8]]),
        "other": np.full((3, 3), 1 / 3),
    }
    believed = CAUSE.with_cpts(tables)
    assert groups("", prior=2.0) == ALL
    assert groups("", prior=NetworkPrior(believed, 5.0)) == PAIR
    problem = problem_of(believed, ROWS, credo.Knowledge(believed, ""))
    assert exchangeable_states(problem, "cause") == ALL
    assert exchangeable_states(replace(problem, names=("cause", "other")), "cause") == PAIR


@pytest.mark.parametrize(
    ("method", "text", "named"),
    [
        ("ml", "", "distinguishes its states"),
        ("ml", "P(sign=yes | cause=high) >= 0.6", "distinguishes its states"),  # ml does not hear it
        ("cmap", "P(sign=yes | cause=high) >= 0.6", "distinguishes low, mid"),
        ("cem", "cause raises sign", None),
    ],
)
def test_a_fit_says_which_order_means_nothing(method: str, text: str, named: str | None) -> None:
    orders = "order cause: low < mid < high\n"
    fit = credo.fit(CAUSE, ROWS, orders + text, method=method, em=EMOptions(starts=1))
    found = [each.message for each in fit.findings if each.kind == "exchangeable"]
    assert [named in message for message in found] == [True] if named else not found
