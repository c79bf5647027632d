"""Plans of questions: what is too large is refused soon, with figures, and the search for an order ends."""

from __future__ import annotations

from time import process_time

import pytest

import credo
from credo.statistics.inference import batched


def grid(side: int) -> credo.Network:
    """Variables of two states side by side, each of which depends on its neighbours to the left and above."""
    parents = {
        f"v{row}_{column}": [
            *([f"v{row - 1}_{column}"] if row else []),
            *([f"v{row}_{column - 1}"] if column else []),
        ]
        for row in range(side)
        for column in range(side)
    }
    return credo.Network({name: ["no", "yes"] for name in parents}, parents)


def plan(network: credo.Network) -> batched.Plan:
    place = {name: number for number, name in enumerate(network.names)}
    scopes = [tuple(place[each] for each in (name, *network.parents[name])) for name in network.names]
    return batched.make_plan([2] * len(network), scopes, (), network.names)


def test_a_network_that_is_too_entangled_is_refused_soon_with_figures() -> None:
    began = process_time()
    with pytest.raises(credo.TooLargeError, match=r"would need [0-9.]+ .B or more; .* look at [0-9]+ variables"):
        plan(grid(70))
    assert process_time() - began < 30


def test_an_order_is_found_where_the_search_for_a_better_one_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    usual = plan(grid(7))
    batched._make_plan.cache_clear()
    monkeypatch.setattr(batched, "MOST_COMPARED", 10)
    monkeypatch.setattr(batched, "FEW_CELLS", 0)
    assert plan(grid(7)).largest >= usual.largest
    batched._make_plan.cache_clear()
