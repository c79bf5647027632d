"""Draw rows from the joint distribution of a network: parents first, each child from its row of the table."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from credo.errors import OptionError
from credo.model.expansion import expand
from credo.model.network import Network
from credo.options import resolve_seed

if TYPE_CHECKING:
    import polars as pl


def sample(network: Network, rows: int, seed: int = 0) -> pl.DataFrame:
    """A frame of `rows` draws, one labelled column a variable, in the order of the variables."""
    import polars as pl

    if isinstance(rows, bool) or not hasattr(rows, "__index__"):
        raise OptionError(f"The number of rows to draw is a whole number; it is {rows!r}.")
    if rows < 0:
        raise OptionError(f"The number of rows to draw cannot be negative; it is {rows}.")
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
        table = network.cpt_array(name)
        configuration = np.zeros(rows, dtype=np.int64)
        for parent, size in zip(network.parents[name], table.shape, strict=False):
            configuration *= size
            configuration += codes[parent]
        cumulative = table.reshape(-1, table.shape[-1]).cumsum(axis=1)
        # Rows may be off by rounding: the draw is scaled to the row's own total, so no state is missed or invented.
        threshold = generator.random(rows) * cumulative[configuration, -1]
        state = np.zeros(rows, dtype=np.uint32)
        for k in range(table.shape[-1] - 1):
            state += threshold >= cumulative[configuration, k]
        codes[name] = state
    return codes
