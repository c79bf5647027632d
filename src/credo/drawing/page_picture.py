"""Where boxes and arrows of a network stand on the page: the layout of all of credo's pictures, with larger boxes."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from functools import lru_cache
from hashlib import sha256
from math import ceil
from threading import Lock
from typing import Any

import numpy as np

from credo.drawing.layered_layout import layered_picture
from credo.knowledge.labels import Labels
from credo.model.network import Network, Variable

NARROWEST, WIDEST = 176.0, 240.0  # pixels
BESIDE_NAME, BESIDE_LABEL = 78.0, 138.0  # of a name: margins and what was observed; of a label: bar and number as well
LETTER = 7.5  # the usual width of a letter; the page shortens labels of states that are too long
SMALL_LETTER, MARGIN = 7.5, 24.0  # of a name that takes more than one line; on both sides of it
HEAD, LINE, ROW, FOOT = 34.0, 14.0, 24.0, 8.0  # heights: of two lines of a name, of a third, of a state, below them
MOST_STATES = 12  # that a box shows; one more line says how many there are besides
BETWEEN = 16.0  # pixels, between two boxes that another program drew
FURTHEST = 12.0  # times as far from each other as there, at most

NO_LABELS = Labels()
_DRAWING = Lock()

Structure = tuple[tuple[str, float, float, tuple[str, ...]], ...]  # of each variable: name, width, height, parents


def picture_key(network: Network, labels: Labels = NO_LABELS) -> str:
    """What tells pictures apart: the same for networks that are drawn alike."""
    return sha256(repr(_structure(network, labels)).encode("utf-8", "surrogatepass")).hexdigest()[:16]


def picture_data(
    network: Network,
    labels: Labels = NO_LABELS,
    folded: Collection[str] = (),
    shown: Collection[str] | None = None,
) -> dict[str, Any]:
    """The upper left corner, width and height of each box, and the points of each arrow, as JSON can hold them.

    Groups that are folded are one box each, called as `group_box` says; of the others only those that are shown.
    """
    whole = _structure(network, labels)
    own = whole if not folded and shown is None else _reduced(whole, network, labels, folded, shown)
    with _DRAWING:  # who asks for what is being drawn waits for it
        return {"key": picture_key(network, labels), **_drawn(own)}


def corners_as_drawn(
    network: Network, labels: Labels, middles: Mapping[str, tuple[float, float]]
) -> dict[str, list[float]]:
    """The upper left corner of each box around middles that another program chose, as far apart as boxes need here.

    Empty where they would be too far from each other, as where two stand in one place, and for other variables.
    """
    if set(middles) != set(network.names):
        return {}
    places = np.array([middles[name] for name in network.names])
    sizes = np.array([_size(variable, labels) for variable in network.variables])
    apart = np.abs(places[:, None] - places[None])
    needed = (sizes[:, None] + sizes[None]) / 2 + BETWEEN
    with np.errstate(divide="ignore"):
        factors = (needed / apart).min(axis=2)  # beside each other, or one above the other
    np.fill_diagonal(factors, 0.0)
    if (factor := factors.max(initial=0.0)) > FURTHEST:
        return {}
    corners = (factor or 1.0) * (places - places.min(axis=0)) - sizes / 2
    return dict(zip(network.names, np.round(corners, 1).tolist(), strict=True))


def group_box(group: str) -> str:
    """What the box of a folded group is called: no variable has a name with such a letter."""
    return f"\x1f{group}"


def _structure(network: Network, labels: Labels) -> Structure:
    return tuple((each.name, *_size(each, labels), tuple(network.parents[each.name])) for each in network.variables)


def _reduced(
    whole: Structure, network: Network, labels: Labels, folded: Collection[str], shown: Collection[str] | None
) -> Structure:
    """The same with folded groups as one box each. An arrow that would close a circle is turned: see `_drawn`."""
    box_of = {name: name for name, *_ in whole if shown is None or name in shown}
    for group in folded:
        for name in labels.groups.get(group, ()):
            if name in box_of:
                box_of[name] = group_box(group)
    rank: dict[str, int] = {}
    for place, name in enumerate(network.order):
        if name in box_of:
            rank.setdefault(box_of[name], place)
    parents: dict[str, dict[str, None]] = {box: {} for box in dict.fromkeys(box_of.values())}
    for name, _, _, own in whole:
        for parent in own:
            if name in box_of and parent in box_of and (one := box_of[parent]) != (other := box_of[name]):
                upper, lower = (one, other) if rank[one] < rank[other] else (other, one)
                parents[lower][upper] = None
    sizes = {name: (width, height) for name, width, height, _ in whole}
    sizes |= {group_box(group): (_bounded(LETTER * len(group) + BESIDE_LABEL), HEAD + ROW + FOOT) for group in folded}
    return tuple((box, *sizes[box], tuple(own)) for box, own in parents.items())


def _size(variable: Variable, labels: Labels) -> tuple[float, float]:
    """How wide and high a box is: as its name and labels need, so that more of a network is seen in larger letters.

    A name that is too long for the narrowest box takes two lines, and more of them in the widest.
    """
    name = labels.variable(variable.name)
    label = max(len(labels.state(variable.name, state)) for state in variable.states[:MOST_STATES])
    in_two_lines = max(NARROWEST, SMALL_LETTER * ceil(len(name) / 2) + MARGIN)
    width = _bounded(max(min(LETTER * len(name) + BESIDE_NAME, in_two_lines), LETTER * label + BESIDE_LABEL))
    lines = ceil(SMALL_LETTER * len(name) / (width - MARGIN))
    return width, HEAD + LINE * max(0, lines - 2) + ROW * min(len(variable.states), MOST_STATES + 1) + FOOT


def _bounded(width: float) -> float:
    return min(max(NARROWEST, width), WIDEST)


@lru_cache(maxsize=16)  # several tabs, and undo
def _drawn(structure: Structure) -> dict[str, Any]:
    sizes = {name: (width, height) for name, width, height, _ in structure}
    picture = layered_picture({name: parents for name, _, _, parents in structure}, sizes)
    boxes = {name: [round(x, 1) for x in picture.box(name)] for name in sizes}
    return {
        "boxes": {name: [left, top, *sizes[name]] for name, (left, top, _, _) in boxes.items()},
        "routes": [
            [parent, child, [[round(x, 1), round(y, 1)] for x, y in route]]
            for (parent, child), route in picture.routes.items()
        ],
    }
