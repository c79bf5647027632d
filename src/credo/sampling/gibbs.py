"""Chains of the posterior under way: which rows they sample, how they start, and what a stage of draws gives."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from os import cpu_count

import numpy as np
from numpy.typing import NDArray

from credo.arrays import Flags, Indices, Numbers
from credo.constraints.blocks import Block
from credo.errors import CredoError
from credo.kernels.joint_updates import Leaps
from credo.kernels.posterior_gibbs import Layout, State
from credo.model.graphs import connected_components
from credo.model.network import Network
from credo.sampling.geometry import geometry_of
from credo.sampling.joint_updates import Ground, grounds_of, leaps_of
from credo.sampling.polytope import Region, seeded, with_learned
from credo.statistics.counts import Counts
from credo.statistics.prior import Priors, pseudo_counts

MOST_EFFORT = 8  # updates of a table in a round at most


@dataclass(frozen=True, slots=True)
class Beliefs:
    """The constants of the prior, as they were chosen on Asia, Alarm, Win95pts and Andes with few data.

    Strengths are pseudo-counts of a whole row. One, shared evenly, is the reference prior for a row of which little is
    known [Perks, 1947]; 0.2 is for rows that are nearly certain; 30 holds a row near its base, 4 leaves it free to
    differ. Whether data reach a row has to do with what it is: configurations that never occur were often filled in
    evenly, and what the others are like says little about them. So without data no row is taken for nearly certain.
    """

    own: tuple[float, ...] = (0.2, 1.0, 30.0)
    shared: tuple[float, ...] = (4.0, 30.0)
    evenness: float = 3.0  # c: a table's common distribution is rarely an extreme one
    alikeness: float = 10.0  # κ: how many rows of its own a table needs to differ from the others
    unseen: float = 1.0  # the least strength of a row of its own that has no data

    def strengths(self) -> Numbers:
        """s_g of rows without data, and of rows with data: (2, components)."""
        seen = [*self.own, *self.shared]
        return np.array([[*(max(strength, self.unseen) for strength in self.own), *self.shared], seen])


@dataclass(frozen=True, slots=True, eq=False)
class Rows:
    """Which rows of the tables are sampled: those in blocks, then those with counts but no statement."""

    names: tuple[str, ...]
    states: tuple[int, ...]  # of each variable
    configurations: tuple[tuple[str, int], ...]
    constrained: int  # how many of these belong to blocks
    counts: Numbers  # (parameters,) of the data, and a prior's pseudo-counts
    starts: Indices  # (rows + 1,)
    seen: Flags  # (rows,) which have data


def rows_of(
    network: Network, names: Sequence[str], counts: Counts, blocks: Sequence[Block], prior: Priors | None = None
) -> Rows:
    bound = [place for block in blocks for place in block.configurations]
    strangers = {name for name, _ in bound} - set(names)
    if strangers:
        raise CredoError(f"Statements speak about tables that are not to be learned: {', '.join(sorted(strangers))}.")
    taken: dict[str, set[int]] = {}
    for name, row in bound:
        taken.setdefault(name, set()).add(row)
    pseudo = {name: pseudo_counts(prior, network, name) if prior is not None else np.zeros((1, 1)) for name in names}
    free = [
        (name, int(row))
        for name in names
        for row in np.flatnonzero((counts.of(name) + pseudo[name]).sum(axis=1))
        if int(row) not in taken.get(name, ())
    ]
    places = (*bound, *free)
    data = [counts.configuration(name, row) for name, row in places]
    pieces = [
        own + pseudo[name][row if len(pseudo[name]) > 1 else 0] for own, (name, row) in zip(data, places, strict=True)
    ]
    states = tuple(len(network.states(name)) for name in names)
    starts = np.concatenate(([0], np.cumsum([len(piece) for piece in pieces], dtype=np.int64)))
    joined = np.concatenate([np.zeros(0), *pieces])
    seen = np.array([own.any() for own in data], dtype=np.bool_)
    return Rows(tuple(names), states, places, len(bound), joined, starts.astype(np.int64), seen)


def layout_of(rows: Rows, region: Region, beliefs: Beliefs) -> Layout:
    position = {name: number for number, name in enumerate(rows.names)}
    possible = np.ones(len(rows.counts), dtype=np.bool_)
    possible[: len(region.start)] = region.start > 0.0
    informative: Flags = np.array(
        [possible[a:b].all() for a, b in zip(rows.starts[:-1], rows.starts[1:], strict=True)], dtype=np.bool_
    )
    return Layout(
        rows.starts,
        np.array([position[name] for name, _ in rows.configurations], dtype=np.int64),
        rows.counts,
        informative,
        np.array([rows.constrained]),
        np.concatenate(([0], np.cumsum(rows.states, dtype=np.int64))),
        rows.seen.astype(np.int64),
        beliefs.strengths(),
        np.array([len(beliefs.own)]),
        np.array([position[block.configurations[0][0]] for block in region.blocks], dtype=np.int64),
    )


def _joined(blocks: Sequence[Block], names: Sequence[str]) -> Indices:
    """Numbers for tables, the same where blocks join them."""
    position = {name: number for number, name in enumerate(names)}
    pairs = {
        (position[block.configurations[0][0]], position[name]) for block in blocks for name, _ in block.configurations
    }
    first, second = np.array(sorted(pairs), dtype=np.int64).reshape(-1, 2).T
    return connected_components(first, second, len(names))


@dataclass(frozen=True, slots=True, eq=False)
class Draws:
    theta: Numbers  # (chains, draws, parameters of blocks)
    component: NDArray[np.int8]  # (chains, draws, rows)
    means: Numbers  # (chains, draws, cells)
    weights: Numbers  # (chains, draws, tables, components)
    first: Numbers  # (parameters elsewhere,) E θ given all else, averaged over every sweep
    second: Numbers  # (parameters elsewhere,) E θ²


def appended(first: Draws, second: Draws) -> Draws:
    """The draws of two stages as those of one."""
    share = first.theta.shape[1] / (first.theta.shape[1] + second.theta.shape[1])
    return Draws(
        np.concatenate((first.theta, second.theta), axis=1),
        np.concatenate((first.component, second.component), axis=1),
        np.concatenate((first.means, second.means), axis=1),
        np.concatenate((first.weights, second.weights), axis=1),
        share * first.first + (1.0 - share) * second.first,
        share * first.second + (1.0 - share) * second.second,
    )


@dataclass(slots=True, eq=False)
class Run:
    """Chains under way; the region changes when directions are learned."""

    region: Region
    rows: Rows
    layout: Layout
    beliefs: Beliefs
    chains: int
    seed: int
    grounds: list[Ground] = field(init=False)
    leaps: Leaps = field(init=False)
    joined: Indices = field(init=False)  # (tables,) the same number for tables that blocks join
    effort: Indices = field(init=False)  # (tables,) how often a round updates each
    updates: int = 0  # of single numbers, so far
    states: list[State] = field(init=False)
    generators: list[NDArray[np.uint64]] = field(init=False)

    def __post_init__(self) -> None:
        self.grounds = grounds_of(self.region.blocks, self.region.parts, self.region.start)
        self.leaps = leaps_of(self.grounds)
        self.joined = _joined(self.region.blocks, self.rows.names)
        self.effort = np.ones(len(self.rows.names), dtype=np.int64)
        self.states = [self._start() for _ in range(self.chains)]
        self.generators = [seeded(self.seed, chain) for chain in range(self.chains)]

    def _start(self) -> State:
        sizes = np.diff(self.rows.starts)[self.rows.constrained :]
        even = np.repeat(1.0 / sizes, sizes) if len(sizes) else np.zeros(0)
        components = self.layout.strengths.shape[1]
        return State(
            np.concatenate((self.region.start, even)),
            np.zeros(len(self.rows.configurations), dtype=np.int64),
            np.concatenate([np.zeros(0), *(np.full(size, 1.0 / size) for size in self.rows.states)]),
            np.full((len(self.rows.names), components), 1.0 / components),
            np.full(components, 1.0 / components),
        )

    def learn(self, region: Region, snapshots: Numbers) -> None:
        """Let draws, (chains, draws, parameters), say in which directions a region moves, and what leaps at once."""
        self.region = with_learned(region, snapshots)
        flat = snapshots.reshape(snapshots.shape[0] * snapshots.shape[1], -1)
        self.leaps = leaps_of(self.grounds, flat)

    def share_effort(self, sizes: Numbers, wanted: float) -> None:
        """Update tables more often where numbers are worth fewer draws than wanted; `sizes` is (parameters,).

        Tables that a block joins are updated together.
        """
        smallest = np.full(len(self.rows.names), np.inf)
        constrained = self.rows.constrained
        owners = np.repeat(self.layout.row_tables[:constrained], np.diff(self.rows.starts)[:constrained])
        np.minimum.at(smallest, self.joined[owners], sizes)
        needed = self.effort * wanted / smallest[self.joined]
        self.effort = np.clip(np.ceil(needed), 1, MOST_EFFORT).astype(np.int64)

    def stage(self, count: int, thinning: int) -> Draws:
        """`count` draws of each chain."""
        from credo.kernels.posterior_gibbs import run_posterior

        geometry, extras = geometry_of(self.region.blocks, self.region.parts)
        state = self.states[0]
        theta = np.empty((self.chains, count, len(self.region.start)))
        component = np.empty((self.chains, count, len(state.component)), dtype=np.int8)
        means = np.empty((self.chains, count, len(state.means)))
        weights = np.empty((self.chains, count, *state.weights.shape))
        moments = np.zeros((self.chains, 2, len(state.theta) - len(self.region.start)))

        def run(chain: int) -> None:
            outs = theta[chain], component[chain], means[chain], weights[chain], moments[chain]
            believed = self.beliefs.evenness, self.beliefs.alikeness
            where = geometry, extras, self.leaps, self.layout, self.effort
            run_posterior(*where, self.states[chain], *believed, thinning, *outs, self.generators[chain])

        with ThreadPoolExecutor(cpu_count() or 1) as pool:
            list(pool.map(run, range(self.chains)))
        sizes = np.diff(self.rows.starts)
        self.updates += self.chains * count * thinning * int(sizes @ self.effort[self.layout.row_tables])
        first, second = moments.sum(axis=0) / (self.chains * count * thinning)
        return Draws(theta, component, means, weights, first, second)
