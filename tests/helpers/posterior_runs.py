"""The posterior of one CPT from given counts, by both samplers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import pytest

from credo import Network, PosteriorOptions
from credo.constraints.blocks import Block
from credo.sampling.posterior import DirichletChains, sample_chains


@dataclass(frozen=True)
class Given:
    """Counts that are given instead of counted."""

    counts: Mapping[str, np.ndarray]

    def of(self, name: str) -> np.ndarray:
        """The counts of a variable."""
        return self.counts[name]


def family(configurations: int, states: int) -> Network:
    """x with one parent, whose states are the configurations."""
    return Network(
        {"a": [f"a{i}" for i in range(configurations)], "x": [f"x{i}" for i in range(states)]}, parents={"x": ["a"]}
    )


OPTIONS = {"chains", "draws", "warmup", "thinning", "max_draws"}
# Both samplers: NumPy for many chains at once, and the compiled one.
both = pytest.mark.parametrize("compiled", [False, True], ids=["vectorised", "compiled"])


def learn(counts: np.ndarray, blocks: tuple[Block, ...] = (), **given: object) -> DirichletChains:
    """The posterior of one CPT with these counts; keywords are options of sampling or arguments of `posterior`."""
    network = family(*counts.shape)
    chosen: dict[str, object] = {name: given.pop(name) for name in OPTIONS & set(given)}
    if "draws" in chosen:
        chosen.setdefault("max_draws", max(int(str(chosen["draws"])), 1000))
    options = PosteriorOptions(**chosen)  # type: ignore[arg-type]
    return sample_chains(network, ("x",), Given({"x": counts}), blocks, options=options, **given)  # type: ignore[arg-type]
