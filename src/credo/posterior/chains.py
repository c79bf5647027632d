"""Markov chains of all CPTs: each step moves the coordinates of every CPT, then the parameters of the prior."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from credo.core.boundaries import Boundaries
from credo.core.hierarchy import FamilyChain
from credo.core.network_prior import NetworkPrior
from credo.core.trajectory import Trajectories
from credo.posterior.model import SampledModel
from credo.types import Numbers


@dataclass(frozen=True, slots=True)
class PriorConstants:
    """The constants of the prior; [the method](docs/method.md) says what they mean and how little depends on them."""

    centres: tuple[float, float, float] = (
        0.5,
        0.0,
        -0.7,
    )  # of log widths: intercepts, slopes and rests relative to them
    deviations: tuple[float, float, float] = (0.7, 0.7, 0.7)  # of what a network's centres may be
    spreads: tuple[float, float, float] = (0.8, 1.0, 1.0)  # of widths around these
    widths: tuple[float, ...] = (0.1, 0.3, 0.9, 2.5, 6.0)  # of deviations, from following the base to being free
    shares: tuple[float, ...] = (1.2, 1.2, 0.5, 0.3, 0.3)  # of a CPT's configurations with each: Dirichlet parameters


CompleteRows = Callable[[Numbers], Numbers]  # from θ to counts of completed rows, both (cells of the layout,)
Likelihood = Callable[[Numbers], tuple[Numbers, float]]  # from θ to expected counts and the log-likelihood


class Chain:
    """One chain. A class because compiled code keeps its state: vectors of θ, coordinates, generators."""

    def __init__(
        self,
        model: SampledModel,
        counts: Numbers,  # (cells of the layout,) of complete rows and pseudo-counts
        constants: PriorConstants,
        seed: list[int],
        start: Numbers,  # (cells of the layout,) θ
        likelihood: Likelihood | None = None,
        complete: CompleteRows | None = None,
        roughly: Numbers | None = None,  # counts to expect where some are missing
    ) -> None:
        self.model, self._fixed = model, counts
        self._theta = start[model.cells]
        self._logs = np.log(np.maximum(self._theta, 1e-300))
        self._counts = np.ascontiguousarray(counts[model.cells])
        self._whole = start.copy()
        self._centres, self._spreads = np.array(constants.centres), np.array(constants.spreads)
        self._likelihood, self._complete = likelihood, complete
        self.families: list[FamilyChain] = []
        self._steps = 0
        boundaries = [self._boundaries(group) for group in range(len(model.groups))]
        distribution = 0
        for group, members in enumerate(model.groups):
            for i in members:
                family = model.families[i]
                cells = slice(family.first, family.first + family.size)
                own = FamilyChain(
                    family.sizes, family.states, family.parent_states[family.kept],
                    self._counts[cells].reshape(-1, family.states), constants.widths, self._centres, self._spreads,
                    [*seed, i], self._theta, self._logs, family.first, distribution, family.signs, boundaries[group],
                    model.barred[cells].reshape(-1, family.states),
                )  # fmt: skip
                if roughly is not None:
                    own.set_information(roughly[family.cells[family.kept]])
                own.start(start[family.cells[family.kept]])
                self.families.append(own)
                distribution += len(family.kept)
        self._separate = [
            Trajectories([self.families[i] for i in members], boundaries[group], [*seed, len(model.families) + group])
            for group, members in enumerate(model.groups)
            if any(len(model.families[i].kept) for i in members)
        ]
        self._joint = None
        if likelihood is not None:
            everything = self._boundaries(None)
            self._joint = Trajectories(self.families, everything, [*seed, -1 % 2**32], self._expect)
        self.prior = NetworkPrior(
            self.families, self._centres, self._spreads, np.array(constants.centres), np.array(constants.deviations),
            np.array(constants.shares), [*seed, -2 % 2**32],
        )  # fmt: skip
        self._buffers = [np.empty((3, *family.cells.shape)) for family in model.families]

    def _boundaries(self, group: int | None) -> Boundaries | None:
        model = self.model
        members = range(len(model.families)) if group is None else model.groups[group]
        chosen = np.arange(len(model.rows)) if group is None else np.flatnonzero(model.row_group == group)
        if not len(chosen) and not any(model.families[i].signs.any() for i in members):
            return None
        rows = model.rows.take(chosen)
        first, last = model.families[members[0]], model.families[members[-1]]
        return Boundaries(
            rows.starts, rows.cells, rows.coefficients, rows.bounds, model.first_cell, self._theta, self._logs,
            first.first, last.first + last.size,
        )  # fmt: skip

    def _expect(self) -> float:
        """The log-likelihood of incomplete rows at θ; the families' counts become expected ones."""
        assert self._likelihood is not None
        self._whole[self.model.cells] = np.maximum(self._theta, 1e-300)
        expected, value = self._likelihood(self._whole)
        self._counts[:] = expected[self.model.cells]
        return value

    def step(self, adapting: bool) -> None:
        """Move everything once."""
        if self._joint is not None:
            assert self._complete is not None
            self._joint.run(adapting)
            self._whole[self.model.cells] = np.maximum(self._theta, 1e-300)
            self._counts[:] = (self._fixed + self._complete(self._whole))[self.model.cells]
        for trajectories in self._separate:
            trajectories.run(adapting)
        self._steps += 1
        for family in self.families:
            family.update()
            if adapting:
                family.adapt(1.0 / min(10.0 + self._steps, 100.0))
        self.prior.move_widths(adapting)
        self.prior.update()

    def draw(self, out: Numbers) -> None:
        """θ of all cells of the layout, configurations without coordinates drawn from the prior given the rest."""
        for family, own, (theta, low, high) in zip(self.model.families, self.families, self._buffers, strict=True):
            if family.signs.any():
                own.draw_ordered(family.parent_states, family.places, family.strides, family.signs, theta, low, high)
            else:
                own.draw(family.parent_states, family.places, theta)
            out[family.cells] = theta
