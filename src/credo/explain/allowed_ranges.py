"""What the knowledge alone allows: the range of each probability, and the mean over everything that is allowed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from credo.constraints.blocks import Block, shape_of
from credo.constraints.program import Program
from credo.constraints.uniform_means import uniform_means
from credo.estimation.problem import Problem
from credo.explain.plausibility import dirichlet_draws
from credo.tolerances import DECIMAL_ROUNDING
from credo.types import Numbers

LARGE_BLOCK = 400  # parameters above which linear programs for ranges take too long
STANDARD_ERROR = 0.08  # of a mean, in standard deviations: less than a picture shows
DRAWS = 20_000  # of rejection sampling, which is tried first
MAX_CELLS = 4_000_000  # of draws that are held at a time
ENOUGH_DRAWS = 1 / STANDARD_ERROR**2  # of them that must hold


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
    means = _means(problem.model.blocks, shapes, problem.settings.seed)
    for block, shape, centre in zip(problem.model.blocks, shapes, means, strict=True):
        if shape not in known:
            known[shape] = _ranges(block)
        low[block.parameters], high[block.parameters] = known[shape]
        mean[block.parameters] = centre
    return AllowedRanges(low, high, mean)


def _means(blocks: Sequence[Block], shapes: Sequence[tuple[bytes, ...]], seed: int) -> list[Numbers]:
    """By rejection sampling; where too few draws are kept, by sampling inside the polytope."""
    found = {shape: _mean_by_rejection(block, seed) for shape, block in dict(zip(shapes, blocks, strict=True)).items()}
    narrow = {shape: block for shape, block in zip(shapes, blocks, strict=True) if found[shape] is None}
    sampled = dict(
        zip(narrow, uniform_means(list(narrow.values()), seed=seed, standard_error=STANDARD_ERROR), strict=True)
    )
    return [sampled[shape] if (mean := found[shape]) is None else mean for shape in shapes]


def _mean_by_rejection(block: Block, seed: int) -> Numbers | None:
    hard = block.linear.take(block.linear.hard)
    is_hopeless = hard.equality.any() or any(product.confidence is None for product in block.products)
    is_exact = block.size - len(block.configurations) <= 1  # the middle of an interval, without draws
    if is_exact or is_hopeless:
        return None
    rng = np.random.default_rng([seed, int(block.parameters[0])])
    matrix, total, count = hard.matrix(block.size), np.zeros(block.size), 0
    piece = max(1, MAX_CELLS // block.size)
    for start in range(0, DRAWS, piece):
        draws = dirichlet_draws(rng, block, np.ones(block.size), min(piece, DRAWS - start))
        kept = draws[(matrix @ draws.T <= hard.bounds[:, None] + DECIMAL_ROUNDING).all(axis=0)]
        total += kept.sum(axis=0)
        count += len(kept)
    return total / count if count >= ENOUGH_DRAWS else None


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
