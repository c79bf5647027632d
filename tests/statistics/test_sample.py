"""Drawing rows: the right frequencies, the same rows for the same seed, nothing impossible."""

from __future__ import annotations

import numpy as np
import pytest

from credo import Network, NetworkError, OptionError, TooLargeError, read_table


def test_frequencies_are_those_of_the_joint(mixed: Network) -> None:
    rows = 200_000
    codes = read_table(mixed, mixed.sample(rows, seed=1)).codes
    joint = np.einsum("a,ab,bac->abc", mixed.cpt_array("a"), mixed.cpt_array("b"), mixed.cpt_array("c"))
    seen = np.zeros(joint.shape)
    np.add.at(seen, tuple(codes.T), 1)
    error = (seen / rows - joint) / np.sqrt(joint * (1 - joint) / rows)
    assert np.abs(error).max() < 5


def test_the_same_seed_gives_the_same_rows(mixed: Network) -> None:
    assert mixed.sample(50, 3).equals(mixed.sample(50, 3))
    assert not mixed.sample(50, 3).equals(mixed.sample(50, 4))


def test_impossible_states_are_never_drawn() -> None:
    network = Network({"x": ("a", "b", "c", "d")}, cpts={"x": [0.0, 0.5, 0.5, 0.0]})
    assert set(network.sample(10_000).get_column("x").unique()) == {"b", "c"}


def test_no_rows_and_fewer_than_none(mixed: Network) -> None:
    assert mixed.sample(0).shape == (0, 3)
    with pytest.raises(OptionError):
        mixed.sample(-1)
    with pytest.raises(NetworkError, match="no CPT"):
        mixed.without_cpts().sample(1)


def test_a_seed_may_be_a_generator(mixed: Network) -> None:
    generator = np.random.default_rng(3)
    first, second = mixed.sample(50, generator), mixed.sample(50, generator)
    assert not first.equals(second)
    assert first.equals(mixed.sample(50, np.random.default_rng(3)))
    for seed in (-1, 0.5, "one", True, None):
        with pytest.raises(OptionError, match="seed"):
            mixed.sample(5, seed)


def test_more_rows_than_fit_into_memory_are_refused(mixed: Network) -> None:
    with pytest.raises(TooLargeError, match="rows would take .* are allowed. Draw fewer"):
        mixed.sample(10**12)
