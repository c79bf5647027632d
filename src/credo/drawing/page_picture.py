"""Where boxes and arrows of a network stand on the page: the layout of all of credo's pictures, with larger boxes."""

from __future__ import annotations

from functools import lru_cache
from hashlib import sha256
from typing import Any

from credo.drawing.layered_layout import layered_picture
from credo.knowledge.labels import Labels
from credo.model.network import Network, Variable

NARROWEST, WIDEST = 176.0, 240.0  # pixels
BESIDE_NAME, BESIDE_LABEL = 78.0, 138.0  # of a name: margins and what was observed; of a label: bar and number as well
LETTER = 7.5  # the usual width of a letter; the page shortens what is too long
HEAD, ROW, FOOT = 34.0, 24.0, 8.0  # heights: of the name, of a state, below them
MOST_STATES = 12  # that a box shows; one more line says how many there are besides

NO_LABELS = Labels()

Structure = tuple[tuple[str, float, int, tuple[str, ...]], ...]  # of each variable: name, width, states, parents


def picture_key(network: Network, labels: Labels = NO_LABELS) -> str:
    """What tells pictures apart: the same for networks that are drawn alike."""
    return sha256(repr(_structure(network, labels)).encode("utf-8", "surrogatepass")).hexdigest()[:16]


def picture_data(network: Network, labels: Labels = NO_LABELS) -> dict[str, Any]:
    """The upper left corner, width and height of each box, and the points of each arrow, as JSON can hold them."""
    return {"key": picture_key(network, labels), **_drawn(_structure(network, labels))}


def _structure(network: Network, labels: Labels) -> Structure:
    return tuple(
        (each.name, _width(each, labels), len(each.states), tuple(network.parents[each.name]))
        for each in network.variables
    )


def _width(variable: Variable, labels: Labels) -> float:
    """How wide a box is: as its name and labels need, so that more of a network is seen in larger letters."""
    label = max(len(labels.state(variable.name, state)) for state in variable.states[:MOST_STATES])
    wanted = max(LETTER * len(labels.variable(variable.name)) + BESIDE_NAME, LETTER * label + BESIDE_LABEL)
    return min(max(NARROWEST, wanted), WIDEST)


@lru_cache(maxsize=16)  # several tabs, and undo
def _drawn(structure: Structure) -> dict[str, Any]:
    sizes = {name: (width, HEAD + ROW * min(states, MOST_STATES + 1) + FOOT) for name, width, states, _ in structure}
    picture = layered_picture({name: parents for name, _, _, parents in structure}, sizes)
    boxes = {name: [round(x, 1) for x in picture.box(name)] for name in sizes}
    return {
        "boxes": {name: [left, top, *sizes[name]] for name, (left, top, _, _) in boxes.items()},
        "routes": [
            [parent, child, [[round(x, 1), round(y, 1)] for x, y in route]]
            for (parent, child), route in picture.routes.items()
        ],
    }
