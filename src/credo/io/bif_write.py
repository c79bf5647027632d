"""Write a network as BIF, such that reading it gives every name, every order and every bit of every number back."""

from __future__ import annotations

import gzip
import itertools
import os
from collections.abc import Iterator

from credo.io.atomic import replacing
from credo.io.bif_scan import quoted
from credo.model.network import Network


def write_bif(network: Network, path: str | os.PathLike[str]) -> None:
    """Write the network to a file, packed where the name ends in `.gz`; a failed write leaves the old file."""
    content = format_bif(network).encode("utf-8")
    if str(path).lower().endswith(".gz"):
        content = gzip.compress(content, mtime=0)  # the same network gives the same bytes
    with replacing(path) as draft:
        draft.write_bytes(content)


def format_bif(network: Network) -> str:
    """The network as BIF text. A variable without a table gets a block without rows."""
    return "".join(_lines(network))


def _lines(network: Network) -> Iterator[str]:
    yield f"network {quoted(network.name)} {{\n}}\n"
    labels = {variable.name: [quoted(state) for state in variable.states] for variable in network.variables}
    for name, states in labels.items():
        yield f"variable {quoted(name)} {{\n  type discrete [ {len(states)} ] {{ {', '.join(states)} }};\n}}\n"
    for name in network.names:
        yield from _block(network, name, labels)


def _block(network: Network, name: str, labels: dict[str, list[str]]) -> Iterator[str]:
    parents = network.parents[name]
    given = f" | {', '.join(map(quoted, parents))}" if parents else ""
    yield f"probability ( {quoted(name)}{given} ) {{\n"
    if name in network.cpts:
        rows = network.cpts[name].reshape(-1, len(labels[name])).tolist()
        heads = _products([labels[parent] for parent in parents]) if parents else iter(["table"])
        for head, row in zip(heads, rows, strict=True):
            # `repr` gives the shortest text that reads back as the same float.
            yield f"  {head} {', '.join(map(repr, row))};\n"
    yield "}\n"


def _products(labels: list[list[str]]) -> Iterator[str]:
    """`(a, b)` for each configuration, the last parent running fastest."""
    for configuration in itertools.product(*labels):
        yield f"({', '.join(configuration)})"
