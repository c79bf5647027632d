"""Statements about probabilities that several CPTs make up: where two of them leave no common value."""

from __future__ import annotations

import pytest

from credo import Network, check

PUMPS = Network({name: ["ok", "failed"] for name in ("pump", "valve", "system")}, parents={"system": ["pump", "valve"]})


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
        ("P(system=failed) <= 10%", "P(system=failed, pump=failed) >= 30%"),
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
    assert "Line 2 is about a probability that several CPTs make up: CPTs were found where it" in str(found)


def test_a_search_that_fails_is_no_proof_and_names_culprits() -> None:
    text = "P(pump=failed) <= 20%\nP(system=failed) <= 10%\nP(system=failed | pump=ok) >= 30%\nP(valve=ok) >= 0.1"
    found = check(PUMPS, text)
    assert found.feasible
    assert [each.statement.line for each in found.unchecked] == [1, 2, 3]
    shown = " ".join(str(found).split())
    for line in (1, 2, 3):
        assert f"Line {line} may contradict the others: no CPTs were found where all statements hold, but" in shown
    assert "That is no proof." in shown


def test_the_verdict_says_where_nothing_was_checked() -> None:
    one = check(PUMPS, "P(system=failed) * P(pump=failed) <= 10%")
    assert str(one).startswith("The statement was not checked for conflicts: it compares products, and is about a")
