"""The exact posterior of CPTs given a few incomplete rows: a mixture of Dirichlets over all completions."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product

import numpy as np
from scipy.special import gammaln
from scipy.stats import beta

from credo import Network
from credo.model.layout import Layout


@dataclass(frozen=True)
class ExactPosterior:
    """Π Dirichlet(shape) with the chances of each completion."""

    layout: Layout
    shapes: np.ndarray  # (completions, cells)
    chances: np.ndarray  # (completions,)

    def _totals(self) -> np.ndarray:
        starts = self.layout.distribution_starts()
        sizes = np.diff(starts, append=self.layout.size)
        return np.repeat(np.add.reduceat(self.shapes, starts, axis=1), sizes, axis=1)

    def moments(self) -> tuple[np.ndarray, np.ndarray]:
        """Means and standard deviations of all cells."""
        total = self._totals()
        first = self.chances @ (self.shapes / total)
        second = self.chances @ (self.shapes * (self.shapes + 1) / (total * (total + 1)))
        return first, np.sqrt(second - first**2)

    def below(self, values: np.ndarray) -> np.ndarray:
        """The probability that each cell is below a value."""
        return np.asarray(self.chances @ beta.cdf(values, self.shapes, self._totals() - self.shapes))

    def draw(self, count: int, rng: np.random.Generator) -> np.ndarray:
        """Independent draws, (count, cells)."""
        logs = rng.standard_gamma(self.shapes[rng.choice(len(self.chances), count, p=self.chances)])
        starts = self.layout.distribution_starts()
        sizes = np.diff(starts, append=self.layout.size)
        return logs / np.repeat(np.add.reduceat(logs, starts, axis=1), sizes, axis=1)


def exact_posterior(network: Network, rows: np.ndarray, pseudo_count: float = 1.0) -> ExactPosterior:
    """Every completion of all rows; the prior adds a pseudo-count to every cell."""
    layout = Layout.of(network)
    every: list[list[np.ndarray]] = []
    for row in rows:
        known = [[int(k)] if k >= 0 else range(len(v.states)) for k, v in zip(row, network.variables, strict=True)]
        found = []
        for states in product(*known):
            values, cells = dict(zip(network.names, states, strict=True)), np.zeros(layout.size)
            for name, cpt in layout.unpack(cells).items():
                cpt[(*(values[parent] for parent in network.parents[name]), values[name])] = 1.0
            found.append(cells)
        every.append(found)
    sums: dict[bytes, float] = {np.full(layout.size, pseudo_count).tobytes(): 1.0}
    for found in every:  # completions with the same counts are one
        merged: dict[bytes, float] = {}
        for key, ways in sums.items():
            for cells in found:
                after = (np.frombuffer(key) + cells).tobytes()
                merged[after] = merged.get(after, 0.0) + ways
        sums = merged
    shapes = np.array([np.frombuffer(key) for key in sums])
    totals = np.add.reduceat(shapes, layout.distribution_starts(), axis=1)
    logs = gammaln(shapes).sum(axis=1) - gammaln(totals).sum(axis=1) + np.log(list(sums.values()))
    chances = np.exp(logs - logs.max())
    return ExactPosterior(layout, shapes, chances / chances.sum())
