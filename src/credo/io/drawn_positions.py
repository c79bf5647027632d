"""Where another program drew the variables of a network file: the middles of their boxes, in its own units."""

from __future__ import annotations

import re
from pathlib import Path

from credo.io.files import read_text
from credo.io.scanner import QUOTED
from credo.io.xml_tree import read_tree
from credo.model.network import Network
from credo.types import PathLike

Points = dict[str, tuple[float, float]]

_NUMBER = r"[-+]?\d{1,9}(?:\.\d{0,9})?"
_QUOTED_OR_COMMENT = re.compile(rf"({QUOTED})|%[^\r\n]*+")
_NODE = re.compile(r"\bnode\s++([^\s{]++)\s*+\{([^{}]*+)\}")
_POSITION = re.compile(rf"\bposition\s*+=\s*+\(\s*+({_NUMBER})\s++({_NUMBER})\s*+\)")


def drawn_positions(path: PathLike, network: Network) -> Points:
    """The middle of each variable's box in a file of GeNIe (`.xdsl`) or Hugin (`.net`), from left to right and top to
    bottom; empty for other files, and where not all variables of the network are in one picture.
    """
    match Path(path).suffix.lower():
        case ".xdsl":
            found = _of_xdsl(path)
        case ".net":
            found = _downward(_of_net(path), network)
        case _:
            return {}
    return found if set(found) == set(network.names) else {}


def _of_xdsl(path: PathLike) -> Points:
    """`<position>` has the left, upper, right and lower end of a box. Submodels are pictures of their own."""
    root = read_tree(path).root
    found: Points = {}
    for genie in (each for extensions in root.all("extensions") for each in extensions.all("genie")):
        if genie.all("submodel"):
            return {}
        for node in genie.all("node"):
            ends = [each for position in node.all("position") for each in "".join(position.pieces).split()]
            if len(ends) != 4 or not all(re.fullmatch(_NUMBER, end) for end in ends):
                return {}
            left, top, right, bottom = map(float, ends)
            found[node.get("id")] = ((left + right) / 2, (top + bottom) / 2)
    return found


def _of_net(path: PathLike) -> Points:
    """`position = (x y);` in a node. In some files y grows upward: see `_downward`."""
    text = _QUOTED_OR_COMMENT.sub('""', read_text(path))
    found: Points = {}
    for name, attributes in _NODE.findall(text):
        position = _POSITION.search(attributes)
        if position is None:
            return {}
        found[name] = (float(position[1]), float(position[2]))
    return found


def _downward(positions: Points, network: Network) -> Points:
    """The same turned over where most arrows would point up."""
    arrows = [(parent, name) for name in network for parent in network.parents[name]]
    steps = [positions[name][1] - positions[parent][1] for parent, name in arrows if {name, parent} <= set(positions)]
    if sum(step < 0 for step in steps) <= sum(step > 0 for step in steps):
        return positions
    return {name: (x, -y) for name, (x, y) in positions.items()}
