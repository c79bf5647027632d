cimport cython
from libc.stdint cimport int64_t, uint64_t


@cython.overflowcheck(False)
cdef inline uint64_t mix(uint64_t state, uint64_t value) noexcept nogil:
    """One step of a hash; the multiplier is 2^64 divided by the golden ratio."""
    state = (state ^ value) * <uint64_t> 0x9E3779B97F4A7C15
    return state ^ (state >> 29)


cdef class NumberedLists:
    cdef int64_t[::1] slots
    cdef uint64_t[::1] hashes
    cdef readonly int64_t[::1] starts
    cdef readonly int64_t[::1] values
    cdef readonly Py_ssize_t count

    cdef Py_ssize_t number(self, int64_t[::1] key, Py_ssize_t length) except -1 nogil
    cdef int _rehash(self) except -1
