"""The functions behind the methods of `Network` that need later modules.

`Network` imports this module when such a method is called.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from credo.errors import NetworkError, counted, first_duplicate
from credo.io.dialects import declared
from credo.io.network_from_table import network_from_table
from credo.io.pgmpy import from_pgmpy, to_pgmpy
from credo.io.pyagrum import from_pyagrum, to_pyagrum
from credo.memory import require_memory
from credo.model.bin_rules import BinRule
from credo.model.expansion import expand
from credo.model.network import Network
from credo.model.network_validation import with_edges
from credo.model.noisy import NoisyForm
from credo.options import TableFormat, checked_whole_number, resolve_seed
from credo.statistics.likelihood import kl, log_likelihood
from credo.statistics.predict import predict
from credo.types import Seed, TableLike

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


def labelled_cpt(network: Network, name: str) -> pl.DataFrame:
    """P(name | parents): a column of states for each parent, then a column `child=state` of numbers for each state.

    For a noisy family whose full CPT is too large, all small CPTs one below the other: the columns of parents that a
    set does not contain are empty, and for the leak all of them.
    """
    import polars as pl

    form = network.forms.get(name)
    if name not in network.cpts and isinstance(form, NoisyForm) and form.cpts:
        expanded = expand(network)
        small = [labelled_cpt(expanded.network, effect) for effect in expanded.effects[name]]
        stacked = pl.concat([_with_child(frame, name, network.states(name)) for frame in small], how="diagonal")
        return stacked.select(*network.parents[name], *(f"{name}={state}" for state in network.states(name)))
    cpt = network.cpt_array(name)
    states, parents = network.states(name), network.parents[name]
    numbers = cpt.reshape(-1, len(states))
    columns = [*parents, *(f"{name}={state}" for state in states)]
    if (duplicate := first_duplicate(columns)) is not None:
        raise NetworkError(f'The CPT of {name} would have two columns "{duplicate}": a parent has the name of a state.')
    # The last parent varies fastest, as in the array.
    indices = np.indices(cpt.shape[:-1]).reshape(len(parents), len(numbers))
    labels = [
        pl.Series(parent, network.states(parent), dtype=pl.String).gather(index)
        for parent, index in zip(parents, indices, strict=True)
    ]
    values = [pl.Series(column, numbers[:, k]) for k, column in enumerate(columns[len(parents) :])]
    return pl.DataFrame([*labels, *values])


def _with_child(frame: pl.DataFrame, child: str, states: Sequence[str]) -> pl.DataFrame:
    """The CPT of an effect with columns named after the child."""
    given = frame.columns[: -len(states)]
    frame.columns = [*given, *(f"{child}={state}" for state in states)]
    return frame


__all__ = [
    "declared",
    "from_data",
    "from_pgmpy",
    "from_pyagrum",
    "kl",
    "labelled_cpt",
    "log_likelihood",
    "network_html",
    "predict",
    "sample",
    "to_pgmpy",
    "to_pyagrum",
]


def from_data(
    data: TableLike,
    edges: Iterable[tuple[str, str]] | None,
    parents: Mapping[str, Sequence[str]] | None,
    states: Mapping[str, Sequence[object]] | None,
    bins: Mapping[str, BinRule] | BinRule | None,
    variables: Sequence[str] | None,
    table_format: TableFormat | None = None,
) -> Network:
    """A network of the columns of a table; see `Network.from_data`."""
    families = with_edges(None, parents or {}, edges or ())
    table = declared(data, table_format)
    return network_from_table(table, parents=families, states=states or {}, bins=bins, variables=variables).network


def network_html(network: Network) -> str:
    """What a notebook shows of a network."""
    from credo.drawing.network_svg import network_html as html  # slow to import: only where it is shown

    return html(network)
