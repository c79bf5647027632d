"""A network taken apart says what the full tables say: likelihoods, predictions, draws."""

from __future__ import annotations

import numpy as np
import pytest

from credo import Network, NoisyForm
from credo.model.expansion import expand
from credo.testing import with_missing_values
from tests.helpers.enumeration import joint
from tests.helpers.noisy_families import KINDS, flat, noisy_network

BINARY = ("no", "yes")
CASES = [(kind, leak, seed) for kind in KINDS for leak in (False, True) for seed in (0, 1)]


@pytest.mark.parametrize(("kind", "leak", "seed"), CASES)
def test_the_joint_with_effects_summed_out_is_that_of_the_full_tables(kind: str, leak: bool, seed: int) -> None:
    network = noisy_network(np.random.default_rng(seed), kind, leak, sizes=(2, 3, 2))
    expansion = expand(network)
    everything = joint(expansion.network)
    extra = tuple(range(len(network), len(expansion.network)))
    assert everything.sum(axis=extra) == pytest.approx(joint(flat(network)), abs=1e-12)
    assert set(expansion.extra) == {name for name in expansion.network.names if name not in network}


@pytest.mark.parametrize(("kind", "leak", "seed"), CASES)
def test_likelihoods_and_predictions_are_those_of_the_full_table(kind: str, leak: bool, seed: int) -> None:
    network = noisy_network(np.random.default_rng(seed), kind, leak)
    frame = with_missing_values(network.sample(60, seed=seed), 0.3, seed)
    assert network.log_likelihood(frame) == pytest.approx(flat(network).log_likelihood(frame), rel=1e-10)
    for name in ("y", "x1", "z"):
        own, full = (each.predict(frame.drop(name), name).to_numpy() for each in (network, flat(network)))
        assert own == pytest.approx(full, abs=1e-10)


@pytest.mark.parametrize("kind", KINDS)
def test_draws_follow_the_full_table(kind: str) -> None:
    network = noisy_network(np.random.default_rng(4), kind, leak=True, sizes=(2, 2))
    rows = 40_000
    frame = network.sample(rows, seed=1)
    assert frame.columns == list(network.names)
    assert frame.equals(network.sample(rows, seed=1))
    axes = [network.names.index(name) for name in ("x0", "x1", "y")]
    chances = joint(flat(network)).sum(axis=tuple(i for i in range(len(network)) if i not in axes))
    seen = frame.group_by("x0", "x1", "y").len()
    for *states, count in seen.iter_rows():
        at = tuple(network.states(name).index(state) for name, state in zip(("x0", "x1", "y"), states, strict=True))
        spread = np.sqrt(chances[at] * (1 - chances[at]) / rows)
        assert count / rows == pytest.approx(chances[at], abs=5 * spread)


def test_the_divergence_between_networks_with_noisy_families() -> None:
    one, two = (noisy_network(np.random.default_rng(seed), "noisy-or", leak=True) for seed in (0, 1))
    two = Network(one.variables, one.parents, two.cpts).with_cpts({"y": two.cpt_array("y")})
    p, q = joint(flat(one)), joint(flat(two))
    assert one.kl(two) == pytest.approx(float((p * np.log(p / q)).sum()))


@pytest.mark.parametrize(("kind", "leak", "seed"), CASES)
def test_what_was_taken_apart_goes_together_again(kind: str, leak: bool, seed: int) -> None:
    network = noisy_network(np.random.default_rng(seed), kind, leak)
    expansion = expand(network)
    for canonical in (False, True):
        assert expansion.collapse(expansion.network.cpts, canonical) == network


def test_a_network_without_noisy_families_is_itself() -> None:
    network = flat(noisy_network(np.random.default_rng(0), "noisy-or", leak=False))
    assert expand(network).network is network
    assert expand(network).extra == ()


def test_names_that_are_taken_are_not_taken_twice() -> None:
    names = {"a": BINARY, "y": BINARY, "y by a": BINARY}
    form = NoisyForm("noisy-or", (("a",),), BINARY, False, (np.eye(2),))
    network = Network(names, {"y": ["a"]}, forms={"y": form})
    assert expand(network).effects == {"y": ("y by a'",)}


def test_a_large_family_costs_its_small_tables() -> None:
    names = [f"x{i}" for i in range(40)]
    sets = tuple(tuple(names[i : i + 4]) for i in range(0, 40, 4))
    form = NoisyForm("noisy-or", sets, BINARY, True)
    network = Network({**dict.fromkeys(names, BINARY), "y": BINARY}, {"y": names}, forms={"y": form})
    expansion = expand(network)
    cells = [int(np.prod(expansion.network.shape(name))) for name in expansion.network.names]
    assert max(cells) == 2**5
    assert sum(cells) == 40 * 2 + 10 * 2**5 + 2 + 10 * 2**3
