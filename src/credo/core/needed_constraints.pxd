from libc.stdint cimport int64_t, uint8_t

from credo.core.block_program cimport BlockProgram


cdef class NeededConstraints:
    # (constraints,)
    cdef uint8_t[::1] needed
    cdef uint8_t[::1] known  # what attempts for parts of the block needed
    cdef uint8_t[::1] later  # those that are left out
    cdef uint8_t[::1] fresh  # needed, but not solved with
    cdef uint8_t[::1] proof  # in the proof of a conflict
    # (distributions,)
    cdef uint8_t[::1] seen  # whether they have weight
    cdef uint8_t[::1] waiting  # first ones of components that are to be solved
    cdef int64_t[::1] component

    cdef reserve(self, BlockProgram program)
    cdef void forget(self, BlockProgram program) noexcept nogil
    cdef void mark_conflict(self, BlockProgram part) noexcept nogil
    cdef bint remember_conflict(self, BlockProgram part, NeededConstraints other) noexcept nogil
    cdef bint start(self, BlockProgram program, bint without_unseen) noexcept nogil
    cdef bint add_violated(self, BlockProgram program) noexcept nogil
    cdef void divide(self, BlockProgram program) noexcept nogil
    cdef void restrict(self, BlockProgram program, BlockProgram part, Py_ssize_t number) noexcept nogil
    cdef void take_back(self, BlockProgram program, BlockProgram part, Py_ssize_t number) noexcept nogil
