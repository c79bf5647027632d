from libc.stdint cimport int32_t, int64_t


cdef class Boundaries:
    cdef public Py_ssize_t count, first, last
    cdef int64_t[::1] starts, cells, first_cell
    cdef int32_t[::1] distribution
    cdef double[::1] coefficients, bounds
    cdef int64_t[::1] touching_starts
    cdef int32_t[::1] touching
    cdef double[::1] theta, logs, before, slope
    cdef double value(self, Py_ssize_t row) noexcept nogil
    cdef double value_between(self, Py_ssize_t row, double time) noexcept nogil
    cdef bint hold(self) noexcept nogil
    cdef bint hold_at(self, Py_ssize_t distribution) noexcept nogil
    cdef void remember(self) noexcept nogil
    cdef Py_ssize_t first_crossing(self, double* time) noexcept nogil
    cdef void set_slope(self, Py_ssize_t row) noexcept nogil
