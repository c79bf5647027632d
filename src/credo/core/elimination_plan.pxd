from libc.stdint cimport int8_t, int32_t, int64_t, uint32_t
from credo.core.numbered_lists cimport NumberedLists

cdef enum:
    HEAD = 8  # numbers at the head of a bucket,
    INPUT = 3  # and for each of its inputs


cdef void fill_map(uint32_t[::1] maps, Py_ssize_t at, const int64_t[::1] shapes, Py_ssize_t start, Py_ssize_t stop) noexcept nogil


cdef class Graph:
    cdef Py_ssize_t n
    cdef int64_t[::1] sizes
    cdef int8_t[:, ::1] edges
    cdef int8_t[::1] gone
    cdef int8_t[::1] is_stale
    cdef double[::1] fills
    cdef double[::1] weights
    cdef int64_t[::1] neighbours

    cdef Py_ssize_t _score(self, Py_ssize_t v) noexcept nogil


cdef class Order:
    cdef Py_ssize_t n
    cdef int64_t[::1] variables
    cdef int64_t[::1] turn
    cdef int64_t[:, ::1] separators
    cdef int64_t[::1] widths
    cdef int64_t[::1] home
    cdef int64_t[::1] last
    cdef int64_t[::1] above
    cdef int64_t[::1] cells

    cdef double eliminate(self, Graph graph, bint by_fill) noexcept nogil
    cdef void merge_buckets(self, int64_t[::1] sizes, int64_t[::1] inputs) noexcept nogil


cdef class Planner:
    cdef const int64_t[::1] members
    cdef const int64_t[::1] strides
    cdef const int64_t[::1] starts
    cdef int32_t[::1] program
    cdef Py_ssize_t length
    cdef NumberedLists shapes
    cdef int64_t[::1] places
    cdef uint32_t[::1] maps
    cdef Py_ssize_t map_cells
    cdef int64_t[::1] local
    cdef int64_t[::1] first
    cdef int64_t[::1] inputs
    cdef int64_t[::1] ready
    cdef int64_t[::1] message_at
    cdef int64_t[::1] axis
    cdef int64_t[::1] shape
    cdef int64_t[::1] step

    cdef int write(self, Order order, int64_t[::1] sizes, const int64_t[::1] families, int64_t[::1] figures) except -1 nogil
    cdef int _add_input(self, int64_t read, Order order, Py_ssize_t axes, Py_ssize_t table, int64_t[::1] figures) except -1 nogil
    cdef int _append(self, int32_t value) except -1 nogil
