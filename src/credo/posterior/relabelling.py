"""Exchangeable states of hidden variables, named alike in every draw.

Where nothing tells the states of a hidden variable apart, each draw has a counterpart with other names, as probable as
itself, and a mean over draws would mix the states (label switching). So each draw is renamed to be as near as possible
to a reference, the CPTs that EM ended with: the permutation π with the smallest Σ_k |θ_π(k) − reference_k|², in which
θ_k is all that belongs to state k, P(k | parents) and the CPTs of the children where their parent has it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from credo.model.layout import Layout
from credo.types import Flags, Indices, Numbers

ROUNDS = 3  # over all variables: two of one family may each depend on how the other is named
NEVER = 1e6  # the cost of a name that a state cannot have

StateGroups = Mapping[str, Sequence[Sequence[int]]]  # variable → states in groups; within one, all can be exchanged


@dataclass(frozen=True, slots=True, eq=False)
class Renaming:
    """Where what belongs to each state of one variable is among the cells of a layout."""

    cells: Indices  # (states, cells of a state)
    reference: Numbers  # the same of the reference
    forbidden: Flags  # (states, states)

    def order(self, draws: Numbers) -> Indices:
        """Which state of each draw, (draws, cells), gets each name: (draws, states)."""
        from scipy.optimize import linear_sum_assignment

        own = draws[:, self.cells]  # (draws, states, cells of a state)
        near = np.einsum("nke,je->njk", own, self.reference)
        costs = (own**2).sum(axis=2)[:, None, :] - 2.0 * near + NEVER * self.forbidden.T
        return np.array([linear_sum_assignment(cost)[1] for cost in costs], dtype=np.int64).reshape(-1, costs.shape[1])


def renaming_of_draws(
    layout: Layout, names: Sequence[str], groups: StateGroups, reference: Mapping[str, Numbers]
) -> Callable[[Numbers], Numbers] | None:
    """What names states in draws, (draws, cells), as the reference does; None where no state is exchangeable."""
    network, learned, found = layout.network, set(names), []
    values = (
        layout.pack({name: reference[name] if name in reference else network.cpt_array(name) for name in layout.names})
        if groups
        else None
    )
    for name, own_groups in groups.items():
        if all(len(group) < 2 for group in own_groups):
            continue
        states = len(network.states(name))
        cells = [np.zeros((states, 0), dtype=np.int64)]
        for family in layout.names:
            members = (*network.parents[family], family)
            if name not in members or family not in learned:
                continue
            every = np.arange(layout.size)[layout.slice_of(family)].reshape(network.shape(family))
            cells.append(np.moveaxis(every, members.index(name), 0).reshape(states, -1))
        every = np.concatenate(cells, axis=1)
        group_of = np.empty(states, dtype=np.int64)
        for which, group in enumerate(own_groups):
            group_of[list(group)] = which
        assert values is not None
        found.append(Renaming(every, values[every], group_of[:, None] != group_of))
    return (lambda draws: renamed(draws, found)) if found else None


def renamed(draws: Numbers, renamings: Sequence[Renaming]) -> Numbers:
    """The same draws, (draws, cells), with states named as in the reference."""
    draws = draws.copy()
    for _ in range(ROUNDS if len(renamings) > 1 else 1):
        for each in renamings:
            own, order = draws[:, each.cells], each.order(draws)
            draws[:, each.cells] = np.take_along_axis(own, order[:, :, None], axis=1)
    return draws
