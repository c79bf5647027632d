from libc.stdint cimport int64_t, uint8_t


cdef class TieFactors:
    cdef const int64_t[::1] starts
    cdef const uint8_t[::1] differ
    cdef const double[::1] copies
    cdef const int64_t[::1] columns
    cdef const int64_t[::1] digit_starts
    cdef const int64_t[::1] digits
    cdef const uint8_t[::1] differs
    cdef const int64_t[::1] states
    cdef const double[::1] shares
    cdef const int64_t[::1] offsets
    cdef double[::1] belief
    cdef const double[::1] own
    cdef const double[:, ::1] tilt
    cdef double[::1] evidence
    cdef double[:, ::1] beliefs
    cdef double total

    cdef Py_ssize_t _compensate(self) noexcept nogil
    cdef bint _compensate_pair(self, Py_ssize_t g) noexcept nogil
    cdef double _equality_message(self, int64_t column, int64_t x) noexcept nogil
    cdef double _difference_message(self, int64_t column, int64_t x, int64_t k) noexcept nogil
    cdef double _compatible(self, int64_t column, Py_ssize_t g, int64_t x) noexcept nogil
    cdef bint _allows(self, Py_ssize_t g, int64_t x, int64_t y) noexcept nogil
