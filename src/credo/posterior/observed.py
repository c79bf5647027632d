"""Trajectories of distributions on the likelihood of rows with missing values.

By Fisher's identity the derivatives of log p(observed | θ) with respect to log θ are EM's expected counts, which cost
about as much as the likelihood. In log-odds, with momenta whose masses are those counts, trajectories reach far where
drawing missing values and distributions in turn moves slowly.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from credo.posterior.model import SampledModel
from credo.types import Numbers

MOST_STEPS = 12
LENGTH = 1.6  # of a trajectory; a quarter of a period where the masses are right
TARGET = 0.8  # the share of trajectories to accept
LEAST = 1e-280


class ObservedTrajectories:
    """Hamiltonian Monte Carlo of all distributions but those that statements link, which stay where they are."""

    def __init__(
        self,
        model: SampledModel,
        likelihood: Callable[[Numbers], tuple[Numbers, float]],
        linked: np.ndarray,
        seed: list[int],
    ) -> None:
        self._cells, self._likelihood = model.cells, likelihood
        self._starts = model.first_cell[:-1]
        self._lengths = np.diff(model.first_cell)
        self._moving = np.repeat(linked == 0, self._lengths) & ~model.barred
        self._barred = model.barred
        self._random = np.random.default_rng(seed)
        self._log_step = self._mean_log_step = np.log(0.5)
        self._adapted = 0
        self._mass = np.zeros(0)
        self.made = self.accepted = 0.0

    def _softmax(self, logs: Numbers) -> Numbers:
        highest = np.repeat(np.maximum.reduceat(logs, self._starts), self._lengths)
        theta = np.exp(logs - highest)
        theta /= np.repeat(np.add.reduceat(theta, self._starts), self._lengths)
        return np.asarray(theta, dtype=np.float64)

    def _density(self, theta: Numbers, shapes: Numbers, whole: Numbers) -> tuple[float, Numbers, Numbers]:
        """The log density in log-odds, its gradient, and the expected counts."""
        theta = np.maximum(theta, LEAST)
        whole[self._cells] = theta
        expected, value = self._likelihood(whole)
        expected = expected[self._cells]
        total = np.where(self._moving, expected + shapes, 0.0)
        sums = np.repeat(np.add.reduceat(total, self._starts), self._lengths)
        gradient = np.where(self._moving, total - theta * sums, 0.0)
        return value + float((shapes * np.log(theta))[self._moving].sum()), gradient, expected

    def run(self, theta: Numbers, shapes: Numbers, whole: Numbers, adapting: bool) -> None:
        """One trajectory from θ, which is changed where it is accepted; `shapes` are the prior's."""
        if not self._moving.any():
            return
        logs = np.where(self._barred, -np.inf, np.log(np.maximum(theta, LEAST)))
        before, gradient, expected = self._density(theta, shapes, whole)
        if adapting:  # masses come from averages of earlier steps, so that they do not depend on where the chain is
            now = expected * (1.0 - theta)
            self._mass = now if not len(self._mass) else self._mass + (now - self._mass) / min(50.0, 2.0 + self._adapted)
        mass = np.maximum(self._mass + shapes, 1e-3)
        momentum = np.where(self._moving, self._random.normal(size=len(theta)) * np.sqrt(mass), 0.0)
        energy = 0.5 * float((momentum**2 / mass).sum())
        step = float(np.exp(self._log_step if adapting else self._mean_log_step))
        count = min(MOST_STEPS, int(np.ceil(LENGTH * (0.5 + self._random.random()) / step)))
        place, value = logs, before
        moved = theta
        for _ in range(count):
            momentum = momentum + 0.5 * step * gradient
            place = place + step * momentum / mass
            moved = self._softmax(place)
            value, gradient, _ = self._density(moved, shapes, whole)
            momentum = momentum + 0.5 * step * gradient
            if not value > before - 1000.0:
                break
        change = value - 0.5 * float((momentum**2 / mass).sum()) - before + energy
        chance = float(np.exp(min(0.0, change))) if np.isfinite(change) else 0.0
        if self._random.random() < chance:
            theta[:] = np.where(self._moving, np.maximum(moved, LEAST), theta)
        self.made += 1.0
        self.accepted += chance
        if adapting:
            self._adapted += 1
            self._log_step += (chance - TARGET) / np.sqrt(4.0 + self._adapted)
            self._log_step = min(max(self._log_step, -6.0), 0.3)
            self._mean_log_step += (self._log_step - self._mean_log_step) / (0.2 * self._adapted + 1.0)
