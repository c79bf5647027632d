"""The functions behind the methods of `Network` that need later modules.

`Network` imports this module when such a method is called. It only collects: each function is defined in its own place.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from credo.io.cpt_frames import labelled_cpt
from credo.io.dialects import declared
from credo.io.network_from_table import network_from_table
from credo.io.pgmpy import from_pgmpy, to_pgmpy
from credo.io.pyagrum import from_pyagrum, to_pyagrum
from credo.model.bin_rules import BinRule
from credo.model.network import Network
from credo.model.network_validation import with_edges
from credo.options import TableFormat
from credo.statistics.likelihood import kl, log_likelihood
from credo.statistics.predict import predict
from credo.statistics.sample import sample
from credo.types import TableLike

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
    from credo.drawing.network_html import network_html as html  # slow to import: only where it is shown

    return html(network)
