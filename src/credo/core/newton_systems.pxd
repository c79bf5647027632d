from libc.stdint cimport int64_t, uint8_t

from credo.core.block_program cimport BlockProgram
from credo.core.cholesky cimport SparseFactors


cdef class NewtonSystem:
    cdef void factorise(self, BlockProgram program, double[::1] diagonal) noexcept nogil
    cdef void solve(self, BlockProgram program, double[::1] right, double[::1] solution) noexcept nogil


cdef class ReducedSystem(NewtonSystem):
    cdef Py_ssize_t free
    cdef double[::1] curvature, constraint_weights  # H (parameters,) and D (constraints,), regularised
    cdef int64_t[::1] dependent, place  # (distributions,) and (parameters,)
    cdef int64_t[::1] starts, unknowns  # A N by constraints
    cdef double[::1] values
    cdef double[:, ::1] matrix
    cdef double[::1] inverse, unknown, gradient, line

    cpdef reserve(self, BlockProgram program)
    cdef bint choose_dependent(self, BlockProgram program) noexcept nogil
    cdef void reduce_constraints(self, BlockProgram program) noexcept nogil


cdef class SparseSystem(NewtonSystem):
    cdef SparseFactors factors


cdef double residual_of(
    BlockProgram program, double[::1] diagonal, double[::1] right, double[::1] solution, double[::1] residual
) noexcept nogil
