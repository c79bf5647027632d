"""Ties against enumeration: exact where rows and ties form no cycle, close elsewhere, and with the right derivative."""

from __future__ import annotations

import numpy as np
import pytest

from credo import Dataset, Network, TieError, TieReading
from credo.constraints.constraint_set import RowTie
from credo.statistics.counts import layout_for_counts
from credo.statistics.inference.expected_counts import expected_cells
from credo.statistics.ties.likelihood import TiedData, tie_rows
from tests.helpers.enumeration import random_network, random_rows
from tests.helpers.tied_likelihood import a_case, constrained, evaluate, log_joint, tied


@pytest.mark.parametrize("seed", range(300))
def test_one_tie_a_row_is_exact(seed: int) -> None:
    network, codes, ties = a_case(np.random.default_rng(seed))
    rows = tied(network, codes, ties)
    assert rows.is_exact
    found = evaluate(network, rows)
    assert found.converged
    assert found.log_likelihood == pytest.approx(constrained(network, codes, ties), abs=1e-9)


@pytest.mark.parametrize("seed", range(300))
def test_several_ties_a_row_are_exact_where_they_form_no_cycle(seed: int) -> None:
    network, codes, ties = a_case(np.random.default_rng([1, seed]), several=True)
    rows = tied(network, codes, ties)
    if rows.is_exact:
        assert evaluate(network, rows).log_likelihood == pytest.approx(constrained(network, codes, ties), abs=1e-6)


def test_ties_in_cycles_are_close() -> None:
    errors = []
    for seed in range(600):
        network, codes, ties = a_case(np.random.default_rng([1, seed]), several=True)
        rows = tied(network, codes, ties)
        if not rows.is_exact:
            errors.append(abs(evaluate(network, rows).log_likelihood - constrained(network, codes, ties)))
    assert len(errors) > 50
    assert np.median(errors) < 0.02
    assert np.quantile(errors, 0.9) < 0.3


@pytest.mark.parametrize("seed", range(50))
def test_joint_ties_are_the_first_term_alone(seed: int) -> None:
    network, codes, ties = a_case(np.random.default_rng([4, seed]))
    found = evaluate(network, tied(network, codes, ties, reading=TieReading.JOINT))
    assert found.log_likelihood == pytest.approx(log_joint(network, codes, ties), abs=1e-9)
    assert not found.chance.any()


@pytest.mark.parametrize("seed", range(100))
def test_merged_ties_are_one_draw(seed: int) -> None:
    generator = np.random.default_rng([3, seed])
    network = random_network(generator, most=4)
    root = next(name for name in network.order if not network.parents[name])
    codes = random_rows(generator, network, 5, 0.5)
    codes[:, network.names.index(root)] = -1
    revealed = codes.copy()
    if seed % 2:
        value = int(generator.integers(len(network.states(root))))
        codes[0, network.names.index(root)], revealed[:3, network.names.index(root)] = value, value
    ties = [RowTie((root,), None, (1, 2, 3), 0), RowTie((root,), None, (4, 5), 0)]
    found = evaluate(network, tied(network, codes, ties, reading=TieReading.MERGED))
    assert found.log_likelihood == pytest.approx(log_joint(network, revealed, ties, merged=True), abs=1e-9)
    assert (found.seen >= -1e-12).all()
    assert not found.chance.any()


@pytest.mark.parametrize("seed", range(100))
def test_the_derivative_is_the_difference_of_expected_counts(seed: int) -> None:
    network, codes, ties = a_case(np.random.default_rng([2, seed]), several=seed % 2 == 0)
    rows = tied(network, codes, ties)
    assert_derivative(rows, rows.prepared.layout.pack(network.cpts), seed)


def assert_derivative(rows: TiedData, theta: np.ndarray, seed: int) -> None:
    """The difference of expected counts is the derivative by the logarithm of a cell, by finite differences."""
    found = rows.expected(theta, rows.start())
    assert found.converged
    for cell in np.random.default_rng(seed).integers(0, len(theta), 5):
        up, down = theta.copy(), theta.copy()
        up[cell] *= 1 + 1e-5
        down[cell] *= 1 - 1e-5
        rise = rows.expected(up, found.evidence).log_likelihood - rows.expected(down, found.evidence).log_likelihood
        assert rise / 2e-5 == pytest.approx(found.seen[cell] - found.chance[cell], abs=1e-4)


def test_without_ties_it_is_what_em_expects() -> None:
    generator = np.random.default_rng(0)
    network = random_network(generator, most=6)
    codes = random_rows(generator, network, 50, 0.4)
    rows = tied(network, codes, [])
    theta = rows.prepared.layout.pack(network.cpts)
    found = rows.expected(theta, rows.start())
    counts, log_likelihood = expected_cells(rows.prepared, theta)
    np.testing.assert_allclose(found.seen, counts, atol=1e-12)
    assert not found.chance.any()
    assert found.log_likelihood == pytest.approx(log_likelihood, abs=1e-9)


def test_a_weight_is_a_number_of_copies() -> None:
    generator = np.random.default_rng(5)
    network = Network({"a": [*"xyz"], "b": [*"xy"]}, {"b": ["a"]}).with_cpts(
        {"a": generator.dirichlet(np.ones(3)), "b": generator.dirichlet(np.ones(2), 3)}
    )
    codes = np.array([[-1, 0], [-1, 1], [-1, 0]], dtype=np.int8)
    weighted = Dataset(network.names, codes, np.array([2.0, 3.0, 1.0]))
    once = tie_rows(layout_for_counts(network), [RowTie(("a",), None, (1, 2), 0)], weighted)
    copied = tied(network, codes[[0, 0, 1, 1, 1, 2]], [RowTie(("a",), None, (1, 2, 3, 4, 5), 0)])
    one, many = evaluate(network, once), evaluate(network, copied)
    assert one.log_likelihood == pytest.approx(many.log_likelihood, abs=1e-12)
    np.testing.assert_allclose(one.seen, many.seen, atol=1e-12)
    np.testing.assert_allclose(one.chance, many.chance, atol=1e-12)


def a_pair(first: int, second: int) -> tuple[Network, np.ndarray]:
    network = Network({"a": [*"xyz"], "b": [*"xy"]}, {"b": ["a"]})
    return network, np.array([[first, 0], [second, 1]], dtype=np.int8)


def test_a_tie_over_different_values_names_the_rows() -> None:
    with pytest.raises(
        TieError, match=r"Rows 1 and 2 are tied to share a, but row 1 holds x and row 2 holds y"
    ) as error:
        tied(*a_pair(0, 1), [RowTie(("a",), None, (1, 2), 0)])
    assert error.value.rows == (1, 2)


def test_a_tie_over_a_known_value_reveals_the_others() -> None:
    rows = tied(*a_pair(-1, 2), [RowTie(("a",), None, (1, 2), 0)])
    assert rows.prepared.dataset.codes[:, 0].tolist() == [2, 2]


def test_ties_that_overlap_are_one() -> None:
    network = Network({"a": [*"xyz"]})
    codes = np.full((5, 1), -1, dtype=np.int8)
    rows = tied(network, codes, [RowTie(("a",), None, (1, 2), 0), RowTie(("a",), None, (2, 4), 1)])
    assert rows.factors.rows.tolist() == [0, 1, 3]


@pytest.mark.parametrize(
    ("codes", "ties", "message"),
    [
        ((0, 0), [RowTie(("a",), None, (1, 2), 0, differ=True)], "both hold x"),
        (
            (-1, -1),
            [RowTie(("a",), None, (1, 2), 0), RowTie(("a",), None, (1, 2), 1, differ=True)],
            "other ties make them share it",
        ),
    ],
)
def test_rows_that_differ_may_not_agree(codes: tuple[int, int], ties: list[RowTie], message: str) -> None:
    with pytest.raises(TieError, match=message):
        tied(*a_pair(*codes), ties)


def test_more_rows_than_states_cannot_all_differ() -> None:
    network = Network({"a": [*"xy"]})
    with pytest.raises(TieError, match="3 rows must all differ in a, which has 2 states"):
        tied(network, np.full((3, 1), -1, dtype=np.int8), [RowTie(("a",), None, (1, 2, 3), 0, differ=True)])


# Several variables of the same rows -----------------------------------------------------------------------------------


def same_rows(seed: int, differ: bool = False) -> tuple[Network, np.ndarray, list[RowTie]]:
    """Two or three variables that the same rows share, and in pairs also differ in, some of them seen in one row."""
    generator = np.random.default_rng([7, seed])
    while True:
        network = random_network(generator, most=4)
        names = [name for name in network.names if len(network.states(name)) > 1]
        if len(names) > 1:
            break
    codes = random_rows(generator, network, 5, 0.5)
    chosen = generator.permutation(names)[: generator.integers(2, 4)].tolist()
    rows = tuple(sorted((generator.permutation(5)[: 2 if differ else generator.integers(2, 4)] + 1).tolist()))
    at = np.array(rows) - 1
    for name in chosen:
        codes[at, network.names.index(name)] = -1
    other = [name for name in chosen if differ and generator.random() < 0.6] or chosen[: int(differ)]
    shared = [name for name in chosen if name not in other]
    ties = [RowTie(tuple(other), None, rows, 0, differ=True)] if other else []
    ties += [RowTie((name,), None, rows, 1 + i) for i, name in enumerate(shared)]
    if differ:  # one value of a pair that differs may be seen
        codes[at[0], network.names.index(other[0])] = generator.integers(-1, len(network.states(other[0])))
    return network, codes, ties


@pytest.mark.parametrize("differ", [False, True])
@pytest.mark.parametrize("seed", range(100))
def test_ties_of_several_variables_over_the_same_rows_are_one_tie(seed: int, differ: bool) -> None:
    network, codes, ties = same_rows(seed, differ)
    rows = tied(network, codes, ties)
    assert rows.is_exact
    found = evaluate(network, rows)
    assert found.converged
    assert found.log_likelihood == pytest.approx(constrained(network, codes, ties), abs=1e-8)
    joint_rows = tied(network, codes, ties, reading=TieReading.JOINT)
    assert evaluate(network, joint_rows).log_likelihood == pytest.approx(log_joint(network, codes, ties), abs=1e-8)


@pytest.mark.parametrize("seed", range(40))
def test_the_derivative_of_ties_over_the_same_rows(seed: int) -> None:
    network, codes, ties = same_rows(seed, differ=seed % 2 == 0)
    rows = tied(network, codes, ties)
    assert_derivative(rows, rows.prepared.layout.pack(network.cpts), seed)


@pytest.mark.parametrize("seed", range(40))
def test_merged_ties_of_several_roots_are_one_draw_of_each(seed: int) -> None:
    generator = np.random.default_rng([8, seed])
    network = Network({"a": [*"xyz"], "b": [*"uv"], "c": [*"mn"]}, {"c": ["a", "b"]}).with_cpts(
        {"a": generator.dirichlet(np.ones(3)), "b": generator.dirichlet(np.ones(2)),
         "c": generator.dirichlet(np.ones(2), (3, 2))}
    )  # fmt: skip
    codes = random_rows(generator, network, 5, 0.3)
    codes[:, :2] = -1
    revealed = codes.copy()
    if seed % 2:
        codes[1, 0], revealed[:3, 0] = 1, 1
    ties = [RowTie(("a", "b"), None, (1, 2, 3), 0), RowTie(("a", "b"), None, (4, 5), 0)]
    found = evaluate(network, tied(network, codes, ties, reading=TieReading.MERGED))
    assert found.log_likelihood == pytest.approx(log_joint(network, revealed, ties, merged=True), abs=1e-9)
    assert (found.seen >= -1e-12).all()
