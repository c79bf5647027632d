"""Counts: right against a plain loop, and a monoid."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from credo import Dataset, Network, NetworkError, TooLargeError
from credo.io.dataset import concatenate
from credo.model.layout import check_size
from credo.statistics.counts import Counts, count, count_all, empty, layout_for_counts, merge
from credo.testing import random_network

NET = random_network({"a": 2, "b": 3, "c": 4}, {"c": ("b", "a"), "b": ("a",)}, seed=5)


def random_dataset(rows: int, seed: int, weighted: bool, incomplete: bool, network: Network = NET) -> Dataset:
    generator = np.random.default_rng(seed)
    low = -1 if incomplete else 0
    columns = [generator.integers(low, len(variable.states), rows) for variable in network.variables]
    weights = generator.integers(0, 4, rows) / 2 if weighted else None
    return Dataset(network.names, np.column_stack(columns).astype(np.int8), weights)


def plain_counts(network: Network, dataset: Dataset) -> dict[str, Counter[tuple[int, ...]]]:
    """The oracle: a dictionary and a loop."""
    position = {name: i for i, name in enumerate(network.names)}
    weights = np.ones(len(dataset)) if dataset.weights is None else dataset.weights
    counters: dict[str, Counter[tuple[int, ...]]] = {name: Counter() for name in network.names}
    for codes, weight in zip(dataset.codes.tolist(), weights, strict=True):
        for name in network.names:
            key = tuple(codes[position[member]] for member in (*network.parents[name], name))
            if min(key) >= 0:
                counters[name][key] += weight
    return counters


def assert_same(counts: Counts, network: Network, dataset: Dataset) -> None:
    for name, expected in plain_counts(network, dataset).items():
        table = counts.of(name).reshape(network.shape(name))
        for key in np.ndindex(table.shape):
            assert table[key] == expected[key]
        for row in range(network.configurations(name)):
            assert counts.configuration(name, row).tolist() == counts.of(name)[row].tolist()


@pytest.mark.parametrize("dense_cells", [0, 10, 10**6])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("incomplete", [False, True])
def test_counts_are_those_of_a_plain_loop(dense_cells: int, weighted: bool, incomplete: bool) -> None:
    families = layout_for_counts(NET, dense_cells)
    dataset = random_dataset(2500, 3, weighted, incomplete)
    counts = count(families, dataset)
    assert_same(counts, NET, dataset)
    assert counts.rows == 2500
    missed = {name: counts.total - sum(c.values()) for name, c in plain_counts(NET, dataset).items()}
    assert counts.missing() == pytest.approx({name: weight for name, weight in missed.items() if weight})


@settings(max_examples=60, deadline=None)
@given(
    sizes=st.tuples(st.integers(0, 40), st.integers(0, 40)),
    seed=st.integers(0, 10**6),
    weighted=st.booleans(),
    dense_cells=st.sampled_from([0, 10, 10**6]),
)
def test_counts_are_a_monoid(sizes: tuple[int, int], seed: int, weighted: bool, dense_cells: int) -> None:
    families = layout_for_counts(NET, dense_cells)
    left, right = (random_dataset(rows, seed + i, weighted, incomplete=True) for i, rows in enumerate(sizes))
    together = count(families, concatenate([left, right]))
    merged = merge(count(families, left), count(families, right))
    with_nothing = merge(empty(families), merged)
    for other in (merged, with_nothing, count_all(families, [left, right])):
        assert other.rows == together.rows
        assert other.total == together.total
        assert other.incomplete.tolist() == together.incomplete.tolist()
        for name in NET.names:
            assert other.of(name).tolist() == together.of(name).tolist()


def test_counts_of_two_networks_do_not_mix() -> None:
    other = random_network({"a": 2}, {}, seed=1)
    with pytest.raises(NetworkError):
        merge(empty(layout_for_counts(NET)), empty(layout_for_counts(other)))
    with pytest.raises(NetworkError):
        count(layout_for_counts(other), random_dataset(3, 1, False, False))


def many_parents(parents: int, states: int) -> Network:
    names = [f"p{i}" for i in range(parents)]
    variables = {name: [f"s{k}" for k in range(states)] for name in names} | {"y": ["no", "yes"]}
    return Network(variables, {"y": names})


def test_a_table_with_a_trillion_cells_is_counted_sparsely() -> None:
    network = many_parents(20, 4)
    dataset = random_dataset(100, 1, False, False, network)
    counts = count(layout_for_counts(network), dataset)
    keys, values = counts.sparse["y"]
    assert values.sum() == 100
    row = int(keys[0]) // 2
    assert counts.configuration("y", row)[keys[0] % 2] == values[0]
    assert sum(counts.configuration("y", row + 1)) <= 100


def test_a_table_that_cannot_be_held_is_refused_with_its_size() -> None:
    with pytest.raises(TooLargeError, match=r"17\.6 TB.*y with 20 parents") as caught:
        check_size(many_parents(20, 4))
    assert caught.value.bytes_needed == 8 * (2 * 4**20 + 80)
    check_size(many_parents(10, 4))
    with pytest.raises(TooLargeError):
        check_size(many_parents(10, 4), limit=10**6)


def test_a_table_whose_cells_cannot_be_numbered_is_refused() -> None:
    with pytest.raises(TooLargeError, match="too many even to number"):
        layout_for_counts(many_parents(40, 4))
