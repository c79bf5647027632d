"""Exchangeable states of hidden variables, named alike in every draw.

Where nothing tells the states of a hidden variable apart, each draw has a counterpart with other names, as probable as
itself, and a mean over draws would mix the states (label switching). So each draw is renamed to be as near as possible
to a reference, the CPTs that EM ended with: the permutation π with the smallest Σ_k |θ_π(k) − reference_k|², in which
θ_k is all that belongs to state k, P(k | parents) and the CPTs of the children where their parent has it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from credo.sampling.distributions import Draws, SampledDistributions
from credo.types import Flags, Indices, Numbers

ROUNDS = 3  # over all variables: two of one family may each depend on how the other is named
NEVER = 1e6  # the cost of a name that a state cannot have

StateGroups = Mapping[str, Sequence[Sequence[int]]]  # variable → states in groups; within one, all can be exchanged


@dataclass(frozen=True, slots=True, eq=False)
class Renaming:
    """Where what belongs to each state of one variable is, in the order of `SampledDistributions`."""

    parameters: Indices  # (states, parameters of a state)
    reference: Numbers  # the same of the reference
    distributions: Indices  # (states, distributions of a state) of children
    cells: Indices  # (states, 1 or 0) of the common mean of its CPT
    forbidden: Flags  # (states, states)

    def order(self, theta: Numbers) -> Indices:
        """Which state of each draw, (draws, parameters), gets each name: (draws, states)."""
        from scipy.optimize import linear_sum_assignment

        own = theta[:, self.parameters]  # (draws, states, parameters of a state)
        near = np.einsum("nke,je->njk", own, self.reference)
        costs = (own**2).sum(axis=2)[:, None, :] - 2.0 * near + NEVER * self.forbidden.T
        return np.array([linear_sum_assignment(cost)[1] for cost in costs], dtype=np.int64).reshape(-1, costs.shape[1])


def renamings_of(
    sampled: SampledDistributions, groups: StateGroups, reference: Mapping[str, Numbers]
) -> list[Renaming]:
    """The renaming of each variable with exchangeable states; `reference` are CPTs, (parents…, child)."""
    layout, network = sampled.layout, sampled.layout.network
    if not groups:
        return []
    place = np.full(layout.size, -1, dtype=np.int64)
    place[sampled.parameters()] = np.arange(sampled.size)
    number = np.full(len(layout.distribution_starts()), -1, dtype=np.int64)
    number[sampled.numbers] = np.arange(len(sampled.numbers))
    values = layout.pack({name: reference[name] for name in layout.names})
    found = []
    for name, own_groups in groups.items():
        if all(len(group) < 2 for group in own_groups):
            continue
        states = len(network.states(name))
        cells, distributions = [], []
        for family in layout.names:
            members = (*network.parents[family], family)
            if name not in members:
                continue
            every = np.arange(layout.size)[layout.slice_of(family)].reshape(network.shape(family))
            axis = members.index(name)
            cells.append(np.moveaxis(every, axis, 0).reshape(states, -1))
            if family != name:
                firsts = layout.distribution_of(every[..., 0].ravel()).reshape(every.shape[:-1])
                distributions.append(np.moveaxis(firsts, axis, 0).reshape(states, -1))
        parameters = np.concatenate([np.zeros((states, 0), dtype=np.int64), *cells], axis=1)
        parameters = parameters[:, (place[parameters] >= 0).all(axis=0)]
        own = np.concatenate([np.zeros((states, 0), dtype=np.int64), *distributions], axis=1)
        own = own[:, (number[own] >= 0).all(axis=0)]
        means = np.zeros((states, 0), dtype=np.int64)
        if name in layout.names:
            means = (sampled.cells[layout.names.index(name)] + np.arange(states))[:, None]
        group_of = np.empty(states, dtype=np.int64)
        for which, group in enumerate(own_groups):
            group_of[list(group)] = which
        forbidden = group_of[:, None] != group_of
        found.append(Renaming(place[parameters], values[parameters], number[own], means, forbidden))
    return found


def renamed(draws: Draws, renamings: Sequence[Renaming]) -> Draws:
    """The same draws with states named as in the reference."""
    if not renamings:
        return draws
    theta, means = (array.reshape(-1, array.shape[2]).copy() for array in (draws.theta, draws.means))
    component = draws.component.reshape(-1, draws.component.shape[2]).copy()
    for _ in range(ROUNDS if len(renamings) > 1 else 1):
        for renaming in renamings:
            order = renaming.order(theta)
            _permute(theta, renaming.parameters, order)
            _permute(component, renaming.distributions, order)
            _permute(means, renaming.cells, order)
    return replace(
        draws,
        theta=theta.reshape(draws.theta.shape),
        component=component.reshape(draws.component.shape),
        means=means.reshape(draws.means.shape),
    )


def _permute(values: NDArray[Any], places: Indices, order: Indices) -> None:
    """Move what is at `places`, (states, …), of each draw, (draws, …), to the state that `order` gives its name."""
    own = values[:, places]
    values[:, places] = np.take_along_axis(own, order[:, :, None], axis=1)
