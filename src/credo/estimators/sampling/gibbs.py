"""Chains of the posterior under way: which rows they sample, how they start, and what a stage of draws gives."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from os import cpu_count

import numpy as np
from numpy.typing import NDArray

from credo.constraints.blocks import Block
from credo.constraints.rows import Flags, Indices, Numbers
from credo.errors import CredoError
from credo.estimators.sampling.geometry import geometry_of
from credo.estimators.sampling.mixture_kernel import Layout, State
from credo.estimators.sampling.polytope import Region, seeded
from credo.network import Network
from credo.statistics.counts import Counts


@dataclass(frozen=True, slots=True)
class Beliefs:
    """The constants of the prior, as they were chosen on Asia, Alarm, Win95pts and Andes with few data.

    Strengths are pseudo-counts of a whole row. One, shared evenly, is the reference prior for a row of which little is
    known [Perks, 1947]; 30 holds a row near its base, 4 leaves it free to differ.
    """

    own: tuple[float, ...] = (1.0, 30.0)
    shared: tuple[float, ...] = (4.0, 30.0)
    evenness: float = 3.0  # c: a table's common distribution is rarely an extreme one
    alikeness: float = 10.0  # κ: how many rows of its own a table needs to differ from the others


@dataclass(frozen=True, slots=True, eq=False)
class Rows:
    """Which rows of the tables are sampled: those in blocks, then those with data but no statement."""

    names: tuple[str, ...]
    states: tuple[int, ...]  # of each variable
    table_rows: tuple[tuple[str, int], ...]
    constrained: int  # how many of these belong to blocks
    counts: Numbers  # (parameters,)
    starts: Indices  # (rows + 1,)


def rows_of(network: Network, names: Sequence[str], counts: Counts, blocks: Sequence[Block]) -> Rows:
    bound = [place for block in blocks for place in block.table_rows]
    strangers = {name for name, _ in bound} - set(names)
    if strangers:
        raise CredoError(f"Statements speak about tables that are not to be learned: {', '.join(sorted(strangers))}.")
    taken: dict[str, set[int]] = {}
    for name, row in bound:
        taken.setdefault(name, set()).add(row)
    free = [
        (name, int(row))
        for name in names
        for row in np.flatnonzero(counts.table(name).sum(axis=1))
        if int(row) not in taken.get(name, ())
    ]
    places = (*bound, *free)
    pieces = [counts.row(name, row) for name, row in places]
    states = tuple(len(network.states(name)) for name in names)
    starts = np.concatenate(([0], np.cumsum([len(piece) for piece in pieces], dtype=np.int64)))
    joined = np.concatenate([np.zeros(0), *pieces])
    return Rows(tuple(names), states, places, len(bound), joined, starts.astype(np.int64))


def layout_of(rows: Rows, region: Region, beliefs: Beliefs) -> Layout:
    position = {name: number for number, name in enumerate(rows.names)}
    possible = np.ones(len(rows.counts), dtype=np.bool_)
    possible[: len(region.start)] = region.start > 0.0
    informative: Flags = np.array(
        [possible[a:b].all() for a, b in zip(rows.starts[:-1], rows.starts[1:], strict=True)], dtype=np.bool_
    )
    return Layout(
        rows.starts,
        np.array([position[name] for name, _ in rows.table_rows], dtype=np.int64),
        rows.counts,
        informative,
        np.array([rows.constrained]),
        np.concatenate(([0], np.cumsum(rows.states, dtype=np.int64))),
        np.array([*beliefs.own, *beliefs.shared]),
        np.array([len(beliefs.own)]),
    )


@dataclass(frozen=True, slots=True, eq=False)
class Draws:
    theta: Numbers  # (chains, draws, parameters of blocks)
    component: NDArray[np.int8]  # (chains, draws, rows)
    means: Numbers  # (chains, draws, cells)
    weights: Numbers  # (chains, draws, tables, components)
    first: Numbers  # (parameters,) E θ of all sampled rows, over every sweep
    second: Numbers  # (parameters,) E θ²


@dataclass(slots=True, eq=False)
class Run:
    """Chains under way; the region changes when directions are learned."""

    region: Region
    rows: Rows
    layout: Layout
    beliefs: Beliefs
    chains: int
    seed: int
    states: list[State] = field(init=False)
    generators: list[NDArray[np.uint64]] = field(init=False)

    def __post_init__(self) -> None:
        self.states = [self._start() for _ in range(self.chains)]
        self.generators = [seeded(self.seed, chain) for chain in range(self.chains)]

    def _start(self) -> State:
        sizes = np.diff(self.rows.starts)[self.rows.constrained :]
        even = np.repeat(1.0 / sizes, sizes) if len(sizes) else np.zeros(0)
        components = len(self.layout.strengths)
        return State(
            np.concatenate((self.region.start, even)),
            np.zeros(len(self.rows.table_rows), dtype=np.int64),
            np.concatenate([np.zeros(0), *(np.full(size, 1.0 / size) for size in self.rows.states)]),
            np.full((len(self.rows.names), components), 1.0 / components),
            np.full(components, 1.0 / components),
        )

    def stage(self, count: int, thinning: int) -> Draws:
        """`count` draws of each chain."""
        from credo.estimators.sampling.mixture_kernel import run_posterior

        geometry, extras = geometry_of(self.region.blocks, self.region.parts)
        state = self.states[0]
        theta = np.empty((self.chains, count, len(self.region.start)))
        component = np.empty((self.chains, count, len(state.component)), dtype=np.int8)
        means = np.empty((self.chains, count, len(state.means)))
        weights = np.empty((self.chains, count, *state.weights.shape))
        moments = np.zeros((self.chains, 2, len(state.theta)))

        def run(chain: int) -> None:
            outs = theta[chain], component[chain], means[chain], weights[chain], moments[chain]
            believed = self.beliefs.evenness, self.beliefs.alikeness
            run_posterior(
                geometry, extras, self.layout, self.states[chain], *believed, thinning, *outs, self.generators[chain]
            )

        with ThreadPoolExecutor(cpu_count() or 1) as pool:
            list(pool.map(run, range(self.chains)))
        first, second = moments.sum(axis=0) / (self.chains * count * thinning)
        return Draws(theta, component, means, weights, first, second)
