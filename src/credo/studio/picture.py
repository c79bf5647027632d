"""Where boxes and arrows of a network stand on the page: the layout of all of credo's pictures, with larger boxes."""

from __future__ import annotations

from functools import lru_cache
from hashlib import sha256
from typing import Any

from credo.drawing.layered import layered_picture
from credo.model.network import Network

WIDTH = 224.0
HEAD, ROW, FOOT = 34.0, 24.0, 8.0  # heights, in pixels: of the name, of a state, below them
MOST_STATES = 12  # that a box shows; one more line says how many there are besides

Structure = tuple[tuple[str, int, tuple[str, ...]], ...]  # of each variable: name, states, parents


def picture_key(network: Network) -> str:
    """What tells pictures apart: the same for networks that are drawn alike."""
    return sha256(repr(_structure(network)).encode("utf-8", "surrogatepass")).hexdigest()[:16]


def picture_data(network: Network) -> dict[str, Any]:
    """The upper left corner, width and height of each box, and the points of each arrow, as JSON can hold them."""
    return {"key": picture_key(network), **_drawn(_structure(network))}


def _structure(network: Network) -> Structure:
    return tuple((each.name, len(each.states), tuple(network.parents[each.name])) for each in network.variables)


@lru_cache(maxsize=16)  # several tabs, and undo
def _drawn(structure: Structure) -> dict[str, Any]:
    sizes = {name: (WIDTH, HEAD + ROW * min(states, MOST_STATES + 1) + FOOT) for name, states, _ in structure}
    picture = layered_picture({name: parents for name, _, parents in structure}, sizes)
    boxes = {name: [round(x, 1) for x in picture.box(name)] for name in sizes}
    return {
        "boxes": {name: [left, top, *sizes[name]] for name, (left, top, _, _) in boxes.items()},
        "routes": [
            [parent, child, [[round(x, 1), round(y, 1)] for x, y in route]]
            for (parent, child), route in picture.routes.items()
        ],
    }
