from libc.stdint cimport int64_t, uint8_t

from credo.core.block_program cimport BlockProgram


cdef class ClosedForms:
    cdef double[::1] lower, upper, pull, sums, alpha, yes, no
    cdef uint8_t[::1] used, tight
    cdef int64_t[::1] below, chain_constraints, chain_order, length

    cdef reserve(self, BlockProgram program)
    cdef int solve(self, BlockProgram program, bint* solved) noexcept nogil
    cdef bint has_weights_only(self, BlockProgram program) noexcept nogil
    cdef bint has_ranges_only(self, BlockProgram program) noexcept nogil
    cdef bint solve_ranges(self, BlockProgram program) noexcept nogil
    cdef bint share_in_ranges(self, BlockProgram program, Py_ssize_t d) noexcept nogil
    cdef double cut(
        self, BlockProgram program, double[::1] weights, Py_ssize_t first, Py_ssize_t last, double total, bint seen
    ) noexcept nogil
    cdef int shape_of_sums(self, BlockProgram program) noexcept nogil
    cdef bint solve_bounded_sums(self, BlockProgram program) noexcept nogil
    cdef bint solve_sums_against_sums(self, BlockProgram program) noexcept nogil
    cdef bint is_chain(self, BlockProgram program) noexcept nogil
    cdef bint solve_chain(self, BlockProgram program) noexcept nogil
