"""Networks from and to files and objects: one table says which ending is read and written by whom."""

from __future__ import annotations

import os
from typing import Any

from credo.io.bif_read import read_bif
from credo.io.bif_write import write_bif
from credo.network import Network


def read_network(source: Any) -> Network:
    """The network in a file."""
    if isinstance(source, Network):
        return source
    return read_bif(source)


def write_network(network: Network, path: str | os.PathLike[str]) -> None:
    """Write a network to a file."""
    write_bif(network, path)
