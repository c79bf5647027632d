from libc.stdint cimport int32_t, int64_t, uint8_t, uint64_t

cpdef enum:
    PADDING = 16  # bytes that must be readable behind the end of a buffer
    QUOTE = 34

cdef enum:  # bytes
    TAB = 9
    NEWLINE = 10
    RETURN = 13
    SPACE = 32
    PLUS = 43
    MINUS = 45
    POINT = 46
    ZERO = 48
    NINE = 57
    LETTER_E = 101

cpdef enum:  # what a field is for
    IGNORE = 0
    STATE = 1
    TEXT = 2

cpdef enum:  # how a scan ended
    DONE = 0  # at the end
    RAGGED = 1  # at a record with the wrong number of fields
    FULL = 2  # at the end of the output
    TRAILING = 3  # at a record with text behind a closing quote

cpdef enum:  # what a number is
    BLANK = 0
    EXACT = 1  # rounded once
    NEAR = 2  # within `NEARLY` of what is returned
    OTHER = 3


cdef class KnownTexts:
    cdef readonly object known
    cdef int64_t[::1] starts
    cdef int64_t[::1] masks
    cdef uint64_t[::1] keys
    cdef int32_t[::1] values
    cdef int64_t[::1] places
    cdef int64_t[::1] lengths
    cdef const uint8_t[::1] pool

    cdef void _insert(self, Py_ssize_t field, Py_ssize_t start, Py_ssize_t length, int32_t value) noexcept nogil
