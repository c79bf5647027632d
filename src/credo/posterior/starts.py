"""Where chains start: CPTs that satisfy every statement, far apart from each other.

Chains that start at one point agree whether or not they have converged, so that R-hat could not fail. Each start is a
random mixture of points that satisfy the statements of a block: one in its middle, and corners that random objectives
find; distributions without statements are drawn around the data.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from credo.constraints.blocks import Block
from credo.constraints.constraint_set import LinearConstraints
from credo.constraints.feasibility import InfeasibleError, interior_of
from credo.constraints.program import Program
from credo.model.layout import Layout
from credo.types import Numbers

CORNERS = 2  # in the mixture of a start
MOST_CORNERS_SIZE = 4000  # parameters of a block beyond which corners take too long to find
LEAST_MIDDLE = 0.3  # the share of the middle, which keeps a start away from boundaries


def starting_points(
    layout: Layout, blocks: Sequence[Block], counts: Numbers, chains: int, rng: np.random.Generator
) -> list[Numbers]:
    """One θ for each chain, (cells of the layout,)."""
    starts = [_around(layout, counts, rng) for _ in range(chains)]
    for block in blocks:
        linear = _widened(block)
        widened = replace(block, linear=linear, constraint_numbers=np.arange(len(linear)))
        interior = interior_of(widened)
        if interior is None:
            raise InfeasibleError
        program = Program(widened) if block.size <= MOST_CORNERS_SIZE else None
        for start in starts:
            mixture = rng.dirichlet(np.ones(1 + CORNERS))
            point = interior.point * (LEAST_MIDDLE + (1.0 - LEAST_MIDDLE) * mixture[0])
            rest = (1.0 - LEAST_MIDDLE) * mixture[1:]
            for share in rest:
                corner = None if program is None else program.maximise(rng.normal(size=block.size))
                point = point + share * (interior.point if corner is None else corner.point)
            start[block.parameters] = point
    return starts


def _widened(block: Block) -> LinearConstraints:
    """The constraints of a block with room around equalities; half of what draws have, so that a start is inside."""
    return block.linear.take(block.linear.hard).drawn(0.5)


def _around(layout: Layout, counts: Numbers, rng: np.random.Generator) -> Numbers:
    """A draw from a Dirichlet distribution with the counts and one more for each state."""
    start = np.empty(layout.size)
    for name in layout.names:
        shapes = layout.view(counts, name) + 1.0
        gammas = rng.standard_gamma(shapes)
        layout.view(start, name)[...] = gammas / gammas.sum(axis=1, keepdims=True)
    return start
