from libc.stdint cimport int32_t, int64_t, uint32_t, uint64_t


cdef class Evaluator:
    # What is evaluated
    cdef readonly Py_ssize_t evaluations
    cdef const int64_t[::1] component
    cdef const int64_t[::1] cells
    cdef const int64_t[::1] cell_starts
    cdef const double[::1] weights
    cdef const int64_t[::1] rows
    # Programs
    cdef const int32_t[::1] program
    cdef const int64_t[::1] program_starts
    cdef const uint32_t[::1] maps
    cdef uint32_t[::1] own_maps
    cdef Py_ssize_t kept
    cdef const int64_t[::1] shapes
    cdef const int64_t[::1] shape_starts
    # Under what, and what comes of it
    cdef const double[::1] theta
    cdef double[::1] counts
    cdef double log_z
    cdef readonly Py_ssize_t impossible
    cdef Py_ssize_t least_cells
    # Scratch
    cdef double[::1] tables
    cdef double[::1] messages
    cdef double[::1] marginals
    cdef int64_t[::1] rows_below
    cdef Py_ssize_t[::1] heads
    cdef Py_ssize_t[::1] steps
    # The component whose turn it is
    cdef Py_ssize_t plan
    cdef Py_ssize_t start
    cdef Py_ssize_t buckets
    cdef Py_ssize_t size
    cdef Py_ssize_t families
    cdef bint is_single

    cdef int set_arrays(self, const double[::1] theta, double[::1] counts) except -1
    cdef double run(self, Py_ssize_t first, Py_ssize_t last, bint backward) noexcept nogil
    cdef void sum_each(self, double[::1] out) noexcept nogil
    cdef bint draw_rows(self, uint64_t[::1] generator) noexcept nogil
    cdef void _open(self, Py_ssize_t component) noexcept nogil
    cdef double _scale(self, Py_ssize_t t0, Py_ssize_t cells, bint careful) noexcept nogil
    cdef double _forward(self, Py_ssize_t first_cell, bint careful) noexcept nogil
    cdef void _backward(self, Py_ssize_t first_cell, double weight, double z) noexcept nogil
    cdef void _split(self, Py_ssize_t first_cell, int64_t weight, uint64_t[::1] generator) noexcept nogil
    cdef void _pass_on(
        self, Py_ssize_t b, Py_ssize_t families, Py_ssize_t inputs, Py_ssize_t first_cell, Py_ssize_t cell, int64_t rows
    ) noexcept nogil
    cdef double _sum_single(self, Py_ssize_t first_cell) noexcept nogil
    cdef void _add_single(self, Py_ssize_t first_cell, double ratio) noexcept nogil
