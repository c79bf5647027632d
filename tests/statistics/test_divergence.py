"""The divergence of two networks, against the enumerated joint distribution."""

import itertools
from math import inf, log

import numpy as np
import pytest

from credo import Network, NetworkError
from credo.statistics.likelihood import kl


def random_network(random: np.random.Generator, zeros: float = 0.0) -> Network:
    names = [f"v{i}" for i in range(random.integers(1, 6))]
    variables = {name: [f"s{k}" for k in range(random.integers(1, 4))] for name in random.permutation(names).tolist()}
    parents = {name: random.permutation(names[:i])[: random.integers(0, 4)].tolist() for i, name in enumerate(names)}
    structure = Network(variables, parents)
    return structure.with_cpts({name: random_table(random, structure.shape(name), zeros) for name in names})


def random_table(random: np.random.Generator, shape: tuple[int, ...], zeros: float) -> np.ndarray:
    table = random.random(shape) * (random.random(shape) >= zeros) + 1e-300
    table[table < 1e-200] = 0
    table[..., 0] += table.sum(axis=-1) == 0
    return table / table.sum(axis=-1, keepdims=True)


def shuffled(random: np.random.Generator, network: Network) -> Network:
    """The same distribution with variables, states and parents in other orders."""
    variables = {
        name: random.permutation(network.states(name)).tolist() for name in random.permutation(network.names).tolist()
    }
    parents = {name: random.permutation(network.parents[name]).tolist() for name in network.names}
    tables = {}
    for name, table in network.cpts.items():
        axes = [*network.parents[name], name]
        for axis, member in enumerate(axes):
            table = table.take([network.states(member).index(state) for state in variables[member]], axis=axis)
        tables[name] = table.transpose([axes.index(member) for member in (*parents[name], name)])
    return Network(variables, parents, tables)


def joint_probability(network: Network, row: dict[str, str]) -> float:
    probability = 1.0
    for name in network.names:
        at = tuple(network.states(member).index(row[member]) for member in (*network.parents[name], name))
        probability *= float(network.cpt_array(name)[at])
    return probability


def enumerated(network: Network, other: Network) -> float:
    total = 0.0
    for states in itertools.product(*(network.states(name) for name in network.names)):
        row = dict(zip(network.names, states, strict=True))
        p, q = joint_probability(network, row), joint_probability(other, row)
        if p > 0:
            total += p * log(p / q) if q > 0 else inf
    return total


@pytest.mark.parametrize("seed", range(200))
def test_divergence_is_that_of_the_joint_distributions(seed: int) -> None:
    random = np.random.default_rng(seed)
    network = random_network(random, zeros=0.3 * (seed % 2))
    zeros = 0.1 * (seed % 3 == 0)
    other = network.with_cpts({name: random_table(random, network.shape(name), zeros) for name in network.names})
    expected = enumerated(network, other)
    assert kl(network, other) == pytest.approx(expected, rel=1e-9, abs=1e-12)
    assert kl(network, shuffled(random, other)) == pytest.approx(expected, rel=1e-9, abs=1e-12)


@pytest.mark.parametrize("seed", range(20))
def test_a_network_is_not_apart_from_itself(seed: int) -> None:
    random = np.random.default_rng(seed)
    network = random_network(random, zeros=0.2)
    assert kl(network, network) == 0
    assert kl(network, shuffled(random, network)) == 0
    assert network.kl(network) == 0


COIN = Network({"a": ["x", "y"], "b": ["p", "q"]}, {"b": ["a"]}, {"a": [1.0, 0.0], "b": [[0.5, 0.5], [0.5, 0.5]]})


def test_by_hand() -> None:
    other = COIN.with_cpts({"b": [[0.25, 0.75], [0.5, 0.5]]})
    assert kl(COIN, other) == pytest.approx(0.5 * log(2) + 0.5 * log(2 / 3))


def test_what_the_other_rules_out_is_infinitely_far_unless_it_cannot_happen() -> None:
    assert kl(COIN, COIN.with_cpts({"b": [[0.0, 1.0], [0.5, 0.5]]})) == inf
    assert kl(COIN, COIN.with_cpts({"b": [[0.5, 0.5], [0.0, 1.0]]})) == 0


@pytest.mark.parametrize(
    ("other", "message"),
    [
        (Network({"a": ["x", "y"]}, {}, {"a": [1.0, 0.0]}), 'no variable "b"'),
        (Network({"a": ["x", "y"], "b": ["p", "q"]}, {}, {"a": [1, 0], "b": [1, 0]}), "b has the parents a here"),
        (
            Network({"a": ["x", "z"], "b": ["p", "q"]}, {"b": ["a"]}, {"a": [1, 0], "b": [[1, 0], [1, 0]]}),
            "a has the states x, y here and x, z there",
        ),
        (
            Network({"a": ["x", "y"], "b": ["p", "q"], "c": ["r"]}, {"b": ["a"]}, dict(COIN.cpts)),
            "Only the other network has c",
        ),
        (COIN.without_cpts(), "has no CPT"),
    ],
)
def test_networks_that_do_not_match_are_an_error(other: Network, message: str) -> None:
    with pytest.raises(NetworkError, match=message):
        kl(COIN, other)


def test_names_that_trouble_pyagrum_do_not_trouble_the_divergence() -> None:
    variables = {"\0": ["\ud800", "y"], "\ud800": ["p", "q"]}
    tables = {"\0": [0.25, 0.75], "\ud800": [[0.5, 0.5], [0.5, 0.5]]}
    network = Network(variables, {"\ud800": ["\0"]}, tables)
    other = network.with_cpts({"\ud800": [[0.25, 0.75], [0.5, 0.5]]})
    assert kl(network, other) == pytest.approx(0.25 * (0.5 * log(2) + 0.5 * log(2 / 3)))
