"""Rows completed under many sets of CPTs: each missing value is drawn given everything that its row shows.

Where `inference/draw_missing.py` draws counts, which is all that learning needs, these are the values row by row. The
missing variables of a row fall into components that the observed values separate. All joint states of a component are
enumerated, and one is drawn with the chance P(joint state | what the row shows). Missing variables without observed
descendants say nothing about the others and are drawn last, parents first.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import prod

import numpy as np
from numpy.typing import NDArray

from credo.io.columns import MISSING
from credo.model.graphs import connected_components
from credo.model.network import Network
from credo.types import Codes, Indices, Numbers

MOST_JOINT_STATES = 4096  # of one component
BatchedCPTs = Mapping[str, Numbers]  # (draws, configurations, states), or (1, …) where all draws have the same


@dataclass(frozen=True, slots=True, eq=False)
class Component:
    """Missing variables that depend on each other, in the rows where they do, and all their joint states."""

    rows: Indices
    variables: tuple[int, ...]
    states: Indices  # (joint states, variables)
    cells: Mapping[str, Indices]  # of each family: (rows, joint states), the cells of its CPT


@dataclass(frozen=True, slots=True, eq=False)
class Completion:
    """How the missing values of some rows are drawn."""

    network: Network
    codes: Codes  # (rows, variables)
    components: tuple[Component, ...]
    last: tuple[tuple[str, Indices], ...]  # variables without observed descendants, and the rows; parents first

    @property
    def terms(self) -> int:
        """How many numbers are multiplied to complete all rows once."""
        return sum(cells.size for component in self.components for cells in component.cells.values())


def completion_of(network: Network, codes: Codes, most_terms: int) -> Completion | None:
    """How the missing values of these rows are drawn; None where that takes more than so many terms."""
    patterns, pattern_of = np.unique(codes == MISSING, axis=0, return_inverse=True)
    pattern_of = pattern_of.ravel()
    together: dict[tuple[tuple[int, ...], tuple[str, ...]], list[Indices]] = {}
    last: dict[str, list[Indices]] = {}
    for number, missing in enumerate(patterns):
        rows = np.flatnonzero(pattern_of == number)
        components, barren = _missing_components(network, missing)
        for variables in components:
            together.setdefault((variables, _families_of(network, variables, barren)), []).append(rows)
        for variable in barren:
            last.setdefault(network.names[variable], []).append(rows)
    found, terms = [], 0
    sizes = np.array([len(network.states(name)) for name in network.names], dtype=np.int64)
    for (variables, families), parts in together.items():
        rows, joint = np.concatenate(parts), prod(sizes[list(variables)].tolist())
        terms += len(rows) * joint * len(families)
        if joint > MOST_JOINT_STATES or terms > most_terms:
            return None
        states = np.stack(np.unravel_index(np.arange(joint), sizes[list(variables)]), axis=1)
        cells = {name: _cells(network, name, codes[rows], variables, states) for name in families}
        found.append(Component(rows, variables, states, cells))
    ordered = tuple((name, np.concatenate(last[name])) for name in network.order if name in last)
    return Completion(network, codes, tuple(found), ordered)


def completed_codes(
    completion: Completion, cpts: BatchedCPTs, draws: Sequence[int] | Indices, rng: np.random.Generator
) -> NDArray[np.int64]:
    """The rows completed under some of the draws of the CPTs, (draws, rows, variables)."""
    network, numbers = completion.network, np.asarray(draws, dtype=np.int64)
    codes = np.repeat(completion.codes[None].astype(np.int64), len(numbers), axis=0)
    for component in completion.components:
        logs: Numbers = np.zeros((len(numbers), *next(iter(component.cells.values())).shape))
        for name, cells in component.cells.items():
            own = of_draws(cpts[name], numbers)
            with np.errstate(divide="ignore"):
                logs += np.log(own).reshape(len(own), -1)[:, cells]
        chosen = (logs + rng.gumbel(size=logs.shape)).argmax(axis=-1)  # (draws, rows)
        for place, variable in enumerate(component.variables):
            codes[:, component.rows, variable] = component.states[chosen, place]
    for name, rows in completion.last:
        configurations = configurations_of(network, name, codes[:, rows])
        codes[:, rows, network.names.index(name)] = drawn_states(of_draws(cpts[name], numbers), configurations, rng)
    return codes


def simulated_codes(
    network: Network, cpts: BatchedCPTs, draws: Sequence[int] | Indices, rows: int, rng: np.random.Generator
) -> NDArray[np.int64]:
    """As many new rows under each of these draws, (draws, rows, variables)."""
    numbers = np.asarray(draws, dtype=np.int64)
    codes = np.zeros((len(numbers), rows, len(network)), dtype=np.int64)
    for name in network.order:
        configurations = configurations_of(network, name, codes)
        codes[:, :, network.names.index(name)] = drawn_states(of_draws(cpts[name], numbers), configurations, rng)
    return codes


def of_draws(cpt: Numbers, draws: Indices) -> Numbers:
    """The CPT in some of its draws; (1, configurations, states) where it is the same in all."""
    return cpt if len(cpt) == 1 else cpt[draws]


def configurations_of(network: Network, name: str, codes: NDArray[np.int64]) -> Indices:
    """The number of the parents' configuration in each row of complete codes (…, variables)."""
    found = np.zeros(codes.shape[:-1], dtype=np.int64)
    for parent in network.parents[name]:
        found = found * len(network.states(parent)) + codes[..., network.names.index(parent)]
    return found


def drawn_states(cpt: Numbers, configurations: Indices, rng: np.random.Generator) -> Indices:
    """A state for each row, (draws, rows), from CPTs (draws or 1, configurations, states)."""
    cumulative = cpt.cumsum(axis=-1)
    draws = np.zeros(1, dtype=np.int64) if len(cpt) == 1 else np.arange(len(cpt))[:, None]
    # Sums may be off by rounding: the draw is scaled to the sum, so that no state is missed or added.
    threshold = rng.random(configurations.shape) * cumulative[draws, configurations, -1]
    state = np.zeros(configurations.shape, dtype=np.int64)
    for k in range(cpt.shape[-1] - 1):
        state += threshold >= cumulative[draws, configurations, k]
    return state


def _missing_components(network: Network, missing: NDArray[np.bool_]) -> tuple[list[tuple[int, ...]], list[int]]:
    """The components of one pattern of missing variables, and those without observed descendants."""
    number = {name: place for place, name in enumerate(network.names)}
    barren = set(np.flatnonzero(missing).tolist())
    for name in reversed(network.order):
        if number[name] not in barren:  # it is observed, or has an observed descendant
            barren -= {number[parent] for parent in network.parents[name]}
    wanted = [v for v in np.flatnonzero(missing).tolist() if v not in barren]
    place = {variable: at for at, variable in enumerate(wanted)}
    tails, heads = [], []
    for name in network.names:
        if number[name] not in barren:
            own = [place[number[each]] for each in (*network.parents[name], name) if number[each] in place]
            tails += own[:-1]
            heads += own[1:]
    if not wanted:
        return [], sorted(barren)
    labels = connected_components(np.array(tails, dtype=np.int64), np.array(heads, dtype=np.int64), len(wanted))
    groups: dict[int, list[int]] = {}
    for variable, label in zip(wanted, labels.tolist(), strict=True):
        groups.setdefault(label, []).append(variable)
    return [tuple(group) for group in groups.values()], sorted(barren)


def _families_of(network: Network, variables: Sequence[int], barren: Sequence[int]) -> tuple[str, ...]:
    """The variables whose CPTs say how probable the joint states of some are; sums over barren ones are one."""
    names, left_out = {network.names[variable] for variable in variables}, {network.names[each] for each in barren}
    return tuple(name for name in network.names if name not in left_out and names & {name, *network.parents[name]})


def _cells(network: Network, name: str, codes: Codes, variables: Sequence[int], states: Indices) -> Indices:
    """The cell of a CPT in each row, for each joint state of the missing variables: (rows, joint states)."""
    found = np.zeros((len(codes), len(states)), dtype=np.int64)
    for each in (*network.parents[name], name):
        variable = network.names.index(each)
        found *= len(network.states(each))
        found += states[:, variables.index(variable)] if variable in variables else codes[:, variable, None]
    return found
