"""What the knowledge alone allows: the range of each number, and the mean of all that is possible."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from credo.arrays import Numbers
from credo.constraints.blocks import Block, shape_of
from credo.constraints.program import Program
from credo.estimation.problem import Problem
from credo.explain.plausibility import dirichlet
from credo.sampling.centroid import uniform_means

LARGE_BLOCK = 400  # parameters from which ranges take too long to be worked out
STANDARD_ERROR = 0.08  # of a mean, in standard deviations: less than a picture shows
SMALL_BLOCK = 8  # parameters up to which walks are quick, and often exact
DRAWS = 4_000  # that are tried first in others
ENOUGH = 400  # of them that must hold: a standard error of 0.05
HOLDS = 1e-12


@dataclass(frozen=True, slots=True, eq=False)
class Allowed:
    """For every number of every table, in one vector: where it may lie, and its mean over all that is allowed."""

    low: Numbers  # NaN where it was not worked out
    high: Numbers
    mean: Numbers


def allowed(problem: Problem) -> Allowed:
    """What the hard statements leave to each number, block by block; elsewhere everything is possible."""
    layout = problem.constraints.layout
    low, high, mean = np.zeros(layout.size), np.ones(layout.size), np.zeros(layout.size)
    for name in layout.names:
        mean[layout.slice_of(name)] = 1 / len(layout.network.states(name))
    known: dict[object, tuple[Numbers, Numbers]] = {}
    for block, centre in zip(problem.blocks, _means(problem.blocks, problem.seed), strict=True):
        shape = shape_of(block)
        if shape not in known:
            known[shape] = _ranges(block)
        low[block.parameters], high[block.parameters] = known[shape]
        mean[block.parameters] = centre
    return Allowed(low, high, mean)


def _means(blocks: Sequence[Block], seed: int) -> list[Numbers]:
    """By draws that are thrown away where a statement does not hold; where too few are left, by walks inside."""
    shapes = [shape_of(block) for block in blocks]
    found = {shape: _by_rejection(block, seed) for shape, block in dict(zip(shapes, blocks, strict=True)).items()}
    narrow = {shape: block for shape, block in zip(shapes, blocks, strict=True) if found[shape] is None}
    walked = dict(
        zip(narrow, uniform_means(list(narrow.values()), seed=seed, standard_error=STANDARD_ERROR), strict=True)
    )
    return [walked[shape] if (mean := found[shape]) is None else mean for shape in shapes]


def _by_rejection(block: Block, seed: int) -> Numbers | None:
    hard = block.linear.take(block.linear.hard)
    unlikely = hard.equality.any() or any(row.confidence is None for row in block.products)
    if block.size <= SMALL_BLOCK or unlikely:
        return None
    rng = np.random.default_rng([seed, int(block.parameters[0])])
    draws = dirichlet(rng, block, np.ones(block.size), DRAWS)
    kept = draws[(hard.matrix(block.size) @ draws.T <= hard.bounds[:, None] + HOLDS).all(axis=0)]
    return kept.mean(axis=0) if len(kept) >= ENOUGH else None


def _ranges(block: Block) -> tuple[Numbers, Numbers]:
    nothing = np.full(block.size, np.nan)
    if block.size > LARGE_BLOCK:
        return nothing, nothing
    hard = Program(block)
    hard.switch(block.linear.hard)
    low, high = np.zeros(block.size), np.ones(block.size)
    for k in range(block.size):
        unit = np.zeros(block.size)
        unit[k] = 1.0
        top, bottom = hard.maximise(unit), hard.maximise(-unit)
        if top is None or bottom is None:
            return nothing, nothing
        high[k], low[k] = min(1.0, top.value), max(0.0, -bottom.value)
    return low, high
