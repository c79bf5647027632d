"""Trajectories of distributions through log-odds: on the likelihood of incomplete rows, and along statements.

Hamiltonian Monte Carlo [Neal, 2011] with the derivatives of smooth factors. By Fisher's identity those of
log p(observed | θ) with respect to log θ are EM's expected counts. Half a step leads to a point between: inside of all
walls it changes the momentum by the gradient there, outside of one by a reflection at that wall [Skilling, 2012], and
half a step follows. So a trajectory follows a set that is thin in one direction, which moves of single distributions
cannot: what the first half step leaves it by, the second one takes back.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from credo.core.linked_distributions import LinkedDistributions
from credo.posterior.walls import Walls, are_kept, excesses, normal, true_statements
from credo.types import Flags, Indices, Numbers

MOST_STEPS = 12
LENGTH = 1.6  # of a trajectory; a quarter of a period where the masses are right
TARGET = 0.75  # the share of trajectories to accept
LEAST = 1e-280
MOST_TRIES = 4  # to draw distributions of a CPT anew in a step
PACE, WANTED = 0.1, 0.5  # at which the share that is drawn together is adapted, and how often that is to be kept
LEAST_MASS = 0.02  # of a coordinate that neither rows nor the prior hold

Smooth = Callable[[Numbers], tuple[float, Numbers]]  # θ to a log density and its derivatives with respect to log θ


@dataclass(slots=True)
class HeldCPT:
    """The distributions of a CPT that are drawn anew together, and how many at once."""

    distributions: Indices  # their numbers among those of the chain, int32
    cells: Indices  # theirs, of the layout
    own_cells: Indices  # the same of the chain
    drawn: Numbers  # (cells of the chain,)
    share: float = 0.5


class Trajectories:
    """Trajectories of some distributions of a chain, with a step size of their own."""

    def __init__(
        self,
        starts: Indices,  # (distributions,) the first cell of each, in vectors of all cells
        moving: Flags,  # (cells,)
        walls: Sequence[Walls],
        seed: list[int],
    ) -> None:
        self._starts, self._moving, self._walls = starts, moving, walls
        self._lengths = np.diff(starts, append=len(moving))
        self._barred = ~moving & np.repeat(np.logical_or.reduceat(moving, starts), self._lengths)
        self._random = np.random.default_rng(seed)
        self._log_step = self._mean_log_step = np.log(0.4)
        self._adapted = 0
        self._information = np.zeros(0)
        self.tried = self.redrawn = 0.0

    def _sums(self, values: Numbers) -> Numbers:
        return np.repeat(np.add.reduceat(values, self._starts), self._lengths)

    def _softmax(self, logs: Numbers) -> Numbers:
        highest = np.repeat(np.maximum.reduceat(logs, self._starts), self._lengths)
        theta = np.exp(logs - highest)
        return np.asarray(theta / self._sums(theta))

    def run(self, theta: Numbers, shapes: Numbers, factors: Sequence[Smooth], support: Numbers, adapting: bool) -> bool:
        """One trajectory from θ, which is changed where it is accepted.

        `shapes` are Dirichlet parameters, `factors` multiply their density, and `support` are the log odds of
        statements that may be wrong. Half of the trajectories keep those that are true, as walls; the others
        do not see them.
        """
        moving = self._moving
        logs = np.where(moving, np.log(np.maximum(theta, LEAST)), 0.0)
        logs[self._barred] = -np.inf

        def at(place: Numbers) -> Numbers:
            return np.where(moving, np.maximum(self._softmax(place), LEAST), theta)

        def density(here: Numbers) -> tuple[float, Numbers]:
            value, total = float((shapes * np.log(np.maximum(here, LEAST)))[moving].sum()), shapes
            for factor in factors:
                own, slope = factor(here)
                value, total = value + own, total + slope
            return value, np.where(moving, total, 0.0)

        here = at(logs)
        found = excesses(self._walls, here)
        true = true_statements(self._walls, found, len(support))
        keeping = bool(len(support)) and self._random.random() < 0.5
        kept = true & keeping
        before, total = density(here)
        if adapting or not len(self._information):
            now = total * (1.0 - here)
            share = 1.0 / min(50.0, 1.0 + self._adapted)
            self._information = now if not len(self._information) else self._information * (1.0 - share) + now * share
        mass = np.maximum(self._information, LEAST_MASS)
        momentum = np.where(moving, self._random.normal(size=len(theta)) * np.sqrt(mass), 0.0)
        before -= 0.5 * float((momentum**2 / mass)[moving].sum())
        step = float(np.exp(self._log_step if adapting else self._mean_log_step))
        count = min(MOST_STEPS, int(np.ceil(LENGTH * (0.5 + self._random.random()) / step)))
        place = logs
        for _ in range(count):
            place = place + 0.5 * step * momentum / mass
            here = at(place)
            found = excesses(self._walls, here)
            if are_kept(self._walls, found, kept):
                _, total = density(here)
                momentum = momentum + step * np.where(moving, total - here * self._sums(total), 0.0)
            else:
                slope = np.where(moving, here * normal(self._walls, found, here, kept), 0.0)
                slope -= np.where(moving, here * self._sums(slope), 0.0)
                norm = float((slope**2 / mass)[moving].sum())
                if norm > 0.0:
                    momentum = momentum - 2.0 * float((slope * momentum / mass)[moving].sum()) / norm * slope
            place = place + 0.5 * step * momentum / mass
        here = at(place)
        found = excesses(self._walls, here)
        after, chance = -np.inf, 0.0
        now_true = true_statements(self._walls, found, len(support))
        if are_kept(self._walls, found, kept) and not (keeping and (now_true != true).any()):
            after, _ = density(here)
            after -= 0.5 * float((momentum**2 / mass)[moving].sum())
            change = after - before + float(support @ (now_true.astype(float) - true))
            chance = float(np.exp(min(0.0, change))) if np.isfinite(change) else 0.0
        is_accepted = bool(self._random.random() < chance)
        if is_accepted:
            theta[moving] = here[moving]
        self._adapt(chance, adapting)
        return is_accepted

    def _adapt(self, chance: float, adapting: bool) -> None:
        if adapting:
            self._adapted += 1
            self._log_step += (chance - TARGET) / np.sqrt(4.0 + self._adapted)
            self._log_step = min(max(self._log_step, -7.0), 0.3)
            self._mean_log_step += (self._log_step - self._mean_log_step) / (0.2 * self._adapted + 1.0)

    def redraw(
        self, theta: Numbers, linked: LinkedDistributions, cpts: Sequence[HeldCPT], support: Numbers, adapting: bool
    ) -> None:
        """Draw distributions of each CPT as if there were no walls; what walls forbid is kept as it was.

        Where walls are far apart that mixes best; where they are close, trajectories along them do. So many are drawn
        together that about half are kept, and the fewer these are, the more often.
        """
        true = true_statements(self._walls, excesses(self._walls, theta), len(support))
        for cpt in cpts:
            for _ in range(min(MOST_TRIES, round(1.0 / cpt.share))):
                linked.propose_alone(cpt.distributions, cpt.share, cpt.drawn)
                tried = theta.copy()
                tried[cpt.cells] = cpt.drawn[cpt.own_cells]
                found = excesses(self._walls, tried)
                kept, now_true = are_kept(self._walls, found, true[:0]), true
                if kept and len(support):
                    now_true = true_statements(self._walls, found, len(support))
                    kept = np.log(self._random.random()) < float(support @ (now_true.astype(float) - true))
                self.tried += 1.0
                if kept:
                    theta[cpt.cells], true = tried[cpt.cells], now_true
                    self.redrawn += 1.0
                else:
                    linked.take_back()
                    cpt.drawn[cpt.own_cells] = theta[cpt.cells]
                if adapting:
                    share = cpt.share * np.exp(PACE * (kept - WANTED))
                    cpt.share = float(min(max(share, 1.0 / len(cpt.distributions)), 1.0))
