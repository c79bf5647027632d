"""All minimal conflicts, against brute force over all subsets; and what is said where the search was cut short."""

from __future__ import annotations

import random
from collections.abc import Callable
from itertools import combinations

import numpy as np
import pytest

import credo
from credo import Network, check
from credo.checking.check import require_consistent
from credo.constraints.conflicts import enumerate_conflicts, fewest_to_drop, minimal_sets
from credo.constraints.lower import lower
from credo.report.check_page import check_page
from tests.helpers.linprog_oracle import feasible

NET = Network({"a": ["no", "yes"], "b": ["x", "y", "z"], "c": ["no", "yes"]}, {"b": ["a"], "c": ["a"]})


def by_brute_force(count: int, conflicts: Callable[[tuple[int, ...]], bool]) -> list[tuple[int, ...]]:
    """The minimal sets of numbers below `count` for which the function `conflicts` is true."""
    found: list[tuple[int, ...]] = []
    for size in range(1, count + 1):
        for chosen in combinations(range(count), size):
            if not any(set(smaller) <= set(chosen) for smaller in found) and conflicts(chosen):
                found.append(chosen)
    return found


@pytest.mark.parametrize("seed", range(4))
def test_every_minimal_set_is_found(seed: int) -> None:
    rng = random.Random(seed)
    for _ in range(25):
        count = rng.randint(1, 8)
        drawn = (rng.sample(range(count), rng.randint(1, min(count, 4))) for _ in range(rng.randint(0, 6)))
        expected = minimal_sets(tuple(sorted(each)) for each in drawn)

        def conflict_in(chosen: list[int], known: list[tuple[int, ...]] = expected) -> tuple[int, ...] | None:
            inside = [each for each in known if set(each) <= set(chosen)]
            return rng.choice(inside) if inside else None

        found = enumerate_conflicts(range(count), conflict_in)
        assert found.is_complete
        assert sorted(found.conflicts) == sorted(expected)
        dropped = fewest_to_drop(expected)
        assert all(set(dropped) & set(each) for each in expected)
        assert not any(
            all(set(fewer) & set(each) for each in expected)
            for size in range(len(dropped))
            for fewer in combinations(range(count), size)
        )


def random_statements(rng: np.random.Generator, count: int) -> list[str]:
    """Statements about few probabilities, so that many conflict; some of them hold for each state of a parent."""
    numbers = ["P(a=yes)", "P(b=x | a=no)", "P(b=y | a=no)", "P(b=x | each a)"]
    statements = []
    for _ in range(count):
        one, two = rng.choice(numbers[:3], 2, replace=False)
        low = round(0.1 + 0.8 * float(rng.random()), 1)
        statements.append(
            str(
                rng.choice(
                    [
                        f"{rng.choice(numbers)} >= {low}",
                        f"{rng.choice(numbers)} <= {low}",
                        f"{one} <= {two} by at least {low / 3:.2f}",
                        f"{one} + {two} = {low}",
                        "a raises c by at least 0.3" if rng.random() < 0.5 else "a lowers c",
                    ]
                )
            )
        )
    return statements


def compare_with_brute_force(rng: np.random.Generator, count: int) -> int:
    """How many conflicts a random knowledge has; they are those of brute force."""
    knowledge = credo.Knowledge(NET, "\n".join(random_statements(rng, count)))
    constraints = lower(knowledge)
    expected = by_brute_force(count, lambda chosen: not feasible(constraints, chosen))
    found = check(NET, knowledge)
    assert found.has_all_conflicts
    assert found.unresolved == ()
    assert sorted(tuple(each.number for each in one.statements) for one in found.conflicts) == sorted(expected)
    assert found.conflicting == {number for conflict in expected for number in conflict}
    assert found.feasible == (not expected)
    rest = set(range(count)) - {each.number for each in found.fewest_to_drop}
    assert feasible(constraints, rest)
    assert not any(
        feasible(constraints, set(range(count)) - set(fewer))
        for fewer in combinations(range(count), max(0, len(found.fewest_to_drop) - 1))
        if found.fewest_to_drop
    )
    return len(expected)


def test_the_check_lists_the_conflicts_of_brute_force() -> None:
    rng = np.random.default_rng(0)
    numbers = [compare_with_brute_force(rng, int(rng.integers(4, 7))) for _ in range(14)]
    assert sum(number > 1 for number in numbers) >= 5


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(1, 5))
def test_the_check_lists_the_conflicts_of_brute_force_in_hundreds_of_knowledge_bases(seed: int) -> None:
    rng = np.random.default_rng(seed)
    for _ in range(50):
        compare_with_brute_force(rng, int(rng.integers(3, 7)))


def test_a_statement_that_conflicts_with_one_that_conflicts_elsewhere_is_not_called_consistent() -> None:
    text = "P(a=yes) >= 0.6\nP(a=yes) <= 0.1\nP(b=x | a=no) >= P(a=yes)\nP(b=x | a=no) <= 0.2\nP(c=yes | a=no) <= 0.3"
    found = check(NET, text)
    assert [tuple(each.line for each in one.statements) for one in found.conflicts] == [(1, 2), (1, 3, 4)]
    assert [each.line for each in found.fewest_to_drop] == [1]
    shown = " ".join(str(found).split())
    assert "there are 2 conflicts among its 5 statements" in shown
    assert "Without line 1, no conflict is left." in shown
    page = check_page(found)
    assert page.count("<td>in conflict<td>") == 4
    assert page.count("<td>consistent<td>") == 1


def test_conflicts_of_products_are_all_listed() -> None:
    text = (
        "P(a=yes) * P(b=x | a=no) >= 0.5\nP(a=yes) <= 0.3\nP(b=x | a=no) <= 0.4\nP(c=yes | a=no) <= 0.3\n"
        "P(a=yes) >= 0.4 with confidence 0.5"
    )
    found = check(NET, text)
    assert [tuple(each.line for each in one.statements) for one in found.conflicts] == [(1, 2), (1, 3)]
    assert [each.line for each in found.fewest_to_drop] == [1]


def test_soft_statements_among_conflicts_are_not_called_consistent() -> None:
    found = check(NET, "P(a=yes) >= 0.6\nP(a=yes) <= 0.1\nP(a=yes) >= 0.3 with confidence 0.9")
    assert [each.line for each in found.unresolved] == [3]
    assert "Line 3 is about probabilities that other statements conflict over" in " ".join(str(found).split())
    assert "not known whether in conflict" in check_page(found)
    assert "consistent<td>" not in check_page(found)


def test_a_search_that_ends_early_says_so_and_calls_nothing_consistent() -> None:
    lows, highs = range(5), range(5, 10)
    text = "\n".join([f"P(a=yes) >= 0.{5 + k}" for k in lows] + [f"P(a=yes) <= 0.{k - 5}1" for k in highs])
    found = check(NET, f"{text}\nP(a=no) <= 0.99\nP(c=yes | a=no) <= 0.5")  # 25 pairs; a bystander; another block
    assert not found.has_all_conflicts
    assert len(found.conflicts) == 20
    assert found.fewest_to_drop == ()
    unresolved = {each.number for each in found.unresolved}
    assert 10 in unresolved
    assert 11 not in unresolved
    assert unresolved.isdisjoint(found.conflicting)
    shown = " ".join(str(found).split())
    assert "there are at least 20 conflicts" in shown
    assert "The search ended at 20 conflicts: there may be more." in shown
    assert "Line 11 is about probabilities that other statements conflict over" in shown
    with pytest.raises(credo.ConflictError, match="The check lists 8 more conflicts"):
        require_consistent(found)
