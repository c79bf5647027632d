"""The proof that an estimate is the optimum: no statement violated, and a lower bound that leaves no gap.

`core/block_program.py` has the formulas; the bound is exact whatever found θ and its multipliers.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from credo.constraints.blocks import Block
from credo.core.block_program import GAP_LIMIT, VIOLATION_LIMIT, BlockProgram
from credo.core.block_program import relative_gap as relative_gap
from credo.estimation.solvers.block_solver import Task
from credo.types import Numbers


@dataclass(frozen=True, slots=True)
class Certificate:
    """How far a hard constraint is violated at most, and how far the objective can be from the optimum, relatively.

    Attributes
    ----------
    violation
        How far a hard constraint is violated at most.
    gap
        How far the objective can be from the optimum, relatively.
    """

    violation: float
    gap: float

    @property
    def holds(self) -> bool:
        """Whether both are as small as promised."""
        return bool(self.violation <= VIOLATION_LIMIT and self.gap <= GAP_LIMIT)

    @property
    def badness(self) -> tuple[bool, bool, float]:
        """For comparing two: first whether it holds, then whether the point is feasible, then the gap."""
        return not self.holds, self.violation > VIOLATION_LIMIT, self.gap


def certify(task: Task, theta: Numbers, multipliers: Numbers) -> Certificate:
    """The certificate of a point for a task."""
    return Certificate(*_program(task, theta, multipliers).certificate())


def objective(task: Task, theta: Numbers) -> float:
    """Σ −w log θ + e θ log θ + c θ + Σ_soft (W/2)·C·violation²; infinite where a weight meets a zero."""
    value, _ = _program(task, theta, np.zeros(len(task.block.linear))).values()
    return float(value)


def lower_bound(task: Task, multipliers: Numbers) -> float:
    """The dual value of multipliers; those of inequalities are cut off at zero first."""
    _, bound = _program(task, np.ones(task.block.size), multipliers).values()
    return float(bound)


def _program(task: Task, theta: Numbers, multipliers: Numbers) -> BlockProgram:
    block, program = task.block, BlockProgram()
    program.load(block.distributions, block.linear, task.weights, task.entropies, task.costs, task.soft_weight)
    program.load_point(theta, multipliers)
    return program


def hard_violation(block: Block, theta: Numbers) -> float:
    """How far a hard constraint, or the sum of a distribution, is off at most."""
    excess = block.linear.excess(theta)[block.linear.hard]
    sums = np.add.reduceat(theta, block.distributions[:-1])
    return float(max(excess.max(initial=0.0), np.abs(sums - 1.0).max()))


def soft_cost(task: Task, theta: Numbers) -> float:
    """The cost of the violated soft constraints [liao, eq. 5]."""
    linear = task.block.linear
    excess = np.maximum(linear.excess(theta), 0.0)[~linear.hard]
    return float(0.5 * task.soft_weight * (linear.confidences[~linear.hard] @ excess**2))
