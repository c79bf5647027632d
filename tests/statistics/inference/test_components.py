"""Components and evaluations: by hand, and against sets in plain Python."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

from credo import Network
from credo.model.layout import Layout, Sensor
from credo.statistics.inference.components import Groups, group_rows
from tests.helpers.enumeration import is_informed, random_network, random_rows

# a → b → c, a → d, and e on its own
NET = Network(
    {name: ["0", "1"] for name in "abcde"}, {"b": ["a"], "c": ["b"], "d": ["a"]}
)  # fmt: skip


def described(layout: Layout, groups: Groups) -> Counter[tuple[frozenset[str], frozenset[str], tuple[int, ...]]]:
    names = layout.network.names
    found: Counter[tuple[frozenset[str], frozenset[str], tuple[int, ...]]] = Counter()
    for e, component in enumerate(groups.component):
        variables = frozenset(names[v] for v in groups.variables(component))
        families = frozenset(names[v] for v in groups.families(component))
        cells = tuple(groups.cells[groups.cell_starts[e] : groups.cell_starts[e + 1]].tolist())
        assert (variables, families, cells) not in found
        found[variables, families, cells] = groups.weights[e]
    return found


def groups_of(rows: list[list[int]], weights: list[float] | None = None) -> tuple[Layout, Groups]:
    layout = Layout.of(NET)
    array = None if weights is None else np.array(weights)
    return layout, group_rows(layout, np.array(rows, dtype=np.int8), array)


def test_what_is_not_connected_is_apart() -> None:
    layout, groups = groups_of([[-1, 0, -1, 1, 0], [0, -1, 1, 1, 1]])
    found = {(variables, families) for variables, families, _ in described(layout, groups)}
    assert found == {(frozenset("a"), frozenset("abd")), (frozenset("b"), frozenset("bc"))}


def test_barren_variables_are_cut() -> None:
    layout, groups = groups_of([[0, 1, -1, -1, -1], [-1, -1, -1, 0, 0]])
    assert {(v, f) for v, f, _ in described(layout, groups)} == {(frozenset("a"), frozenset("ad"))}
    assert dict(zip(NET.names, groups.barren, strict=True)) == {"a": 0, "b": 1, "c": 2, "d": 1, "e": 1}


def test_rows_that_agree_around_a_component_share_its_evaluation() -> None:
    rows = [[-1, 0, 0, 1, 0], [-1, 0, 1, 1, 1], [-1, 0, 1, 0, 1], [-1, 0, 0, 1, 0]]
    layout, groups = groups_of(rows)
    assert groups.distinct_rows == 3
    assert groups.pieces == 3
    assert groups.parts.tolist() == [0, 0, 1]
    assert groups.part_starts.tolist() == [0, 1, 2, 3]
    assert groups.distinct.tolist() == [0, 1, 2, 0]
    assert sorted(described(layout, groups).values()) == [1, 3]
    assert groups.rows.tolist() == [0, 2]


def test_rows_of_weight_zero_say_nothing() -> None:
    layout, groups = groups_of([[-1, 0, 0, 1, 0], [-1, 1, 0, 1, 0]], [0.0, 2.5])
    assert list(described(layout, groups).values()) == [2.5]
    assert groups.rows.tolist() == [1]


def test_complete_rows_need_nothing() -> None:
    _, groups = groups_of([[0, 0, 0, 0, 0], [1, 1, 1, 1, 1]])
    assert len(groups.component) == 0
    assert len(groups.key_starts) == 1


def test_a_sensor_makes_what_it_sees_count() -> None:
    layout = Layout.of(NET, sensors=[Sensor(("c",))])
    codes = np.array([[-1, -1, -1, -1, -1, 0], [-1, -1, 1, -1, -1, 0]], dtype=np.int8)
    groups = group_rows(layout, codes, asked=5)
    assert {tuple(groups.variables(c)) for c in range(2)} == {(0, 1, 2), (0, 1)}
    assert groups.component[groups.answers[0]] == [len(groups.variables(c)) for c in range(2)].index(3)
    assert groups.answers[1] == -1


def naive(layout: Layout, codes: np.ndarray, weights: np.ndarray) -> Counter[tuple[frozenset[str], ...]]:
    network = layout.network
    found: Counter[tuple[frozenset[str], ...]] = Counter()
    for row, weight in zip(codes, weights, strict=True):
        seen = {name for name, code in zip(network.names, row, strict=True) if code >= 0}
        live = is_informed(network, row)
        families = {name: {*network.parents[name], name} for name in live}
        left = live - seen
        while left:
            component, grown = set(), {min(left)}
            while grown != component:
                component = grown
                grown = component.union(*(f - seen for f in families.values() if f & component))
            touching = frozenset(name for name, f in families.items() if f & component)
            values = frozenset(f"{m}={row[network.names.index(m)]}" for name in touching for m in families[name] & seen)
            found[frozenset(component), touching, values] += weight
            left -= component
    return found


@pytest.mark.parametrize("seed", range(60))
def test_against_plain_sets(seed: int) -> None:
    generator = np.random.default_rng(seed)
    network = random_network(generator, most=9)
    layout = Layout.of(network)
    codes = random_rows(generator, network, 40, generator.random())
    weights = generator.integers(1, 4, 40).astype(float)
    groups = group_rows(layout, codes, weights)
    expected = naive(layout, codes, weights)
    assert len(groups.component) == len(expected)
    by_sets: Counter[tuple[frozenset[str], frozenset[str]]] = Counter()
    for (variables, families, _), weight in expected.items():
        by_sets[variables, families] += weight
    mine: Counter[tuple[frozenset[str], frozenset[str]]] = Counter()
    for (variables, families, _), weight in described(layout, groups).items():
        mine[variables, families] += weight
    assert mine == by_sets
    assert sorted(groups.weights) == pytest.approx(sorted(expected.values()))


@pytest.mark.parametrize("seed", range(40))
def test_rows_together_are_grouped_like_each_alone(seed: int) -> None:
    """Weights, first rows, what is barren and the evaluation that each row is asked for, with weights of zero."""
    generator = np.random.default_rng(seed)
    network = random_network(generator, most=9)
    layout = Layout.of(network, sensors=[Sensor((str(generator.choice(network.names)),))])
    codes = np.hstack([random_rows(generator, network, 60, generator.random()), np.zeros((60, 1), dtype=np.int8)])
    weights = generator.integers(0, 3, 60).astype(float)
    groups = group_rows(layout, codes, weights, asked=len(network))
    total, first = np.zeros(len(groups.component)), np.full(len(groups.component), 60)
    barren, number = np.zeros(len(layout.backward)), {evaluated(groups, e): e for e in range(len(groups.component))}
    for row in range(60):
        alone = group_rows(layout, codes[row : row + 1], weights[row : row + 1], asked=len(network))
        barren += alone.barren
        for e in range(len(alone.component)):
            same = number[evaluated(alone, e)]
            total[same] += weights[row]
            first[same] = min(first[same], row)
        asked = int(alone.answers[0])
        assert groups.answers[row] == (number[evaluated(alone, asked)] if asked >= 0 else -1)
    np.testing.assert_array_equal(groups.weights, total)
    np.testing.assert_array_equal(groups.rows, first)
    np.testing.assert_array_equal(groups.barren, barren)


def evaluated(groups: Groups, evaluation: int) -> tuple[tuple[int, ...], ...]:
    component = int(groups.component[evaluation])
    cells = groups.cells[groups.cell_starts[evaluation] : groups.cell_starts[evaluation + 1]]
    return tuple(groups.variables(component)), tuple(groups.families(component)), tuple(cells)


@pytest.mark.parametrize("dtype", [np.int8, np.int16, np.int32, np.int64])
def test_every_kind_of_array_is_grouped_alike(dtype: type[np.signedinteger]) -> None:
    """Codes of all sizes, that cannot be written, and that are a part of others."""
    generator = np.random.default_rng(1)
    codes = generator.integers(-1, 2, (500, len(NET)))
    layout = Layout.of(NET)
    wanted = group_rows(layout, codes.astype(np.int8))
    others = codes.astype(dtype)
    wide = np.zeros((1000, 10), dtype=dtype)
    wide[::2, ::2] = codes
    others.flags.writeable = False
    for same in (others, np.asfortranarray(others), wide[::2, ::2], wide[::2, ::2][::-1][::-1]):
        found = group_rows(layout, same)
        np.testing.assert_array_equal(found.cells, wanted.cells)
        np.testing.assert_array_equal(found.weights, wanted.weights)


def test_many_distinct_rows() -> None:
    """More than the hash tables have space for at first."""
    names = [f"v{i}" for i in range(14)]
    network = Network(dict.fromkeys(names, ("0", "1")), {names[i]: [names[i - 1]] for i in range(1, 14)})
    codes = ((np.arange(2**13)[:, None] >> np.arange(14)) & 1).astype(np.int8)
    codes[:, 0] = -1
    groups = group_rows(Layout.of(network), np.repeat(codes, 2, axis=0))
    assert groups.distinct_rows == 2**12
    assert groups.weights.tolist() == [2**13, 2**13]  # by the state of the only neighbour
    scattered = np.where(np.random.default_rng(0).random((20_000, 14)) < 0.5, -1, 1).astype(np.int8)
    assert group_rows(Layout.of(network), scattered).distinct_rows == len(np.unique(scattered, axis=0))
