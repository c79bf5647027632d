"""Rows completed and simulated: against all joint states, enumerated one by one."""

from __future__ import annotations

from itertools import pairwise, product

import numpy as np
import pytest

import credo
from credo.statistics.completed_rows import completed_codes, completion_of, simulated_codes
from credo.types import Numbers

NETWORK = credo.Network(
    {"a": ["0", "1"], "b": ["0", "1", "2"], "c": ["0", "1"], "d": ["0", "1"], "e": ["0", "1"]},
    {"b": ["a"], "c": ["a", "b"], "d": ["c"], "e": ["d", "b"]},
)
SIZES = [len(NETWORK.states(name)) for name in NETWORK.names]


def random_cpts(rng: np.random.Generator, draws: int) -> dict[str, Numbers]:
    return {
        name: rng.dirichlet(np.ones(len(NETWORK.states(name))), size=(draws, NETWORK.configurations(name)))
        for name in NETWORK.names
    }


def joint_of(cpts: dict[str, Numbers], draw: int) -> Numbers:
    """P(all variables), by multiplying CPTs for every joint state."""
    found = np.ones(SIZES)
    for state in product(*map(range, SIZES)):
        values = dict(zip(NETWORK.names, state, strict=True))
        for name in NETWORK.names:
            configuration = 0
            for parent in NETWORK.parents[name]:
                configuration = configuration * len(NETWORK.states(parent)) + values[parent]
            found[state] *= cpts[name][draw, configuration, values[name]]
    return found


@pytest.mark.parametrize(
    "row",
    [
        [-1, 1, 0, 1, 0],  # one value
        [-1, -1, 1, -1, 0],  # several that depend on each other
        [0, -1, 1, -1, -1],  # one with, others without observed descendants
        [-1, 2, -1, -1, -1],
        [-1, -1, -1, -1, -1],  # nothing is known
        [1, 2, -1, 0, -1],
    ],
)
def test_missing_values_have_their_exact_distribution(row: list[int]) -> None:
    rng = np.random.default_rng(3)
    cpts, copies = random_cpts(rng, 1), 20_000
    completion = completion_of(NETWORK, np.array([row] * copies, dtype=np.int8), 10**9)
    assert completion is not None
    codes = completed_codes(completion, cpts, [0], rng)[0]
    joint = joint_of(cpts, 0)
    seen = tuple(slice(None) if value < 0 else slice(value, value + 1) for value in row)
    exact = np.zeros_like(joint)
    exact[seen] = joint[seen] / joint[seen].sum()
    shares = np.bincount(np.ravel_multi_index(codes.T, SIZES), minlength=joint.size).reshape(SIZES) / copies
    assert np.abs(shares - exact).max() < 5 * 0.5 / np.sqrt(copies)
    assert (shares[exact == 0.0] == 0.0).all()


def test_each_draw_completes_rows_by_its_own_cpts() -> None:
    rng = np.random.default_rng(4)
    cpts = random_cpts(rng, 3)
    cpts["a"] = cpts["a"][:1]  # the same in all draws
    rows = np.array([[-1, 1, 1, 1, 0]] * 4000, dtype=np.int8)
    completion = completion_of(NETWORK, rows, 10**9)
    assert completion is not None
    codes = completed_codes(completion, cpts, [2, 0], rng)
    for found, draw in zip(codes, (2, 0), strict=True):
        joint = joint_of({**cpts, "a": np.repeat(cpts["a"], 3, axis=0)}, draw)[:, 1, 1, 1, 0]
        assert found[:, 0].mean() == pytest.approx(joint[1] / joint.sum(), abs=0.04)


def test_rows_with_different_values_missing_stay_what_they_show() -> None:
    rng = np.random.default_rng(5)
    cpts = random_cpts(rng, 2)
    complete = simulated_codes(NETWORK, cpts, [0], 300, rng)[0]
    rows = np.where(rng.random(complete.shape) < 0.3, -1, complete).astype(np.int8)
    completion = completion_of(NETWORK, rows, 10**9)
    assert completion is not None
    codes = completed_codes(completion, cpts, [0, 1], rng)
    assert (codes >= 0).all()
    assert (codes < np.array(SIZES)).all()
    assert (codes[:, rows >= 0] == rows[rows >= 0]).all()


def test_simulated_rows_have_the_joint_distribution() -> None:
    rng = np.random.default_rng(6)
    cpts = random_cpts(rng, 2)
    codes = simulated_codes(NETWORK, cpts, [1], 20_000, rng)[0]
    shares = np.bincount(np.ravel_multi_index(codes.T, SIZES), minlength=48).reshape(SIZES) / 20_000
    assert np.abs(shares - joint_of(cpts, 1)).max() < 0.015


def test_too_many_terms_are_refused() -> None:
    rows = np.full((100, 5), -1, dtype=np.int8)
    rows[:, 4] = 0
    assert completion_of(NETWORK, rows, 100) is None
    assert completion_of(NETWORK, rows, 100_000) is not None


def test_more_joint_states_than_any_integer_counts_are_too_many() -> None:
    """2^64 of them are 0 where 64 bits are all there are."""
    names = [f"v{i}" for i in range(65)]
    chain = credo.Network({name: ["0", "1"] for name in names}, {b: [a] for a, b in pairwise(names)})
    row = np.full((1, 65), -1, dtype=np.int8)
    row[0, -1] = 0  # everything before it matters
    assert completion_of(chain, row, 10**9) is None
