"""Draws under statements about any probability: every one satisfies them, and they are those that rejection leaves."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import Any

import numpy as np
import polars as pl
import pytest

import credo
from credo import CredoError, Status
from credo.sampling.vectorised.general_updates import general_sweeps
from credo.statistics.inference.clique_tree import SEND, clique_tree
from credo.testing import with_missing_values
from tests.helpers.amounts import seeds
from tests.helpers.general import ABC, EVERYTHING, draws_of, joint_of, joints_of, probability

BARE = ABC.without_cpts()
# Statements that bind nothing, so that draws of all parameters are kept.
FEW = credo.PosteriorOptions(chains=4, draws=150, warmup=60, max_draws=150)


@pytest.mark.parametrize("compiled", [False, pytest.param(True, marks=pytest.mark.slow)])
def test_every_draw_satisfies_the_statements_and_so_do_the_cpts(
    compiled: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    if compiled:
        monkeypatch.setattr("credo.sampling.vectorised.general_updates.MOST_MOVES", 0)
    text = "P(c=s1) <= 0.55\nP(a=s1 | c=s1) >= 0.8\nP(b=s1) <= P(c=s1)\na raises b"
    fit = credo.fit(BARE, ABC.sample(25, seed=1), text, method="posterior", posterior=FEW)
    joint = joints_of(fit)
    c = joint[..., 1].sum(axis=(1, 2))
    assert c.max() <= 0.55 + 1e-9
    assert (joint[:, 1, :, 1].sum(axis=1) / c).min() >= 0.8 - 1e-9
    assert (joint[:, :, 1].sum(axis=(1, 2)) - c).max() <= 1e-9
    assert c.std() > 0.005
    assert fit.status in (Status.AVERAGED, Status.NOT_MIXED)
    assert not len(fit.violations())
    assert fit.explain().statements


@pytest.mark.slow
def test_an_equality_holds_within_its_width_and_exactly_in_the_cpts() -> None:
    fit = credo.fit(BARE, ABC.sample(25, seed=1), "P(c=s1) = 0.5", method="posterior", posterior=FEW)
    np.testing.assert_allclose(joints_of(fit)[..., 1].sum(axis=(1, 2)), 0.5, atol=0.002 + 1e-9)
    found = probability(BARE, joint_of(BARE, fit.network.cpts), {"c": 1}, {})
    assert found == pytest.approx(0.5, abs=1e-8)
    assert any("hold within 0.2%" in str(each) for each in fit.findings)


@pytest.mark.parametrize("text", ["P(a=s1 | c=s1) >= 1.1 * P(a=s1)", "P(c=s1 | b=s1) - P(c=s1 | b=s2) >= 0.1"])
def test_plain_draws_stay_where_statements_about_several_probabilities_hold(
    text: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A probability changes, too, where its condition alone becomes likelier: N/D with another D."""
    asked: list[object] = []

    def watched(*given: Any) -> object:
        asked.append(general_sweeps(*given))
        return asked[-1]

    monkeypatch.setattr("credo.sampling.posterior.general_sweeps", watched)
    fit = credo.fit(BARE, ABC.sample(25, seed=1), text, method="posterior", posterior=FEW)
    assert asked[0] is not None  # no compiled code
    joint = joints_of(fit)
    if text.startswith("P(a"):
        given = joint[:, 1, :, 1].sum(axis=1) / joint[..., 1].sum(axis=(1, 2))
        assert (given - 1.1 * joint[:, 1].sum(axis=(1, 2))).min() >= -1e-9
    else:
        of_c = joint[..., 1].sum(axis=1) / joint.sum(axis=(1, 3))
        assert (of_c[:, 1] - of_c[:, 2]).min() >= 0.1 - 1e-9


@pytest.mark.parametrize("compiled", [False, True])
def test_missing_values_are_drawn_with_them(compiled: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    if compiled:
        monkeypatch.setattr("credo.sampling.vectorised.general_updates.MOST_MOVES", 0)
    rows = with_missing_values(ABC.sample(40, seed=2), 0.15, seed=1)
    fit = credo.fit(BARE, rows, "P(c=s1) <= 0.5", method="posterior", posterior=FEW, em=credo.EMOptions(starts=1))
    assert joints_of(fit)[..., 1].sum(axis=(1, 2)).max() <= 0.5 + 1e-9
    assert not len(fit.violations())


@pytest.mark.slow
@pytest.mark.parametrize("way", ["plain", "compiled", "compiled, in rounds"])
@pytest.mark.parametrize("case", range(5))
def test_they_are_what_rejection_leaves(case: int, way: str, monkeypatch: pytest.MonkeyPatch) -> None:
    if way != "plain":
        monkeypatch.setattr("credo.sampling.vectorised.general_updates.MOST_MOVES", 0)
    if "rounds" in way:  # every second distribution is updated three times as often
        monkeypatch.setattr(
            "credo.sampling.compiled_chains.needed_effort", lambda spent, *_: 1 + 2 * (np.arange(len(spent)) % 2)
        )
    rows = ABC.sample(25, seed=1)
    many = credo.PosteriorOptions(chains=16, draws=4000, max_draws=4000)
    free = credo.fit(BARE, rows, EVERYTHING, method="posterior", posterior=many)
    joint, draws = joints_of(free), draws_of(free)
    a, b, c = joint[:, 1].sum(axis=(1, 2)), joint[:, :, 1].sum(axis=(1, 2)), joint[..., 1].sum(axis=(1, 2))
    given = joint[:, 1, :, 1].sum(axis=1) / c
    prevalence, diagnostic, difference = np.median(c), np.median(given), np.median(b - c)
    text, weights = (
        (f"P(c=s1) <= {prevalence - 0.05}", c <= prevalence - 0.05),
        (f"P(a=s1 | c=s1) >= {diagnostic + 0.08}", given >= diagnostic + 0.08),
        (f"P(b=s1) - P(c=s1) >= {difference + 0.05}", b - c >= difference + 0.05),
        ("P(a=s1 | c=s1) >= 1.1 * P(a=s1)", given >= 1.1 * a),
        (
            f"P(c=s1) <= {prevalence - 0.05} with confidence 0.8",
            np.exp(-0.5 * 500.0 * 0.8 * np.maximum(c - prevalence + 0.05, 0.0) ** 2),
        ),
    )[case]
    weights = weights / weights.sum()
    mean = weights @ draws
    deviation = np.sqrt(weights @ (draws - mean) ** 2)
    options = credo.PosteriorOptions(chains=8, draws=2500, max_draws=2500)
    fit = credo.fit(
        BARE,
        rows,
        f"{EVERYTHING}\n{text}",
        method="posterior",
        posterior=options,
        optimiser=credo.OptimiserOptions(soft_weight=500.0),
    )
    own = draws_of(fit)
    size = min(float(np.min(fit.posterior.effective_sizes)), 0.3 / float(weights @ weights))  # type: ignore[union-attr]
    assert (np.abs(own.mean(axis=0) - mean) <= 5.0 * deviation / np.sqrt(size)).all()
    np.testing.assert_allclose(own.std(axis=0), deviation, rtol=0.12)


@pytest.mark.slow
@pytest.mark.parametrize("compiled", [False, True])
def test_with_missing_values_they_are_what_rejection_leaves(compiled: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    if compiled:
        monkeypatch.setattr("credo.sampling.vectorised.general_updates.MOST_MOVES", 0)
    rows = with_missing_values(ABC.sample(40, seed=2), 0.2, seed=1)
    options = {"method": "posterior", "em": credo.EMOptions(starts=1)}
    many = credo.PosteriorOptions(chains=16, draws=2000, max_draws=2000)
    free = credo.fit(BARE, rows, EVERYTHING, posterior=many, **options)
    c, draws = joints_of(free)[..., 1].sum(axis=(1, 2)), draws_of(free)
    most = np.median(c) - 0.03
    kept = draws[c <= most]
    own = draws_of(credo.fit(BARE, rows, f"{EVERYTHING}\nP(c=s1) <= {most}", posterior=many, **options))
    assert (np.abs(own.mean(axis=0) - kept.mean(axis=0)) <= 0.12 * kept.std(axis=0)).all()
    np.testing.assert_allclose(own.std(axis=0), kept.std(axis=0), rtol=0.15)


def test_an_equality_between_cpts_beside_them_is_refused() -> None:
    rows = pl.DataFrame({"x": ["n", "y"] * 5, "y": ["n", "y"] * 5, "z": ["n", "n", "y", "y", "y"] * 2})
    network = credo.Network({key: ["n", "y"] for key in "xyz"}, {"y": ["x"], "z": ["y"]})
    with pytest.raises(CredoError, match="cannot draw the CPTs of x and y under an equality between them"):
        credo.fit(network, rows, "P(x=y) = P(y=y | x=n)\nP(z=y) <= 0.9", method="posterior")


@pytest.mark.parametrize("seed", seeds(20, 300))
def test_messages_of_the_tree_give_all_derivatives(seed: int) -> None:
    """A plain loop over the operations of the tree, against enumeration."""
    rng = np.random.default_rng(seed)
    count = int(rng.integers(1, 7))
    sizes = rng.integers(1, 4, count).tolist()
    scopes = [(*(int(v) for v in np.flatnonzero(rng.random(k) < 0.45)), k) if k else (0,) for k in range(count)]
    tables = [rng.random([sizes[v] for v in scope]) for scope in scopes]
    indicators = [(rng.random((sizes[v], 3)) < 0.8).astype(float) for v in range(count)]
    firsts = np.cumsum([0, *(table.size for table in tables)])
    families = [
        (scope, [int(s) // 8 for s in table.strides], int(first))
        for scope, table, first in zip(scopes, tables, firsts, strict=False)
    ]
    tree = clique_tree(sizes, families, [True] * count, range(count), 3)
    cells, flags = np.concatenate([table.ravel() for table in tables]), np.concatenate(indicators)
    messages = np.zeros((int(tree.messages[-1]), 3))
    for kind, clique, which in (*tree.collecting.tolist(), *tree.operations.tolist()):
        message, family = (which, -1) if kind == SEND else (-1, which)
        total = np.ones((int(tree.counts[clique]), 3))
        cell = np.arange(len(total))
        target = int(tree.outs[message]) if kind == SEND else -1
        for number, place in tree.family_inputs[tree.family_starts[clique] : tree.family_starts[clique + 1]].tolist():
            if number == family:
                target = place
            else:
                total *= cells[tree.maps[place + cell]][:, None]
        inputs = tree.indicator_inputs[tree.indicator_starts[clique] : tree.indicator_starts[clique + 1]]
        for first, place in inputs.tolist():
            total *= flags[first + tree.maps[place + cell]]
        inputs = tree.message_inputs[tree.message_starts[clique] : tree.message_starts[clique + 1]]
        for number, place in inputs.tolist():
            if message < 0 or number != message ^ 1:
                total *= messages[tree.messages[number] + tree.maps[place + cell]]
        if kind == SEND:
            own = messages[tree.messages[which] : tree.messages[which + 1]]
            own[:] = 0.0
            np.add.at(own, tree.maps[target + cell], total)
            continue
        found = np.zeros((tables[which].size, 3))
        np.add.at(found, tree.maps[target + cell] - firsts[which], total)
        np.testing.assert_allclose(found, _derivative(which, sizes, scopes, tables, indicators), rtol=1e-10, atol=1e-14)
        tables[which] = rng.random(tables[which].shape)  # what comes next is up to date
        cells[firsts[which] : firsts[which + 1]] = tables[which].ravel()


def _derivative(
    which: int,
    sizes: list[int],
    scopes: list[tuple[int, ...]],
    tables: list[np.ndarray],
    indicators: list[np.ndarray],
) -> np.ndarray:
    """∂ Σ Π tables · Π indicators / ∂ one table, by one sum over everything."""
    letters = "abcdefg"
    operands, arrays = [], []
    for number, (scope, table) in enumerate(zip(scopes, tables, strict=True)):
        if number != which:
            operands.append("".join(letters[v] for v in scope))
            arrays.append(table)
    for v, indicator in enumerate(indicators):
        operands.append(f"{letters[v]}z")
        arrays.append(indicator)
    out = "".join(letters[v] for v in scopes[which])
    return np.einsum(f"{','.join(operands)}->{out}z", *arrays).reshape(-1, 3)


ALWAYS_SENT = """
import numpy as np, credo
from credo.kernels import general_messages, general_sweeps
from credo.sampling import compiled_chains
from credo.sampling.vectorised import general_updates
from credo.testing import random_network

general_updates.MOST_MOVES = 0
compiled_chains.needed_effort = lambda spent, *_: 1 + 7 * (np.arange(len(spent)) == 4)

def always(tree, general, clique, message, messages, room, times):
    out = messages[tree.messages[message] : tree.messages[message + 1]]
    general_messages.multiply_clique(tree, general, clique, -1, message, messages, room.slopes, out)

network = random_network(dict.fromkeys("abcde", 2), {"b": ["a"], "c": ["b"], "d": ["c"], "e": ["b"]}, seed=3)
text = "P(d=s1) <= 0.6; P(a=s1 | d=s1) >= 0.2; P(e=s1) >= 0.3; P(c=s1 | e=s1) <= 0.8".replace("; ", "\\n")
few = credo.PosteriorOptions(chains=2, draws=50, warmup=10, max_draws=50)
rows, draws = network.sample(20, seed=1), []
for send in (general_sweeps.send, always):
    general_sweeps.send = send
    fit = credo.fit(network.without_cpts(), rows, text, method="posterior", seed=0, posterior=few)
    draws.append(fit.posterior.draws)
assert np.array_equal(*draws)
"""


@pytest.mark.slow
def test_messages_that_are_not_sent_again_change_no_draw() -> None:
    """The sweeps in plain Python, where functions can be replaced."""
    environment = {**os.environ, "NUMBA_DISABLE_JIT": "1"}
    subprocess.run([sys.executable, "-W", "ignore", "-c", ALWAYS_SENT], check=True, env=environment)
