# cython: infer_types=True
"""Solve one block after another: in closed form where there is one, else by the interior point; each certified."""

import cython
import numpy as np
from cython.cimports.credo.core.block_program import BlockProgram
from cython.cimports.credo.core.closed_forms import ClosedForms
from cython.cimports.credo.core.interior_point import InteriorPoint
from cython.cimports.credo.core.newton_systems import NewtonSystem, ReducedSystem, SparseSystem

from credo.core.block_program import GAP_LIMIT, VIOLATION_LIMIT

DENSE_UNKNOWNS = cython.declare(cython.Py_ssize_t, 64)  # sums and constraints taken out, up to which dense is quicker


@cython.cclass
class BlockSolver:
    """Memory for solving blocks: one for each thread."""

    program: BlockProgram
    part: BlockProgram
    closed_forms: ClosedForms
    interior_point: InteriorPoint
    reduced: ReducedSystem

    def __init__(self) -> None:
        self.program = BlockProgram()
        self.part = BlockProgram()
        self.closed_forms = ClosedForms()
        self.interior_point = InteriorPoint()
        self.reduced = ReducedSystem()

    def solve(self, distributions, constraints, weights, entropies, costs, soft_weight, use_closed_forms: cython.bint):
        """Solve a block; see `BlockProgram.load`.

        Returns θ, multipliers, iterations, whether the solver converged, violation, gap, and the shape of the block.
        """
        program = self.program
        program.load(distributions, constraints, weights, entropies, costs, soft_weight)
        found = self._optimise(program, use_closed_forms)
        return (*program.result(), *found)

    def most_entropic(self, distributions, constraints, chosen, theta):
        """θ with the chosen distributions at maximum entropy and all others as they are; whether that was found.

        Also returns how far a hard constraint or a sum is off at most.
        """
        program = self.program
        part = self.part
        program.load(distributions, constraints, theta, None, None, 1.0)
        program.load_point(theta, np.zeros(program.constraints))
        part.restrict_to(program, chosen)
        found = self._optimise(part, True)
        i: cython.Py_ssize_t
        for i in range(program.parameters):
            if program.place[i] >= 0:
                program.theta[i] = part.theta[program.place[i]]
        return program.result()[0], found[1], program.violation()

    @cython.cfunc
    def _optimise(self, program: BlockProgram, use_closed_forms: cython.bint):
        """Iterations, whether the solver converged, violation, gap, and the shape of the block."""
        closed_forms = self.closed_forms
        solved: cython.bint = False
        shape: cython.int = 0
        if use_closed_forms:
            closed_forms.reserve(program)
            with cython.nogil:
                shape = closed_forms.solve(program, cython.address(solved))
                if solved:
                    program.normalise()
            if solved:
                violation, gap = program.certificate()
                if violation <= VIOLATION_LIMIT and gap <= GAP_LIMIT:
                    return 0, True, violation, gap, shape
        solved = self._iterate(program)
        return (self.interior_point.iterations, solved, *program.certificate(), 0)

    @cython.cfunc
    def _iterate(self, program: BlockProgram) -> cython.bint:
        """Iterate from near the counts; where that gets stuck, once more from the middle."""
        interior_point = self.interior_point
        system: NewtonSystem
        solved: cython.bint
        interior_point.reserve(program)
        if program.parameters - program.distributions <= DENSE_UNKNOWNS:
            self.reduced.reserve(program)
            system = self.reduced
        else:
            system = SparseSystem(program)
        with cython.nogil:
            program.start_near_weights()
            solved = interior_point.solve(program, system, False)
            if not solved:
                solved = interior_point.solve(program, system, True)
            program.normalise()
        return solved
