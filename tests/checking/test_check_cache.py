"""A check of knowledge that is being edited finds what a fresh check finds, to the last bit, whatever it remembers."""

from __future__ import annotations

import random
from dataclasses import replace

import pytest

from credo import Check, Knowledge, check
from credo.checking.check import check_again
from credo.checking.check_cache import CheckCache
from credo.constraints import block_findings
from credo.knowledge import to_text
from credo.testing import random_network, true_statements
from tests.helpers.amounts import seeds

NETWORK = random_network({"a": 2, "b": 3, "c": 2, "d": 2}, {"b": ("a",), "c": ("a", "b"), "d": ("c",)}, seed=4)
ROWS = NETWORK.sample(60, seed=1)
OTHER_ROWS = NETWORK.sample(60, seed=2)
LINES = [
    *map(to_text, true_statements(NETWORK, 3, seed=5)),
    "a raises b",
    "a lowers b",
    "order b: s2 < s1 < s0",
    "b raises c",
    "P(d=s1 | c=s0) is at most 10%",
    "P(d=s1 | c=s0) is at least 20%",
    "P(d=s1 | c=s1) is about 30%",
    "P(d=s1) is at least 1%",
    "P(d=s1) <= P(b=s0)",
    "expert careless: P(a=s0) >= 0.99",
    "P(b=s0 | a=s0) * P(b=s1 | a=s0) <= 0.5",
]


def without_time(found: Check) -> Check:
    return replace(found, seconds=0.0)


@pytest.mark.parametrize("seed", seeds(2, 40))
def test_a_check_that_remembers_finds_the_same(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(block_findings, "MOST_KNOWN", 12)  # so that it forgets, too
    rng = random.Random(seed)
    cache, chosen, rows = CheckCache(), rng.sample(LINES, 8), ROWS
    for _ in range(5):
        for _ in range(rng.randint(0, 2)):
            chosen.pop(rng.randrange(len(chosen)))
        for _ in range(rng.randint(0, 3)):
            chosen.insert(rng.randint(0, len(chosen)), rng.choice(LINES))
        rows = OTHER_ROWS if rng.random() < 0.3 else rows
        knowledge = Knowledge(NETWORK, "\n".join(chosen) + "\n")
        fresh = check(NETWORK, knowledge, data=rows, progress=False)
        again = check_again(knowledge, rows, cache, mark=id(rows))
        assert without_time(again) == without_time(fresh)


def test_states_that_are_ordered_otherwise_are_compared_anew() -> None:
    cache = CheckCache()
    for text in ("a raises b\n", "a raises b\norder b: s2 < s1 < s0\n", "a raises b\n"):
        knowledge = Knowledge(NETWORK, text)
        found = check_again(knowledge, ROWS, cache, mark=1)
        assert without_time(found) == without_time(check(NETWORK, knowledge, data=ROWS, progress=False))


def test_what_did_not_change_is_not_computed_again(monkeypatch: pytest.MonkeyPatch) -> None:
    cache = CheckCache()
    text = "\n".join(LINES[:12]) + "\n"
    check_again(Knowledge(NETWORK, text), ROWS, cache, mark=1)
    found: list[object] = []
    monkeypatch.setattr(block_findings, "_found", lambda *block: found.append(block))
    monkeypatch.setattr("credo.explain.plausibility._probability", lambda *block: found.append(block))
    monkeypatch.setattr("credo.checking.check_cache.data_read", lambda *data: found.append(data))
    check_again(Knowledge(NETWORK, "# a comment\n" + text), ROWS, cache, mark=1)
    assert found == []
