"""What the graphs of a conflict and of a network show: which statements are about what, and what an arrow means."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from textwrap import wrap

import numpy as np

from credo.knowledge.state_order import state_order
from credo.model.network import Network

# Conflicts ------------------------------------------------------------------------------------------------------------


LINE_LENGTH = 46  # letters
MAX_LINES = 5  # of a statement
MAX_DISTRIBUTIONS = 10


@dataclass(frozen=True, slots=True)
class ConflictGraph:
    """The text of each statement in lines, the distributions, and which statement is about which distribution."""

    statements: tuple[tuple[str, ...], ...]
    distributions: tuple[str, ...]
    edges: tuple[tuple[int, int], ...]  # (statement, distribution)
    omitted: int  # distributions that there is no room for


def conflict_graph(statements: Sequence[str], configurations: Sequence[Sequence[str]]) -> ConflictGraph:
    """The graph of statements and, for each, the distributions it is about; those of several statements come first."""
    times: dict[str, int] = {}
    for names in configurations:
        for name in names:
            times[name] = times.get(name, 0) + 1
    ordered = sorted(times, key=lambda name: -times[name])
    shown = tuple(ordered[:MAX_DISTRIBUTIONS])
    edges = [
        (number, shown.index(name)) for number, names in enumerate(configurations) for name in names if name in shown
    ]
    return ConflictGraph(
        tuple(tuple(_lines(text)) for text in statements), shown, tuple(edges), len(ordered) - len(shown)
    )


def _lines(text: str) -> list[str]:
    lines = wrap(text, LINE_LENGTH)
    return lines if len(lines) <= MAX_LINES else [*lines[: MAX_LINES - 1], f"{lines[MAX_LINES - 1]} …"]


# Networks -------------------------------------------------------------------------------------------------------------


LARGE_CPT = 1_000_000  # probabilities of a CPT whose influences are not computed


def influence(network: Network, parent: str, child: str) -> str:
    """Whether a parent raises or lowers its child whatever its other parents are: "raises", "lowers" or "neutral"."""
    if child not in network.cpts or network.cpts[child].size > LARGE_CPT:
        return "neutral"
    cpt = network.cpt_array(child)
    low_to_high = [network.states(child).index(state) for state in state_order(network.variable(child)).states]
    axis = network.parents[child].index(parent)
    steps = [network.states(parent).index(state) for state in state_order(network.variable(parent)).states]
    cumulative = np.cumsum(cpt[..., low_to_high], axis=-1)[..., :-1]
    change = np.diff(cumulative.take(steps, axis=axis), axis=axis)
    if (change <= 1e-9).all() and (change < -1e-6).any():
        return "raises"
    return "lowers" if (change >= -1e-9).all() and (change > 1e-6).any() else "neutral"
