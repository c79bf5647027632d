"""What the knowledge alone allows: the range of each number, and the mean of all that is possible."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from credo.constraints.alike import shape_of
from credo.constraints.blocks import Block
from credo.constraints.program import Program
from credo.constraints.rows import Numbers
from credo.estimators.problem import Problem
from credo.estimators.sampling.centroid import uniform_means

LARGE_BLOCK = 400  # parameters from which ranges take too long to be worked out


@dataclass(frozen=True, slots=True, eq=False)
class Allowed:
    """For every number of every table, in one vector: where it may lie, and its mean over all that is allowed."""

    low: Numbers  # NaN where it was not worked out
    high: Numbers
    mean: Numbers


def allowed(problem: Problem) -> Allowed:
    """What the hard statements leave to each number, block by block; elsewhere everything is possible."""
    parameters = problem.constraints.parameters
    low, high, mean = np.zeros(parameters.size), np.ones(parameters.size), np.zeros(parameters.size)
    for name, start in parameters.offsets.items():
        states = len(parameters.network.states(name))
        mean[start : start + parameters.network.configurations(name) * states] = 1 / states
    known: dict[object, tuple[Numbers, Numbers]] = {}
    means = uniform_means(problem.blocks, seed=problem.seed)
    for block, centre in zip(problem.blocks, means, strict=True):
        shape = shape_of(block)
        if shape not in known:
            known[shape] = _ranges(block)
        low[block.parameters], high[block.parameters] = known[shape]
        mean[block.parameters] = centre
    return Allowed(low, high, mean)


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
