"""What the solvers take and give: one block's problem and the point where its solver ended."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from credo.constraints.blocks import Block
from credo.kernels.closed_forms import GENERAL
from credo.types import Numbers

LEAST_SHARE = 1e-4  # of the cost of soft constraints, that data count at least


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


def scale_of(task: Task) -> float:
    """What the solvers divide a task by: its total weight, or a ten-thousandth of what its soft constraints cost.

    Divided by 1e-9 rows, a soft constraint would be so hard that rounding decides how far it is violated.
    """
    total = float(task.weights.sum())
    linear = task.block.linear
    if task.soft_weight > 0.0 and not (hard := linear.hard).all():
        total = max(total, LEAST_SHARE * task.soft_weight * float(linear.confidences[~hard].max()))
    return total if total > 0.0 else 1.0


def normalised(theta: Numbers, block: Block) -> Numbers:
    """The same with every distribution summing to one, to the last bit that rounding allows."""
    theta = np.maximum(theta, 0.0)
    sums = np.add.reduceat(theta, block.distributions[:-1])
    return np.asarray(theta / sums[block.distribution_of], dtype=np.float64)
