"""What the solvers take and give: one block's problem, the point where its solver ended, and many blocks as one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from credo.constraints.blocks import Block
from credo.constraints.constraint_set import LinearConstraints, joined
from credo.kernels.closed_forms import GENERAL
from credo.types import Indices, Numbers


@dataclass(frozen=True, slots=True, eq=False)
class Task:
    """One block: min Σ −w log θ + e θ log θ + c θ under its constraints, plus (W/2)·C·violation² for each soft one."""

    block: Block
    weights: Numbers  # (parameters,) w ≥ 0
    entropies: Numbers | None = None  # (parameters,) e ≥ 0; None for zeros
    soft_weight: float = 0.0  # W
    costs: Numbers | None = None  # (parameters,) c; None for zeros


@dataclass(frozen=True, slots=True, eq=False)
class Point:
    """Where a solver ended: parameters, a multiplier for each linear constraint, and how well that is proved."""

    theta: Numbers  # (parameters,)
    multipliers: Numbers  # (constraints,) ≥ 0 for inequalities
    iterations: int
    converged: bool  # by the solver's own criterion
    violation: float  # of hard constraints and sums, see `blocks.py`
    gap: float  # between the objective and its dual bound, relatively
    shape: int = GENERAL  # which closed form was taken, see `kernels/closed_forms.py`


def unknowns(block: Block) -> int:
    """How many numbers a Newton step asks for: parameters, and multipliers of constraints and sums."""
    return block.size + len(block.linear) + len(block.distributions) - 1


def normalised(theta: Numbers, block: Block) -> Numbers:
    """The same with every distribution summing to one, to the last bit that rounding allows."""
    theta = np.maximum(theta, 0.0)
    sums = np.add.reduceat(theta, block.distributions[:-1])
    return np.asarray(theta / sums[block.distribution_of], dtype=np.float64)


# Many blocks as one ---------------------------------------------------------------------------------------------------


def starts_of(sizes: Sequence[int] | Indices) -> Indices:
    """Where each of parts of these sizes starts, and where the last one ends."""
    starts = np.zeros(len(sizes) + 1, dtype=np.int64)
    np.cumsum(sizes, out=starts[1:])
    return starts


def stacked(blocks: Sequence[Block]) -> Block:
    """All blocks in one, numbered on; `constraint_numbers` counts its constraints from 0, and products are left out."""
    linear = [block.linear for block in blocks]
    parameters = starts_of([block.size for block in blocks])
    distributions = starts_of([len(block.distributions) - 1 for block in blocks])
    count = sum(len(each) for each in linear)
    return Block(
        tuple(pair for block in blocks for pair in block.configurations),
        np.concatenate([block.parameters for block in blocks]),
        _numbered_on([block.distributions for block in blocks], parameters),
        np.concatenate([block.distribution_of for block in blocks])
        + np.repeat(distributions[:-1], np.diff(parameters)),
        joined(linear, parameters[:-1].tolist()),
        np.arange(count),
    )


def _numbered_on(starts: Sequence[Indices], offsets: Indices) -> Indices:
    """Lists of starts, each with its end, as one such list."""
    sizes = [len(each) - 1 for each in starts]
    inner = np.concatenate([each[:-1] for each in starts])
    return np.append(inner + np.repeat(offsets[:-1], sizes), offsets[-1])


def apart(block: Block, distribution_starts: Indices, constraint_starts: Indices) -> list[Block]:
    """The blocks that a stacked one is made of, given where the distributions and constraints of each start."""
    linear, parameters = block.linear, block.distributions[distribution_starts]
    found = []
    for k in range(len(distribution_starts) - 1):
        first, last = distribution_starts[k], distribution_starts[k + 1]
        begin, end = parameters[k], parameters[k + 1]
        start, stop = constraint_starts[k], constraint_starts[k + 1]
        entry, until = linear.starts[start], linear.starts[stop]
        own = LinearConstraints(
            linear.starts[start : stop + 1] - entry,
            linear.indices[entry:until] - begin,
            linear.coefficients[entry:until],
            linear.bounds[start:stop],
            linear.statements[start:stop],
            linear.equality[start:stop],
            linear.confidences[start:stop],
            linear.scales[start:stop],
        )
        found.append(
            Block(
                block.configurations[first:last],
                block.parameters[begin:end],
                block.distributions[first : last + 1] - begin,
                block.distribution_of[begin:end] - first,
                own,
                block.constraint_numbers[start:stop],
            )
        )
    return found
