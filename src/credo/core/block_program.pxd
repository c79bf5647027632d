from libc.stdint cimport int64_t, uint8_t


cdef class BlockProgram:
    cdef Py_ssize_t parameters, constraints, distributions
    cdef double scale  # what weights, entropies and costs were divided by
    cdef double total  # the sum of the weights as they were given
    cdef bint entropic  # whether any entropy is above zero
    # (parameters,)
    cdef double[::1] weights, entropies, costs, theta
    cdef int64_t[::1] distribution_of
    cdef int64_t[::1] place  # of `restrict_to`: where a parameter is in the restricted program, −1 where it is not
    # (distributions + 1,)
    cdef int64_t[::1] distribution_starts
    # (constraints,) and, of starts, one more; softness is 1/(W·C) of soft constraints and 0 of hard ones
    cdef double[::1] bounds, softness, norms, multipliers
    cdef uint8_t[::1] equality
    cdef int64_t[::1] starts
    cdef int64_t[::1] numbers  # of a restricted program: which constraints of the whole these are
    # (entries,)
    cdef int64_t[::1] indices
    cdef double[::1] coefficients
    # work of the certificate
    cdef double[::1] gradient

    cdef take_over(
        self,
        const int64_t[:] distributions,
        const int64_t[:] starts,
        const int64_t[:] indices,
        const double[:] coefficients,
        const double[:] bounds,
        const double[:] confidences,
        const uint8_t[:] equality,
        const double[:] weights,
        const double[:] entropies,
        const double[:] costs,
        double soft_weight,
    )
    cdef reserve_like(self, BlockProgram whole)
    cdef restrict_to(self, BlockProgram whole, const int64_t[:] chosen, double allowed)
    cdef void start_near_weights(self) noexcept nogil
    cdef void normalise(self) noexcept nogil
    cdef double violation(self) noexcept nogil
    cdef double gap(self) noexcept nogil
    cdef double objective(self) noexcept nogil
    cdef double lower_bound(self) noexcept nogil
    cdef double least_on_simplex(self, Py_ssize_t first, Py_ssize_t last) noexcept nogil


cpdef double relative_gap(double value, double bound, double total) noexcept nogil
