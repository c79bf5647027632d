"""Statements about probabilities that depend on several CPTs: where two of them leave no common value."""

from __future__ import annotations

import polars as pl
import pytest

from credo import ConflictError, Network, PosteriorOptions, check, fit

PUMPS = Network({name: ["ok", "failed"] for name in ("pump", "valve", "system")}, parents={"system": ["pump", "valve"]})
ROWS = pl.DataFrame({name: ["ok", "failed"] * 5 for name in PUMPS.names})


@pytest.mark.parametrize(
    "pair",
    [
        ("P(system=failed) <= 10%", "P(system=failed) >= 30%"),
        ("P(system=failed) <= 10%", "P(system=ok) <= 70%"),
        ("P(system=failed) = 10%", "2 * P(system=failed) >= 0.3"),
        ("P(system=failed) ~ 10% within 5%", "0.2 <= P(system=failed) <= 0.4"),
        ("P(system=failed | pump=ok) <= 10%", "P(system=failed | pump=ok) > 20%"),
        ("P(system=failed, pump=failed) <= 10%", "P(pump=failed, system=failed) >= 20%"),
        ("1 - P(system=failed) >= 0.9", "P(system=failed) >= P(system=ok)"),
        ("P(system=failed) <= 10%", "P(system=failed, pump=failed) >= 15%"),
        ("P(system=ok) <= 10%", "P(system=ok, pump=failed, valve=ok) >= 15%"),
        ("P(system=failed | valve=ok) <= 10%", "P(system=failed, pump=failed | valve=ok) >= 11%"),
    ],
)
def test_disjoint_ranges_of_one_probability_are_a_conflict(pair: tuple[str, str]) -> None:
    found = check(PUMPS, "\n".join(("P(pump=failed) <= 20%", *pair)))
    assert found.exit_code == 3
    assert [[each.line for each in conflict.statements] for conflict in found.conflicts] == [[2, 3]]
    assert not found.unchecked


@pytest.mark.parametrize(
    "pair",
    [
        ("P(system=failed) <= 10%", "P(system=failed) >= 10%"),
        ("P(system=failed) <= 10%", "P(system=failed | pump=ok) >= 5%"),
        ("P(system=failed) <= 10%", "P(system=failed) >= 30% with confidence 0.9"),
        ("P(system=failed) <= 10%", "P(system=failed, pump=failed) >= 5%"),
    ],
)
def test_cpts_are_found_at_which_other_pairs_hold(pair: tuple[str, str]) -> None:
    found = check(PUMPS, "\n".join(("P(pump=failed) <= 20%", *pair)))
    assert found.exit_code == 0
    assert not found.unchecked
    assert "Line 2 is about a probability that depends on several CPTs: CPTs were found where it" in str(found)


def test_a_search_that_fails_is_no_proof_and_names_culprits() -> None:
    # A joint distribution could do this, but pumps and valves fail independently in the network.
    text = "P(pump=failed) <= 50%\nP(valve=failed) <= 50%\nP(pump=failed, valve=failed) >= 40%"
    found = check(PUMPS, text)
    assert found.feasible
    assert [each.statement.line for each in found.unchecked] == [1, 2, 3]
    assert [each.line for each in found.suspected] == [1, 2, 3]
    shown = " ".join(str(found).split())
    assert shown.startswith("Lines 1, 2 and 3 do not seem to go together")
    assert "no proof." in shown


def test_the_verdict_says_where_nothing_was_checked() -> None:
    one = check(PUMPS, "P(system=failed) * P(pump=failed) <= 10%")
    assert str(one).startswith("The statement was not checked for conflicts: it compares products, and is about a")


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ("P(system=failed) >= 50%\nP(system=failed | each pump, each valve) <= 30%", [1, 2]),
        ("P(system=ok) >= 0.9\nP(system=failed | pump=ok, each valve) >= 0.2\n"
         "P(system=ok | pump=failed, each valve) <= 0.5", [1, 2, 3]),
        ("P(system=failed | pump=ok) >= 0.5\nP(system=failed | pump=ok, each valve) <= 0.3", [1, 2]),
    ],
)  # fmt: skip
def test_a_mean_lies_between_what_it_is_a_mean_of(text: str, lines: list[int]) -> None:
    found = check(PUMPS, text)
    assert [[each.line for each in conflict.statements] for conflict in found.conflicts] == [lines]
    with pytest.raises(ConflictError, match="contradicts itself"):
        fit(PUMPS, ROWS, text, method="cml")


@pytest.mark.parametrize(
    "text",
    [
        "P(system=failed) >= 50%\nP(system=failed | pump=ok, each valve) <= 30%",  # the other configurations
        "P(pump=failed | system=failed) >= 0.5\nP(pump=failed) <= 0.3",  # what follows from an effect
        "P(system=failed) >= 50%\nP(system=failed | each pump, each valve) <= 30% with confidence 0.9",
    ],
)
def test_what_is_no_such_mean_is_no_conflict(text: str) -> None:
    assert check(PUMPS, text).feasible


@pytest.mark.slow
def test_doubted_statements_contradict_nothing() -> None:
    text = "expert a: P(system=failed) >= 50%\nP(system=failed | each pump, each valve) <= 30%"
    few = PosteriorOptions(chains=2, draws=50, warmup=30, max_draws=50)
    assert fit(PUMPS, ROWS, text, posterior=few).statements()["probability"][0] == 0.0
