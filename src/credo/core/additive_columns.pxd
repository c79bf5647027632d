from libc.stdint cimport int32_t

from credo.core.additive_base cimport AdditiveBase


cdef class AdditiveColumns(AdditiveBase):
    cdef double[:, ::1] columns, transposed, slopes_of_rests
    cdef double[::1] linear, trial, pulls, steps
    cdef double[:, ::1] logits, rest_pulls
    cdef int32_t[::1] stated, order, only  # the state of the only row of a configuration, or -1
    cdef double[::1] log_odds
    cdef double follows, intercept

    cdef void compute_linear(self) noexcept nogil
    cdef double density(self) noexcept nogil
    cdef double rows_density(self, const double* linear) noexcept nogil
    cdef void flip_signs(self) noexcept nogil
    cdef void toggle(self, Py_ssize_t p) noexcept nogil
    cdef void propose_far(self) noexcept nogil
