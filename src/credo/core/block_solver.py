# cython: infer_types=True
"""Solve one block after another: in closed form where there is one, else by the interior point; each certified."""

import cython
import numpy as np
from cython.cimports.cpython.exc import PyErr_CheckSignals
from cython.cimports.credo.core.block_program import BlockProgram
from cython.cimports.credo.core.closed_forms import ClosedForms
from cython.cimports.credo.core.interior_point import InteriorPoint
from cython.cimports.credo.core.needed_constraints import NeededConstraints
from cython.cimports.credo.core.newton_systems import NewtonSystem, ReducedSystem, SparseSystem
from cython.cimports.libc.math import INFINITY
from cython.cimports.libc.stdint import int64_t, uint8_t

from credo.core.block_program import GAP_LIMIT as _GAP_LIMIT
from credo.core.block_program import VIOLATION_LIMIT as _VIOLATION_LIMIT
from credo.core.closed_forms import GENERAL as _GENERAL
from credo.core.closed_forms import NO_CONSTRAINTS as _NO_CONSTRAINTS

GAP_LIMIT = cython.declare(cython.double, _GAP_LIMIT)
VIOLATION_LIMIT = cython.declare(cython.double, _VIOLATION_LIMIT)
GENERAL = cython.declare(cython.int, _GENERAL)
NO_CONSTRAINTS = cython.declare(cython.int, _NO_CONSTRAINTS)
BETWEEN_SIGNALS = cython.declare(cython.Py_ssize_t, 64)  # blocks, after which Ctrl-C is seen
DENSE_UNKNOWNS = cython.declare(cython.Py_ssize_t, 64)  # sums and constraints taken out, up to which dense is quicker
ATTEMPTS = cython.declare(cython.Py_ssize_t, 5)  # to solve distributions without data after the others
ROUNDING = cython.declare(cython.double, 5e-10)  # by how much they may have to violate what the others violate
ROUNDS = cython.declare(cython.Py_ssize_t, 12)  # after which all constraints are taken


@cython.cclass
class BlockBatch:
    """Blocks and their objectives in flat arrays, one after the other, and where each was solved to."""

    count = cython.declare(cython.Py_ssize_t, visibility="readonly")
    # (blocks + 1,): where each begins in the arrays below; distributions and starts have one more than they count
    parameter_at: int64_t[::1]
    distribution_at: int64_t[::1]
    constraint_at: int64_t[::1]
    entry_at: int64_t[::1]
    entropy_at: int64_t[::1]
    cost_at: int64_t[::1]
    distributions: cython.const[int64_t][:]
    starts: cython.const[int64_t][:]
    indices: cython.const[int64_t][:]
    coefficients: cython.const[cython.double][:]
    bounds: cython.const[cython.double][:]
    confidences: cython.const[cython.double][:]
    equality: cython.const[uint8_t][:]
    weights: cython.const[cython.double][:]
    entropies: cython.const[cython.double][:]
    costs: cython.const[cython.double][:]
    soft_weights: cython.double[::1]
    # results: (parameters,), (constraints,), (distributions,), and (blocks,)
    theta: cython.double[::1]
    multipliers: cython.double[::1]
    unseen: uint8_t[::1]
    iterations: int64_t[::1]
    shapes: int64_t[::1]
    converged: uint8_t[::1]
    violations: cython.double[::1]
    gaps: cython.double[::1]

    def __init__(self, tasks) -> None:
        blocks = [task.block for task in tasks]
        linears = [block.linear for block in blocks]
        self.count = len(blocks)
        self.distributions, self.distribution_at = joined([block.distributions for block in blocks])
        self.starts = one_array([linear.starts for linear in linears])
        self.indices, self.entry_at = joined([linear.indices for linear in linears])
        self.coefficients = one_array([linear.coefficients for linear in linears])
        self.bounds, self.constraint_at = joined([linear.bounds for linear in linears])
        self.confidences = one_array([linear.confidences for linear in linears])
        self.equality = one_array([linear.equality for linear in linears]).view(np.uint8)
        self.weights, self.parameter_at = joined([task.weights for task in tasks])
        self.entropies, self.entropy_at = joined_where_given([task.entropies for task in tasks])
        self.costs, self.cost_at = joined_where_given([task.costs for task in tasks])
        self.soft_weights = np.array([task.soft_weight for task in tasks], dtype=np.float64)
        lengths = (self.indices.shape[0], self.coefficients.shape[0]), (self.bounds.shape[0], self.equality.shape[0])
        if (
            len(set(lengths[0])) > 1
            or len({*lengths[1], self.confidences.shape[0]}) > 1
            or (self.starts.shape[0] != self.bounds.shape[0] + self.count)
        ):
            raise ValueError("The columns of the constraints have different lengths.")
        self.theta = np.empty(self.weights.shape[0])
        self.multipliers = np.empty(self.bounds.shape[0])
        self.unseen = np.zeros(self.distributions.shape[0], dtype=np.uint8)
        self.iterations, self.shapes = np.empty((2, self.count), dtype=np.int64)
        self.converged = np.empty(self.count, dtype=np.uint8)
        self.violations, self.gaps = np.empty((2, self.count))

    @property
    def unknowns(self):
        """How many numbers a Newton step of all blocks asks for: parameters, multipliers of constraints and of sums."""
        return self.weights.shape[0] + self.bounds.shape[0] + self.distributions.shape[0] - self.count

    def block_at(self, unknowns: cython.Py_ssize_t):
        """The block in which a number of unknowns is reached."""
        k: cython.Py_ssize_t = 0
        while k < self.count - 1 and (
            self.parameter_at[k + 1] + self.constraint_at[k + 1] + self.distribution_at[k + 1] - k - 1 < unknowns
        ):
            k += 1
        return k

    def results(self):
        """θ, multipliers, iterations, whether they ended well, violation, gap, shape, unseen distributions of each."""
        theta = np.asarray(self.theta)
        multipliers = np.asarray(self.multipliers)
        found = []
        d: cython.Py_ssize_t
        for k in range(self.count):
            unseen = NO_DISTRIBUTIONS
            for d in range(self.distribution_at[k], self.distribution_at[k + 1] - 1):
                if self.unseen[d]:
                    if unseen is NO_DISTRIBUTIONS:
                        unseen = []
                    unseen.append(d - self.distribution_at[k])
            found.append(
                (
                    theta[self.parameter_at[k] : self.parameter_at[k + 1]],
                    multipliers[self.constraint_at[k] : self.constraint_at[k + 1]],
                    self.iterations[k],
                    self.converged[k] != 0,
                    self.violations[k],
                    self.gaps[k],
                    self.shapes[k],
                    unseen if unseen is NO_DISTRIBUTIONS else np.array(unseen, dtype=np.int64),
                )
            )
        return found

    @cython.cfunc
    def load(self, program: BlockProgram, k: cython.Py_ssize_t):
        """Put one block into a program."""
        program.take_over(
            self.distributions[self.distribution_at[k] : self.distribution_at[k + 1]],
            self.starts[self.constraint_at[k] + k : self.constraint_at[k + 1] + k + 1],
            self.indices[self.entry_at[k] : self.entry_at[k + 1]],
            self.coefficients[self.entry_at[k] : self.entry_at[k + 1]],
            self.bounds[self.constraint_at[k] : self.constraint_at[k + 1]],
            self.confidences[self.constraint_at[k] : self.constraint_at[k + 1]],
            self.equality[self.constraint_at[k] : self.constraint_at[k + 1]],
            self.weights[self.parameter_at[k] : self.parameter_at[k + 1]],
            self.entropies[self.entropy_at[k] : self.entropy_at[k + 1]],
            self.costs[self.cost_at[k] : self.cost_at[k + 1]],
            self.soft_weights[k],
        )


NOTHING = np.zeros(0)
NO_DISTRIBUTIONS = np.zeros(0, dtype=np.int64)


@cython.cfunc
def joined(arrays: list) -> tuple:
    """The arrays one after the other, and where each begins and the last one ends."""
    ends = np.zeros(len(arrays) + 1, dtype=np.int64)
    into: int64_t[::1] = ends
    at: cython.Py_ssize_t = 0
    for k in range(len(arrays)):
        at += len(arrays[k])
        into[k + 1] = at
    return one_array(arrays), ends


@cython.cfunc
def one_array(arrays: list):
    return arrays[0] if len(arrays) == 1 else np.concatenate(arrays)


@cython.cfunc
def joined_where_given(arrays: list) -> tuple:
    """The same of arrays some of which are None."""
    for array in arrays:
        if array is not None:
            return joined([NOTHING if each is None else each for each in arrays])
    return NOTHING, np.zeros(len(arrays) + 1, dtype=np.int64)


@cython.cclass
class BlockSolver:
    """Memory for solving blocks: one for each thread."""

    program: BlockProgram
    part: BlockProgram  # of a block: its distributions without data
    few: BlockProgram  # of either: the constraints that it needs
    closed_forms: ClosedForms
    needed: NeededConstraints
    part_needed: NeededConstraints
    interior_point: InteriorPoint
    reduced: ReducedSystem
    unseen: int64_t[::1]  # distributions without any weight
    unseen_count: cython.Py_ssize_t
    # of the last program
    iterations: cython.Py_ssize_t
    shape: cython.int
    converged: cython.bint
    is_spread: cython.bint  # whether distributions without data are at maximum entropy
    violation: cython.double
    gap: cython.double

    def __init__(self) -> None:
        self.program = BlockProgram()
        self.part = BlockProgram()
        self.few = BlockProgram()
        self.closed_forms = ClosedForms()
        self.needed = NeededConstraints()
        self.part_needed = NeededConstraints()
        self.interior_point = InteriorPoint()
        self.reduced = ReducedSystem()
        self.unseen = np.empty(16, dtype=np.int64)

    def solve(
        self,
        batch: BlockBatch,
        first: cython.Py_ssize_t,
        last: cython.Py_ssize_t,
        closed_forms: cython.bint,
        in_rounds: cython.bint,
        most_entropic: cython.bint,
    ):
        """Solve some of the blocks; where that is asked for, distributions without data are put at maximum entropy."""
        program = self.program
        for k in range(first, last):
            if k % BETWEEN_SIGNALS == 0:
                PyErr_CheckSignals()
            batch.load(program, k)
            self.find_unseen(program, batch.unseen, batch.distribution_at[k])
            seen_first: cython.bint = self.unseen_count > 0 and not program.entropic
            self.optimise(program, self.needed, closed_forms, in_rounds, seen_first)
            if most_entropic and seen_first and not self.is_spread and self.is_certified():
                self.spread_unseen(program)
            batch.iterations[k] = self.iterations
            batch.shapes[k] = self.shape
            batch.converged[k] = self.converged
            batch.gaps[k] = self.gap
            batch.violations[k] = self.violation
            for i in range(program.parameters):
                batch.theta[batch.parameter_at[k] + i] = program.theta[i]
            for i in range(program.constraints):
                multiplier = program.multipliers[i] * program.scale / program.norms[i]
                batch.multipliers[batch.constraint_at[k] + i] = multiplier

    def most_entropic(self, distributions, constraints, chosen, theta):
        """θ with the chosen distributions at maximum entropy and all others as they are; whether that was found.

        Also returns how far a hard constraint or a sum is off at most.
        """
        program = self.program
        program.load(distributions, constraints, theta, None, None, 1.0)
        program.load_point(theta, np.zeros(program.constraints))
        self.part.restrict_to(program, chosen, INFINITY)
        self.optimise(self.part, self.part_needed, True, True, False)
        self.take_part(program)
        return program.result()[0], self.converged, program.violation()

    @cython.cfunc
    def find_unseen(self, program: BlockProgram, marks: uint8_t[::1], at: cython.Py_ssize_t):
        """Number and mark the distributions without any weight."""
        i: cython.Py_ssize_t
        if program.distributions > self.unseen.shape[0]:
            self.unseen = np.empty(2 * program.distributions, dtype=np.int64)
        self.unseen_count = 0
        for d in range(program.distributions):
            total = 0.0
            for i in range(program.distribution_starts[d], program.distribution_starts[d + 1]):
                total += program.weights[i]
            marks[at + d] = total == 0.0
            if total == 0.0:
                self.unseen[self.unseen_count] = d
                self.unseen_count += 1

    @cython.cfunc
    def solve_seen_first(self, program: BlockProgram, use_closed_forms: cython.bint) -> cython.bint:
        """Solve for the distributions with data first, then put the others at maximum entropy beside them.

        This is the optimum where those find room. Where they do not, the constraints that prove it come first too.
        """
        iterations: cython.Py_ssize_t = 0
        for _ in range(ATTEMPTS):
            if not self.solve_in_rounds(program, self.needed, use_closed_forms, True):
                break
            iterations += self.iterations
            shape = self.shape
            self.part.restrict_to(program, self.unseen[: self.unseen_count], ROUNDING)
            self.optimise(self.part, self.part_needed, use_closed_forms, True, False)
            iterations += self.iterations
            if self.converged:
                self.take_part(program)
                self.certify(program)
                self.iterations = iterations
                self.shape = NO_CONSTRAINTS if shape == self.shape == NO_CONSTRAINTS else GENERAL
                self.is_spread = self.is_certified()
                return self.is_spread
            if not self.interior_point.conflicting or not (self.needed.remember_conflict(self.part, self.part_needed)):
                break
            self.iterations = 0
        self.iterations = iterations
        return False

    @cython.cfunc
    def spread_unseen(self, program: BlockProgram):
        """Put distributions without data at maximum entropy, and the others where they are.

        Among the optima one point is as good as another: where this violates anything, θ stays.
        """
        before = self.iterations, self.shape, self.violation, self.gap
        kept = np.array(program.theta[: program.parameters])
        self.part.restrict_to(program, self.unseen[: self.unseen_count], INFINITY)
        self.optimise(self.part, self.part_needed, True, True, False)
        violation = before[2]
        if self.converged:
            self.take_part(program)
            violation = max(violation, program.violation())
            if violation > VIOLATION_LIMIT:
                program.theta[: program.parameters] = kept
                violation = before[2]
        self.iterations, self.shape, _, self.gap = before
        self.converged, self.violation = True, violation

    @cython.cfunc
    @cython.exceptval(check=False)
    def take_part(self, program: BlockProgram) -> cython.void:
        for i in range(program.parameters):
            if program.place[i] >= 0:
                program.theta[i] = self.part.theta[program.place[i]]

    @cython.cfunc
    def optimise(
        self,
        program: BlockProgram,
        needed: NeededConstraints,
        use_closed_forms: cython.bint,
        in_rounds: cython.bint,
        seen_first: cython.bint,
    ):
        """Put θ and the multipliers of a program at its optimum, with its certificate."""
        self.iterations = 0
        self.is_spread = False
        if use_closed_forms and self.solve_in_closed_form(program):
            self.converged = True
            self.certify(program)
            if self.is_certified():
                return
        if in_rounds:
            needed.reserve(program)
            needed.forget(program)
            if seen_first and self.solve_seen_first(program, use_closed_forms):
                return
            self.converged = self.solve_in_rounds(program, needed, use_closed_forms, False)
            if self.converged or self.interior_point.conflicting:
                self.certify(program)
                if self.is_certified() or self.interior_point.conflicting:
                    return
        self.shape = GENERAL
        self.converged = self.iterate(program)
        self.certify(program)

    @cython.cfunc
    def solve_in_closed_form(self, program: BlockProgram) -> cython.bint:
        """Whether a closed form, whose shape is kept, gives a point; its certificate decides whether it is right."""
        closed_forms = self.closed_forms
        solved: cython.bint = False
        closed_forms.reserve(program)
        with cython.nogil:
            self.shape = closed_forms.solve(program, cython.address(solved))
            if solved:
                program.normalise()
        return solved

    @cython.cfunc
    def solve_in_rounds(
        self,
        program: BlockProgram,
        needed: NeededConstraints,
        use_closed_forms: cython.bint,
        without_unseen: cython.bint,
    ) -> cython.bint:
        """Solve under the constraints that matter so far, and add those that this violates, until none is."""
        few = self.few
        conflicting: cython.bint = False
        self.interior_point.conflicting = False
        if not needed.start(program, without_unseen):
            return False
        few.reserve_like(program)
        self.shape = NO_CONSTRAINTS
        for _ in range(ROUNDS):
            if not needed.add_violated(program):
                return True
            needed.divide(program)
            for d in range(program.distributions):
                if needed.waiting[d]:
                    needed.restrict(program, few, d)
                    if (use_closed_forms and self.solve_in_closed_form(few)) or self.iterate(few):
                        needed.take_back(program, few, d)
                    elif self.interior_point.conflicting:
                        needed.mark_conflict(few)
                        conflicting = True
                    else:
                        return False
            self.shape = GENERAL
            if conflicting:
                break
        self.shape = GENERAL
        self.interior_point.conflicting = conflicting
        return False

    @cython.cfunc
    def iterate(self, program: BlockProgram) -> cython.bint:
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
            if not solved and not interior_point.conflicting:
                solved = interior_point.solve(program, system, True)
            program.normalise()
        self.iterations += interior_point.iterations
        return solved

    @cython.cfunc
    @cython.exceptval(check=False)
    def certify(self, program: BlockProgram) -> cython.void:
        self.violation = program.violation()
        self.gap = program.gap()

    @cython.cfunc
    @cython.exceptval(check=False)
    def is_certified(self) -> cython.bint:
        return self.violation <= VIOLATION_LIMIT and self.gap <= GAP_LIMIT
