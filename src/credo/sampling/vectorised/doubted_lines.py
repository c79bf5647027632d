"""What statements that may be wrong add to the density along a line, for hundreds of chains at once.

A statement is true where all its constraints hold, and multiplies the density by r·w/(1 − r) there. On CPTs that
statements about any probability reach, such a line is sampled by a slice, which takes a density with steps as it is.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from credo.kernels.sampler_arrays import GeneralArrays
from credo.sampling.doubted_statements import ROUNDING, DoubtedConstraints
from credo.sampling.vectorised.moves import Which, taken
from credo.types import Indices, Numbers

Excess = Callable[[int, Numbers, Which], Numbers]  # of a general statement's row after steps, for some chains


@dataclass(frozen=True, slots=True, eq=False)
class DoubtedLine:
    """The doubted constraints that change along one direction, by what they mean."""

    rows: Indices  # constraints that change
    changes: Numbers
    meanings: tuple[int, ...]  # which may become true or false
    changing: tuple[tuple[int, ...], ...]  # of each meaning: places among `rows`
    fixed: tuple[Indices, ...]  # of each meaning: constraints that stay as they are
    general: tuple[tuple[int, ...], ...]  # of each meaning: rows of statements about any probability


@dataclass(slots=True, eq=False)
class DoubtedLines:
    """All doubted constraints, how far they are from their bounds in every chain, and what being true is worth."""

    doubted: DoubtedConstraints
    arrays: GeneralArrays
    slack: Numbers  # (constraints, chains)
    odds: Numbers  # (meanings, chains)

    def begin(self, theta: Numbers, odds: Numbers) -> None:
        """Take the present point, (parameters of blocks or more, chains), and the odds that were drawn for it."""
        linear = self.doubted.linear
        matrix = linear.matrix(self.doubted.parameters)
        self.slack = linear.bounds[:, None] - matrix @ theta[: self.doubted.parameters]
        self.odds = odds

    def along(self, indices: Indices, values: Numbers) -> DoubtedLine:
        """What changes along a direction."""
        direction = np.zeros(self.doubted.parameters)
        direction[indices] = values
        changes = self.doubted.linear.matrix(self.doubted.parameters) @ direction
        rows = np.flatnonzero(changes)
        owners = self.doubted.linear.statements
        general = self.arrays.meanings
        meanings = tuple(sorted({*owners[rows].tolist(), *general[general >= 0].tolist()}))
        return DoubtedLine(
            rows,
            changes[rows],
            meanings,
            tuple(tuple(np.flatnonzero(owners[rows] == meaning).tolist()) for meaning in meanings),
            tuple(np.setdiff1d(np.flatnonzero(owners == meaning), rows) for meaning in meanings),
            tuple(tuple(np.flatnonzero(general == meaning).tolist()) for meaning in meanings),
        )

    def terms(self, line: DoubtedLine, excess: Excess) -> Callable[[Numbers, Which], Numbers]:
        """What statements add to the log density after steps, for some chains."""
        slack = self.slack[line.rows]
        possible = [np.asarray((self.slack[fixed] >= -ROUNDING).all(axis=0)) for fixed in line.fixed]

        def added(step: Numbers, which: Which) -> Numbers:
            density = np.zeros(len(step))
            for place, meaning in enumerate(line.meanings):
                true = taken(possible[place], which)
                for row in line.changing[place]:
                    true = true & (taken(slack[row], which) - line.changes[row] * step >= -ROUNDING)
                for row in line.general[place]:
                    true = true & (excess(row, step, which) <= ROUNDING)
                density += np.where(true, taken(self.odds[meaning], which), 0.0)
            return density

        return added

    def interval(
        self, line: DoubtedLine, place: int, straight: Callable[[int], tuple[Numbers, Numbers]]
    ) -> tuple[Numbers, Numbers]:
        """Between which steps a statement holds, for each chain; nowhere, (∞, −∞), where it cannot."""
        begin, end = np.full(self.slack.shape[1], -np.inf), np.full(self.slack.shape[1], np.inf)
        rows = [(self.slack[line.rows[row]], np.asarray(line.changes[row])) for row in line.changing[place]]
        rows += [straight(row) for row in line.general[place]]
        possible = np.asarray((self.slack[line.fixed[place]] >= -ROUNDING).all(axis=0))
        for slack, change in rows:
            change = np.broadcast_to(change, begin.shape)
            limit = slack / np.where(change == 0.0, 1.0, change)
            end = np.where(change > 0.0, np.minimum(end, limit), end)
            begin = np.where(change < 0.0, np.maximum(begin, limit), begin)
            possible = possible & ((change != 0.0) | (slack >= -ROUNDING))
        return np.where(possible, begin, np.inf), np.where(possible, end, -np.inf)

    def move(self, line: DoubtedLine, step: Numbers) -> None:
        """Go on to another point of a line."""
        self.slack[line.rows] -= line.changes[:, None] * step
