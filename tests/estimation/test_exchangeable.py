"""Which states of a hidden variable can be exchanged: where data and statements are symmetric in them."""

from __future__ import annotations

from time import perf_counter
from typing import Any

import numpy as np
import polars as pl
import pytest

import credo
from credo import EMOptions, Network, NetworkPrior
from credo.estimation.exchangeable import exchange_findings, exchanges_of
from credo.estimation.prepare import prepare, prepare_model
from credo.estimation.problem import Problem
from tests.helpers.noisy_families import noisy_network
from tests.helpers.problems import problem_of

STATES = ("low", "mid", "high")
CAUSE = Network({"cause": STATES, "sign": ["no", "yes"], "other": STATES}, {"sign": ["cause"], "other": ["cause"]})
ROWS = pl.DataFrame({"sign": ["no", "yes", "yes", "no"], "other": ["low", "mid", "high", "high"]})
ALL, NONE = [STATES], [("low",), ("mid",), ("high",)]
PAIR = [("low", "mid"), ("high",)]


def groups(text: str, network: Network = CAUSE, **more: Any) -> list[tuple[str, ...]]:
    problem = problem_of(network, ROWS, credo.Knowledge(network, text), **more)
    return groups_of(problem)


def groups_of(problem: Problem) -> list[tuple[str, ...]]:
    found = exchanges_of(problem, ["cause"]).groups["cause"]
    return [tuple(problem.model.network.states("cause")[state] for state in group) for group in found]


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
    assert groups_of(problem) == ALL
    assert groups_of(problem.with_model(names=("cause", "other"))) == PAIR


@pytest.mark.parametrize(
    ("method", "text", "named"),
    [
        ("ml", "", "distinguish its states"),
        ("ml", "P(sign=yes | cause=high) >= 0.6", "distinguish its states"),  # ml does not hear it
        ("cmap", "P(sign=yes | cause=high) >= 0.6", "distinguish low, mid"),
        ("cem", "cause raises sign", None),
    ],
)
def test_a_fit_says_which_order_means_nothing(method: str, text: str, named: str | None) -> None:
    orders = "order cause: low < mid < high\n"
    fit = credo.fit(CAUSE, ROWS, orders + text, method=method, em=EMOptions(starts=1))
    found = [each.message for each in fit.findings if each.kind == "exchangeable"]
    assert [named in message for message in found] == [True] if named else not found


# Several hidden variables ---------------------------------------------------------------------------------------------

YES = ("no", "yes")


def several(parents: dict[str, list[str]], text: str, hidden: str, **more: Any) -> list[str]:
    names = sorted({*parents, *(each for own in parents.values() for each in own)})
    network = Network(dict.fromkeys(names, YES), parents)
    frame = pl.DataFrame({name: ["no", "yes"] for name in names if name not in hidden})
    problem = problem_of(network, frame, credo.Knowledge(network, text), **more)
    return [each.message for each in exchange_findings(problem, exchanges_of(problem, tuple(hidden)))]


AGREE = "P({1}=yes | {0}=yes) >= 0.6\nP({1}=no | {0}=no) >= 0.6\n"


def test_states_of_two_variables_that_must_agree_are_exchanged_together() -> None:
    (found,) = several({"b": ["a"], "x": ["a"], "y": ["b"]}, AGREE.format("a", "b"), "ab")
    assert "a, b are hidden, and can be exchanged together" in found
    assert "no and yes of a; no and yes of b" in found


def test_states_of_three_variables_are_exchanged_together() -> None:
    text = AGREE.format("a", "b") + AGREE.format("b", "c")
    (found,) = several({"b": ["a"], "c": ["b"], "x": ["a"], "y": ["c"]}, text, "abc")
    assert "a, b, c are hidden, and can be exchanged together" in found


@pytest.mark.parametrize("more", ["a raises x", "P(b=yes) <= 1\nP(a=yes) >= 0.6", "P(y=yes | b=yes) >= 0.7"])
def test_a_statement_about_one_of_them_distinguishes_both(more: str) -> None:
    assert not several({"b": ["a"], "x": ["a"], "y": ["b"]}, AGREE.format("a", "b") + more.split("\n")[-1], "ab")


def test_variables_with_the_same_neighbours_can_change_places() -> None:
    parents = {"x": ["a", "b"], "y": ["a", "b"]}
    found = several(parents, "", "ab")
    assert len(found) == 3
    assert "a and b are hidden, and the knowledge does not distinguish them" in found[-1]
    text = "a raises x\nb raises x"
    (both,) = several(parents, text, "ab")
    assert "a and b are hidden" in both
    assert not several(parents, text + "\nP(a=yes) >= 0.6", "ab")
    assert len(several({"x": ["a", "b"], "y": ["b"]}, "a raises x\nb raises x", "ab")) == 0


def test_pairs_of_variables_can_change_places() -> None:
    parents = {"b": ["a"], "d": ["c"], "x": ["b", "d"]}
    text = "a raises b\nc raises d\nb raises x\nd raises x"
    (found,) = several(parents, text, "abcd")
    assert "a, b, c, d are hidden, and can be exchanged together" in found


def test_ties_and_fixed_numbers_of_states_keep_variables_apart() -> None:
    parents = {"x": ["a", "b"]}
    text = "a raises x\nb raises x"
    assert several(parents, text, "ab")
    assert not several(parents, text + "\nrows 1, 2 share a", "ab")
    assert several(parents, text + "\nrows 1, 2 share a and b", "ab")


def test_hundreds_of_hidden_variables_are_examined_quickly() -> None:
    count = 600
    parents = {f"h{i}": [f"h{i // 2}"] for i in range(1, count)} | {
        f"x{i}": [f"h{i}"] for i in range(count // 2, count)
    }
    names = [f"h{i}" for i in range(count)] + [f"x{i}" for i in range(count // 2, count)]
    parents["h1"] = []
    network = Network(dict.fromkeys(names, YES), parents)
    frame = pl.DataFrame({name: ["no", "yes"] for name in names if name.startswith("x")})
    text = "\n".join(f"h{i} raises x{i}" for i in range(count // 2, count))
    problem = problem_of(network, frame, credo.Knowledge(network, text))
    started = perf_counter()
    found = list(exchange_findings(problem, exchanges_of(problem, names[:count])))
    assert perf_counter() - started < 10
    assert len(found) >= count // 2


def test_effects_of_a_noisy_family_are_told_apart_without_a_search() -> None:
    """A kept CPT compares them: its sums differ from state to state, whatever else is exchanged."""
    truth = noisy_network(np.random.default_rng(2), "noisy-max", leak=True, sizes=(2, 2))
    problem, _ = prepare(prepare_model(credo.Knowledge(truth, "")), truth.sample(20, 1), method="cmap")
    hidden = [name for name in problem.model.network.names if name not in truth.names]
    found = exchanges_of(problem, hidden)
    assert len(hidden) >= 3
    assert (found.variables, found.several, found.all_examined) == ([], (), True)
