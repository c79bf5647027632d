"""A block as a linear program in HiGHS: constraints are switched on and off, objectives changed, the basis is kept."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import Any

import numpy as np

from credo.constraints.blocks import Block
from credo.constraints.constraint_set import LinearConstraints
from credo.types import Flags, Indices, Numbers

# Constraints are sums of a few numbers between 0 and 1 with bounds that people write: 1e-9 is far below any bound that
# is meant, and far above rounding errors.
FEASIBILITY_TOLERANCE = 1e-9
_PRESOLVE_FROM = 500  # below this, presolve costs more than it saves


@dataclass(frozen=True, slots=True, eq=False)
class Optimum:
    """The largest value of an objective, where it is reached, and the multiplier of each linear constraint there."""

    value: float
    point: Numbers  # (parameters,)
    multipliers: Numbers  # (linear constraints,)


class Program:
    """{θ : θ ≥ 0, every distribution sums to one, Aθ ≤ b for the constraints that are on}.

    A class because HiGHS has a state: the basis of one solution is the start of the next.
    """

    def __init__(self, block: Block) -> None:
        self.block = block
        self.linear = block.linear
        self._columns = np.arange(block.size, dtype=np.int32)
        self._first_constraint = len(block.configurations)
        self._constraints_of = constraints_of_statements(block.linear)
        self._lower = np.where(block.linear.equality, block.linear.bounds, -np.inf)
        self._on = np.ones(len(block.linear), dtype=np.bool_)
        simplex, count = simplex_constraints(block), len(block.configurations)
        ones = np.ones(count)
        self._highs = load(
            (np.zeros(block.size), np.zeros(block.size), np.ones(block.size)),
            stacked(simplex, (block.linear.starts, block.linear.indices, block.linear.coefficients)),
            (np.concatenate((ones, self._lower)), np.concatenate((ones, block.linear.bounds))),
        )

    def switch(self, on: Flags) -> None:
        """Switch exactly these linear constraints on."""
        changed = np.flatnonzero(on != self._on)
        if len(changed):
            lower = np.where(on[changed], self._lower[changed], -np.inf)
            upper = np.where(on[changed], self.linear.bounds[changed], np.inf)
            self._highs.changeRowsBounds(
                len(changed), (changed + self._first_constraint).astype(np.int32), lower, upper
            )
            self._on = on.copy()

    def switch_statements(self, statements: Collection[int]) -> None:
        """Switch exactly the constraints of these statements on."""
        on = np.zeros(len(self.linear), dtype=np.bool_)
        for statement in statements:
            on[self._constraints_of[statement]] = True
        self.switch(on)

    def constraints_of(self, statement: int) -> Indices:
        """The constraints of a statement in this block."""
        return self._constraints_of[statement]

    def feasible_point(self) -> Numbers | None:
        """A point that satisfies the constraints which are on, if there is one."""
        found = self.maximise(np.zeros(self.block.size))
        return None if found is None else found.point

    def maximise(self, objective: Numbers) -> Optimum | None:
        """The maximum of objective · θ under the constraints that are on; None where they are infeasible."""
        import highspy

        self._highs.changeColsCost(self.block.size, self._columns, -objective)
        for _ in range(2):
            self._highs.run()
            status = self._highs.getModelStatus()
            if status == highspy.HighsModelStatus.kInfeasible:
                return None
            if status == highspy.HighsModelStatus.kOptimal:
                break
            self._highs.clearSolver()  # a bad basis: once more from the start
        else:
            raise ArithmeticError(f"HiGHS ended a linear program of {self.block.size} parameters with {status}.")
        solution = self._highs.getSolution()
        point = np.asarray(solution.col_value, dtype=np.float64)
        multipliers = np.abs(np.asarray(solution.row_dual, dtype=np.float64)[self._first_constraint :])
        return Optimum(float(objective @ point), point, multipliers)

    def refuting_constraints(self) -> Indices | None:
        """Constraints that prove infeasibility: those with a weight in a dual ray; None where HiGHS has no ray."""
        import highspy

        status, exists, ray = self._highs.getDualRay()
        if status != highspy.HighsStatus.kOk or not exists:
            return None
        weights = np.abs(np.asarray(ray, dtype=np.float64)[self._first_constraint :])
        return np.flatnonzero(weights > FEASIBILITY_TOLERANCE * max(1.0, float(weights.max(initial=0.0))))

    def irreducible_infeasible_constraints(self) -> Indices | None:
        """The constraints of an irreducible infeasible subsystem, as HiGHS finds it; None where it finds none."""
        import highspy

        self._highs.changeColsCost(self.block.size, self._columns, np.zeros(self.block.size))
        self._highs.setOptionValue("iis_strategy", int(highspy.IisStrategy.kIisStrategyIrreducible))
        status, found = self._highs.getIis()
        if status != highspy.HighsStatus.kOk or not found.valid_ or not len(found.row_index_):
            return None
        found_constraints = np.asarray(found.row_index_, dtype=np.int64) - self._first_constraint
        return found_constraints[found_constraints >= 0]


SparseMatrix = tuple[Indices, Indices, Numbers]  # starts, indices and values, one row per constraint


def load(columns: tuple[Numbers, Numbers, Numbers], matrix: SparseMatrix, bounds: tuple[Numbers, Numbers]) -> Any:
    """A silent HiGHS model of min cost · x, lower ≤ x ≤ upper, and bounds[0] ≤ Ax ≤ bounds[1]."""
    import highspy

    highs = highspy.Highs()
    few = len(bounds[0]) < _PRESOLVE_FROM
    for option, value in (
        ("output_flag", False),
        ("threads", 1),
        ("presolve", "off" if few else "choose"),
        ("primal_feasibility_tolerance", FEASIBILITY_TOLERANCE),
        ("dual_feasibility_tolerance", FEASIBILITY_TOLERANCE),
    ):
        highs.setOptionValue(option, value)
    program = highspy.HighsLp()
    program.num_col_, program.num_row_ = len(columns[0]), len(bounds[0])
    program.col_cost_, program.col_lower_, program.col_upper_ = columns
    program.row_lower_, program.row_upper_ = bounds
    program.a_matrix_.format_ = highspy.MatrixFormat.kRowwise
    program.a_matrix_.start_ = matrix[0].astype(np.int32)
    program.a_matrix_.index_ = matrix[1].astype(np.int32)
    program.a_matrix_.value_ = matrix[2]
    highs.passModel(program)
    return highs


def simplex_constraints(block: Block) -> SparseMatrix:
    """The sum of each distribution, as rows of a matrix."""
    return block.distributions, np.arange(block.size, dtype=np.int64), np.ones(block.size)


def stacked(*pieces: SparseMatrix) -> SparseMatrix:
    """The rows of several matrices, one after another."""
    ends = np.cumsum([0, *(len(values) for _, _, values in pieces)])
    starts = [piece[0][:-1] + end for piece, end in zip(pieces, ends[:-1], strict=True)]
    return (
        np.concatenate([*starts, ends[-1:]]),
        np.concatenate([piece[1] for piece in pieces]),
        np.concatenate([piece[2] for piece in pieces]),
    )


def constraints_of_statements(linear: LinearConstraints) -> dict[int, Indices]:
    """The constraints of each statement."""
    order = np.argsort(linear.statements, kind="stable")
    numbers, firsts = np.unique(linear.statements[order], return_index=True)
    return dict(zip(numbers.tolist(), np.split(order, firsts[1:]), strict=True)) if len(order) else {}
