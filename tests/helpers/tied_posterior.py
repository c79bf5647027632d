"""The posterior of CPTs given tied rows, by weighting draws from the prior: an oracle that shares no code with credo.

All variables have two states, and the prior is uniform. Rows are summed over what they do not show, ties over values.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from credo import Network
from credo.model.layout import Layout


@dataclass(frozen=True)
class Tie:
    """Rows, counted from 0, that share variables, or differ in one."""

    rows: tuple[int, ...]
    variables: tuple[str, ...]
    differ: bool = False


@dataclass(frozen=True)
class Weighted:
    """Draws of all cells, (draws, cells), and their weights."""

    layout: Layout
    draws: np.ndarray
    weights: np.ndarray

    def where(self, holds: np.ndarray) -> Weighted:
        """The same under a statement."""
        return Weighted(self.layout, self.draws, self.weights * holds)

    def moments(self) -> tuple[np.ndarray, np.ndarray]:
        """Means and standard deviations of all cells."""
        mean = np.average(self.draws, axis=0, weights=self.weights)
        return mean, np.sqrt(np.average((self.draws - mean) ** 2, axis=0, weights=self.weights))

    @property
    def effective_size(self) -> float:
        """How many equally weighted draws these are worth."""
        return float(self.weights.sum() ** 2 / (self.weights**2).sum())


def tied_posterior(
    network: Network, rows: np.ndarray, ties: Sequence[Tie], reading: str, copies: np.ndarray | None = None,
    draws: int = 200_000,
) -> Weighted:  # fmt: skip
    """Draws from the uniform prior, weighted by the likelihood; each row is in one tie at most."""
    layout, rng = Layout.of(network), np.random.default_rng(0)
    yes = rng.random((draws, layout.size // 2))
    theta = np.stack([1.0 - yes, yes], axis=2).reshape(draws, -1)
    copies = np.ones(len(rows), dtype=int) if copies is None else copies
    everything = _joint(network, layout, theta)
    tied = {row for tie in ties for row in tie.rows}
    logs = sum(copies[r] * np.log(_given(everything, rows[r], ())) for r in range(len(rows)) if r not in tied)
    for tie in ties:
        axes = [network.names.index(name) for name in tie.variables]
        said = [_given(everything, rows[row], axes) for row in tie.rows]  # (draws, states) each
        alone = _given(everything, np.full(len(network), -1), axes)
        n = int(sum(copies[row] for row in tie.rows))
        if tie.differ:
            logs = logs + np.log(said[0].sum(axis=1) * said[1].sum(axis=1) - (said[0] * said[1]).sum(axis=1))
            logs = logs - (np.log(1.0 - (alone**2).sum(axis=1)) if reading == "selected" else 0.0)
            continue
        together = np.prod([own ** copies[row] for own, row in zip(said, tie.rows, strict=True)], axis=0)
        if reading == "merged":
            together = together * alone ** (1 - n)
        logs = logs + np.log(together.sum(axis=1))
        logs = logs - (np.log((alone**n).sum(axis=1)) if reading == "selected" else 0.0)
    return Weighted(layout, theta, np.exp(logs - logs.max()))


def _joint(network: Network, layout: Layout, theta: np.ndarray) -> np.ndarray:
    """P of all joint states, (draws, 2, 2, …)."""
    found = np.ones((len(theta), *[2] * len(network)))
    for name in network.names:
        axes = [network.names.index(each) for each in (*network.parents[name], name)]
        own = theta[:, layout.slice_of(name)].reshape(-1, *[2] * len(axes))
        own = np.moveaxis(own, range(1, len(axes) + 1), np.argsort(np.argsort(axes)) + 1)
        shape = [2 if axis in axes else 1 for axis in range(len(network))]
        found = found * own.reshape(-1, *shape)
    return found


def _given(everything: np.ndarray, row: np.ndarray, kept: Sequence[int]) -> np.ndarray:
    """P(what a row shows, values of the kept variables), (draws, states of these together), or (draws,)."""
    shown = everything.copy()
    for axis, value in enumerate(row):
        if value >= 0:
            other: list[object] = [slice(None)] * shown.ndim
            other[axis + 1] = 1 - value
            shown[tuple(other)] = 0.0
    away = tuple(axis + 1 for axis in range(len(row)) if axis not in kept)
    found = shown.sum(axis=away)
    return found.reshape(len(found), -1) if kept else found
