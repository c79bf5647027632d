"""What the knowledge alone allows: the range of each probability, and the mean over everything that is allowed."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from credo.constraints.blocks import Block, shape_of
from credo.constraints.program import Program
from credo.constraints.uniform_means import uniform_means
from credo.estimation.problem import Problem
from credo.types import Numbers

LARGE_BLOCK = 400  # parameters above which linear programs for ranges take too long
STANDARD_ERROR = 0.08  # of a mean, in standard deviations: less than a picture shows


@dataclass(frozen=True, slots=True, eq=False)
class AllowedRanges:
    """For every parameter, in one vector: where it may be, and its mean over everything that is allowed."""

    low: Numbers  # NaN where it was not computed
    high: Numbers
    mean: Numbers


def allowed_ranges(problem: Problem) -> AllowedRanges:
    """What the hard statements leave to each parameter, block by block; elsewhere everything is possible."""
    layout = problem.layout
    low, high, mean = np.zeros(layout.size), np.ones(layout.size), np.zeros(layout.size)
    for name in layout.names:
        mean[layout.slice_of(name)] = 1 / len(layout.network.states(name))
    known: dict[object, tuple[Numbers, Numbers]] = {}
    shapes = [shape_of(block) for block in problem.model.blocks]
    means = uniform_means(problem.model.blocks, seed=problem.settings.seed, standard_error=STANDARD_ERROR)
    for block, shape, centre in zip(problem.model.blocks, shapes, means, strict=True):
        if shape not in known:
            known[shape] = _ranges(block)
        low[block.parameters], high[block.parameters] = known[shape]
        mean[block.parameters] = centre
    return AllowedRanges(low, high, mean)


def _ranges(block: Block) -> tuple[Numbers, Numbers]:
    unknown = np.full(block.size, np.nan)
    if block.size > LARGE_BLOCK:
        return unknown, unknown
    program = Program(block)
    program.switch(block.linear.hard)
    low, high = np.zeros(block.size), np.ones(block.size)
    for k in range(block.size):
        unit = np.zeros(block.size)
        unit[k] = 1.0
        largest, smallest = program.maximise(unit), program.maximise(-unit)
        if largest is None or smallest is None:
            return unknown, unknown
        high[k], low[k] = min(1.0, largest.value), max(0.0, -smallest.value)
    return low, high
