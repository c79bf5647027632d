"""Draws of the posterior, of whichever implementation."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from credo.arrays import Numbers


@dataclass(frozen=True, slots=True, eq=False)
class Draws:
    """What each chain drew; parameters outside of blocks are averaged over exact distributions instead."""

    theta: Numbers  # (chains, draws, parameters of blocks)
    component: NDArray[np.int8]  # (chains, draws, distributions)
    means: Numbers  # (chains, draws, cells)
    weights: Numbers  # (chains, draws, families, components)
    first: Numbers  # (parameters elsewhere,) E θ given all else, averaged over every sweep
    second: Numbers  # (parameters elsewhere,) E θ²

    @property
    def count(self) -> int:
        """How many draws each chain made."""
        return int(self.theta.shape[1])


def appended(stages: Sequence[Draws]) -> Draws:
    """The draws of stages that follow each other as those of one."""
    shares = np.array([stage.count for stage in stages]) / sum(stage.count for stage in stages)
    return Draws(
        np.concatenate([stage.theta for stage in stages], axis=1),
        np.concatenate([stage.component for stage in stages], axis=1),
        np.concatenate([stage.means for stage in stages], axis=1),
        np.concatenate([stage.weights for stage in stages], axis=1),
        np.asarray(shares @ np.stack([stage.first for stage in stages]), dtype=np.float64),
        np.asarray(shares @ np.stack([stage.second for stage in stages]), dtype=np.float64),
    )
