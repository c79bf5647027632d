"""Elimination plans: what they cost, that nothing is forgotten, and that what is too large is refused."""

from __future__ import annotations

import time

import numpy as np
import pytest

from credo import Network, TooLargeError
from credo.model.layout import Layout
from credo.statistics.inference.components import Groups, group_rows
from credo.statistics.inference.elimination import Plans, make_plans
from tests.helpers.enumeration import random_network, random_rows

HEAD, INPUT = 8, 3  # as in `core/elimination_plan.pxd`


def plans_of(network: Network, codes: list[list[int]] | np.ndarray) -> tuple[Layout, Groups, Plans]:
    layout = Layout.of(network)
    groups = group_rows(layout, np.array(codes, dtype=np.int8))
    return layout, groups, make_plans(layout, groups)


def grid(side: int) -> Network:
    """A square of binary variables, each with the one above and the one before as parents."""
    names = [f"x{i}.{j}" for i in range(side) for j in range(side)]
    parents = {
        f"x{i}.{j}": [p for p in (f"x{i - 1}.{j}", f"x{i}.{j - 1}") if p in set(names)]
        for i in range(side)
        for j in range(side)
    }
    return Network({name: ["0", "1"] for name in names}, parents)


def test_a_chain_costs_its_pairs() -> None:
    chain = Network({f"x{i}": ["a", "b", "c"] for i in range(8)}, {f"x{i}": [f"x{i - 1}"] for i in range(1, 8)})
    _, _, plans = plans_of(chain, [[-1] * 7 + [0]])
    # Seven hidden variables: six pairs of nine cells at most, and nothing larger.
    assert plans.clique_cells.tolist() == [6 * 9]


@pytest.mark.parametrize("seed", range(40))
def test_every_family_and_every_message_is_used_once(seed: int) -> None:
    generator = np.random.default_rng(seed)
    network = random_network(generator, most=12)
    layout, groups, plans = plans_of(network, random_rows(generator, network, 20, 0.7))
    for component in range(len(plans.starts) - 1):
        at, families, sent, read, eliminated = int(plans.starts[component]), [], [], [], 1
        buckets = plans.program[at]
        at += 1
        for bucket in range(buckets):
            block, size, separator, is_root, own, messages, _, message_at = plans.program[at : at + HEAD]
            assert size == block * separator
            assert is_root == (bucket == buckets - 1)
            eliminated *= int(block)
            sent += [] if is_root else [message_at]
            at += HEAD
            inputs = plans.program[at : at + INPUT * (own + messages)].reshape(-1, INPUT)
            families += inputs[:own, 0].tolist()
            read += inputs[own:, 0].tolist()
            at += INPUT * (own + messages)
        assert at == plans.starts[component + 1]
        assert sorted(families) == list(range(len(groups.families(component))))
        assert sorted(read) == sorted(sent)
        assert eliminated == np.prod(layout.sizes[groups.variables(component)])


def test_the_width_of_a_grid_is_about_its_side() -> None:
    side = 8
    codes = np.full((1, side * side), -1)
    codes[0, -1] = 0
    _, _, plans = plans_of(grid(side), codes)
    assert plans.clique_cells[0] <= 64 * 2 ** (side + 2)


def test_what_is_too_large_is_refused_with_its_size_before_anything_is_allocated() -> None:
    side = 40
    network = grid(side)
    layout = Layout.of(network)
    codes = np.full((1, side * side), -1, dtype=np.int8)
    codes[0, -1] = 0
    started = time.perf_counter()
    with pytest.raises(TooLargeError, match=r"would need .* [kMGTPB]+ for one group of hidden variables") as refused:
        make_plans(layout, group_rows(layout, codes))
    assert refused.value.bytes_needed > 2**40
    assert "x" in str(refused.value).split("at once:")[1]
    assert time.perf_counter() - started < 30


def test_the_limit_can_be_set() -> None:
    network = grid(4)
    codes = np.full((1, 16), -1, dtype=np.int8)
    codes[0, -1] = 0
    layout = Layout.of(network)
    groups = group_rows(layout, codes)
    with pytest.raises(TooLargeError, match="1.0 kB are allowed"):
        make_plans(layout, groups, memory_limit=1000)
    assert len(make_plans(layout, groups, memory_limit=10**6).starts) == 2
