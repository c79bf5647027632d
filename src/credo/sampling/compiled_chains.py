"""Chains of the posterior in compiled code: few long ones, a thread each, for problems too large for `vectorised`."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from credo.kernels.sampler_arrays import (
    ChainState,
    DistributionArrays,
    Extras,
    GeneralMoves,
    Geometry,
    JointUpdates,
    Ranges,
    Schedule,
)
from credo.kernels.threads import map_in_threads
from credo.sampling.distributions import Draws, Hyperparameters, SampledDistributions
from credo.sampling.doubtful_moves import DoubtfulMoves
from credo.sampling.general_updates import GeneralUpdates
from credo.sampling.hidden_moves import HiddenMoves, hidden_moves, move_hidden
from credo.sampling.joint_updates import Support, joint_updates_of, supports_of
from credo.sampling.missing_values import Augmentation
from credo.sampling.ranges import judged, ranges_of
from credo.sampling.region import Region, geometry_of, seeded, with_learned
from credo.sampling.schedule import needed_effort, schedule_of
from credo.sampling.starting_points import starting_points
from credo.sampling.wide_distributions import WideDistribution, update_wide, wide_distributions
from credo.types import Flags, Indices, Numbers

PARTS = 8  # of a stage, whose averages are kept apart
MOST_EFFORT = 32  # passes of a sweep at most: cheaper than more draws of all others
MOST_EFFORT_WITH_MISSING = 2  # given the same completed rows, more updates bring little news
MOST_EFFORT_WITH_DOUBT = 4  # where statements about any probability may be wrong: a move looks at all of them
GENERAL_COST = 2  # plain updates that one under such statements takes as long as, on Alarm with fifty of them
EFFORT_UPDATES = 30_000_000  # of single parameters in all draws, above which nothing is updated more often
STEP_UPDATES = 25_000  # of single parameters, after which compiled code returns: about a twentieth of a second


@dataclass(slots=True, eq=False)
class CompiledChains:
    """Chains under way; the region changes when directions are learned."""

    region: Region
    sampled: SampledDistributions
    arrays: DistributionArrays
    hyperparameters: Hyperparameters
    chains: int
    seed: int
    missing: Augmentation | None = None  # how rows are completed, where values are missing
    doubtful: DoubtfulMoves | None = None  # of blocks with statements that may be wrong
    general: GeneralUpdates | None = None  # of CPTs that statements about any probability reach
    supports: list[Support] = field(init=False)
    ranges: Ranges = field(init=False)  # distributions that are drawn without moves
    joint_updates: JointUpdates = field(init=False)
    general_supports: list[Support] = field(init=False)  # of groups that general statements reach, if any
    general_joint: JointUpdates = field(init=False)
    effort: Indices = field(init=False)  # (distributions,) how often a sweep updates each,
    spent: Numbers = field(init=False)  # and how often all sweeps did that the draws so far are from
    geometry: tuple[Region, tuple[Geometry, Extras]] | None = None  # of the region as it is
    updates: int = 0  # of single parameters, so far
    missing_updates: int = 0  # as many could have been made while missing values were drawn
    states: list[ChainState] = field(init=False)
    generators: list[NDArray[np.uint64]] = field(init=False)
    first_counts: dict[int, Numbers] = field(init=False)  # of completed rows, where EM ended or at random
    wide: tuple[WideDistribution, ...] = field(init=False)
    wide_generators: list[np.random.Generator] = field(init=False)
    hidden: HiddenMoves | None = field(init=False)
    proposals: Indices = field(init=False)  # (2, chains, distributions) how many of `hidden` were made, and accepted

    def __post_init__(self) -> None:
        elsewhere = None if self.general is None else self.general.groups
        self.ranges = ranges_of(self.region, self.arrays, self.missing is not None, elsewhere)
        supports = supports_of(self.region.blocks, self.region.parts, self.region.start)
        self.supports = [
            support.without_updates() if closed else support
            for support, closed in zip(supports, self.ranges.closed.tolist(), strict=True)
        ]
        self.general_supports = []
        if self.general is not None and self.doubtful is None:
            reached = zip(supports, self.general.groups.tolist(), strict=True)
            self.general_supports = [support if own else support.without_updates() for support, own in reached]
        self.joint_updates = joint_updates_of(self.supports)
        self.general_joint = joint_updates_of(self.general_supports)
        self.effort = np.ones(len(self.sampled.numbers), dtype=np.int64)
        self.spent = np.zeros(len(self.sampled.numbers))
        self.generators = [seeded(self.seed, chain) for chain in range(self.chains)]
        self.states = [self._start(chain, point) for chain, point in enumerate(self._starting_points())]
        self.wide = wide_distributions(self.region, self.arrays)
        if self.general is not None:
            self.wide = tuple(each for each in self.wide if self.general.family_of[each.start] < 0)
        self.wide_generators = [
            np.random.default_rng([self.seed, chain, len(self.wide)]) for chain in range(self.chains)
        ]
        self.hidden = (
            None if self.missing is None else hidden_moves(self.sampled, self.missing, self.general, self.region.blocks)
        )
        self.proposals = np.zeros((2, self.chains, len(self.sampled.numbers)), dtype=np.int64)
        self.first_counts = {}
        if self.missing is not None:
            for chain in range(self.chains):
                by_em = chain % 2 == 0
                self.first_counts[chain] = self.missing.expected if by_em else self._complete(chain, first=True)

    def _starting_points(self) -> list[Numbers]:
        """Of each chain the parameters of blocks; the point of the region where other things were found with it."""
        if self.missing is not None or self.general is not None or self.doubtful is not None:
            return [self.region.point(chain) for chain in range(self.chains)]
        return starting_points(self.region, self.arrays, self.ranges.closed, self.seed, self.chains)

    def _start(self, chain: int, point: Numbers) -> ChainState:
        sizes = np.diff(self.sampled.starts)[self.sampled.constrained :]
        components = self.arrays.strengths.shape[1]
        theta = np.concatenate((point, np.repeat(1.0 / sizes, sizes)))
        if self.missing is not None:  # else exact draws given the data follow at once
            elsewhere, rng = slice(len(self.region.start), None), np.random.default_rng([self.seed, chain])
            drawn = rng.standard_exponential(len(theta))[elsewhere]
            if len(sizes):
                theta[elsewhere] = drawn / np.repeat(np.add.reduceat(drawn, np.cumsum(sizes) - sizes), sizes)
        return ChainState(
            theta,
            np.zeros(len(self.sampled.numbers), dtype=np.int64),
            np.repeat(1.0 / self.sampled.states, self.sampled.states),
            np.full((len(self.sampled.names), components), 1.0 / components),
            np.full(components, 1.0 / components),
        )

    def learn(self, region: Region, snapshots: Numbers) -> None:
        """Learn from draws, (chains, draws, parameters), in which directions to move, and what to update jointly."""
        self.region = with_learned(region, snapshots)
        self.joint_updates = joint_updates_of(self.supports, np.concatenate(snapshots))
        if self.general is not None and self.doubtful is None:
            self.general_joint = joint_updates_of(self.general_supports, np.concatenate(snapshots))
        if self.hidden is not None:
            self.hidden = self.hidden.worthwhile(*self.proposals.sum(axis=1))

    def share_effort(self, sizes: Numbers, lacking: Numbers, sweeps: int) -> None:
        """Update distributions more often whose parameters need more effective draws than `sweeps` would give.

        `sizes` are those of the draws so far, (parameters,), and `lacking` those that are wanted in addition. Where the
        sweeps of a large problem take long enough as it is, nothing is updated more often.
        """
        self.effort = self.needed(sizes, lacking, sweeps)

    def needed(self, sizes: Numbers, lacking: Numbers, sweeps: int) -> Indices:
        """How often each distribution would have to be updated for that, (distributions,)."""
        limit = MOST_EFFORT if self.missing is None else MOST_EFFORT_WITH_MISSING
        if self.general is not None and self.doubtful is not None:
            limit = min(limit, MOST_EFFORT_WITH_DOUBT)
        most = EFFORT_UPDATES / max(1, self.chains * sweeps * self.update_cost)
        starts, distributions = self.sampled.starts, np.arange(len(self.effort))
        owners = np.repeat(distributions, np.diff(starts))
        tied = [(owners[updates.numbers], updates.starts) for updates in (self.joint_updates, self.general_joint)]
        return needed_effort(self.spent, sizes, lacking, sweeps, starts, tied, limit, most)

    @property
    def can_rest(self) -> bool:
        """Whether some distributions can stay as they are while others are updated: nothing else depends on them."""
        return self.missing is None and self.doubtful is None and self.general is None and not self.wide

    def of_parameters(self, values: Any) -> Any:
        """What belongs to distributions, for each parameter that is kept."""
        kept = len(self.region.start) if self.missing is None else self.sampled.size
        return np.repeat(values, np.diff(self.sampled.starts))[:kept]

    @property
    def update_cost(self) -> int:
        """How many plain updates one update costs."""
        return 1 if self.general is None else GENERAL_COST

    @property
    def sweep_updates(self) -> int:
        """How many parameters a sweep updates, each as often as it is."""
        return int(np.diff(self.sampled.starts) @ self.effort)

    @property
    def mean_effort(self) -> float:
        """How many times as long as a plain sweep one takes in which some distributions are updated more often."""
        return self.sweep_updates / max(1, self.sampled.size)

    @property
    def sizes(self) -> tuple[int, int]:
        """How many parameters are moved, and how many are drawn at once."""
        moved = sum(
            block.size
            for block, closed in zip(self.region.blocks, self.ranges.closed.tolist(), strict=True)
            if not closed
        )
        return moved, self.sampled.size - moved

    def judged(self, measure: Callable[[Numbers], Numbers], found: Draws) -> Numbers:
        """A measure of draws for each parameter that is kept, pooled where parameters are exchangeable."""
        return judged(measure, found.theta, self.ranges, self.arrays)

    def stage(
        self,
        count: int,
        thinning: int,
        step_done: Callable[[int], None] = lambda draws: None,
        only: Flags | None = None,
    ) -> Draws:
        """`count` draws of each chain; `step_done` hears of draws as they are made.

        Where `only` some distributions are updated, all others stay as they are, and what is known of them too.

        Compiled code runs for a short time at once: between steps an interrupt is raised, with no thread left in it.
        """
        effort = self.effort if only is None else only.astype(np.int64)
        sweep = int(np.diff(self.sampled.starts) @ effort) * self.update_cost
        drawing = 0 if self.missing is None else self.missing.updates
        drawing = round(drawing * (1.0 if self.hidden is None else 1.0 + self.hidden.cost))
        sweeps = max(1, STEP_UPDATES // max(1, self.chains * (sweep + drawing)))  # in one step
        step = 1 if self.wide else max(1, sweeps // thinning)
        if self.geometry is None or self.geometry[0] is not self.region:
            self.geometry = self.region, geometry_of(self.region.blocks, self.region.parts)
        geometry = self.geometry[1]
        made = self.joint_updates, self.ranges, self.arrays
        if only is None:
            schedule = schedule_of(effort, geometry[0], *made)
        else:
            schedule = schedule_of(1 + effort, geometry[0], *made, first=1)
        moves = None if self.general is None else self._general_moves(self.general, geometry[0])
        state, free = self.states[0], len(self.states[0].theta) - len(self.region.start)
        kept = len(self.region.start) if self.missing is None else len(state.theta)
        theta = np.empty((self.chains, count, kept))
        component = np.empty((self.chains, count, len(state.component)), dtype=np.int8)
        means = np.empty((self.chains, count, len(state.means)))
        weights = np.empty((self.chains, count, *state.weights.shape))
        parts = min(count, PARTS)
        moments = np.zeros((parts, self.chains, 2, free))
        lengths = np.zeros(parts, dtype=np.int64)
        for start in range(0, count, step):
            now, part = slice(start, min(start + step, count)), start * parts // count
            if self.missing is None:
                for own, generator in zip(self.states, self.wide_generators, strict=True):
                    update_wide(self.wide, self.arrays, own, generator)
            outs = theta[:, now], component[:, now], means[:, now], weights[:, now], moments[part]
            for done in range(0, thinning, sweeps):  # the last sweep of all leaves the draw
                self._step(geometry, schedule, moves, min(sweeps, thinning - done), outs)
            lengths[part] += (now.stop - start) * thinning
            step_done(now.stop - start)
        if only is None:
            self.spent += count * thinning * effort
        else:
            self.spent = np.where(only, count * thinning, self.spent)
        self.updates += self.chains * count * thinning * sweep
        self.missing_updates += self.chains * count * thinning * drawing
        used = lengths > 0
        if self.missing is not None:
            moments = moments[:, :, :, :0]  # draws of all parameters are kept instead
        averages = moments[used][:, :, 0].swapaxes(0, 1) / lengths[used][:, None]
        squares = moments[:, :, 1].sum(axis=(0, 1)) / (self.chains * count * thinning)
        return Draws(theta, component, means, weights, averages, squares, lengths[used])

    def _general_moves(self, general: GeneralUpdates, geometry: Geometry) -> GeneralMoves:
        return general.lines(geometry) if self.doubtful is not None else general.moves(geometry, self.general_joint)

    def _step(
        self,
        geometry: tuple[Geometry, Extras],
        schedule: Schedule,
        moves: GeneralMoves | None,  # of CPTs that general statements reach
        thinning: int,
        outs: tuple[Any, ...],  # of all chains: θ, z, m, π and moments, to be filled
    ) -> None:
        from credo.kernels.posterior_gibbs import run_posterior

        concentrations = self.hyperparameters.mean_concentration, self.hyperparameters.pooling_concentration
        passes = np.repeat(self.effort, np.diff(self.sampled.starts))[: len(self.region.start)]
        rounds = None if self.general is None else self.general.rounds(passes)

        def of_general() -> tuple[Any, ...]:
            """The statements about any probability, and what is updated under them."""
            assert self.general is not None
            arrays = self.general.arrays
            own = arrays._replace(cpts=arrays.cpts.copy())
            return self.general.tree, own, moves, self.general_joint, self.general.groups, passes, rounds

        def update_general(chain: int, arrays: DistributionArrays) -> None:
            """CPTs that statements about any probability reach, if there are any."""
            if self.general is None or moves is None:
                return
            from credo.kernels.general_sweeps import general_sweep

            of_chain = self.states[chain], self.generators[chain]
            if self.doubtful is not None:
                own = self.general.arrays._replace(cpts=self.general.arrays.cpts.copy())
                self.doubtful.update_chain_with_general(geometry, own, moves, passes, arrays, *of_chain)
                return
            general_sweep(*geometry, *of_general(), arrays, *of_chain)

        def run(chain: int) -> None:
            where = self.joint_updates, self.ranges, self.arrays, schedule
            own = (out[chain] for out in outs)
            rest = self.states[chain], *concentrations, thinning, *own, self.generators[chain]
            if self.general is None:
                run_posterior(*geometry, *where, *rest)
                return
            from credo.kernels.general_sweeps import run_general

            run_general(*geometry, *of_general(), *where, *rest)

        def run_sweep_by_sweep(chain: int) -> None:
            """One draw after the other, and one sweep: rows are completed, and doubted blocks updated, before each."""
            state, generator = self.states[chain], self.generators[chain]
            *drawn, moments = (out[chain] for out in outs)
            for draw in range(len(drawn[0])):
                own = [out[draw : draw + 1] for out in drawn]
                for _ in range(thinning):
                    arrays = self._completed(chain)
                    if self.missing is not None:
                        update_wide(self.wide, arrays, state, self.wide_generators[chain])
                    if self.doubtful is not None and self.general is None:
                        self.doubtful.update_chain(passes, arrays, state, generator)
                    update_general(chain, arrays)
                    where = *geometry, self.joint_updates, self.ranges, arrays, schedule
                    run_posterior(*where, state, *concentrations, 1, *own, moments, generator)
                own[0][0] = state.theta[: own[0].shape[1]]

        at_once = self.missing is None and self.doubtful is None
        map_in_threads(run if at_once else run_sweep_by_sweep, range(self.chains))

    def _complete(self, chain: int, first: bool = False) -> Numbers:
        assert self.missing is not None
        state, rng = self.states[chain], self.wide_generators[chain]
        if self.hidden is not None and not first:
            move_hidden(self.hidden, self.arrays, state, rng, *self.proposals[:, chain])
        return self.missing.completed_by_program(state.theta, self.generators[chain], rng, first=first)

    def _completed(self, chain: int) -> DistributionArrays:
        """The distributions with the counts of rows that a chain has completed."""
        if self.missing is None:
            return self.arrays
        counts = self.first_counts.pop(chain, None)
        if counts is None:
            counts = self._complete(chain)
        return self.arrays._replace(counts=counts)
