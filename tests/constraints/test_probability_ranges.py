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
        ("P(system=failed) <= 10%", "P(system=failed | pump=ok) >= 30%"),
        ("P(system=failed) <= 10%", "P(system=failed) >= 30% with confidence 0.9"),
        ("P(system=failed) <= 10%", "P(system=failed, pump=failed) >= 30%"),
    ],
)
def test_other_pairs_are_not_said_to_hold_together(pair: tuple[str, str]) -> None:
    found = check(PUMPS, "\n".join(("P(pump=failed) <= 20%", *pair)))
    assert found.exit_code == 0
    assert " ".join(str(found).split()).startswith(
        "1 of 3 statements can hold; lines 2 and 3 were not checked against the others: they are about probabilities "
        "that several CPTs make up."
    )


def test_the_verdict_says_where_nothing_was_checked() -> None:
    one = check(PUMPS, "P(system=failed) <= 10%")
    assert str(one).startswith("The statement was not checked for conflicts: it is about a probability that several")
    two = check(PUMPS, "P(system=failed) <= 10%\nP(system=failed | pump=ok) <= 10%")
    assert str(two).startswith("None of the 2 statements was checked for conflicts: they are about probabilities")
