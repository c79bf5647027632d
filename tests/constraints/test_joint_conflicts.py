"""Conflicts that no joint distribution avoids: total probability, Bayes' theorem, and nothing that is not proved."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from credo import Knowledge, Network, check
from credo.constraints.joint_conflicts import provable_conflicts
from credo.testing import random_network

NAMES = ("smoke", "lung", "xray")
NET = Network({name: ["no", "yes"] for name in NAMES}, parents={"lung": ["smoke"], "xray": ["lung"]})


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        # P(xray) ≤ 0.9·0.1 + 0.2 = 0.29
        (
            "P(xray=yes) >= 0.8\nP(xray=yes | lung=yes) <= 0.9\nP(lung=yes) <= 0.1\nP(xray=yes | lung=no) <= 0.2\n"
            "P(smoke=yes) >= 0.2",
            [1, 3, 4],
        ),
        # P(lung) is a mean of P(lung | xray)
        ("P(lung=yes | xray=yes) >= 0.9\nP(lung=yes | xray=no) >= 0.9\nP(lung=yes) <= 0.2", [1, 2, 3]),
        ("P(lung=yes | each xray) >= 0.9\nP(lung=yes | smoke=yes) <= 0.9\nP(lung=yes) <= 0.2", [1, 3]),
        # Bayes: P(lung | xray) ≤ 0.01·0.9/P(xray)
        ("P(lung=yes) <= 1%\nP(xray=yes) >= 50%\nP(lung=yes | xray=yes) >= 10%", [1, 2, 3]),
        ("P(smoke=yes, lung=yes) >= 0.3\nP(smoke=no, lung=yes) >= 0.3\nP(lung=no) >= 0.5", [1, 2, 3]),
        ("P(lung=yes) - P(xray=yes) >= 0.2\nP(lung=yes) ~ P(xray=yes) within 0.1", [1, 2]),
    ],
)
def test_a_conflict_of_joint_distributions(text: str, lines: list[int]) -> None:
    found = check(NET, text)
    assert [[each.line for each in conflict.statements] for conflict in found.conflicts] == [lines]
    assert found.exit_code == 3


@pytest.mark.parametrize(
    "text",
    [
        "P(lung=yes) <= 0.2\nP(xray=yes | lung=yes) >= 0.9\nP(xray=yes) >= 0.9",
        "P(lung=yes | xray=yes) >= 0.9\nP(lung=yes | xray=no) >= 0.9 with confidence 0.8\nP(lung=yes) <= 0.2",
        "P(xray=yes | smoke=yes) >= 0.9\nP(xray=yes | smoke=no) >= 0.9\nsmoke lowers lung\nP(xray=yes) >= 0.9",
    ],
)
def test_no_conflict(text: str) -> None:
    assert check(NET, text).exit_code == 0


@pytest.mark.parametrize("seed", range(30))
def test_what_holds_somewhere_is_never_refuted(seed: int) -> None:
    """Statements that are true of a random network, many of them to the last digit."""
    rng = np.random.default_rng(seed)
    parents = {"b": ["a"], "c": ["a", "b"], "d": ["c"]}
    network = random_network({"a": 2, "b": 3, "c": 2, "d": 2}, parents, seed)
    joint = np.ones(())
    for name in network.names:
        order = [*network.parents[name], name]
        cpt = network.cpt_array(name)
        places = [network.names.index(each) for each in order]
        shape = [len(network.states(each)) if each in order else 1 for each in network.names]
        joint = joint * cpt.transpose(np.argsort(places)).reshape(shape)
    lines = []
    for _ in range(12):
        event, given = (
            {name: str(rng.choice(network.states(name))) for name in rng.permutation(network.names)[:size]}
            for size in (int(rng.integers(1, 3)), int(rng.integers(0, 3)))
        )
        given = {name: state for name, state in given.items() if name not in event}
        value = _probability(network, joint, event | given) / _probability(network, joint, given)
        sides = ", ".join(f"{n}={s}" for n, s in event.items()), ", ".join(f"{n}={s}" for n, s in given.items())
        sign = rng.choice(["<=", ">="])
        slack = float(rng.choice([0.0, 1e-9, 0.1]))
        bound = min(1.0, value + slack) if sign == "<=" else max(0.0, value - slack)
        lines.append(f"P({sides[0]}{' | ' if sides[1] else ''}{sides[1]}) {sign} {bound!r}")
    statements = Knowledge(network, "\n".join(lines)).statements
    assert provable_conflicts(statements, range(len(statements)), network) == ()


def _probability(network: Network, joint: np.ndarray, event: dict[str, str]) -> float:
    chosen = tuple(network.states(name).index(event[name]) if name in event else slice(None) for name in network.names)
    return float(joint[chosen].sum())


def test_the_joint_distribution_of_the_test_is_one() -> None:
    network = random_network({"a": 2, "b": 2}, {"b": ["a"]}, 0)
    by_hand = sum(
        network.cpt_array("a")[a] * network.cpt_array("b")[a, b] for a, b in product(range(2), repeat=2) if b == 1
    )
    joint = network.cpt_array("a")[:, None] * network.cpt_array("b")
    assert _probability(network, joint, {"b": network.states("b")[1]}) == pytest.approx(by_hand)
