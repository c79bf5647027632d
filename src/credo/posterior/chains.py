"""Markov chains of all CPTs: a step moves the base of each CPT, the prior that they share, and what statements link."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from credo.core.additive_base import AdditiveBase
from credo.core.linked_distributions import LinkedDistributions
from credo.core.network_prior import NetworkPrior
from credo.core.ordered_draws import draw_ordered
from credo.posterior.doubted_statements import DoubtedStatements
from credo.posterior.model import NARROW, SampledModel
from credo.posterior.thin_sets import ThinSets
from credo.posterior.trajectories import HeldCPT, Smooth, Trajectories
from credo.posterior.walls import NetworkWalls, Walls, excesses, true_statements
from credo.types import Flags, Indices, Numbers

# Of what mixes slowly: how often a base moves in a step, rounds of linked distributions, and how few CPTs these may
# always be; and the number of steps in which everything else moves once.
MORE_UPDATES, SLOW_ROUNDS, FEW_SLOW, PACE = 4, 6, 8, 4
MOSTLY_REDRAWN, SELDOM = 0.2, 4  # the share of redrawn CPTs from which trajectories are made in every fourth step
LEAST_KNOWN = 0.5  # rows, expected or seen, of a configuration that is not thought of as unseen
# Rounds in which linked distributions move for each step of the bases, which does not wait for them: fewer where they
# are many. With two rounds, six linked distributions of three states were 4 points off, with twelve less than 0.5.
FEWEST_ROUNDS, MOST_ROUNDS, UPDATED = 2, 12, 400


@dataclass(frozen=True, slots=True)
class PriorConstants:
    """The constants of the prior; [the method](docs/method.md) says what they mean and how little depends on them."""

    centres: tuple[float, float, float] = (0.5, 0.0, -0.7)  # of log widths: intercepts, slopes and rests
    deviations: tuple[float, float, float] = (0.7, 0.7, 0.7)  # of what a network's centres may be
    spreads: tuple[float, float, float] = (0.3, 0.5, 0.5)  # of widths around these
    following: tuple[float, ...] = (100.0, 12.0, 1.5)  # strengths of distributions that follow the base
    free: tuple[float, ...] = (0.1, 0.5, 15.0)  # pseudo-counts of each state of those that are free of it
    least_unseen: float = 1.0  # strength of a distribution without rows
    share_deviation: float = 2.0  # of the logits of how often a network's configurations have each component
    share_spread: float = 1.5  # of those of a CPT around them


CompleteRows = Callable[[Numbers], Numbers]  # from θ to counts of completed rows, both (cells of the layout,)


class Chain:
    """One chain. A class because compiled code keeps its state: vectors of θ, coordinates, generators."""

    def __init__(
        self,
        model: SampledModel,
        counts: Numbers,  # (cells of the layout,) of complete rows and pseudo-counts
        constants: PriorConstants,
        seed: list[int],
        start: Numbers,  # (cells of the layout,) θ
        expected: Numbers,  # (cells of the layout,) counts, with those that are expected where values are missing
        likelihood: Smooth | None = None,
        complete: CompleteRows | None = None,
        doubts: DoubtedStatements | None = None,
        walls: Sequence[Walls] = (),
        believed: Numbers | None = None,  # (cells of the layout,) among the counts: cases that experts stated
        evidence: Smooth | None = None,  # about probabilities of the network, whose CPTs the model holds
    ) -> None:
        self.model, self._fixed, self._complete = model, counts, complete
        self._doubts = doubts
        self._random = np.random.default_rng([*seed, 3])
        self._theta = np.ascontiguousarray(start[model.cells])
        self._counts = np.ascontiguousarray(counts[model.cells])
        self._whole = start.copy()
        self._support = np.zeros(0 if doubts is None else len(doubts))
        self._updates, self._slow_rounds, self._pace = [1] * len(model.families), 0, 1
        self._steps, self._every = 0, 1  # between trajectories
        self._adapting = True
        base, strengths = np.zeros(model.size), (*constants.following, *constants.free)
        shared = np.concatenate((constants.centres, np.zeros(2 * len(strengths))))
        centres, share_centres, root_centres = np.split(shared, [3, 3 + len(strengths)])
        spreads = np.array(constants.spreads)
        log_shares = np.zeros((len(model.families), len(strengths)))
        family_of = np.repeat(np.arange(len(model.families)), [len(each.kept) for each in model.families])
        known = np.zeros(len(family_of), dtype=np.int32)
        if model.size:
            known[:] = np.add.reduceat(expected[model.cells], model.first_cell[:-1]) >= LEAST_KNOWN
        stated = _stated(model, np.zeros(model.layout.size) if believed is None else believed)
        self._linked = LinkedDistributions(
            model.first_cell, family_of, self._theta, self._counts, base, log_shares, strengths, constants.least_unseen,
            known, [len(constants.following) * bool(each.sizes) for each in model.families], model.barred,
            (model.rows.starts, model.rows.cells, model.rows.coefficients, model.rows.bounds),
            model.row_statement, self._support, model.held, [*seed, len(model.families)], stated,
        )  # fmt: skip
        is_linked = np.zeros(len(family_of), dtype=np.int8)
        linked = self._linked.linked_distributions
        is_linked[linked] = 1
        self._rounds = min(max(UPDATED // max(1, len(linked)), FEWEST_ROUNDS), MOST_ROUNDS)
        self._linked.evaluate()
        self._is_linked: list[np.ndarray] = []
        self.families: list[AdditiveBase] = []
        distribution = 0
        for number, family in enumerate(model.families):
            cells = slice(family.first, family.first + family.size)
            shape = (len(family.kept), family.states)
            self.families.append(
                AdditiveBase(
                    family.sizes, family.states, family.parent_states[family.kept], self._counts[cells].reshape(shape),
                    strengths, constants.least_unseen, known[distribution : distribution + shape[0]],
                    len(constants.following), centres, spreads, share_centres if family.sizes else root_centres,
                    constants.share_spread if family.sizes else 0.0, [*seed, number], family.signs,
                    model.barred[cells].reshape(shape), base[cells].reshape(shape), log_shares[number],
                    stated[distribution : distribution + shape[0]],
                )
            )  # fmt: skip
            self._is_linked.append(is_linked[distribution : distribution + shape[0]])
            distribution += shape[0]
        self.prior = NetworkPrior(
            self.families, shared, len(strengths), shared.copy(),
            np.array((*constants.deviations, *[constants.share_deviation] * (2 * len(strengths)))), spreads,
            constants.share_spread, [*seed, -2 % 2**32],
        )  # fmt: skip
        self._views = [
            self._theta[each.first : each.first + each.size].reshape(-1, each.states) for each in model.families
        ]
        self._buffers = [np.empty((3, *family.cells.shape)) for family in model.families]
        self._likelihood, self._evidence, self._walls = likelihood, evidence, walls
        self._trajectories = None
        if likelihood is not None or model.held.any():
            moving = np.zeros(model.layout.size, dtype=np.bool_)
            lengths = np.diff(model.first_cell)
            moving[model.cells] = ~model.barred & (np.repeat(model.held, lengths) | (likelihood is not None))
            starts = model.layout.distribution_starts()
            self._trajectories = Trajectories(starts, moving, walls, [*seed, -1 % 2**32])
        self._held = _held_cpts(model, family_of)
        self._thin: ThinSets | None = None
        if sets := _thin_sets(model, walls):
            free = np.zeros(model.layout.size, dtype=np.bool_)
            free[model.cells[~model.barred]] = True
            self._thin = ThinSets(sets, model.layout.distribution_starts(), free, walls, [*seed, -3 % 2**32])

    @property
    def is_independent(self) -> bool:
        """Whether its steps share nothing with other chains that they change: such chains can run in threads."""
        return self._complete is None and self._trajectories is None

    @property
    def truth(self) -> Flags:
        """Which of the statements that may be wrong are true, (statements,)."""
        if self._doubts is None:
            return np.zeros(0, dtype=np.bool_)
        true: Flags = self._linked.truth
        if any((each.statements >= 0).any() for each in self._walls):
            self._whole[self.model.cells] = self._theta
            true &= true_statements(self._walls, excesses(self._walls, self._whole), len(true))
        for each in self.model.doubted_signs:
            true[each.statement] = self.families[each.family].is_true(each.parent, each.sign)
        return true & ~self._doubts.false

    def _weigh_statements(self) -> None:
        """Draw how reliable experts are, given which of their statements are true."""
        assert self._doubts is not None
        odds = self._doubts.log_odds(self.truth, self._random)
        self._support = odds
        self._linked.set_support(odds)
        sums: dict[tuple[int, int], list[float]] = {}
        for each in self.model.doubted_signs:
            sums.setdefault((each.family, each.parent), [0.0, 0.0])[0 if each.sign > 0 else 1] += odds[each.statement]
        for (family, parent), (rising, falling) in sums.items():
            self.families[family].set_doubt(parent, rising, falling)

    def update_more_often(self, unmixed: Flags) -> None:
        """Move what has unmixed cells, (cells of the layout,), more often in each step from now on, and the rest less.

        That is bases, and distributions that statements link. Where many are unmixed, all need more steps instead.
        """
        linked, families = self._linked.linked_distributions, self.model.families
        slow = [number for number, each in enumerate(families) if unmixed[each.cells].any()]
        if not slow or len(slow) > max(FEW_SLOW, len(families) // 4):
            self._pace, self._slow_rounds = 1, 0
            return
        for number in slow:
            self._updates[number] = MORE_UPDATES
        if self.is_independent and self._doubts is None:
            self._pace = PACE
        if len(linked):
            own = np.logical_or.reduceat(unmixed[self.model.cells], self.model.first_cell[:-1])
            self._linked.update_more_often(np.flatnonzero(own))
            self._slow_rounds = SLOW_ROUNDS

    def run(self, steps: range, keep: Callable[[int], None]) -> None:
        """Move everything once in each of these steps, and `keep` what was reached; those below 0 are the warm-up."""
        for step in steps:
            adapting = step < 0
            if self._doubts is not None:
                self._weigh_statements()
            if self._complete is not None:
                self._whole[self.model.cells] = np.maximum(self._theta, 1e-300)
                self._counts[:] = (self._fixed + self._complete(self._whole))[self.model.cells]
                for family in self.families:
                    family.count()
            self.prior.update(adapting)
            is_turn = step % self._pace == 0  # of what mixes well
            for family, updates in zip(self.families, self._updates, strict=True):
                for _ in range(updates if is_turn or updates > 1 else 0):
                    family.update(adapting)
            self._linked.look_at_base()
            if self._adapting and not adapting:
                self._linked.find_easy()
            self._adapting = adapting
            self._linked.sweep(self._rounds if is_turn else 0, self._slow_rounds)
            if self._trajectories is not None:
                self._run_trajectories(self._trajectories, adapting)
            if self._thin is not None:
                self._move_along(self._thin)
            if not adapting:
                keep(step)

    def _run_trajectories(self, trajectories: Trajectories, adapting: bool) -> None:
        """Trajectories of all distributions that rows with missing values or statements about whole networks tie."""
        model = self.model
        self._draw_own()
        self._linked.draw_components()
        self._whole[model.cells] = self._theta
        if model.held.any() and self._evidence is None:
            for each in self._held:
                each.drawn[:] = self._theta
            trajectories.redraw(self._whole, self._linked, self._held, self._support, adapting)
        shapes = self._shapes()
        factors: list[Smooth] = []
        if self._likelihood is not None:
            factors.append(self._likelihood)
            shapes[model.cells] -= self._counts
        if self._evidence is not None:
            factors.append(self._evidence)
        is_redrawn = not factors and trajectories.redrawn > MOSTLY_REDRAWN * trajectories.tried
        if adapting:
            self._every = SELDOM if is_redrawn else 1
        self._steps += 1
        if adapting or self._steps % self._every == 0:
            trajectories.run(self._whole, shapes, factors, self._support, adapting)
        self._theta[:] = self._whole[model.cells]
        self._linked.evaluate()

    def _move_along(self, thin: ThinSets) -> None:
        """Moves along thin sets, and to and from those that may be wrong, given completed rows."""
        evidence = self._evidence
        self._linked.draw_components()
        self._whole[self.model.cells] = self._theta
        thin.move(
            self._whole,
            self._shapes(),
            self._support,
            None if evidence is None else lambda theta: evidence(theta)[0],
        )
        self._theta[:] = self._whole[self.model.cells]
        self._linked.evaluate()

    def _shapes(self) -> Numbers:
        """The Dirichlet parameters of all distributions given their components, counts included: (cells,)."""
        own_shapes = np.empty(self.model.size)
        for family, own in zip(self.model.families, self.families, strict=True):
            own.shapes(own_shapes[family.first : family.first + family.size].reshape(-1, family.states))
        self._linked.shapes(own_shapes)
        shapes = np.zeros(self.model.layout.size)
        shapes[self.model.cells] = own_shapes
        return shapes

    def _draw_own(self) -> None:
        for own, linked, theta in zip(self.families, self._is_linked, self._views, strict=True):
            own.draw_own(linked, theta)

    def draw(self, out: Numbers) -> None:
        """θ of all cells of the layout, configurations without coordinates drawn from the prior given the rest."""
        if self._trajectories is None:
            self._draw_own()
        for family, own, kept, (theta, low, high) in zip(
            self.model.families, self.families, self._views, self._buffers, strict=True
        ):
            theta[family.kept] = kept
            if family.signs.any():
                draw_ordered(own, family.parent_states, family.places, family.strides, family.signs, theta, low, high)
            elif len(family.kept) < len(family.cells):
                own.draw_others(family.parent_states, family.places, theta)
            out[family.cells] = theta


def _stated(model: SampledModel, believed: Numbers) -> Numbers:
    """How many cases' worth experts said about each distribution.

    That is how many cases their numbers are worth, but less where a state has less than one of these: 1e-6 of a
    thousand cases does not tell one in a thousand from one in a billion.
    """
    if not model.size:
        return np.zeros(0)
    cases, firsts = believed[model.cells], model.first_cell[:-1]
    least = np.minimum.reduceat(np.where(model.barred, np.inf, cases), firsts)
    total: Numbers = np.add.reduceat(np.where(model.barred, 0.0, cases), firsts)
    return total * np.minimum(1.0, least)


def _held_cpts(model: SampledModel, family_of: Indices) -> list[HeldCPT]:
    """The distributions of each CPT that statements about whole networks or products reach."""
    distribution_of = np.repeat(np.arange(len(family_of)), np.diff(model.first_cell))
    free = ~model.barred
    found: list[HeldCPT] = []
    for number in np.unique(family_of[model.held]):
        own = np.flatnonzero(model.held & (family_of == number))
        cells = np.flatnonzero(free & np.isin(distribution_of, own))
        found.append(HeldCPT(own.astype(np.int32), model.cells[cells], cells, np.empty(model.size)))
    return found


def _thin_sets(model: SampledModel, walls: Sequence[Walls]) -> list[Indices]:
    """The cells that matter to each constraint that leaves a thin set."""
    found = list(model.thin)
    for own in (each for each in walls if isinstance(each, NetworkWalls)):
        is_thin = own.constraints.equality | ((own.statements >= 0) & (own.constraints.sizes < NARROW))
        found += [np.flatnonzero(own.constraints.mask[number]) for number in np.flatnonzero(is_thin)]
    return found


def with_signs(doubts: DoubtedStatements, model: SampledModel) -> DoubtedStatements:
    """The same, an influence weighed by how probable the signs of effects are before anything is known."""
    correction = doubts.log_prior_correction.copy()
    for each in model.doubted_signs:
        increments = model.families[each.family].sizes[each.parent] - 1
        correction[each.statement] = max(0.0, float(np.log(2.0**increments - 1.0))) if increments else 0.0
    return replace(doubts, log_prior_correction=correction)
