"""Draw rows from the joint distribution of a network: parents first, then each child given its parents."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from credo.errors import counted
from credo.memory import require_memory
from credo.model.expansion import expand
from credo.model.network import Network
from credo.options import checked_whole_number, resolve_seed
from credo.types import Seed

if TYPE_CHECKING:
    import polars as pl

BYTES_PER_CELL = 8  # of the table: a state's number, and its label
BYTES_AT_WORK = 40  # for each row, while the states of a variable are drawn


def sample(network: Network, rows: int, seed: Seed = 0) -> pl.DataFrame:
    """A frame of `rows` draws, with a column of states for each variable."""
    import polars as pl

    rows = checked_whole_number(rows, "The number of rows to draw", least=0)
    needed = rows * (BYTES_AT_WORK + BYTES_PER_CELL * len(network.names))
    require_memory(needed, counted(rows, "row"), "Draw fewer, in several parts with different seeds.")
    codes = sample_codes(expand(network).network, rows, resolve_seed(seed))
    labels = {
        variable.name: pl.Series(variable.states, dtype=pl.Enum(variable.states)) for variable in network.variables
    }
    return pl.DataFrame({name: labels[name].gather(codes[name]) for name in network.names})


def sample_codes(network: Network, rows: int, seed: int = 0) -> dict[str, NDArray[np.uint32]]:
    """The same draws as state numbers."""
    generator = np.random.default_rng(seed)
    codes: dict[str, NDArray[np.uint32]] = {}
    for name in network.order:
        cpt = network.cpt_array(name)
        configuration = np.zeros(rows, dtype=np.int64)
        for parent, size in zip(network.parents[name], cpt.shape, strict=False):
            configuration *= size
            configuration += codes[parent]
        cumulative = cpt.reshape(-1, cpt.shape[-1]).cumsum(axis=1)
        # Sums may be off by rounding: the draw is scaled to the sum, so that no state is missed or added.
        threshold = generator.random(rows) * cumulative[configuration, -1]
        state = np.zeros(rows, dtype=np.uint32)
        for k in range(cpt.shape[-1] - 1):
            state += threshold >= cumulative[configuration, k]
        codes[name] = state
    return codes
