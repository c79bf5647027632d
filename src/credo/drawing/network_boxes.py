"""What the picture of a network shows: the content of each variable's box, and what an arrow means."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from re import split
from unicodedata import east_asian_width

import numpy as np

from credo.drawing.layered_layout import Picture, layered_picture
from credo.knowledge.state_order import state_order
from credo.model.network import Network, Variable
from credo.model.state_texts import plain
from credo.probability_texts import short_percent
from credo.types import Numbers

PADDING = 8.0
HEAD_HEIGHT = 22.0
ROW_HEIGHT = 14.0
BAR_WIDTH = 52.0
PERCENT_WIDTH, LONG_PERCENT_WIDTH = 38.0, 46.0  # of `3.1%`, and of `>99.9%` and `9.5e-7`
NAME_LETTER, STATE_LETTER = 7.9, 6.2  # widths in pixels, of letters 12 and 10.5 pixels high
LONG_NAME, LONG_STATE = 24, 14  # letters that are shown
MOST_ROWS = 6  # states that are shown; of more, the most probable
LARGE_CPT = 1_000_000  # probabilities of a CPT whose influences are not computed
SMALL_REVERSAL, SMALL_SHARE = 0.02, 0.05  # of changes against a direction: the largest, and all of them together
CLEAR = 0.9  # of draws that have a direction, where it is shown
MOST_LINES = 3  # of a name that is seen from afar


@dataclass(frozen=True, slots=True)
class Bar:
    """How probable a state is, and the ends of its interval where there is one."""

    state: str
    probability: float
    low: float | None = None
    high: float | None = None

    def __str__(self) -> str:
        ends = (
            ""
            if self.low is None or self.high is None
            else f" ({short_percent(self.low)} to {short_percent(self.high)})"
        )
        return f"{self.state} {short_percent(self.probability)}{ends}"


Bars = Mapping[str, Sequence[Bar]]  # of each variable


@dataclass(frozen=True, slots=True)
class Box:
    """The box of one variable.

    Attributes
    ----------
    name
        The name as it is shown, shortened where it is long.
    rows
        The states that are shown.
    omitted
        The number of states that there is no room for.
    label_width
        The width of the longest state, where bars begin.
    width, height
        Of the whole box.
    """

    name: str
    rows: tuple[Bar, ...]
    omitted: int
    label_width: float
    width: float
    height: float

    @property
    def bar_width(self) -> float:
        """The length of a bar that stands for certainty."""
        return self.width - self.label_width - 2 * PADDING - 5 - _percent_width(self.rows)


def network_boxes(network: Network, bars: Bars | None = None) -> dict[str, Box]:
    """The box of each variable; without probabilities it holds the name alone."""
    return {name: _box(name, (bars or {}).get(name, ())) for name in network.names}


def network_picture(network: Network, boxes: Mapping[str, Box]) -> Picture:
    """Where boxes and arrows are: the one layout of pages, notebooks and matplotlib."""
    parents = {name: network.parents[name] for name in network.names}
    return layered_picture(parents, {name: (box.width, box.height) for name, box in boxes.items()})


def cut_text(variable: Variable) -> str:
    """Where a measured variable is cut into states, in a sentence or two; empty for a variable that is not measured."""
    cuts = variable.cuts
    if cuts is None:
        return ""
    points = [str(plain(point)) for point in cuts.points]
    if len(points) <= MOST_ROWS:
        ends = [f"below {points[0]}"]
        ends += [f"from {low} to below {high}" for low, high in pairwise(points)]
        ends.append(f"from {points[-1]} on")
        states = "; ".join(f"{state} is {end}" for state, end in zip(variable.states, ends, strict=True))
        text = f"{variable.name} is a number with cut points: {states}."
    else:
        text = f"{variable.name} is a number with the cut points {', '.join(points)}."
    if cuts.lowest is None or cuts.highest is None:
        return text
    return f"{text} The data have numbers from {plain(cuts.lowest)} to {plain(cuts.highest)}."


def shortened(text: str, most: int) -> str:
    """A text with an ellipsis in place of what is too long."""
    return text if len(text) <= most else f"{text[: most - 1]}…"


def far_lines(box: Box) -> tuple[list[str], float]:
    """The name in up to three lines and the largest letters that fit the box, for a picture seen from afar."""
    pieces = [piece for piece in split(r"(?<=[\s_.\-])|(?<=[a-z])(?=[A-Z])", box.name) if piece]
    found: list[tuple[float, list[str]]] = []
    for count in range(1, min(MOST_LINES, len(pieces)) + 1):
        lines = _divided(pieces, count)
        longest = max(text_width(line, 0.66) for line in lines)
        size = min(0.84 * box.height / (1.1 * len(lines)), (box.width - 6) / longest, 34.0)
        found.append((size, lines))
    size, lines = max(found, key=lambda each: each[0])
    return lines, size


def text_width(text: str, letter: float) -> float:
    """About the width of a text in most fonts, from that of an ordinary small letter."""
    return letter * sum(_share(each) for each in text)


def _share(letter: str) -> float:
    if east_asian_width(letter) in "WF":
        return 1.8
    if letter in "mwMW@%":
        return 1.5
    if letter in "iljtfrI.,:;|' ":
        return 0.65
    return 1.25 if letter.isupper() else 1.0


def _box(name: str, bars: Sequence[Bar]) -> Box:
    shown = list(bars)
    if len(shown) > MOST_ROWS:
        chosen = sorted(shown, key=lambda bar: -bar.probability)[: MOST_ROWS - 1]
        shown = [bar for bar in shown if bar in chosen][: MOST_ROWS - 1]
    omitted = len(bars) - len(shown)
    title = shortened(name, LONG_NAME)
    label = max((text_width(shortened(bar.state, LONG_STATE), STATE_LETTER) for bar in shown), default=0.0)
    width = text_width(title, NAME_LETTER) + 2 * PADDING
    if shown:
        width = max(width, label + BAR_WIDTH + _percent_width(shown) + 2 * PADDING + 6)
    rows = len(shown) + (omitted > 0)
    return Box(title, tuple(shown), omitted, label, round(width), HEAD_HEIGHT + ROW_HEIGHT * rows + (5 if rows else 0))


def _percent_width(bars: Sequence[Bar]) -> float:
    long = any(len(short_percent(bar.probability)) > len("99.9%") for bar in bars)
    return LONG_PERCENT_WIDTH if long else PERCENT_WIDTH


def _divided(pieces: Sequence[str], count: int) -> list[str]:
    """The pieces in so many lines of about the same length."""
    total, lines = sum(map(len, pieces)), [""] * count
    ends = [0]
    for piece in pieces:
        ends.append(ends[-1] + len(piece))
    for piece, (start, end) in zip(pieces, pairwise(ends), strict=True):
        lines[min(count - 1, int((start + end) / 2 * count / total))] += piece
    return [line.strip() for line in lines if line.strip()]


def influence(network: Network, parent: str, child: str, draws: Numbers | None = None) -> str:
    """Whether a parent raises or lowers its child whatever its other parents are: "raises", "lowers" or "neutral".

    The distributions of a child from low to high are compared by their cumulative sums. Learned numbers are never
    exact: small reversals that are a small part of all changes do not count. With draws of the CPT, (draws, parents…,
    child), a direction has to be that of nearly all of them.
    """
    if not _has_small_cpt(network, child):
        return "neutral"
    change = _changes(network, parent, child, network.cpt_array(child))
    up, down = np.maximum(-change, 0.0), np.maximum(change, 0.0)
    for word, own, other in (("raises", up, down), ("lowers", down, up)):
        is_small = other.max(initial=0.0) <= SMALL_REVERSAL and other.sum() <= SMALL_SHARE * own.sum()
        if is_small and own.max(initial=0.0) > 1e-6:
            if draws is None:
                return word
            drawn = _changes(network, parent, child, draws).reshape(len(draws), -1).sum(axis=1)
            return word if np.mean((drawn < 0.0) == (word == "raises")) >= CLEAR else "neutral"
    return "neutral"


def _changes(network: Network, parent: str, child: str, cpts: Numbers) -> Numbers:
    """From each state of a parent to the next one: how much more probable the low states of a child are."""
    low_to_high = [network.states(child).index(state) for state in state_order(network.variable(child)).states]
    cumulative = np.cumsum(cpts[..., low_to_high], axis=-1)[..., :-1]
    axis = network.parents[child].index(parent) - len(network.parents[child]) - 1
    steps = [network.states(parent).index(state) for state in state_order(network.variable(parent)).states]
    return np.asarray(np.diff(cumulative.take(steps, axis=axis), axis=axis))


def strength(network: Network, parent: str, child: str) -> float:
    """How much a child's distribution depends on a parent, from 0 to 1: how far it moves, on average over the others.

    For a child of two states it is the difference between the largest and the smallest of its probabilities.
    """
    if not _has_small_cpt(network, child):
        return 0.0
    cpt = network.cpt_array(child)
    return float(np.ptp(cpt, axis=network.parents[child].index(parent)).sum(axis=-1).mean() / 2)


def _has_small_cpt(network: Network, child: str) -> bool:
    return child in network.cpts and network.cpts[child].size <= LARGE_CPT
